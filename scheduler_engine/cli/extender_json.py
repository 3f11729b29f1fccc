"""Decode JSON, with the errors of Go's decoder, which kube-scheduler shows for an extender's answer.

Source: Go's package ``encoding/json`` (scanner.go).
"""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder
from typing import Any, NoReturn

LITERALS = ("true", "false", "null")
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
AFTER = {
    "Expecting property name": "looking for beginning of object key string",
    "Expecting ':'": "after object key",
    "Invalid control": "in string literal",
    "Invalid \\escape": "in string escape code",
    "Invalid \\u": "in \\u hexadecimal character escape",
}
"""The beginning of Python's message → what Go says about the character there."""


def decode(body: bytes) -> Any:
    """Return the first JSON value in ``body``; as in Go, what follows it is ignored. Raises ValueError."""
    text = body.decode(errors="replace").lstrip(" \t\r\n")
    if not text:
        raise ValueError("EOF")
    try:
        return JSONDecoder(parse_constant=_not_a_number).raw_decode(text)[0]
    except JSONDecodeError as problem:
        raise ValueError(_in_go(problem)) from problem
    except RecursionError as problem:
        raise ValueError("exceeded max depth") from problem


def _not_a_number(name: str) -> NoReturn:
    raise ValueError(f"invalid character '{name.lstrip('-')[0]}' looking for beginning of value")


def _in_go(problem: JSONDecodeError) -> str:
    rest = problem.doc[problem.pos :].lstrip(" \t\r\n")
    if not rest or problem.msg.startswith("Unterminated"):
        return "unexpected EOF"
    if problem.msg.startswith("Expecting value"):
        return _no_value(rest)
    if problem.msg.startswith("Expecting ','"):
        what = "object key:value pair" if _inside(problem.doc[: problem.pos]) == "{" else "array element"
        return f"invalid character {rest[0]!r} after {what}"
    where = next((text for start, text in AFTER.items() if problem.msg.startswith(start)), "")
    return f"invalid character {rest[0]!r} {where}" if where else problem.msg


def _no_value(rest: str) -> str:
    for literal in LITERALS:
        if rest[0] == literal[0]:
            place = next(index for index, char in enumerate(literal) if rest[index : index + 1] != char)
            if place >= len(rest):
                return "unexpected EOF"
            return f"invalid character {rest[place]!r} in literal {literal} (expecting {literal[place]!r})"
    return f"invalid character {rest[0]!r} looking for beginning of value"


def _inside(text: str) -> str:
    """Return the bracket in which ``text`` ends."""
    opened: list[str] = []
    for char in STRING.sub("", text):
        if char in "{[":
            opened.append(char)
        elif char in "}]":
            opened.pop()
    return opened[-1]
