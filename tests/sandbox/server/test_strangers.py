"""Whatever a stranger sends, a real server answers, continues, and logs nothing that opens a sandbox."""

from __future__ import annotations

import json
import re
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pytest

from tests.sandbox.served import Served, served, to_the_end

FORM = "Content-Type: application/x-www-form-urlencoded"
PARTS = "Content-Type: multipart/form-data; boundary=B"
USUAL = {"host": "Host: localhost", "connection": "Connection: close"}
UPGRADE = (
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)
OURS = (*UPGRADE, "Origin: http://localhost")


@dataclass
class Site:
    """A server with one sandbox, whose path is ``base``."""

    served: Served
    base: str
    heard: int = 0
    """Length in bytes of the checked part of its log."""

    @property
    def token(self) -> str:
        return self.base.rstrip("/").rpartition("/")[2]

    def send(self, data: bytes) -> bytes:
        """Return the answer to ``data``, until the server closes the line, perhaps before it has read all."""
        with self.served.connect() as line:
            try:
                line.sendall(data)
            except ConnectionError:
                return b""
            return to_the_end(line)

    def log(self) -> str:
        """Return the new part of the log."""
        new = (self.served.directory / "log").read_bytes()[self.heard :]
        self.heard += len(new)
        return new.decode(errors="replace")

    def ask(self, start: str, headers: Sequence[str] = (), body: bytes = b"") -> bytes:
        """Return the answer to a request with the first line ``start``. Required headers are filled in."""
        lines = [self.fill_in(header) for header in headers]
        text = "".join(header.lower() for header in lines)
        lines += [line for name, line in USUAL.items() if name not in text]
        if "content-length" not in text and "transfer-encoding" not in text:
            lines.append(f"Content-Length: {len(body)}")
        start = self.fill_in(start) + ("" if " HTTP/" in start else " HTTP/1.1")
        return self.send("\r\n".join([start, *lines, "", ""]).encode("latin-1") + body)

    def fill_in(self, text: str) -> str:
        """Replace ``{base}``, ``{upper}``, ``{coded}`` by the sandbox's path; ``{bare}`` has no last slash."""
        known = {"base": self.base, "token": self.token, "upper": self.base.upper(), "bare": self.base.rstrip("/")}
        known["coded"] = re.sub("[^/]", lambda letter: f"%{ord(letter[0]):02X}", self.base)
        for name, value in known.items():
            text = text.replace("{" + name + "}", value)
        return text


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with served(tmp_path_factory.mktemp("site")) as server:
        yield Site(server, server.sandbox())


@pytest.fixture(autouse=True)
def calm(site: Site) -> Iterator[None]:
    """Check after each test: no traceback and no token in the log, and the server still answers."""
    yield
    said_well(site)


def said_well(site: Site) -> None:
    said = site.log()
    assert "Traceback" not in said
    assert site.token not in said


def statuses(answer: bytes) -> list[int]:
    """Return the status of each answer in the bytes."""
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] ([0-9]{3}) ", answer)]


def post(site: Site, path: str, kind: str, body: bytes) -> int:
    (status,) = statuses(site.ask(f"POST {path}", [kind], body))
    return status


