"""HTTP and the live line over plain sockets, from any loopback address, for hundreds of clients in one process."""

from __future__ import annotations

import asyncio
import json
import os
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any
from urllib.parse import urlencode

from sandbox.panels import PANELS

BROKEN = (OSError, EOFError, asyncio.LimitOverrunError)
"""Exceptions of a connection that the other side cuts off, or that takes too long."""
ALWAYS = "toolbar ribbon sentence queues bindings faults cluster inspector timeline status"
LARGEST = 1 << 24
AGAIN = (202, 409, 502, 503, 504)
"""Statuses after which a page asks again."""
OPENING_SECONDS = 300
TEXT, CLOSE, PING, PONG = 0x81, 0x88, 0x89, 0x8A
EVENTS = "text/event-stream"
PANEL = re.compile(r'(?=<section id="panel-([a-z]+)")')


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer. Header names are lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")


class Connection:
    """One client's HTTP connection, opened when needed. A request is never sent twice."""

    def __init__(self, port: int, address: str = "127.0.0.1", timeout: float = 60) -> None:
        self.port, self.address, self.timeout = port, address, timeout
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str) -> Answer:
        return await self.ask("GET", path)

    async def post(self, path: str, **fields: str) -> Answer:
        form = {"Content-Type": "application/x-www-form-urlencoded", "HX-Request": "true"}
        return await self.ask("POST", path, urlencode(fields).encode(), form)

    async def ask(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Answer:
        """Send a request. Raise one of ``BROKEN``."""
        try:
            async with asyncio.timeout(self.timeout):
                if self.streams is None or self.streams[0].at_eof():
                    self.close()
                    self.streams = await opened(self.port, self.address)
                reader, writer = self.streams
                writer.write(head(method, path, self.port, {**(headers or {}), "Content-Length": str(len(body))}))
                writer.write(body)
                await writer.drain()
                answer = await read_answer(reader, bodiless=method == "HEAD")
        except BaseException:
            self.close()
            raise
        if answer.headers.get("connection", "").lower() == "close":
            self.close()
        return answer

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].transport.abort()
            self.streams = None


async def opened(port: int, address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0), limit=LARGEST)


def head(method: str, path: str, port: int, headers: dict[str, str]) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *(f"{name}: {headers[name]}" for name in headers)]
    return "\r\n".join([*lines, "", ""]).encode()


