"""Check that a sandbox's pages are up to date after a burst: ``python -m tests.hostile.level`` counts the others."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from scheduler_engine.testing import make_pod
from tests.hostile.site import Site, end_in_order, prepare
from tests.hostile.wire import Connection, Line, enter, yaml

CLICKS = (
    ("do/stage/", {}),
    ("do/back/", {}),
    ("do/back/", {}),
    ("do/forward/", {}),
    ("do/goto/", {"n": "3"}),
    ("do/advance/", {"seconds": "0.25"}),
    ("do/advance/", {"seconds": "0.25", "play": "1"}),
    ("apply/", {"manifests": yaml([make_pod("late").cpu("50m").obj()])}),
)
SECOND = 1.0
PATIENCE = 10.0
"""A page that is not up to date by then stays so until the next change."""


@dataclass
class Levels:
    """``pages``: pages of every round; ``late``: not up to date within a second; ``left_behind``: never up to date."""

    rounds: int = 0
    pages: int = 0
    late: int = 0
    left_behind: int = 0
    rounds_behind: int = 0


async def bursts(port: int, sandboxes: int, pages: int, rounds: int, seed: int = 1) -> Levels:
    """Run ``rounds`` bursts by three people in each of ``sandboxes`` at once, while ``pages`` pages look on."""
    levels = Levels()
    await asyncio.gather(*(_one(port, number, pages, rounds, seed, levels) for number in range(sandboxes)))
    return levels


async def _one(port: int, number: int, pages: int, rounds: int, seed: int, levels: Levels) -> None:
    drawn = random.Random(f"burst {number} of {seed}")
    people = [Connection(port, f"127.0.{2 + number}.{1 + person}") for person in range(3)]
    base = await enter(people[0], scenario="three-zones-one-gpu-pool")
    async with AsyncExitStack() as stack:
        lines = [
            await stack.enter_async_context(Line(port, base, f"127.0.{2 + number}.{10 + page}"))
            for page in range(pages)
        ]
        for _ in range(rounds):
            clicks = drawn.randint(1, 6)
            await asyncio.gather(*(_click(person, base, clicks, drawn) for person in people))
            await _count(people[0], base, lines, levels)
    for person in people:
        person.close()


async def _click(person: Connection, base: str, clicks: int, drawn: random.Random) -> None:
    for _ in range(clicks):
        path, fields = drawn.choice(CLICKS)
        answer = await person.post(f"{base}{path}", **fields)
        assert answer.status in (200, 204, 409, 422, 429, 503), (answer.status, answer.text)
        if answer.status in (409, 429, 503):
            await asyncio.sleep(0.5)


async def _count(person: Connection, base: str, lines: list[Line], levels: Levels) -> None:
    await asyncio.sleep(SECOND)
    behind = await _behind(person, base, lines)
    levels.rounds += 1
    levels.pages += len(lines)
    levels.late += behind
    waited = SECOND
    while behind and waited < PATIENCE:
        await asyncio.sleep(SECOND)
        waited += SECOND
        behind = await _behind(person, base, lines)
    levels.left_behind += behind
    levels.rounds_behind += bool(behind)


async def _behind(person: Connection, base: str, lines: list[Line]) -> int:
    """Return how many pages differ from the present state, in any panel they show."""
    present = {
        name: (await person.get(f"{base}panel/{name}/")).text.strip() for name in ("toolbar", "status", "queues")
    }
    return sum(any(line.panels.get(name) != html for name, html in present.items()) for line in lines)


def measured(directory: Path, environment: dict[str, str], sandboxes: int, pages: int, rounds: int) -> Levels:
    """Run ``bursts`` on a separate server."""
    site = Site(directory, environment)
    site.start()
    try:
        return asyncio.run(bursts(site.port, sandboxes, pages, rounds))
    finally:
        site.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, number in (("sandboxes", 12), ("pages", 8), ("rounds", 100)):
        parser.add_argument(f"--{name}", type=int, default=number)
    fields = vars(parser.parse_args())
    end_in_order()
    with tempfile.TemporaryDirectory() as folder:
        levels = measured(Path(folder), prepare(Path(folder)), **fields)
    print(levels)
    sys.exit(bool(levels.left_behind))


if __name__ == "__main__":
    main()
