"""Every route of the site, from Django's resolver, the API's document and the websockets' router.

A new route is included automatically. Its inputs follow from the source of its view: each short text there may be the
name of a field, or a value.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from types import ModuleType
from typing import Any
from urllib.parse import urljoin, urlsplit

WORD = re.compile(r"[A-Za-z][A-Za-z_-]{0,30}")
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
TARGET = re.compile(r"<\w+:(sandbox|room)_id>/<(?:str:)?token>")
"""The part of a path with somebody's link."""
METHODS = ("GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND")


@dataclass(frozen=True, slots=True)
class Route:
    """``path`` as Django writes it; ``words``: texts of its view's source; ``usual``: methods that it accepts."""

    path: str
    words: tuple[str, ...] = ()
    usual: tuple[str, ...] = ("POST", "GET")
    fields: tuple[str, ...] = field(default=())
    """Fields of a body or a query, from a document."""
    socket: bool = False

    @property
    def parameters(self) -> list[str]:
        return PARAMETER.findall(self.path)

    @property
    def pattern(self) -> re.Pattern[str]:
        """Match the paths of this route. The groups are the parameters."""
        pieces = re.split(r"<[^>]+>", self.path)
        return re.compile("/" + "([^/]+)".join(map(re.escape, pieces)))


@cache
def routes() -> tuple[Route, ...]:
    """Return all routes. Django must be set up."""
    from django.urls import get_resolver

    from sandbox.routing import websocket_urlpatterns

    documented = _documented()
    results = []
    for path, view in _walk(get_resolver().url_patterns):
        known = documented.get(PARAMETER.sub(r"{\1}", f"/{path}"))
        results.append(Route(path, _words(view), *known) if known else Route(path, _words(view)))
    sockets = [Route(str(one.pattern), _words(one.callback), ("GET",), (), True) for one in websocket_urlpatterns]
    return (*results, *sockets)


def _walk(patterns: Iterable[Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for one in patterns:
        path = prefix + str(one.pattern)
        if hasattr(one, "url_patterns"):
            yield from _walk(one.url_patterns, path)
        else:
            yield path, one.callback


def _documented() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return path of the API's document → methods, and names of parameters and of a body's properties."""
    from sandbox.web.api.routes import api

    document = api.get_openapi_schema()
    results = {}
    for path, methods in document["paths"].items():
        names = [parameter["name"] for one in methods.values() for parameter in one.get("parameters", ())]
        for one in methods.values():
            for kind in one.get("requestBody", {}).get("content", {}).values():
                shape = document["components"]["schemas"].get(kind["schema"].get("$ref", "").rpartition("/")[2], {})
                names += shape.get("properties", {})
        results[path] = tuple(method.upper() for method in methods), tuple(names)
    return results


def _words(view: Any) -> tuple[str, ...]:
    """Return short texts of a view's module, and of the site's modules that it uses."""
    inner = inspect.unwrap(getattr(view, "func", view))
    module = inspect.getmodule(inner)
    return _of_module(module) if module is not None and module.__name__.startswith("sandbox.") else ()


@cache
def _of_module(module: ModuleType) -> tuple[str, ...]:
    used = [module, *filter(None, map(inspect.getmodule, vars(module).values()))]
    ours = {one.__name__: one for one in used if one.__name__.startswith("sandbox.")}
    texts = dict.fromkeys(_texts(module))
    for name in sorted(ours):
        texts |= dict.fromkeys(_texts(ours[name]))
    return tuple(texts)


@cache
def _texts(module: ModuleType) -> tuple[str, ...]:
    tree = ast.parse(inspect.getsource(module))
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return tuple(dict.fromkeys(text for text in texts if WORD.fullmatch(text)))


Form = dict[str, str]


class Forms(HTMLParser):
    """Read the forms of a page: target, as written there → their fields as they would be sent."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: dict[str, Form] = {}
        self.within: Form | None = None
        self.select = self.area = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        where = values.get("hx-post") or values.get("hx-get") or values.get("action") or values.get("formaction") or ""
        if tag == "form":
            self.within = self.forms.setdefault(where, {})
        elif where:
            self.forms.setdefault(where, {}).update({**(self.within or {}), **_values(values.get("hx-vals", ""))})
        name = values.get("name", "")
        if self.within is None or (tag == "option" and not self.select):
            return
        if tag == "option" and ("selected" in values or not self.within.get(self.select)):
            self.within[self.select] = values.get("value", "")
        elif name and tag in ("input", "select", "textarea", "button"):
            self.within.setdefault(name, values.get("value", ""))
        self.select = name if tag == "select" else self.select
        self.area = name if tag == "textarea" else self.area

    def handle_endtag(self, tag: str) -> None:
        self.within = None if tag == "form" else self.within
        self.select = "" if tag == "select" else self.select
        self.area = "" if tag == "textarea" else self.area

    def handle_data(self, data: str) -> None:
        if self.area and self.within is not None:
            self.within[self.area] = data.strip()


def _values(text: str) -> Form:
    """Read an attribute ``hx-vals``."""
    try:
        return {name: str(value) for name, value in json.loads(text).items()}
    except ValueError:
        return {}


def forms_of(page: str, address: str, known: Iterable[Route]) -> Iterator[tuple[Route, list[str], Form]]:
    """Yield route, parameters and fields of each form and button of the page at a path."""
    reader = Forms()
    reader.feed(page)
    for where, form in reader.forms.items():
        path = urlsplit(urljoin(address, where)).path if where else ""
        for route in known:
            if path and (match := route.pattern.fullmatch(path)):
                yield route, list(match.groups()), form
