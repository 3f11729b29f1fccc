"""YAML and JSON as one event stream with positions, so that errors can point at the line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import yaml

from scheduler_engine.api.scalars import JSONScalar, core_tag, resolve_plain, resolve_tagged
from scheduler_engine.words import say

LONGEST_INTEGER = 40
"""The most digits of a JSON number that is kept exactly: Kubernetes reads an amount as written."""


class NotReadable(Exception):
    """The text stops being valid YAML or JSON at ``line``/``column`` (from 1)."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


class NotJson(NotReadable):
    """The text is not valid JSON; it may still be YAML."""


class Event(NamedTuple):
    """``what``: document, map, list, end, scalar, merge (the key ``<<``) or alias (``anchor`` names its target).

    ``written``: the scalar's text, which parsing may have changed (``y`` is true, ``0x10`` 16).
    """

    what: str
    line: int
    column: int
    value: JSONScalar = None
    anchor: str | None = None
    written: str = ""


def yaml_events(text: str) -> Iterator[Event]:
    """Yield the events of every document. Raises NotReadable; aliases are not followed here."""
    try:
        loader = yaml.CSafeLoader(text)
        plain = _Resolved()
        event: Any
        for event in iter(loader.get_event, None):
            mark = event.start_mark
            if type(event) is yaml.ScalarEvent:  # Most of a text, so it takes the shortest path.
                yield _scalar_event(event, plain, mark.line + 1, mark.column + 1)
                continue
            known = _KNOWN_EVENTS.get(type(event))
            if known is not None:
                yield known(event, mark.line + 1, mark.column + 1)
    except yaml.MarkedYAMLError as error:
        place = error.problem_mark or error.context_mark
        message = ", ".join(part for part in (error.context, error.problem) if part)
        line, column = (place.line + 1, place.column + 1) if place else (0, 0)
        raise NotReadable(say("manifest-errors.invalid-yaml", problem=message), line, column) from error
    except yaml.YAMLError as error:
        raise NotReadable(say("manifest-errors.yaml-character"), 0, 0) from error


class _Resolved(dict[str, JSONScalar]):
    """Plain text → its value, each computed once: most keys and many values repeat."""

    def __missing__(self, text: str) -> JSONScalar:
        value = self[text] = resolve_plain(text)
        return value


def _scalar_event(event: yaml.ScalarEvent, plain: _Resolved, line: int, column: int) -> Event:
    text: str = event.value
    if event.implicit[0]:
        if text == "<<":
            return Event("merge", line, column)
        if event.tag is None or event.tag == "!":
            try:
                return Event("scalar", line, column, plain[text], event.anchor, text)
            except ValueError as error:
                raise NotReadable(str(error), line, column) from error
    return Event("scalar", line, column, _other_scalar(event, line, column), event.anchor, text)


def _other_scalar(event: yaml.ScalarEvent, line: int, column: int) -> JSONScalar:
    """Return the value of a scalar that is quoted or has a tag."""
    text: str = event.value
    if "\0" in text:
        raise NotReadable(say("manifest-errors.character-zero"), line, column)
    try:
        return text if event.tag is None or event.tag == "!" else resolve_tagged(event.tag, text)
    except ValueError as error:
        raise NotReadable(str(error), line, column) from error


def _map_event(event: yaml.MappingStartEvent, line: int, column: int) -> Event:
    if not core_tag(event.tag, "map"):
        raise NotReadable(say("manifest-errors.tag", tag=event.tag), line, column)
    return Event("map", line, column, None, event.anchor)


def _list_event(event: yaml.SequenceStartEvent, line: int, column: int) -> Event:
    if not core_tag(event.tag, "seq"):
        raise NotReadable(say("manifest-errors.tag", tag=event.tag), line, column)
    return Event("list", line, column, None, event.anchor)


