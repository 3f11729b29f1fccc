"""``kill -9`` under real load: ``python -m tests.hostile.kills`` tells whether anything answered was lost or doubled.

The serving process is killed in the middle of its work and started again, over and over; so are the processes that it
has started. Every command carries a label of its own, by which the log tells what became of it.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from scheduler_engine.testing import make_pod
from tests.hostile.audit import ANSWERED, REFUSED, UNKNOWN, gaps, logs, misplaced, replays
from tests.hostile.site import Site, end_family, end_in_order, family, kill, prepare, wait_until
from tests.hostile.wire import BROKEN, Connection, enter, served, yaml

ROOMS, IN_SECOND = 10, 4
"""Sandboxes at a time; in so many of them a second person gives commands, too."""
COMMANDS = 100
"""Answered commands after which a room takes another sandbox: what a restart replays stays short."""
BETWEEN = (5, 50)
"""Answered commands from one kill to the next, at least and at most. On the average more than 20."""
LOOK_EVERY = 50
DONE = (200, 204)
"""What is done is answered by these: with something to be said, or without."""
HANGS = 600
"""Seconds without an answer that count as a hang."""


@dataclass
class Tally:
    """What clients know, and what went wrong; ``shown``: sandbox's path → its panels, once nobody steps there."""

    outcomes: dict[str, str] = field(default_factory=dict)
    shown: dict[str, dict[str, str]] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    answered: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    before: int = 0
    """The server that was killed last."""
    over: bool = False


class Person:
    """Gives labelled commands in one sandbox, whatever happens to the server."""

    def __init__(self, number: int, port: int, lane: int, tally: Tally, alone: bool) -> None:
        self.number, self.tally, self.alone = number, tally, alone
        self.random = random.Random(f"person {number}")
        self.http = Connection(port, f"127.0.{20 + lane}.{1 + number}", timeout=HANGS)
        self.given = 0

    async def step(self, base: str) -> None:
        """One command; who is alone may look back before it, which drops nothing."""
        if self.alone and self.random.random() < 0.1:
            for _ in range(self.random.randint(1, 4)):
                await self._move(base, "back", "")
            await self._move(base, "goto", "999999")
        self.given += 1
        label = f"person-{self.number}-{self.given}"
        path, fields = self._command(label)
        # Until the server says otherwise.
        self.tally.outcomes[label] = UNKNOWN
        try:
            answer = await self.http.post(f"{base}{path}", who=label, **fields)
        except BROKEN:
            await asyncio.sleep(0.05)
            return
        self._note(answer.status, answer.text)
        done = answer.status in DONE
        self.tally.outcomes[label] = ANSWERED if done else REFUSED
        self.tally.answered += done
        if answer.status in (409, 429, 503):
            await asyncio.sleep(0.2)

    def _command(self, label: str) -> tuple[str, dict[str, str]]:
        pod = {"manifests": yaml([make_pod(label).cpu("10m").obj()])}
        choices: tuple[tuple[str, dict[str, str]], ...] = (
            ("do/stage/", {}),
            ("do/stage/", {}),
            ("do/pod/", {}),
            ("do/advance/", {"seconds": "0.5"}),
            ("apply/", pod),
            ("apply/", pod),
        )
        return self.random.choice(choices)

    async def _move(self, base: str, verb: str, n: str) -> None:
        """Again and again until it is answered: moves may be repeated."""
        end = time.monotonic() + HANGS
        while time.monotonic() < end:
            try:
                answer = await self.http.post(f"{base}do/{verb}/", n=n)
            except BROKEN:
                await asyncio.sleep(0.05)
                continue
            self._note(answer.status, answer.text)
            if answer.status in DONE:
                return
            await asyncio.sleep(0.2)
        self.tally.wrong.append(f"{verb} was not done within {HANGS} s")

    def _note(self, status: int, text: str) -> None:
        self.tally.statuses[status] += 1
        if status not in (*DONE, 409, 422, 429, 503):
            self.tally.wrong.append(f"answered {status}: {text[:200]}")


async def room(people: list[Person], tally: Tally) -> None:
    """One sandbox after the other; of each, what it shows in the end."""
    while not tally.over:
        base = await _persistently(lambda: enter(people[0].http), tally)
        before = sum(person.given for person in people)

        async def work(person: Person, base: str = base, before: int = before) -> None:
            while not tally.over and sum(one.given for one in people) < before + COMMANDS:
                await person.step(base)

        await asyncio.gather(*map(work, people))
        tally.shown[base] = await _persistently(lambda base=base: served(people[0].http, base), tally)


async def _persistently(ask, tally: Tally):
    """What ``ask`` gives, however often the server is killed meanwhile."""
    end = time.monotonic() + HANGS
    while True:
        try:
            return await ask()
        except BROKEN:
            if time.monotonic() > end:
                raise
            await asyncio.sleep(0.05)


