"""The environment of all templates: Jinja2, which renders a panel in about half the time of Django's own templates.

An undefined name renders as nothing and is false. An attribute of an undefined name is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable
from functools import cache, lru_cache
from typing import Any

import jinja2
from django.conf import settings
from django.template import defaultfilters
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import json_script
from django_htmx.jinja import htmx_script
from jinja2 import nodes
from jinja2.visitor import NodeTransformer
from markupsafe import Markup, escape

from sandbox.content.addresses import page_path
from sandbox.web.compiled import compiled_templates
from sandbox.words.amounts import short_name
from sandbox.words.say import pattern, rows, say

FILTERS = ("capfirst", "default_if_none", "escapejs", "pluralize", "slugify", "urlencode", "yesno")
"""Filters of Django, under their names there."""


class Constant(NodeTransformer):
    """Puts sentences without places into the compiled template, so that saying them costs nothing."""

    def visit_Call(self, node: nodes.Call) -> nodes.Expr:
        match node:
            case nodes.Call(node=nodes.Name(name="say"), args=[nodes.Const(value=key)], kwargs=[]):
                return nodes.Const(say(key))
            case nodes.Call(node=nodes.Name(name="say_html"), args=[nodes.Const(value=key)], kwargs=[]):
                return nodes.MarkSafe(nodes.Const(str(say_html(key))))
        return self.generic_visit(node)  # type: ignore[return-value]


HTMX = {
    "allowEval": False,
    "includeIndicatorStyles": False,
    "selfRequestsOnly": True,
    "historyCacheSize": 0,
    "responseHandling": [
        {"code": "204", "swap": False},
        {"code": "[23]..", "swap": True},
        {"code": "422", "swap": True},
        {"code": "[45]..", "swap": True, "error": True},
    ],
}
"""The settings of htmx on all pages."""


class Environment(jinja2.Environment):
    """Look up the keys of a dict before its methods. Panels are described by dicts, and this is much faster."""

    def compile(self, source: Any, name: str | None = None, filename: str | None = None, *more: Any) -> Any:
        if isinstance(source, str):
            source = Constant().visit(self.parse(source, name, filename))
        return super().compile(source, name, filename, *more)

    def getattr(self, obj: Any, attribute: str) -> Any:
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


def environment(**options: Any) -> Environment:
    """Return the environment for ``TEMPLATES``. ``options`` are those of ``jinja2.Environment``."""
    result = Environment(bytecode_cache=compiled_templates(), **options)

    # A page has hundreds of such parts. Most of them do not change in a step, and are rendered once.
    @lru_cache(20_000)
    def drawn(name: str, item: Hashable) -> Markup:
        """Call the macro ``draw`` of ``fragments/<name>.html``."""
        return result.get_template(f"fragments/{name}.html").module.draw(item)  # type: ignore[attr-defined]

    result.filters |= {name: getattr(defaultfilters, name) for name in FILTERS}
    result.filters |= {"json_script": json_script, "short_name": short_name}
    result.globals |= {
        "drawn": drawn,
        "htmx_script": htmx_script,
        "page_path": page_path,
        "say": say,
        "say_html": say_html,
        "static": static,
        "url": reverse,
    }
    result.globals["htmx_settings"] = json.dumps(HTMX)
    result.globals["words"] = json_script(rows("script"), "words")
    # Milliseconds that a page waits for an answer, which is longer than any command may take.
    result.globals["patience"] = int((settings.COMMAND_SECONDS + 10) * 1000)
    return result


BOLD, CODE = re.compile(r"\*\*(.+?)\*\*"), re.compile("`(.+?)`")


@cache
def _html(row: str) -> str:
    """Return the row as HTML: what it marks as **bold** and as `code` becomes elements."""
    return CODE.sub(r"<code>\1</code>", BOLD.sub(r"<b>\1</b>", str(escape(row))))


def say_html(key: str, /, **places: object) -> Markup:
    """Return the sentence as HTML. Places may be markup, such as a button; other places are escaped."""
    row = _html(pattern(key, places))
    return Markup(row.format_map({name: escape(value) for name, value in places.items()}) if places else row)
