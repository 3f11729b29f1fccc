"""Measure a room of forty: everybody steps once a second, and the trainer's board shows it.

``python -m tests.bench.room PORT`` measures a running server and prints the figures. It asserts only that no step is
lost.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import time
from dataclasses import dataclass, field

from tests.bench.crowd import Crowd, Person, step_once_a_second
from tests.bench.ui.tables import percentile
from tests.hostile.wire import BROKEN, Connection, Line

SCENARIO = "three-zones-one-gpu-pool"
ROW = re.compile(r'<tr id="who-(\d+)".*?<td class="num">(\d+)</td>', re.DOTALL)
FRAME = re.compile(r'title="Your sandbox" src="([^"]+)"')
PATIENCE_SECONDS = 10


class Member(Person):
    """A participant: the room's page, and the workbench in it."""

    async def join(self, code: str, name: str) -> None:
        answer = await self.http.post("/join/", code=code, name=name)
        page = answer.headers["location"]
        await self._post_to(f"{page}take/")
        match = FRAME.search((await self.http.get(page)).text)
        assert match, "the page of a participant shows no sandbox"
        self.base = match[1]
        self.desk = await Line(self.http.port, page, self.http.address).__aenter__()
        self.live = await Line(self.http.port, self.base, self.http.address).__aenter__()
        await self.live.news.wait()

    async def _post_to(self, path: str) -> None:
        answer = await self.http.post(path)
        assert answer.status == 204, (answer.status, answer.text)

    async def leave(self) -> None:
        await super().leave()
        await self.desk.__aexit__(None, None, None)


@dataclass
class Board(Line):
    """The trainer's live line. It records when each participant's step count first arrived."""

    port: int
    base: str
    address: str = "127.0.0.1"
    arrivals: dict[tuple[str, int], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(self.port, self.base, self.address)

    def _take(self, message: str) -> None:
        self.received += len(message)
        now = time.perf_counter()
        for who, steps in ROW.findall(message):
            self.arrivals.setdefault((who, int(steps)), now)

    def first(self, who: str, steps: int) -> float | None:
        """Return when the board first showed at least ``steps`` steps of ``who``."""
        return min((at for (name, count), at in self.arrivals.items() if name == who and count >= steps), default=None)


async def measure(port: int, people: int, seconds: int, verb: str) -> None:
    http = Connection(port)
    room = (await http.post("/workshop/open/", scenario=SCENARIO)).headers["location"]
    code = re.search(r'aria-label="Code ([A-Z0-9]{6})"', (await http.get(room)).text)
    assert code, "the page of a trainer shows no code"
    members = [Member(number, port) for number in range(people)]
    for number, member in enumerate(members):
        await member.join(code[1], f"Person {number}")
    board = Board(port, room)
    async with board:
        await asyncio.sleep(1)
        keys = sorted({who for who, _ in board.arrivals}, key=int)
        before = {who: max(count for name, count in board.arrivals if name == who) for who in keys}
        clicked: list[tuple[str, int, float]] = []

        async def stepping(member: Member, who: str) -> None:
            await _noted(member, who, before[who], clicked)

        for member, who in zip(members, keys, strict=True):
            await stepping(member, who)
        crowd = await step_once_a_second(list(members), seconds, verb)
        await _level(board, keys, before, len(crowd.answered) // people)
    _print(crowd, board, clicked)
    for member in members:
        await member.leave()
    http.close()


async def _noted(member: Member, who: str, before: int, clicked: list[tuple[str, int, float]]) -> None:
    """Record each answered click of a member in ``clicked``, with the step count it leads to."""
    clicks = before
    plain = member.step

    async def step(verb: str, due: float, crowd: Crowd) -> None:
        nonlocal clicks
        answered = len(crowd.answered)
        await plain(verb, due, crowd)
        if len(crowd.answered) > answered or not crowd.refused:
            clicks += 1
            clicked.append((who, clicks, due))

    member.step = step  # type: ignore[method-assign]


async def _level(board: Board, keys: list[str], before: dict[str, int], steps: int) -> None:
    """Wait until the board shows every step. Raise ``AssertionError`` if one is lost."""
    end = time.perf_counter() + PATIENCE_SECONDS
    while any(board.first(who, before[who] + steps) is None for who in keys):
        assert time.perf_counter() < end, "the board lacks steps"
        await asyncio.sleep(0.1)


def _print(crowd: Crowd, board: Board, clicked: list[tuple[str, int, float]]) -> None:
    lags = [at - due for who, steps, due in clicked if (at := board.first(who, steps)) is not None]
    for name, seconds in (("answered", crowd.answered), ("shown", crowd.shown), ("on the board", lags)):
        print(f"{name:13} p50 {percentile(seconds, 50) * 1000:6.0f} ms   p95 {percentile(seconds, 95) * 1000:6.0f} ms")
    print(f"{len(clicked)} steps of {crowd.people} people; {board.received / 1000:.0f} kB to the board")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.room", description=__doc__)
    parser.add_argument("port", type=int, help="of a server on this machine, as `make run` starts it")
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--verb", default="stage")
    arguments = parser.parse_args()
    try:
        asyncio.run(measure(arguments.port, arguments.people, arguments.seconds, arguments.verb))
    except BROKEN as error:
        raise SystemExit(f"The server does not answer: {error}") from error


if __name__ == "__main__":
    main()