async def executioner(
    site: Site, kills: int, between: tuple[int, int], database: Path, tally: Tally, drawn: random.Random
) -> None:
    for number in range(1, kills + 1):
        await _answers(tally, drawn.randint(*between))
        await asyncio.sleep(drawn.random() / 20)
        children = site.children()
        if children and drawn.random() < 0.6:
            tally.kills["child"] += 1
            await asyncio.to_thread(kill, drawn.choice(children))
        else:
            tally.kills["server"] += 1
            await asyncio.to_thread(_restart, site, tally)
        if number % LOOK_EVERY == 0:
            known = dict(tally.outcomes)
            found = await asyncio.to_thread(logs, database)
            lost = [text for text in misplaced(known, found.values()) if "nobody gave it" not in text]
            tally.wrong += gaps(found.values()) + lost
            print(f"{number} kills, {tally.answered} answered, {len(tally.wrong)} wrong", flush=True)
    await _answers(tally, between[0])
    tally.over = True


async def _answers(tally: Tally, number: int) -> None:
    """Wait for so many more answered commands."""
    wanted, end = tally.answered + number, time.monotonic() + HANGS
    while tally.answered < wanted:
        if time.monotonic() > end:
            tally.over = True
            raise TimeoutError(f"no {number} answers within {HANGS} s; so far {tally.statuses}")
        await asyncio.sleep(0.01)


def _restart(site: Site, tally: Tally) -> None:
    """Started at once, as a supervisor does; what the server killed before had started has to be gone by now."""
    if tally.before and not wait_until(lambda: not family(tally.before), 20):
        end_family(tally.before)
        tally.wrong.append("processes that a killed server had started went on")
    tally.before = site.pid
    site.kill()
    site.start()


def run(
    kills: int,
    directory: Path,
    environment: dict[str, str],
    lane: int = 0,
    seed: int = 1,
    between: tuple[int, int] = BETWEEN,
) -> Tally:
    """The whole of it on one server, the last look included."""
    tally, site = Tally(), Site(directory, environment)
    site.start()
    try:
        asyncio.run(_run(kills, between, site, directory / "db.sqlite3", lane, seed, tally))
        _restart(site, tally)
        tally.wrong += asyncio.run(_compare(site.port, tally))
    finally:
        site.end()
        end_family(tally.before)
    found = logs(directory / "db.sqlite3").values()
    tally.wrong += gaps(found) + misplaced(tally.outcomes, found) + replays(directory / "db.sqlite3")
    return tally


async def _run(
    kills: int, between: tuple[int, int], site: Site, database: Path, lane: int, seed: int, tally: Tally
) -> None:
    made = [Person(number, site.port, lane, tally, number >= 2 * IN_SECOND) for number in range(ROOMS + IN_SECOND)]
    together = [made[2 * number : 2 * number + 2] for number in range(IN_SECOND)]
    rooms = [*together, *([person] for person in made[2 * IN_SECOND :])]
    killing = executioner(site, kills, between, database, tally, random.Random(f"kills {seed} {lane}"))
    await asyncio.gather(killing, *(room(people, tally) for people in rooms))
    for person in made:
        person.http.close()


async def _compare(port: int, tally: Tally) -> list[str]:
    """Where a fresh process shows a sandbox otherwise than the one that stepped in it."""
    fresh = Connection(port, "127.0.19.1")
    wrong = []
    for base, before in tally.shown.items():
        now = await served(fresh, base)
        wrong += [f"{base[:12]}… {panel} differs after a restart" for panel in before if before[panel] != now[panel]]
    fresh.close()
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--lanes", type=int, default=2, help="servers side by side, each with a share of the kills")
    parser.add_argument("--seed", type=int, default=1)
    end_in_order()
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.lanes) as pool:

        def lane(number: int) -> Tally:
            directory = Path(folder) / str(number)
            directory.mkdir()
            return run(given.kills // given.lanes, directory, prepare(directory), number, given.seed)

        tallies = list(pool.map(lane, range(given.lanes)))
    kills = sum((tally.kills for tally in tallies), Counter())
    statuses = sum((tally.statuses for tally in tallies), Counter())
    answered, sandboxes = sum(tally.answered for tally in tallies), sum(len(tally.shown) for tally in tallies)
    minutes = (time.monotonic() - started) / 60
    print(f"kills {dict(kills)}, {answered} commands answered in {sandboxes} sandboxes, {minutes:.1f} minutes")
    print(f"answers {dict(sorted(statuses.items()))}")
    wrong = [text for tally in tallies for text in tally.wrong]
    print(*(f"FAILED: {text}" for text in wrong[:50]), sep="\n")
    sys.exit(bool(wrong) or answered < 20 * given.kills)


if __name__ == "__main__":
    main()
