"""Cut an expression into tokens. Source: upstream ``cel-go/parser/gen/CEL.g4``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import NamedTuple


class Problem(NamedTuple):
    """What is wrong with an expression, and where: an offset into its text."""

    at: int
    message: str


class CelSyntaxError(Exception):
    """Holds one ``Problem``."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(at, message)


class Token(NamedTuple):
    """``kind``: ``ident``, ``int``, ``uint``, ``double``, ``string``, ``bytes``, ``end``, or the sign itself."""

    kind: str
    text: str
    at: int


_TOKEN = re.compile(
    r"""
    (?P<space>[\t\r\n\f ]+|//[^\n]*)
  | (?P<bytes>[bB][rR]?(?:\"{3}[\s\S]*?\"{3}|'{3}[\s\S]*?'{3}|"(?:\\.|[^"\\\n\r])*"|'(?:\\.|[^'\\\n\r])*'))
  | (?P<string>[rR](?:\"{3}[\s\S]*?\"{3}|'{3}[\s\S]*?'{3}|"[^"\n\r]*"|'[^'\n\r]*')
      |\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n\r])*"|'(?:\\.|[^'\\\n\r])*')
  | (?P<double>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
  | (?P<uint>0x[0-9a-fA-F]+[uU]|\d+[uU])
  | (?P<int>0x[0-9a-fA-F]+|\d+)
  | (?P<ident>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<quoted>`[A-Za-z0-9_.\-/ ]+`)
  | (?P<sign>==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()\[\]{}])
    """,
    re.VERBOSE | re.ASCII,
)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPE = re.compile(r"\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL)


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of an expression, ``end`` last. Raises CelSyntaxError for a sign that begins none."""
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            shown = text[at] if text[at] not in "\"'`" else text[at:]
            raise CelSyntaxError(at, f"Syntax error: token recognition error at: '{shown}'")
        kind = str(match.lastgroup)
        if kind != "space":
            yield Token(match[0] if kind == "sign" else kind, match[0], at)
        at = match.end()
    yield Token("end", "<EOF>", at)


def string_value(token: Token) -> str:
    """Return the text that a literal stands for. Raises CelSyntaxError for an invalid escape."""
    raw, body = _body(token.text)
    return body if raw else _ESCAPE.sub(lambda match: _character(match, token), body)


def bytes_value(token: Token) -> bytes:
    """Like ``string_value``; ``\\x41`` and ``\\101`` stand for single bytes."""
    raw, body = _body(token.text[1:])
    if raw:
        return body.encode()
    parts, at = [], 0
    for match in _ESCAPE.finditer(body):
        parts.append(body[at : match.start()].encode())
        if match[2] or match[3]:
            raise CelSyntaxError(token.at, "unable to unescape string")
        digits = int(match[1], 16) if match[1] else int(match[4], 8) if match[4] else None
        parts.append(_character(match, token).encode() if digits is None else bytes([digits]))
        at = match.end()
    return b"".join([*parts, body[at:].encode()])


def _body(text: str) -> tuple[bool, str]:
    raw = text[0] in "rR"
    text = text[1:] if raw else text
    long = text[:3] in ('"""', "'''")
    return raw, text[3:-3] if long else text[1:-1]


def _code_point(number: int, token: Token) -> str:
    if number > sys.maxunicode or 0xD800 <= number < 0xE000:
        raise CelSyntaxError(token.at, "invalid unicode code point")
    return chr(number)


def _character(match: re.Match[str], token: Token) -> str:
    for number, base in ((match[1], 16), (match[2], 16), (match[3], 16), (match[4], 8)):
        if number:
            return _code_point(int(number, base), token)
    sign = match[5]
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    if sign in "\\\"'`?":
        return sign
    raise CelSyntaxError(token.at, f"Syntax error: token recognition error at: '{token.text}'")
