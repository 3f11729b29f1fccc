"""Hostile strangers: ``python -m tests.hostile.strangers PORT`` prints what they were answered."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.hostile.acts import ACTS
from tests.hostile.stranger import Stranger
from tests.hostile.wire import BROKEN

MOST_SHOWN = 5


def addresses(drawn: random.Random) -> str:
    """One act in eight comes from where the visitors sit."""
    return "127.0.0.1" if drawn.random() < 1 / 8 else f"127.0.1.{drawn.randint(1, 40)}"


def deck(drawn: random.Random, names: list[str]) -> Iterator[str]:
    """All acts in random order, again and again: each has its turn."""
    while True:
        yield from drawn.sample(names, len(names))


async def attack(
    port: int, seconds: float, people: int, each: float, names: list[str], seed: int
) -> dict[str, dict[str, Any]]:
    """``people`` strangers act for ``seconds``, and until each act had a turn. Act → what came of it.

    ``each``: seconds for one act at most.
    """
    order = deck(random.Random(f"acts {seed}"), names)
    end = time.monotonic() + seconds
    pool: list[str] = []
    found: dict[str, dict[str, Any]] = {name: {"times": 0, "seen": Counter(), "wrong": []} for name in names}

    async def live(number: int) -> None:
        drawn = random.Random(f"stranger {number} of {seed}")
        while time.monotonic() < end or not all(row["times"] for row in found.values()):
            name, stranger = next(order), Stranger(port, addresses(drawn), drawn, pool)
            row = found[name]
            row["times"] += 1
            try:
                async with asyncio.timeout(each):
                    await ACTS[name](stranger)
            except TimeoutError:
                stranger.seen["out of time"] += 1
            except BROKEN:
                stranger.seen["broken"] += 1
                await asyncio.sleep(0.2)
            finally:
                stranger.cut()
            row["seen"] += stranger.seen
            row["wrong"] = [*row["wrong"], *stranger.wrong][:MOST_SHOWN]

    await asyncio.gather(*(live(number) for number in range(people)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--people", type=int, default=6)
    parser.add_argument("--each", type=float, default=15, help="seconds for one act at most")
    parser.add_argument("--only", action="append", help="part of an act's name")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    names = [name for name in ACTS if not given.only or any(part in name for part in given.only)]
    # What they do costs their machine, not the server's.
    os.nice(10)
    found = asyncio.run(attack(given.port, given.seconds, given.people, given.each, names, given.seed))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
