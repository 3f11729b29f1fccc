"""URLs. Source: upstream ``apiserver/pkg/cel/library/urls.go``, Go's ``net/url``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from scheduler_engine.api.cel.typed import typed
from scheduler_engine.api.cel.values import CelError
from scheduler_engine.api.go_text import quoted

_ESCAPE = re.compile("%(.?.?)", re.DOTALL)
_HEX = re.compile("[0-9a-fA-F]{2}", re.ASCII)
_SCHEME = re.compile(r"[a-zA-Z][-+.a-zA-Z0-9]*", re.ASCII)
_PORT = re.compile(":[0-9]*", re.ASCII)
_BEFORE_HOST = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
UNRESERVED = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~")
IN_PATH = UNRESERVED | frozenset(b"$&+,/:;=@")
"""The bytes that a path holds as they are."""
WRITTEN_IN_PATH = IN_PATH | frozenset(b"!'()*[]")
IN_HOST = UNRESERVED | frozenset(b"!$&'()*+,;=:[]<>\"")
IN_USER = UNRESERVED | frozenset(b"$&+,;=")


@dataclass(frozen=True, slots=True, eq=False)
class Url:
    """``path`` is unescaped, ``written_path`` as in the text. ``tail``: query and fragment, as Go writes them.
    ``names_host``: a host was written, even an empty one, as in ``file:///x``.
    """

    type_name: ClassVar[str] = "kubernetes.URL"

    scheme: str
    user: str
    host: str
    path: bytes
    written_path: str
    opaque: str = ""
    query: str = ""
    tail: str = ""
    names_host: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Url) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        scheme = f"{self.scheme}:" if self.scheme else ""
        if self.opaque:
            return f"{scheme}{self.opaque}{self.tail}"
        path = self.escaped_path
        named = self.user or self.host or (scheme and self.names_host and self.path)
        slashes = "//" if named or self.path.startswith(b"//") else ""
        start = f"{slashes}{self.user}{_escaped(self.host.encode('utf-8', 'surrogateescape'), IN_HOST)}"
        between = "/" if path and not path.startswith("/") and self.host else ""
        return f"{scheme}{start}{between}{path}{self.tail}"

    @property
    def escaped_path(self) -> str:
        if self.written_path and _kept_as_written(self.written_path):
            return self.written_path
        return "*" if self.path == b"*" else _escaped(self.path, IN_PATH)

    @property
    def hostname(self) -> str:
        return _parts_of_host(self.host)[0]

    @property
    def port(self) -> str:
        return _parts_of_host(self.host)[1]


def _escaped(raw: bytes, kept: frozenset[int]) -> str:
    return "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in raw)


def _kept_as_written(path: str) -> bool:
    """Return True for a path in which every byte is escaped or needs no escape."""
    return all(byte in WRITTEN_IN_PATH or byte == ord("%") for byte in path.encode())


def _parts_of_host(host: str) -> tuple[str, str]:
    before, colon, port = host.rpartition(":")
    if not colon or not _PORT.fullmatch(colon + port):
        before, port = host, ""
    inner = before[1:-1] if before.startswith("[") and before.endswith("]") else before
    return inner, port


def _unescaped(text: str, plus: bool = False, host: bool = False) -> bytes:
    """Return the bytes that a text stands for. Raises ValueError."""
    for found in _ESCAPE.finditer(text):
        code = found[1]
        if not _HEX.fullmatch(code):
            raise ValueError(f"invalid URL escape {quoted(found[0])}")
        if host and int(code[0], 16) < 8 and code != "25":
            raise ValueError(f"invalid URL escape {quoted(found[0])}")
    if host:
        for sign in text:
            if sign.isascii() and sign != "%" and ord(sign) not in IN_HOST:
                raise ValueError(f"invalid character {quoted(sign)} in host name")
    parts = re.split("%(..)", text.replace("+", " ") if plus else text, flags=re.DOTALL)
    return b"".join(bytes.fromhex(part) if place % 2 else part.encode() for place, part in enumerate(parts))


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _cut_scheme(text: str) -> tuple[str, str]:
    """Return scheme and rest. Raises ValueError."""
    before, colon, after = text.partition(":")
    if colon and not before:
        raise ValueError("missing protocol scheme")
    return (before.lower(), after) if colon and _SCHEME.fullmatch(before) else ("", text)


def _host(text: str) -> str:
    """Return a host. Raises ValueError."""
    if text.startswith("["):
        end = text.rfind("]")
        if end < 0:
            raise ValueError("missing ']' in host")
        port = text[end + 1 :]
        if port and not _PORT.fullmatch(port):
            raise ValueError(f"invalid port {quoted(port)} after host")
        address, percent, zone = text[:end].partition("%25")
        return _decoded(_unescaped(address, host=True) + _zone(percent + zone) + _unescaped(text[end:], host=True))
    before, colon, _ = text.rpartition(":")
    if colon and not _PORT.fullmatch(text[len(before) :]):
        raise ValueError(f"invalid port {quoted(text[len(before) :])} after host")
    return _decoded(_unescaped(text, host=True))


def _zone(text: str) -> bytes:
    """Return the bytes of the zone of an address, which may hold more escapes. Raises ValueError."""
    for found in _ESCAPE.finditer(text):
        if not _HEX.fullmatch(found[1]) or (found[1] != "25" and int(found[1], 16) not in IN_HOST | {ord(" ")}):
            raise ValueError(f"invalid URL escape {quoted(found[0])}")
    return _unescaped(text)


def _user(text: str) -> str:
    """Return name and password as Go writes them, with ``@``. Raises ValueError."""
    if not _BEFORE_HOST.fullmatch(text):
        raise ValueError("net/url: invalid userinfo")
    name, colon, password = text.partition(":")
    return f"{_escaped(_unescaped(name), IN_USER)}{colon}{_escaped(_unescaped(password), IN_USER)}@"


def _parsed(text: str, via_request: bool) -> Url:
    """Return a URL. ``via_request``: it must be absolute, and has no fragment. Raises ValueError."""
    rest, hash_sign, fragment = (text, "", "") if via_request else text.partition("#")
    if any(sign < " " or sign == "\x7f" for sign in rest):
        raise ValueError("net/url: invalid control character in URL")
    if not rest and via_request:
        raise ValueError("empty url")
    if rest == "*":
        return Url("", "", "", b"*", "")
    scheme, rest = _cut_scheme(rest)
    rest, question, query = rest.partition("?")
    tail = question + query
    if hash_sign and fragment:
        tail += f"#{_escaped(_unescaped(fragment), WRITTEN_IN_PATH | frozenset(b'?'))}"
    if not rest.startswith("/"):
        if scheme:
            return Url(scheme, "", "", b"", "", rest, query, tail)
        if via_request:
            raise ValueError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise ValueError("first path segment in URL cannot contain colon")
    user = host = ""
    names_host = rest.startswith("//") and (bool(scheme) or (not via_request and not rest.startswith("///")))
    if names_host:
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        before, at, after = authority.rpartition("@")
        host = _host(after)
        user = _user(before) if at else ""
    return Url(scheme, user, host, _unescaped(rest), rest, "", query, tail, names_host)


def parse_request(text: str) -> Url:
    """Return an absolute URL or path. Raises ValueError with Go's text."""
    try:
        return _parsed(text, via_request=True)
    except ValueError as problem:
        raise ValueError(f"parse {quoted(text)}: {problem}") from None


@typed("url", str)
def url(text: str) -> Url:
    try:
        parse_request(text)
        before = text.partition("#")[0]
        try:
            return _parsed(text, via_request=False)
        except ValueError as problem:
            raise ValueError(f"parse {quoted(before)}: {problem}") from None
    except ValueError as problem:
        raise CelError(f"URL parse error during conversion from string: {problem}") from None


def query_of(address: Any) -> dict[str, list[str]]:
    """Return the values of each key in a query. Pairs with a semicolon or an invalid escape are left out."""
    found: dict[str, list[str]] = {}
    for pair in address.query.split("&"):
        if not pair or ";" in pair:
            continue
        key, _, value = pair.partition("=")
        try:
            name, held = _unescaped(key, plus=True), _unescaped(value, plus=True)
        except ValueError:
            continue
        found.setdefault(_decoded(name), []).append(_decoded(held))
    return found
