"""Hostile strangers: ``python -m tests.hostile.strangers PORT`` prints the answers to them."""

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
    """Return an address. One act in eight comes from the visitors' addresses."""
    return "127.0.0.1" if drawn.random() < 1 / 8 else f"127.0.1.{drawn.randint(1, 40)}"


def deck(drawn: random.Random, names: list[str]) -> Iterator[str]:
    """Yield all acts in random order, again and again, so that each has its turn."""
    while True:
        yield from drawn.sample(names, len(names))


async def attack(
    port: int, seconds: float, people: int, each: float, names: list[str], seed: int
) -> dict[str, dict[str, Any]]:
    """Let ``people`` strangers act for ``seconds``, and until each act had a turn. Return act → its results.

    ``each``: most seconds for one act.
    """
    order = deck(random.Random(f"acts {seed}"), names)
    end = time.monotonic() + seconds
    pool: list[str] = []
    totals: dict[str, dict[str, Any]] = {name: {"times": 0, "answers": Counter(), "wrong": []} for name in names}

    async def live(number: int) -> None:
        drawn = random.Random(f"stranger {number} of {seed}")
        while time.monotonic() < end or not all(row["times"] for row in totals.values()):
            name, stranger = next(order), Stranger(port, addresses(drawn), drawn, pool)
            row = totals[name]
            row["times"] += 1
            try:
                async with asyncio.timeout(each):
                    await ACTS[name](stranger)
            except TimeoutError:
                stranger.answers["out of time"] += 1
            except BROKEN:
                stranger.answers["broken"] += 1
                await asyncio.sleep(0.2)
            finally:
                stranger.cut()
            row["answers"] += stranger.answers
            row["wrong"] = [*row["wrong"], *stranger.wrong][:MOST_SHOWN]

    await asyncio.gather(*(live(number) for number in range(people)))
    return totals


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--people", type=int, default=6)
    parser.add_argument("--each", type=float, default=15, help="seconds for one act at most")
    parser.add_argument("--only", action="append", help="part of an act's name")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    names = [name for name in ACTS if not arguments.only or any(part in name for part in arguments.only)]
    # Their cost falls on their machine, not on the server's.
    os.nice(10)
    result = asyncio.run(
        attack(arguments.port, arguments.seconds, arguments.people, arguments.each, names, arguments.seed)
    )
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
