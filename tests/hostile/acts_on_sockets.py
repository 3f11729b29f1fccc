"""Acts of clients that send without end, never read, send letter by letter, or send no HTTP."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from uuid import uuid4

from scheduler_engine.testing import make_pod
from tests.hostile.acts_on_the_engine import nodes
from tests.hostile.stranger import Stranger
from tests.hostile.wire import ALWAYS, BROKEN, TEXT, head

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
HUGE = 300_000_000


async def body_by_length(stranger: Stranger) -> None:
    await _body(stranger, {"Content-Length": str(HUGE)}, b"x" * 65536)


async def body_in_chunks(stranger: Stranger) -> None:
    await _body(stranger, {"Transfer-Encoding": "chunked"}, b"10000\r\n" + b"x" * 65536 + b"\r\n")


async def _body(stranger: Stranger, length: dict[str, str], piece: bytes) -> None:
    """Send a huge body to a sandbox that does not exist: a server that reads all of it before checking loses."""
    path = stranger.random.choice(["/new/", f"/s/{uuid4()}/{'x' * 32}/apply/"])
    reader, writer = await stranger.raw()
    writer.write(head("POST", path, stranger.port, {**FORM, **length}))
    for _ in range(HUGE // 65536 + 1):
        writer.write(piece)
        await writer.drain()
    writer.write(b"0\r\n\r\n" if "Transfer-Encoding" in length else b"")
    await reader.read(1 << 16)


async def pipelines(stranger: Stranger) -> None:
    """Send request after request on one connection, and never read an answer."""
    base = await stranger.sandbox()
    await stranger.apply(base, *nodes(200))
    requests = head("GET", base, stranger.port, {}) * 100
    for _ in range(4):
        _, writer = await stranger.raw(window=4096)
        for _ in range(30):
            writer.write(requests)
            with suppress(TimeoutError):
                async with asyncio.timeout(2):
                    await writer.drain()
    await asyncio.sleep(60)


async def silent_lines(stranger: Stranger) -> None:
    """Open twenty live lines that request another view all the time and never read one."""
    base = await stranger.sandbox()
    await stranger.apply(base, *nodes(300), *(make_pod(f"s{number}").obj() for number in range(20)))
    await stranger.post(f"{base}do/pod/")
    lines = [await stranger.line(base) for _ in range(20)]
    for line in lines:
        # Reading stops when the kernel's buffers are full.
        line.reader._transport.pause_reading()  # type: ignore[attr-defined]
    for turn in range(600):
        for line in lines:
            shape, pages = ("cards", "tiles")[turn % 2], f"filter:{turn % 5 + 1} queues.activeQ:{turn % 7 + 1}"
            line.say({"open": f"{ALWAYS} filter", "tab": "filter", "layout": shape, "pages": pages, "node": f"n{turn}"})
        await asyncio.sleep(0.05)


async def slow_heads(stranger: Stranger) -> None:
    """Send two hundred requests whose heads arrive letter by letter."""
    writers = [(await stranger.raw())[1] for _ in range(200)]
    await _trickle(writers, head("GET", "/", stranger.port, {"X-Slow": "x" * 200}))


async def slow_bodies(stranger: Stranger) -> None:
    writers = [(await stranger.raw())[1] for _ in range(100)]
    for writer in writers:
        writer.write(head("POST", "/new/", stranger.port, {**FORM, "Content-Length": "100000"}))
    await _trickle(writers, b"scenario=" + b"x" * 200)


async def _trickle(writers: list[asyncio.StreamWriter], text: bytes) -> None:
    for letter in text:
        for writer in writers:
            if not writer.transport.is_closing():
                writer.write(bytes([letter]))
        await asyncio.sleep(0.5)


async def comings_and_goings(stranger: Stranger) -> None:
    """Open connections, requests and live lines, and cut them at once."""
    base = await stranger.sandbox()
    for _ in range(300):
        _, writer = await stranger.raw()
        opening = stranger.random.choice(
            [
                b"",
                head("GET", base, stranger.port, {}),
                head("POST", f"{base}do/stage/", stranger.port, {**FORM, "Content-Length": "9"}),
                head("GET", f"/ws{base}", stranger.port, {"Upgrade": "websocket", "Connection": "Upgrade"}),
            ]
        )
        writer.write(opening)
        await asyncio.sleep(0.002)
        writer.transport.abort()
        with suppress(*BROKEN):
            line = await stranger.line(base)
            line.say({"open": ALWAYS})
            line.writer.transport.abort()


async def odd_frames(stranger: Stranger) -> None:
    """Send frames that are too long, never end, are not text, or are not frames."""
    base = await stranger.sandbox()
    for kind, payload in (
        (TEXT, b"x" * 5_000_000),
        (0x01, b"begins and never ends"),
        (0x82, b"\x00" * 1000),
        (TEXT, b"\xff\xfe"),
        (TEXT, b"[" * 8000),
        (TEXT, json.dumps({"open": ["x"], "pages": 10**30, "node": {"a": []}}).encode()),
        (0x89, b"x" * 200),
        (0x8F, b""),
    ):
        line = await stranger.line(base)
        line.send(kind, payload)
        await asyncio.sleep(0.1)
    for path in (f"/ws{base}"[:-1], "/ws/", "/ws/s/x/y/"):
        _, writer = await stranger.raw()
        writer.write(head("GET", path, stranger.port, {"Upgrade": "websocket", "Connection": "Upgrade"}))
        await asyncio.sleep(0.1)


ODD_HEADERS: tuple[dict[str, str], ...] = (
    {"Content-Type": "multipart/form-data; boundary=x; charset=hex"},
    {"Content-Type": "application/x-www-form-urlencoded; charset=zlib"},
    {"Content-Type": "multipart/form-data"},
    {"Content-Type": "application/json"},
    {"X-Forwarded-For": "1.2.3.4, ::1, <script>, " + "9" * 4000},
    {"X-Forwarded-For": ", ,,"},
    {"Host": "elsewhere.example"},
    {"Cookie": "=" * 4000},
    {"Range": "bytes=9-1"},
    {"Accept-Encoding": "zstd;q=x, *;q=-1"},
    {"Expect": "100-continue"},
    {"HX-Request": "true", "HX-Current-URL": "http://[::"},
)
ODD_PATHS = ("/%00", "/..%2f..%2fetc", "//", "/s/%ff/", "/static/../x", "/new/?" + "a=b&" * 2000, "/ws/x", "*", "/\\x")
DEEP = "[" * 4000 + "]" * 4000


async def odd_requests(stranger: Stranger) -> None:
    """Send absurd charsets, JSON, paths and headers."""
    base = await stranger.sandbox()
    for body in (b"manifests=%ff%fe", DEEP.encode(), b"manifests=" + DEEP.encode(), b"\x00" * 50, b"&" * 3000):
        for headers in ODD_HEADERS:
            with suppress(*BROKEN):
                stranger.note(await stranger.http.ask("POST", f"{base}apply/", body, FORM | headers))
    for path in ODD_PATHS:
        with suppress(*BROKEN):
            await stranger.get(path)
    for seconds in ("nan", "1e308", "-1", "1e-300", "0x10", "١"):
        await stranger.post(f"{base}do/advance/", seconds=seconds)
