"""Sends hostile inputs, and judges what comes back."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

from tests.hostile.oddities import ITS_RESULT, MARK
from tests.hostile.requests import Input
from tests.hostile.targets import Targets
from tests.hostile.wire import BROKEN, CLOSE, TEXT, Answer, frame, head, opened, read_frame, upgrade

SECONDS = 300
"""Without an answer for so long, something hangs."""
DOCUMENTED = (503, 507)
"""Statuses of a server that is busy or full, which it says in words."""
FEW_WORDS = 4
REFLECTED = re.compile(rf"<{MARK}|\" {MARK}=|{ITS_RESULT}")
TRY_AGAIN = 1011
"""Close code of a live line that broke down."""


@dataclass
class Seen:
    """What strangers were answered; ``wrong``: what nobody should be, in sentences."""

    sent: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    routes: dict[str, Counter[int]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Inputs after which the line ended without an answer."""

    def note(self, given: Input, status: int) -> None:
        self.sent += 1
        self.statuses[status] += 1
        self.routes.setdefault(given.route, Counter())[status] += 1

    def fault(self, given: Input, text: str) -> None:
        self.wrong.append(f"input {given.number}, {given.route}: {text}")


class Sender:
    """Sends an input, and judges what comes back."""

    def __init__(self, target: Targets, seen: Seen) -> None:
        self.target, self.seen = target, seen

    async def ask(self, given: Input) -> None:
        path, body = self.target.filled(given.path), self.target.filled_body(given.body)
        headers = {name: text.replace("\r", " ").replace("\n", " ") for name, text in given.headers.items()}
        try:
            answer = await self.target.http.ask(given.method, path, body, headers)
        except TimeoutError:
            self.seen.note(given, 0)
            return self.seen.fault(given, f"no answer within {SECONDS} s")
        except BROKEN as error:
            self.seen.note(given, 0)
            self.seen.broken.append(f"{given.number} {given.method} {given.route} {error!r}")
            return None
        self.seen.note(given, answer.status)
        self.target.saw(given, answer.status)
        if wrong := judged(answer):
            self.seen.fault(given, wrong)
        return None

    async def talk(self, given: Input) -> None:
        """Open a live line, send every message, then ask for a pong."""
        try:
            async with asyncio.timeout(SECONDS):
                code = await self._talk(given)
        except TimeoutError:
            self.seen.note(given, 0)
            return self.seen.fault(given, f"neither a word nor an end within {SECONDS} s")
        except BROKEN:
            code = 0
        self.seen.note(given, code)
        if code == TRY_AGAIN:
            self.seen.fault(given, "the live line broke down")
        return None

    async def _talk(self, given: Input) -> int:
        """Return the status of the handshake; if the server then closes the line, the code of that."""
        reader, writer = await opened(self.target.http.port, self.target.http.address)
        try:
            headers = upgrade(self.target.http.port) | given.headers
            writer.write(head("GET", self.target.filled(given.path), self.target.http.port, headers))
            answer = await reader.readuntil(b"\r\n\r\n")
            status = int(answer.split()[1])
            if status != 101:
                if status >= 500:
                    self.seen.fault(given, f"the handshake was answered {status}")
                return status
            for kind, payload in given.messages:
                writer.write(frame(kind, payload))
            writer.write(frame(TEXT, b'{"ping": 1}'))
            wanted = {b'{"pong"'} | ({b"<!--"} if given.shows else set())
            while True:
                kind, payload = await read_frame(reader)
                if kind == TEXT and REFLECTED.search(payload.decode(errors="replace")):
                    self.seen.fault(given, f"reflected in {payload[:200]!r}")
                wanted = {start for start in wanted if not payload.startswith(start)}
                if not wanted:
                    return status
                if kind == CLOSE:
                    return int.from_bytes(payload[:2])
        finally:
            writer.transport.abort()


def judged(answer: Answer) -> str:
    """Say what is wrong with an answer; "" if nothing is."""
    text = _text(answer)
    if answer.status >= 500 and (answer.status not in DOCUMENTED or len(text.split()) < FEW_WORDS):
        return f"{answer.status} {text[:300]}"
    kind = answer.headers.get("content-type", "")
    if "html" in kind and (found := REFLECTED.search(text)):
        return f"reflected: …{text[max(0, found.start() - 100) : found.end() + 60]}…"
    if answer.body and not kind:
        return f"{answer.status} has no content type"
    return ""


def _text(answer: Answer) -> str:
    if answer.headers.get("content-encoding") != "gzip":
        return answer.text
    with suppress(OSError, EOFError):
        return gzip.decompress(answer.body).decode(errors="replace")
    return ""
