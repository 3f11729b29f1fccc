"""What the pages of a workshop's room show, and how the test people request them."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from html import unescape
from urllib.parse import urlencode

from tests.hostile.audit import ANSWERED, UNKNOWN
from tests.hostile.people import AWAY, DONE, HANGS, Tally, outcome, persistently
from tests.hostile.wire import BROKEN, Answer, Connection

THINKS = 0.4
"""Seconds between two clicks of a person. A page may send five requests per second."""
NEVER = (400, 403, 404, 410, 500, *AWAY, 507)
LATER = (409, 429, 503, *AWAY, 507)
FORM = {"Content-Type": "application/x-www-form-urlencoded", "HX-Request": "true"}
OPEN_QUESTION = re.compile(r'action="answer/".*?name="number" value="(\d+)".*?</fieldset>', re.DOTALL)
CHOICE = re.compile(r'name="chosen" value="([^"]*)"')
LATEST = re.compile(r'id="asked-(\d+)"')
OWN = re.compile(r'id="desk-own"[^>]* src="([^"]+)"')
TRAINERS_OWN = re.compile(r'title="Your sandbox" src="([^"]+)"')
CODE = re.compile(r"data-code hidden>code (\d{4})<")
ROOM_CODE = re.compile(r'aria-label="Code (\w{6})"')
BEAMER = re.compile(r'href="https?://[^/"]+(/w/[^"]+)"[^>]*>Projector view')
ROW = re.compile(r'data-person="(\d+)">([^<]*)</button>')


def first(pattern: re.Pattern[str], page: str) -> str:
    """Return the first match's group of a pattern, or ""."""
    match = pattern.search(page)
    return unescape(match[1]) if match else ""


class Asker:
    """Send people's requests in one room, and record answers that nobody there should get."""

    def __init__(self, number: int, tally: Tally) -> None:
        self.number, self.tally = number, tally
        self.acts: Counter[str] = Counter()
        """Acknowledged acts, by the end of the path."""

    async def post(
        self, http: Connection, path: str, pairs: Iterable[tuple[str, str]] = (), **fields: str
    ) -> tuple[str, Answer]:
        """Return what the sender knows about the request, and the answer; an empty one if the line broke."""
        body = urlencode([*pairs, *fields.items()]).encode()
        try:
            answer = await http.ask("POST", path, body, FORM)
        except BROKEN:
            await asyncio.sleep(0.05)
            return UNKNOWN, Answer(0, {}, b"")
        self._note(answer, path)
        if answer.status in DONE:
            self.acts[path.split("/")[-2]] += 1
        return outcome(answer), answer

    async def page(self, http: Connection, path: str) -> Answer:
        """Return a page, however often the server is killed meanwhile, or busy."""
        while True:
            answer = await persistently(lambda: http.get(path))
            self._note(answer, path)
            if answer.status not in LATER:
                return answer
            await asyncio.sleep(THINKS)

    async def done(self, act: Callable[[], Awaitable[tuple[str, Answer]]]) -> Answer:
        while True:
            outcome, answer = await act()
            if outcome == ANSWERED:
                return answer
            await asyncio.sleep(THINKS)

    async def until_done(self, act: Callable[[], Awaitable[str]]) -> None:
        for _ in range(HANGS):
            if await act() == ANSWERED:
                return
            await asyncio.sleep(THINKS)
        self.tally.wrong.append(f"room {self.number}: {act} was never acknowledged")

    def _note(self, answer: Answer, path: str) -> None:
        self.tally.statuses[answer.status] += 1
        if answer.status in NEVER and answer.status not in self.tally.allowed:
            where = path.rstrip("/").rpartition("/")[2]
            self.tally.wrong.append(f"room {self.number}: {where} was answered {answer.status} {answer.text[:200]}")
