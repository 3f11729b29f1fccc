"""Many people at once, without browsers: each steps in a sandbox of their own and reads what the live line sends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import struct
import time
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import quote_plus

ALWAYS = "toolbar ribbon sentence queues bindings faults cluster inspector timeline status"
TEXT, PING, PONG = 0x81, 0x89, 0x8A


@dataclass
class Crowd:
    """What ``people`` saw: seconds from the click that was due to the answer, and to the new panels."""

    people: int
    answered: list[float] = field(default_factory=list)
    shown: list[float] = field(default_factory=list)
    received: int = 0
    """Bytes over all live lines."""


class Person:
    """One visitor: a connection for clicks, and one for the live line."""

    def __init__(self, number: int, port: int, crowd: Crowd) -> None:
        self.address = f"10.{number // 65536}.{number // 256 % 256}.{number % 256}"
        self.port, self.crowd = port, crowd
        self.base = ""

    async def enter(self, manifests: str) -> None:
        """Make a sandbox, put ``manifests`` into it and open its live line."""
        self.http = await asyncio.open_connection("127.0.0.1", self.port)
        head = await self.post("/new/", "")
        found = re.search(rb"(?i)location: (\S+)", head)
        assert found, head
        self.base = found[1].decode()
        await self.post(f"{self.base}apply/", f"manifests={quote_plus(manifests)}")
        self.live = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 22)
        await self._upgrade()
        self._send(TEXT, json.dumps({"open": ALWAYS, "follow": True}).encode())
        await self._read_message()

    async def post(self, path: str, body: str) -> bytes:
        """The head of the answer, which must be a 2xx or 3xx."""
        reader, writer = self.http
        writer.write(
            (
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nX-Forwarded-For: {self.address}\r\n"
                f"HX-Request: true\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}"
            ).encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        size = re.search(rb"(?i)content-length: (\d+)", head)
        answer = await reader.readexactly(int(size[1])) if size else b""
        assert head[9:10] in b"23", (head, answer)
        return head

    async def step(self, verb: str, due: float) -> None:
        """Click, and wait for the answer and for the panels; both are counted from ``due`` on."""
        panels = asyncio.ensure_future(self._read_message())
        await self.post(f"{self.base}do/{verb}/", "")
        self.crowd.answered.append(time.perf_counter() - due)
        while b"panel-status" not in await panels:
            panels = asyncio.ensure_future(self._read_message())
        self.crowd.shown.append(time.perf_counter() - due)

    async def _upgrade(self) -> None:
        reader, writer = self.live
        writer.write(
            (
                f"GET /ws{self.base} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nOrigin: http://127.0.0.1:{self.port}\r\n"
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            ).encode()
        )
        assert b" 101 " in await reader.readuntil(b"\r\n\r\n")

    def _send(self, kind: int, payload: bytes) -> None:
        mask = os.urandom(4)
        size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + struct.pack(">H", len(payload))
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        self.live[1].write(bytes([kind]) + size + mask + masked)

    async def _read_message(self) -> bytes:
        kind, payload = await self._read_frame()
        while kind != TEXT:
            assert kind == PING, (kind, payload)
            self._send(PONG, payload)
            kind, payload = await self._read_frame()
        self.crowd.received += len(payload)
        return payload

    async def _read_frame(self) -> tuple[int, bytes]:
        reader = self.live[0]
        kind, size = await reader.readexactly(2)
        if size == 126:
            (size,) = struct.unpack(">H", await reader.readexactly(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", await reader.readexactly(8))
        return kind, await reader.readexactly(size)

    async def leave(self) -> None:
        for _, writer in (self.http, self.live):
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


async def gather(people: int, ports: list[int], manifests: str) -> list[Person]:
    """``people`` in sandboxes of their own, spread over the workers at ``ports``."""
    crowd = Crowd(people)
    found = [Person(number, ports[number % len(ports)], crowd) for number in range(people)]
    doors = asyncio.Semaphore(8)

    async def enter(person: Person) -> None:
        async with doors:
            await person.enter(manifests)

    await asyncio.gather(*map(enter, found))
    return found


async def made(port: int, manifests: str) -> str:
    """The path of a new sandbox with ``manifests`` in it, in which nobody is any more."""
    (person,) = await gather(1, [port], manifests)
    await person.leave()
    return person.base


async def step_once_a_second(people: list[Person], seconds: int, verb: str) -> Crowd:
    """Everybody clicks once a second, evenly spread over it; the figures of ``seconds`` seconds.

    A click counts from the moment it was due, so that a server which falls behind cannot hide it.
    """
    crowd = Crowd(len(people))
    start = time.perf_counter() + 0.1

    async def play(person: Person, phase: float) -> None:
        person.crowd = crowd
        for turn in range(seconds):
            due = start + turn + phase
            await asyncio.sleep(max(0, due - time.perf_counter()))
            await person.step(verb, due)

    await asyncio.gather(*(play(person, index / len(people)) for index, person in enumerate(people)))
    return crowd