def part(disposition: str, *headers: str, body: bytes = b"x") -> bytes:
    """Return a multipart body of one part."""
    lines = ["--B", f"Content-Disposition: {disposition}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body + b"\r\n--B--\r\n"


CHARSETS = (
    *("hex", "idna", "rot13", "zlib", "bz2", "base64", "uu", "quopri", "unicode_escape", "punycode", "undefined"),
    *("utf-16", "utf-7", "none-such", "%00", "\xff", "x" * 300),
)
FIELD, FILE = 'form-data; name="manifests"', 'form-data; name="file"; filename="a"'

NAMED: dict[str, Callable[[str], tuple[str, bytes]]] = {
    "of a form": lambda name: (f"{FORM}; charset={name}", b"manifests=x"),
    "of parts": lambda name: (f"{PARTS}; charset={name}", part(FIELD)),
    "of a file": lambda name: (PARTS, part(FILE, f"Content-Type: a/b; charset={name}")),
    "of a file's name": lambda name: (PARTS, part(f"{FILE}; filename*={name}''%ff")),
    "of a field's name": lambda name: (PARTS, part(f"form-data; name*={name}''a")),
    "in which a part is packed": lambda name: (PARTS, part(FIELD, f"Content-Transfer-Encoding: {name}")),
}


@pytest.mark.parametrize(
    "make_request", [pytest.param(make_request, id=words) for words, make_request in NAMED.items()]
)
def test_the_charset_may_be_anything(site: Site, make_request: Callable[[str], tuple[str, bytes]]) -> None:
    answered = {name: post(site, "{base}apply/", *make_request(name)) for name in CHARSETS}
    assert {name: status for name, status in answered.items() if status >= 500} == {}


BODIES = {
    "parts without a boundary": ("Content-Type: multipart/form-data", part(FIELD)),
    "parts with a boundary of 500 letters": (f"{PARTS}{'x' * 500}", part(FIELD)),
    "parts with a boundary in hex": ("Content-Type: multipart/form-data; boundary*=hex''B", part(FIELD)),
    "a part without a name": (PARTS, part("form-data")),
    "a part with a header of 2,000 letters": (PARTS, part(FIELD, "A" * 2000 + ": b")),
    "a part that is not base64": (PARTS, part(FIELD, "Content-Transfer-Encoding: base64", body=b"!")),
    "parts that never end": (PARTS, b"--B\r\n\r\n"),
    "a file with NUL in its name": (PARTS, part('form-data; name="file"; filename="\0"')),
    "bytes that are not UTF-8": (FORM, b"manifests=%ff%fe&who=\xff"),
    "NUL in every field": (FORM, b"manifests=%00&who=%00"),
    "half a surrogate pair": (FORM, b"manifests=%ed%a0%80&who=%ed%a0%80"),
    "half a surrogate pair, as YAML writes it": (FORM, b'manifests=a:+"%5Cud800"'),
    "5,000 fields": (FORM, b"a=1&" * 5000),
    "100,000 brackets": (FORM, b"manifests=" + b"[" * 100_000),
    "JSON that is 4,000 deep": (FORM, b"manifests={%22a%22:" + b"[" * 4000 + b"]" * 4000 + b"}"),
    "YAML that is 4,000 deep": (FORM, b"manifests=" + b"-+" * 4000),
    "a number of 5,000 digits": (FORM, b"manifests=a:+" + b"9" * 5000),
    "an invalid type": ("Content-Type: ;", b"a=b"),
    "a type in hex": ("Content-Type: text/plain; charset*=hex''x", b"a=b"),
    "JSON where a form is expected": ("Content-Type: application/json; charset=hex", b"{}"),
}


@pytest.mark.parametrize(("kind", "body"), [pytest.param(*case, id=words) for words, case in BODIES.items()])
def test_a_body_may_be_anything(site: Site, kind: str, body: bytes) -> None:
    answered = {path: post(site, path, kind, body) for path in ("{base}apply/", "{base}", "/new/")}
    assert {path: status for path, status in answered.items() if status >= 500} == {}


HEADERS = {
    **{
        f"a Content-Length of {value!r}": f"Content-Length: {value}"
        for value in ("junk", "-1", "+5", "1_000", "", "0x1", "1e3")
    },
    "a Content-Length in Arabic digits": "Content-Length: \xd9\xa3",
    "two lengths": "Content-Length: 3\r\nContent-Length: 4",
    "a length and chunks": "Content-Length: 3\r\nTransfer-Encoding: chunked",
    "chunks of no length": "Transfer-Encoding: chunked",
    "an unknown Transfer-Encoding": "Transfer-Encoding: rot13",
    "an unknown expectation": "Expect: junk",
    "ranges of no number": "Range: bytes=a-\xb2",
    "a range that is upside down": "Range: bytes=5-1",
    "an invalid date": "If-Modified-Since: Sat, 99 Feb 99999 99:99:99 GMT",
    "an ETag that never ends": 'If-None-Match: W/"x',
    "encodings of no quality": "Accept-Encoding: gzip;q=nan, \xff;q=1e400",
    "3,000 languages": f"Accept-Language: {'a,' * 3000}",
    "cookies of junk": 'Cookie: \xff=\xff; ;;=; a="\\377"; csrftoken=\xff',
    "junk about proxies": "X-Forwarded-For: junk,,[::\r\nX-Forwarded-Proto: \xff\r\nForwarded: for=\xff",
    "a page that htmx cannot be on": "HX-Request: true\r\nHX-Current-URL: http://[",
    "a token as referrer": "Referer: http://localhost{base}",
    "a custom root path": "Daphne-Root-Path: /evil",
    "a root path of no letters": "Daphne-Root-Path: \xff",
    "a folded header": "A: b\r\n c",
    "a header without a colon": "novalue",
    "a header with NUL": "A: b\0c",
    "an upgrade to HTTP/2": "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk",
    "an upgrade without a key": "Upgrade: websocket\r\nConnection: Upgrade",
}


@pytest.mark.parametrize("header", [pytest.param(header, id=words) for words, header in HEADERS.items()])
def test_a_header_may_be_anything(site: Site, header: str) -> None:
    script = "GET " + re.search(r'src="(/static/js/[^"]+)"', site.served.ask("GET", "/")[1])[1]  # type: ignore[index]
    starts = ("GET {base}panel/status/", "POST {base}do/settle/", script, "GET /")
    answered = {start: statuses(site.ask(start, [header], b"a=b\r\n")) for start in starts}
    assert {start: codes for start, codes in answered.items() if not codes or max(codes) >= 500} == {}


LINES = {
    **{
        f"the method {name[:10]!r}": f"{name} {{base}}"
        for name in ("PROPFIND", "get", "post", "TRACE", "\xff", "A" * 3000)
    },
    **{
        f"the version {value!r}": f"GET / {value}"
        for value in ("HTTP/0.9", "HTTP/1.0", "HTTP/2.0", "HTTP/x", "HTTP/1.1 x")
    },
    "a token without its last slash": "GET {bare}",
    "a token without its last slash, to change something": "POST {base}do/stage",
    "a token in capital letters": "GET {upper}",
    "a token that is percent-encoded": "GET {coded}nowhere/",
    "a token after two slashes": "GET //s/{base}",
    "a token in a query": "GET /nowhere/?next={base}",
    "a token in an absolute address": "GET http://elsewhere{base}nowhere/",
    "a token with a line break": "GET {base}%0d%0aX:%20y",
    "NUL in the path": "GET {base}%00",
    "NUL in a panel's name": "GET {base}panel/%00/",
    "a path that is not UTF-8": "GET {base}%ff/%ed%a0%80/",
    "a path of 12,000 letters": f"GET /{'%41' * 4000}",
    "a path that leads out": "GET /static/../../etc/passwd",
    "a query of 3,000 fields": f"GET {{base}}?{'a=b&' * 3000}",
    "a view of NUL": "GET {base}?pod=%00&tab=%00&cycle=%00&pages=%00",
    "a view of no numbers": "GET {base}?pages=filter:1e400&cycle=%D9%A1&group=nan",
    "a view far away": "GET {base}?pages=filter:999999999&cycle=999999999&pod=%ed%a0%80&replica=%ff",
    "a key of NUL": "GET {base}yaml/Pod/?key=%00",
    "two invalid addresses": "GET /compare/?left=//[&right=%00",
}


@pytest.mark.parametrize("start", [pytest.param(start, id=words) for words, start in LINES.items()])
def test_an_address_may_be_anything(site: Site, start: str) -> None:
    assert [status for status in statuses(site.ask(start)) if status >= 500] == []


RAW = {
    "nothing but NUL": b"\0" * 100 + b"\r\n\r\n",
    "a greeting of TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "a greeting of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "one line of 100,000 letters": b"A" * 100_000,
    "2,000 headers": b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 2000 + b"\r\n",
    "a chunk of a negative length": b"POST /new/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
}


@pytest.mark.parametrize("data", [pytest.param(data, id=words) for words, data in RAW.items()])
def test_an_invalid_request_is_refused(site: Site, data: bytes) -> None:
    assert [status for status in statuses(site.send(data)) if status not in (400, 431)] == []


@pytest.mark.parametrize(
    "host",
    ["evil", "", "a b", "[::1", "localhost:x", "\xff", "a" * 5000, "<script>", "localhost,evil"],
    ids=lambda host: repr(host)[:20],
)
def test_a_foreign_host_gets_a_page_and_the_log_one_line(site: Site, host: str) -> None:
    site.log()
    answer = site.ask("GET {base}", [f"Host: {host}"])
    assert statuses(answer) == [400]
    assert len(site.log().splitlines()) <= 1
    if host == "evil":
        assert b"This server does not serve this host name" in answer
        assert b"no-store" in answer


SOCKETS = {
    **{
        f"the path {path!r}": (f"GET {path}", OURS)
        for path in ("/ws/x", "/ws{bare}", "/ws{upper}", "/ws//{base}", "/", "{base}")
    },
    "a path with NUL": ("GET /ws{base}%00", OURS),
    "a path that is percent-encoded, and not there": ("GET /ws{coded}x", OURS),
    "a path of 5,000 letters": (f"GET /{'a' * 5000}", OURS),
    "a custom root path": ("GET /ws{bare}", (*OURS, "Daphne-Root-Path: /ws{bare}")),
    **{
        f"the origin {origin!r}": ("GET /ws{base}", (*UPGRADE, f"Origin: {origin}"))
        for origin in (
            "",
            "http://[",
            "http://localhost:99999",
            "http://localhost:x",
            "\xff",
            "http://evil",
            "://",
        )
    },
    "no origin": ("GET /ws{base}", UPGRADE),
    "an unknown version": ("GET /ws{base}", (*OURS, "Sec-WebSocket-Version: 99")),
    "extensions of junk": ("GET /ws{bare}", (*OURS, "Sec-WebSocket-Extensions: permessage-deflate; x=\xff")),
    "protocols of no letters": ("GET /ws{base}", (*OURS, "Sec-WebSocket-Protocol: \xff")),
    "a POST": ("POST /ws{base}", OURS),
}


@pytest.mark.parametrize(("start", "headers"), [pytest.param(*case, id=words) for words, case in SOCKETS.items()])
def test_a_socket_to_anywhere_is_refused(site: Site, start: str, headers: Sequence[str]) -> None:
    (status,) = statuses(site.ask(start, headers))
    assert 400 <= status < 500


def frame(kind: int, data: bytes, length: int | None = None, flags: int = 0x80) -> bytes:
    """Return a masked websocket frame. ``length`` overrides its declared length."""
    size = len(data) if length is None else length
    length_field = bytes([0x80 | size]) if size < 126 else b"\xff" + struct.pack(">Q", size)
    return bytes([flags | kind]) + length_field + bytes(4) + data


def look(**view: object) -> bytes:
    return frame(1, json.dumps(view).encode())


TEXT, BINARY, CLOSE = 1, 2, 8
DEEP = b"[" * 4000 + b"]" * 4000
FRAMES = {
    "JSON that is 4,000 deep": frame(TEXT, DEEP),
    "a page that is 3,000 deep": frame(TEXT, b'{"open": "status", "pages": ' + DEEP[1000:7000] + b"}"),
    "open panels that are 3,000 deep": frame(TEXT, b'{"open": ' + DEEP[1000:7000] + b"}"),
    "half a surrogate pair": look(open="inspector status filter", pod="\ud800", node="\udfff", plugin="\ud800"),
    "NUL": look(open="inspector status filter", pod="a\0b", node="\0"),
    "a number of 5,000 digits": frame(TEXT, b'{"open": "status", "pages": ' + b"9" * 5000 + b"}"),
    "invalid numbers": frame(TEXT, b'{"open": "status filter", "pages": NaN, "cycle": -Infinity}'),
    "values of other types": look(open=["status"], pages=True, cycle=None, tab=[], pod={}, follow={}),
    "a binary frame": frame(BINARY, b"\x00\xff"),
    "bytes that are not UTF-8": frame(TEXT, b"\xff\xfe"),
    "a frame of 2 MB": frame(TEXT, b"x" * 2_000_000),
    "a frame that claims 4 exabytes": frame(TEXT, b"x", length=2**62),
    "reserved bits": frame(TEXT, b"{}", flags=0xF0),
    "an unknown kind of frame": frame(5, b""),
    "the end of a message without its start": frame(0, b"x"),
    "an unknown close code": frame(CLOSE, struct.pack(">H", 99)),
    "a close reason that is not UTF-8": frame(CLOSE, struct.pack(">H", 1000) + b"\xff"),
    "junk": bytes(range(256)) * 20,
}


def test_a_socket_with_any_input_ends_calmly_or_continues(site: Site) -> None:
    for data in FRAMES.values():
        with site.served.connect() as line:
            line.sendall(
                "\r\n".join([site.fill_in("GET /ws{base} HTTP/1.1"), "Host: localhost", *OURS, "", ""]).encode()
            )
            assert statuses(line.recv(4096)) == [101]
            # The closing frame ends the conversation, so the server closes after it has handled everything.
            line.sendall(data + frame(CLOSE, struct.pack(">H", 1000)))
            to_the_end(line)
    # Daphne checks once a second for failed applications.
    time.sleep(2.5)
    said_well(site)