_KNOWN_EVENTS: dict[type, Callable[[Any, int, int], Event]] = {
    yaml.MappingStartEvent: _map_event,
    yaml.SequenceStartEvent: _list_event,
    yaml.MappingEndEvent: lambda event, line, column: Event("end", line, column),
    yaml.SequenceEndEvent: lambda event, line, column: Event("end", line, column),
    yaml.AliasEvent: lambda event, line, column: Event("alias", line, column, None, event.anchor),
    yaml.DocumentStartEvent: lambda event, line, column: Event("document", line, column),
}
"""Parser event → its name here; the others do not affect data."""


_TOKEN = re.compile(
    r'(?P<space>[ \t\r\n]+)|(?P<mark>[{}\[\],:])|(?P<string>"(?:[^"\\\x00-\x1f]++|\\.)*+")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(?P<word>true|false|null)"
)
_WORDS = {"true": True, "false": False, "null": None}


def json_events(text: str) -> Iterator[Event]:
    """Yield the events of one or more JSON values. Raises NotReadable at the first invalid JSON."""
    expect = "value"
    stack: list[str] = []
    for kind, token, line, column in _tokens(text):
        if expect in ("value", "value-or-end") and (kind in ("string", "number", "word") or token in ("{", "[")):
            if not stack:
                yield Event("document", line, column)
            if token in ("{", "["):
                stack.append(token)
                yield Event("map" if token == "{" else "list", line, column)
                expect = "key-or-end" if token == "{" else "value-or-end"
                continue
            yield Event("scalar", line, column, _value(kind, token, line, column), None, token)
            expect = "comma-or-end" if stack else "value"
        elif expect in ("key", "key-or-end") and kind == "string":
            yield Event("scalar", line, column, _value(kind, token, line, column))
            expect = "colon"
        elif expect == "colon" and token == ":":
            expect = "value"
        elif expect == "comma-or-end" and token == ",":
            expect = "key" if stack[-1] == "{" else "value"
        elif _closes(token, stack, expect):
            stack.pop()
            yield Event("end", line, column)
            expect = "comma-or-end" if stack else "value"
        else:
            wanted = _wanted(expect, stack)
            raise NotJson(say("manifest-errors.unexpected", token=token, wanted=wanted), line, column)
    if stack or expect != "value":
        line = text.count("\n") + 1
        raise NotJson(say("manifest-errors.ends-too-early", wanted=_wanted(expect, stack)), line, 1)


def _tokens(text: str) -> Iterator[tuple[str, str, int, int]]:
    position, line, line_start, size = 0, 1, 0, len(text)
    while position < size:
        match = _TOKEN.match(text, position)
        column = position - line_start + 1
        if match is None:
            raise NotJson(say("manifest-errors.no-token", text=repr(text[position : position + 10])), line, column)
        token, kind = match[0], str(match.lastgroup)
        if kind != "space":
            yield kind, token, line, column
        elif "\n" in token:
            line += token.count("\n")
            line_start = position + token.rindex("\n") + 1
        position += len(token)


def _value(kind: str, token: str, line: int, column: int) -> str | int | float | bool | None:
    if kind == "word":
        return _WORDS[token]
    if kind == "string" and "\\" not in token:
        return token[1:-1]
    if kind == "string":
        try:
            text = str(json.loads(token))
        except ValueError as error:
            raise NotJson(say("manifest-errors.json-string", problem=error), line, column) from error
        if "\0" in text:
            raise NotReadable(say("manifest-errors.character-zero"), line, column)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if len(token) <= LONGEST_INTEGER and token.lstrip("-").isdigit():
        return int(token)
    number = float(token)
    if math.isinf(number):
        raise NotReadable(say("manifest-errors.number-too-large", number=token[:40]), line, column)
    return number


def _closes(token: str, stack: list[str], expect: str) -> bool:
    return bool(stack) and (stack[-1], token, expect) in {
        ("{", "}", "key-or-end"),
        ("{", "}", "comma-or-end"),
        ("[", "]", "value-or-end"),
        ("[", "]", "comma-or-end"),
    }


def _wanted(expect: str, stack: list[str]) -> str:
    if expect == "comma-or-end":
        expect = "comma-in-map" if stack[-1] == "{" else "comma-in-list"
    return say(f"json-expected.{expect}")
