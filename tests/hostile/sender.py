"""Send hostile inputs, and judge the answers."""

from __future__ import annotations

import asyncio
import gzip
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

from tests.hostile import documented
from tests.hostile.oddities import ITS_RESULT, MARK
from tests.hostile.requests import Input
from tests.hostile.rows import changes
from tests.hostile.targets import Targets
from tests.hostile.wire import BROKEN, CLOSE, TEXT, Answer, frame, head, opened, read_frame, upgrade

SECONDS = 300
"""Seconds without an answer that count as a hang."""
DOCUMENTED = (503, 507)
"""Statuses of a busy or full server, with a message."""
IN_THE_FUTURE = (504,)
"""Status of an API server that is asked for a resource version that does not exist yet."""
FEW_WORDS = 4
INERT = re.compile(r"<script[^>]* type=\"application/json\"[^>]*>[^<]*</script>")
"""Data in a page: quotes in it end nothing. With a tag in it, it is no longer that."""
REFLECTED = re.compile(rf"<{MARK}|\" {MARK}=|{ITS_RESULT}")
TRY_AGAIN = 1011
"""Close code of a live line that failed."""


@dataclass
class Answers:
    """The answers to strangers. ``wrong``: those nobody should get, as sentences."""

    sent: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    routes: dict[str, Counter[int]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Inputs after which the line ended without an answer."""

    def note(self, item: Input, status: int) -> None:
        self.sent += 1
        self.statuses[status] += 1
        self.routes.setdefault(item.route, Counter())[status] += 1

    def fault(self, item: Input, text: str) -> None:
        self.wrong.append(f"input {item.number}, {item.route}: {text}")


class Sender:
    """Send an input, and judge the answer."""

    def __init__(self, target: Targets, answers: Answers) -> None:
        self.target, self.answers = target, answers

    async def ask(self, item: Input) -> None:
        before = self.target.rows()
        path, body = self.target.filled(item.path), self.target.filled_body(item.body)
        headers = {name: text.replace("\r", " ").replace("\n", " ") for name, text in item.headers.items()}
        try:
            answer = await self.target.http.ask(item.method, path, body, headers)
        except TimeoutError:
            self.answers.note(item, 0)
            return self.answers.fault(item, f"no answer within {SECONDS} s")
        except BROKEN as error:
            self.answers.note(item, 0)
            self.answers.broken.append(f"{item.number} {item.method} {item.route} {error!r}")
            return None
        self.answers.note(item, answer.status)
        self.target.saw(item, answer.status)
        if wrong := judged(answer, path) or documented.judged(item.documented, item.method, answer):
            self.answers.fault(item, wrong)
        if answer.status >= 400 and not _is_recorded(item, answer.status):
            for change in changes(before, self.target.rows()):
                self.answers.fault(item, f"{item.method} was answered {answer.status}, but {change}")
        return None

    async def talk(self, item: Input) -> None:
        """Open a live line, send every message, then ask for a pong."""
        try:
            async with asyncio.timeout(SECONDS):
                code = await self._talk(item)
        except TimeoutError:
            self.answers.note(item, 0)
            return self.answers.fault(item, f"neither a word nor an end within {SECONDS} s")
        except BROKEN:
            code = 0
        self.answers.note(item, code)
        if code == TRY_AGAIN:
            self.answers.fault(item, "the live line broke down")
        return None

    async def _talk(self, item: Input) -> int:
        """Return the handshake's status, or the close code if the server then closes the line."""
        reader, writer = await opened(self.target.http.port, self.target.http.address)
        try:
            headers = upgrade(self.target.http.port) | item.headers
            writer.write(head("GET", self.target.filled(item.path), self.target.http.port, headers))
            answer = await reader.readuntil(b"\r\n\r\n")
            status = int(answer.split()[1])
            if status != 101:
                if status >= 500:
                    self.answers.fault(item, f"the handshake was answered {status}")
                return status
            for kind, payload in item.messages:
                writer.write(frame(kind, payload))
            writer.write(frame(TEXT, b'{"ping": 1}'))
            wanted = {b'{"pong"'} | ({b"<!--"} if item.shows else set())
            while True:
                kind, payload = await read_frame(reader)
                if kind == TEXT and REFLECTED.search(payload.decode(errors="replace")):
                    self.answers.fault(item, f"reflected in {payload[:200]!r}")
                wanted = {start for start in wanted if not payload.startswith(start)}
                if not wanted:
                    return status
                if kind == CLOSE:
                    return int.from_bytes(payload[:2])
        finally:
            writer.transport.abort()


def _is_recorded(item: Input, status: int) -> bool:
    """Return True for an eviction that a budget refuses: the attempt is in the log, as on the page."""
    return item.path.partition("?")[0].endswith("/eviction") and status == 429


def judged(answer: Answer, path: str) -> str:
    """Say what is wrong with an answer at a path; "" if nothing is."""
    text = _text(answer)
    known = (*DOCUMENTED, *(IN_THE_FUTURE if "/kube/" in path else ()))
    if answer.status >= 500 and (answer.status not in known or len(text.split()) < FEW_WORDS):
        return f"{answer.status} {text[:300]}"
    kind = answer.headers.get("content-type", "")
    text = INERT.sub("", text)
    if "html" in kind and (match := REFLECTED.search(text)):
        return f"reflected: …{text[max(0, match.start() - 100) : match.end() + 60]}…"
    if answer.body and not kind:
        return f"{answer.status} has no content type"
    return ""


def _text(answer: Answer) -> str:
    if answer.headers.get("content-encoding") != "gzip":
        return answer.text
    with suppress(OSError, EOFError):
        return gzip.decompress(answer.body).decode(errors="replace")
    return ""
