"""``kill -9`` under real load: ``python -m tests.hostile.kills`` checks that nothing answered was lost or doubled.

Kills the serving process and its children in the middle of their work and restarts it, over and over. Every command has
a unique label, by which the log shows its outcome. A workshop's room is in use beside the sandboxes.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.hostile import audit
from tests.hostile.audit import NOBODYS, gaps, logs, misplaced, replays
from tests.hostile.people import HANGS, Person, Tally, persistently
from tests.hostile.room_faults import faults
from tests.hostile.rooms import Room
from tests.hostile.site import Site, end_family, end_in_order, family, kill, prepare, wait_until
from tests.hostile.wire import Connection, Line, enter, served

SANDBOXES, IN_SECOND = 10, 4
"""Sandboxes at a time, beside a workshop's room. In ``IN_SECOND`` of them a second person sends commands, too."""
COMMANDS = 100
"""Commands per sandbox: this keeps replays after a restart short."""
BETWEEN = (5, 50)
"""Answered commands between two kills, at least and at most. More than 20 on average."""
LOOK_EVERY = 50
SEEN = ("queues", "cluster", "timeline")
"""Panels that an open page must show as they are in the end."""


async def sandboxes(people: list[Person], tally: Tally) -> None:
    """Use one sandbox after the other, with a page of it open. Record what each shows in the end."""
    while not tally.over:
        base = await persistently(lambda: enter(people[0].http))
        before = sum(person.sent for person in people)
        line = await persistently(
            lambda base=base: Line(people[0].http.port, base, people[0].http.address).__aenter__()
        )

        async def work(person: Person, base: str = base, before: int = before) -> None:
            while not tally.over and sum(one.sent for one in people) < before + COMMANDS:
                await person.step(base)

        await asyncio.gather(*map(work, people))
        shown = tally.shown[base] = await persistently(lambda base=base: served(people[0].http, base))
        if not await reaches(line, shown):
            tally.wrong.append(f"an open page of {base[:12]}… does not show the end")
        await line.__aexit__(None, None, None)


async def reaches(line: Line, shown: dict[str, str]) -> bool:
    """Return True once an open page shows what the site shows. A page that was cut off connects again by itself."""
    end = time.monotonic() + HANGS
    while any(f"200 {line.panels.get(panel)}" != shown[panel] for panel in SEEN):
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.05)
    return True


async def rooms(first: Room, tally: Tally, held: list[Room]) -> None:
    """Use one room after the other. All of them are in ``held`` in the end."""
    room = first
    while True:
        held.append(room)
        await room.work(lambda: tally.over)
        tally.acts += room.acts
        if tally.over:
            return
        room = Room(room.number + 1, room.port, room.lane, tally)
        await room.open()


async def executioner(
    site: Site, kills: int, between: tuple[int, int], database: str, tally: Tally, drawn: random.Random
) -> None:
    for number in range(1, kills + 1):
        await answers(tally, drawn.randint(*between))
        await asyncio.sleep(drawn.random() / 20)
        children = site.children()
        if children and drawn.random() < 0.6:
            tally.kills["child"] += 1
            await asyncio.to_thread(kill, drawn.choice(children))
        else:
            tally.kills["server"] += 1
            await asyncio.to_thread(restart, site, tally)
        if number % LOOK_EVERY == 0:
            known = dict(tally.outcomes)
            by_sandbox = await asyncio.to_thread(logs, database)
            lost = [text for text in misplaced(known, by_sandbox.values()) if NOBODYS not in text]
            tally.wrong += gaps(by_sandbox.values()) + lost
            print(f"{number} kills, {tally.answered} answered, {len(tally.wrong)} wrong", flush=True)
    await answers(tally, between[0])
    tally.over = True


async def answers(tally: Tally, number: int) -> None:
    """Wait for ``number`` more answered commands."""
    wanted, end = tally.answered + number, time.monotonic() + HANGS
    while tally.answered < wanted:
        if time.monotonic() > end:
            tally.over = True
            raise TimeoutError(f"no {number} answers within {HANGS} s; so far {tally.statuses}")
        await asyncio.sleep(0.01)