async def read_answer(reader: asyncio.StreamReader, bodiless: bool = False) -> Answer:
    """Read an answer. ``bodiless``: the request was HEAD, so the length is that of an answer to GET."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    if first.split()[1] == "100":
        return await read_answer(reader, bodiless)
    named = [line.partition(":") for line in lines if line]
    headers = {name.lower(): value.strip() for name, _, value in named}
    if bodiless:
        body = b""
    elif headers.get("content-type", "").startswith(EVENTS):
        # It never ends by itself: leave after the beginning.
        body, headers["connection"] = await _chunk(reader), "close"
    elif headers.get("transfer-encoding") == "chunked":
        body = await _chunks(reader)
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Answer(int(first.split()[1]), headers, body)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    parts = []
    while part := await _chunk(reader):
        parts.append(part)
    return b"".join(parts)


async def _chunk(reader: asyncio.StreamReader) -> bytes:
    """Read the next chunk, with the line end after it. Empty: it is the last one."""
    part = await reader.readexactly(int((await reader.readuntil(b"\r\n")).split(b";")[0], 16))
    await reader.readexactly(2)
    return part


class Line:
    """A live line: what the page at ``base`` shows, by panel. ``async with Line(…) as line`` opens and reads it."""

    def __init__(self, port: int, base: str, address: str = "127.0.0.1") -> None:
        self.port, self.base, self.address = port, base, address
        self.panels: dict[str, str] = {}
        self.received = self.reconnects = 0
        self.news = asyncio.Event()
        """Set by every status panel that arrives."""
        self.closed = False

    async def __aenter__(self) -> Line:
        await self.open()
        self.reading = asyncio.create_task(self._follow())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closed = True
        self.reading.cancel()
        await asyncio.wait([self.reading])
        self.writer.transport.abort()

    async def open(self, *, says: bool = True) -> None:
        """Connect, and send the view: as a page whose tab follows the stage. Raise one of ``BROKEN``."""
        async with asyncio.timeout(60):
            self.reader, self.writer = await opened(self.port, self.address)
            try:
                self.writer.write(head("GET", f"/ws{self.base}", self.port, upgrade(self.port)))
                answer = await self.reader.readuntil(b"\r\n\r\n")
                if b" 101 " not in answer.split(b"\r\n")[0]:
                    raise ConnectionRefusedError(answer.split(b"\r\n")[0].decode("latin-1"))
            except BaseException:
                self.writer.transport.abort()
                raise
        if says:
            self.say({"open": ALWAYS, "follow": True})

    def say(self, message: dict[str, Any]) -> None:
        self.send(TEXT, json.dumps(message).encode())

    def send(self, kind: int, payload: bytes) -> None:
        self.writer.write(frame(kind, payload))

    async def _follow(self) -> None:
        """Read as long as the line is wanted. Reopen it when it is cut, as the page does."""
        while not self.closed:
            try:
                while True:
                    self._take(await self.read())
            except BROKEN:
                self.writer.transport.abort()
                self.reconnects += 1
            while not self.closed:
                await asyncio.sleep(0.5)
                try:
                    await self.open()
                    break
                except BROKEN:
                    continue

    def _take(self, message: str) -> None:
        self.received += len(message)
        self.panels |= panels(message)
        if "panel-status" in message:
            self.news.set()

    async def read(self) -> str:
        """Return the next message. Raise one of ``BROKEN``."""
        while True:
            kind, payload = await read_frame(self.reader)
            if kind == TEXT:
                return payload.decode()
            if kind == PING:
                self.send(PONG, payload)
            elif kind == CLOSE:
                raise ConnectionResetError("closed by the server")


def panels(message: str) -> dict[str, str]:
    """Return panel → HTML."""
    pieces = PANEL.split(message)[1:]
    return {name: html.strip() for name, html in zip(pieces[::2], pieces[1::2], strict=True)}


def upgrade(port: int) -> dict[str, str]:
    return {
        "Origin": f"http://127.0.0.1:{port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }


def frame(kind: int, payload: bytes) -> bytes:
    """Return a frame, masked as clients must."""
    mask = os.urandom(4)
    length = len(payload)
    if length < 126:
        size = bytes([0x80 | length])
    else:
        size = b"\xfe" + struct.pack(">H", length) if length < 1 << 16 else b"\xff" + struct.pack(">Q", length)
    keys = (mask * (length // 4 + 1))[:length]
    masked = (int.from_bytes(payload) ^ int.from_bytes(keys)).to_bytes(length)
    return bytes([kind]) + size + mask + masked


async def read_frame(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    kind, size = await reader.readexactly(2)
    if size == 126:
        (size,) = struct.unpack(">H", await reader.readexactly(2))
    elif size == 127:
        (size,) = struct.unpack(">Q", await reader.readexactly(8))
    return kind, await reader.readexactly(size)


async def enter(connection: Connection, patience: float = 60, **fields: str) -> str:
    """Create a sandbox and return its path. Wait when the server says so. Raise one of ``BROKEN``."""
    end = asyncio.get_running_loop().time() + patience
    while True:
        answer = await connection.post("/new/", **fields)
        if answer.status in (301, 302, 303):
            return answer.headers["location"]
        if asyncio.get_running_loop().time() > end or answer.status not in (429, 503):
            raise ConnectionRefusedError(f"/new/ answered {answer.status}: {answer.text[:300]}")
        await asyncio.sleep(min(float(answer.headers.get("retry-after", 1)), 5))


async def served(connection: Connection, base: str) -> dict[str, str]:
    """Return what the site shows of a sandbox: panel → status and HTML; status of the page. Raise one of ``BROKEN``."""
    shown = {"page": str((await opened_again(connection, base)).status)}
    for panel in PANELS:
        answer = await opened_again(connection, f"{base}panel/{panel}/")
        shown[panel] = f"{answer.status} {answer.text}"
    return shown


async def opened_again(connection: Connection, path: str) -> Answer:
    """Return the answer once the site has replayed the sandbox. Until then it is busy, or a proxy does not reach it."""
    end = asyncio.get_running_loop().time() + OPENING_SECONDS
    while True:
        answer = await connection.get(path)
        if answer.status not in AGAIN or asyncio.get_running_loop().time() > end:
            return answer
        await asyncio.sleep(0.5)


def yaml(manifests: Iterable[Any]) -> str:
    """Return the documents as one text, as the form for manifests accepts them."""
    return "\n---\n".join(json.dumps(manifest, separators=(",", ":")) for manifest in manifests)
