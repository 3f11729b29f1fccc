"""Cut an expression into tokens. Source: upstream ``cel-go/parser/gen/CEL.g4``."""

from __future__ import annotations

import re
import sys
from typing import NamedTuple


class Problem(NamedTuple):
    """What is wrong with an expression, and where: an offset into its text."""

    at: int
    message: str


class CelSyntaxError(Exception):
    """An expression cannot be read. ``problems``: what is wrong with it, at least one."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.problems = [Problem(at, message)]


class Token(NamedTuple):
    """``kind``: ``ident``, ``int``, ``uint``, ``double``, ``string``, ``bytes``, ``end``, or the sign itself."""

    kind: str
    text: str
    at: int


_ESCAPED = r"\\(?:[abfnrtv\"'`?\\]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"
_ONE_LINE = rf"""\"(?:{_ESCAPED}|[^\"\\\n\r])*\"|'(?:{_ESCAPED}|[^'\\\n\r])*'"""
_PARTLY_ESCAPED = r"\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?"
_TOKEN = re.compile(
    rf"""
    (?P<space>[\t\r\n\f ]+|//[^\n]*)
  | (?P<bytes>[bB][rR]?(?:\"{{3}}[\s\S]*?\"{{3}}|'{{3}}[\s\S]*?'{{3}}|{_ONE_LINE}))
  | (?P<string>[rR](?:\"{{3}}[\s\S]*?\"{{3}}|'{{3}}[\s\S]*?'{{3}}|"[^"\n\r]*"|'[^'\n\r]*')
      |\"{{3}}(?:{_ESCAPED}|[^\\])*?\"{{3}}|'{{3}}(?:{_ESCAPED}|[^\\])*?'{{3}}|{_ONE_LINE})
  | (?P<double>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
  | (?P<uint>0x[0-9a-fA-F]+[uU]|\d+[uU])
  | (?P<int>0x[0-9a-fA-F]+|\d+)
  | (?P<ident>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<quoted>`[A-Za-z0-9_.\-/ ]+`)
  | (?P<sign>==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()\[\]{{}}])
    """,
    re.VERBOSE | re.ASCII,
)
_BEGUN = re.compile(
    rf"""[&|=]
  | (?P<quote>["'])(?:{_ESCAPED}|(?!(?P=quote))[^\\\n\r])*(?:{_PARTLY_ESCAPED})?
  | `[A-Za-z0-9_.\-/ ]*
    """,
    re.VERBOSE | re.ASCII,
)
"""The beginning of a token that has no valid end."""
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPE = re.compile(r"\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL)


def tokens(text: str) -> tuple[list[Token], list[Problem]]:
    """Return the tokens of an expression, ``end`` last, and what is no token. That is left out."""
    found, problems, at = list[Token](), list[Problem](), 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            end = _end_of_no_token(text, at)
            problems.append(Problem(at, f"Syntax error: token recognition error at: '{text[at:end]}'"))
            at = end
            continue
        kind = str(match.lastgroup)
        if kind != "space":
            found.append(Token(match[0] if kind == "sign" else kind, match[0], at))
        at = match.end()
    return [*found, Token("end", "<EOF>", at)], problems


def without_comments(text: str) -> str:
    """Return an expression with a space in place of each comment: in one line, a comment would swallow the rest."""
    parts, end = list[str](), 0
    for token in tokens(text)[0]:
        parts += [" "] * (token.at > end and token.kind != "end")
        parts += [token.text] * (token.kind != "end")
        end = token.at + len(token.text)
    return "".join(parts)


def _end_of_no_token(text: str, at: int) -> int:
    """Return where the first sign is passed with which no token can continue."""
    match = _BEGUN.match(text, at)
    return min(len(text), (at if match is None else match.end()) + 1)


def string_value(token: Token) -> str:
    """Return the text that a literal stands for. Raises CelSyntaxError for what is no character."""
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
    return _ESCAPES.get(match[5], match[5])