def restart(site: Site, tally: Tally) -> None:
    """Restart at once, as a supervisor does. The processes of the server killed before must be gone by now."""
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
    """Run all kills on one server, the last check included."""
    tally, site, database = Tally(), Site(directory, environment), environment["DATABASE_URL"]
    site.start()
    try:
        killing = executioner(site, kills, between, database, tally, random.Random(f"kills {seed} {lane}"))
        held = asyncio.run(use(site.port, lane, tally, killing))
        restart(site, tally)
        tally.wrong += asyncio.run(compare(site.port, tally, held))
    finally:
        site.end()
        end_family(tally.before)
    tally.wrong += lost(tally, database, held) + replays(database)
    return tally


def lost(tally: Tally, database: str, held: Iterable[Room], strangers: bool = False) -> list[str]:
    """Compare the database with what clients know. ``strangers``: they sent commands, too."""
    logs_by_sandbox, of_rooms = logs(database), audit.rooms(database)
    wrong = [text for room in held for text in faults(room, of_rooms, logs_by_sandbox)]
    odd = [text for text in misplaced(tally.outcomes, logs_by_sandbox.values()) if not (strangers and NOBODYS in text)]
    return gaps(logs_by_sandbox.values()) + odd + wrong


async def use(port: int, lane: int, tally: Tally, harm: Awaitable[None]) -> list[Room]:
    """Let people use sandboxes and rooms until ``harm`` says that it is over. Return the rooms."""
    persons = [Person(number, port, lane, tally, number >= 2 * IN_SECOND) for number in range(SANDBOXES + IN_SECOND)]
    together = [persons[2 * number : 2 * number + 2] for number in range(IN_SECOND)]
    groups = [*together, *([person] for person in persons[2 * IN_SECOND :])]
    room, held = Room(0, port, lane, tally), list[Room]()
    await room.open()
    await asyncio.gather(harm, rooms(room, tally, held), *(sandboxes(people, tally) for people in groups))
    for person in persons:
        person.http.close()
    return held


async def compare(port: int, tally: Tally, held: Iterable[Room]) -> list[str]:
    """Return sandboxes and rooms that a fresh process shows differently from the one in which people used them."""
    fresh = Connection(port, "127.0.19.1")
    wrong = []
    for base, before in tally.shown.items():
        now = await served(fresh, base)
        wrong += [f"{base[:12]}… {panel} differs after a restart" for panel in before if before[panel] != now[panel]]
    for room in held:
        if room.own_rows((await fresh.get(f"{room.base}results.csv")).text) != room.results:
            wrong.append(f"the results of room {room.number} differ after a restart")
    fresh.close()
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--lanes", type=int, default=2, help="servers side by side, each with a share of the kills")
    parser.add_argument("--seed", type=int, default=1)
    end_in_order()
    arguments = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.lanes) as pool:

        def lane(number: int) -> Tally:
            directory = Path(folder) / str(number)
            directory.mkdir()
            return run(arguments.kills // arguments.lanes, directory, prepare(directory), number, arguments.seed)

        tallies = list(pool.map(lane, range(arguments.lanes)))
    kills = sum((tally.kills for tally in tallies), Counter())
    statuses = sum((tally.statuses for tally in tallies), Counter())
    answered, sandboxes = sum(tally.answered for tally in tallies), sum(len(tally.shown) for tally in tallies)
    minutes = (time.monotonic() - started) / 60
    print(f"kills {dict(kills)}, {answered} commands answered in {sandboxes} sandboxes, {minutes:.1f} minutes")
    print(f"answers {dict(sorted(statuses.items()))}")
    acts = sum((tally.acts for tally in tallies), Counter())
    print(f"acknowledged in rooms {dict(sorted(acts.items()))}")
    wrong = [text for tally in tallies for text in tally.wrong]
    print(*(f"FAILED: {text}" for text in wrong[:50]), sep="\n")
    sys.exit(bool(wrong) or answered < 20 * arguments.kills)


if __name__ == "__main__":
    main()
