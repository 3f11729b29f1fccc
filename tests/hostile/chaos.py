"""Servers that fail under load: ``python -m tests.hostile.chaos --faults 1000`` checks that nothing answered is lost.

People use sandboxes and a room through nginx, on web processes that share a PostgreSQL and a Redis. Web processes and
workers are killed, connections are cut, PostgreSQL and Redis are restarted, and a disk is full. In the end each log is
gapless, equal to its replay, and holds every answered command once.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.hostile.audit import replays
from tests.hostile.kills import answers, compare, lost, restart, use
from tests.hostile.people import AWAY, Tally
from tests.hostile.site import Site, end_family, end_in_order, kill, prepare, sites
from tests.nginx import nginx
from tests.servers import Postgres, RedisServer, postgres, redis

WEB_PROCESSES = 2
PAUSE_SECONDS = 5
"""Seconds of rest after a fault. Some commands must be answered meanwhile, too."""
ANSWERS = 5
AWAY_SECONDS = 1
"""How long a server or the room on the disk is away."""
DISK_IS_FULL = """
CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER disk_is_full BEFORE INSERT ON sandbox_commandrecord EXECUTE FUNCTION disk_is_full();
"""
"""PostgreSQL answers as it does on a full disk."""
DISK_HAS_ROOM = "DROP FUNCTION disk_is_full CASCADE"
CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = %s"


@dataclass
class House:
    """All servers. ``url``: the ``DATABASE_URL``. ``door``: the port of nginx."""

    sites: list[Site]
    database: Postgres
    cache: RedisServer
    url: str
    door: int
    tally: Tally
    drawn: random.Random

    def sql(self, text: str, *values: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(text.encode(), values or None)


def kill_worker(house: House) -> None:
    children = house.drawn.choice(house.sites).children()
    if children:
        kill(house.drawn.choice(children))


def kill_web_process(house: House) -> None:
    restart(house.drawn.choice(house.sites), house.tally)


def cut_connections(house: House) -> None:
    house.sql(CUT, house.url.rpartition("/")[2])


def restart_postgres(house: House) -> None:
    house.database.stop()
    time.sleep(AWAY_SECONDS)
    house.database.start()


def kill_postgres(house: House) -> None:
    house.database.kill()
    house.database.start()


def restart_redis(house: House) -> None:
    house.cache.stop()
    time.sleep(AWAY_SECONDS)
    house.cache.start()


def fill_disk(house: House) -> None:
    house.sql(DISK_IS_FULL)
    time.sleep(AWAY_SECONDS)
    house.sql(DISK_HAS_ROOM)


FAULTS: dict[str, tuple[int, Callable[[House], None]]] = {
    "a web process is killed": (8, kill_web_process),
    "a worker is killed": (4, kill_worker),
    "connections to PostgreSQL are cut": (2, cut_connections),
    "PostgreSQL is restarted": (1, restart_postgres),
    "PostgreSQL is killed": (1, kill_postgres),
    "Redis is restarted": (2, restart_redis),
    "the disk is full": (1, fill_disk),
}
"""Fault → how often it is drawn, and what does it."""


async def harm(house: House, number: int, pause: float) -> None:
    """Let each kind of fault happen once, then those that are drawn, ``number`` in all."""
    names, weights = list(FAULTS), [weight for weight, _ in FAULTS.values()]
    for n in range(number):
        await asyncio.sleep(pause)
        await answers(house.tally, ANSWERS)
        name = names[n] if n < len(names) else house.drawn.choices(names, weights)[0]
        house.tally.kills[name] += 1
        await asyncio.to_thread(FAULTS[name][1], house)
        if (n + 1) % 50 == 0:
            print(f"{n + 1} faults, {house.tally.answered} answered, wrong: {house.tally.wrong}", flush=True)
    await answers(house.tally, ANSWERS)
    house.tally.over = True


def run(
    faults: int,
    folder: Path,
    database: Postgres,
    cache: RedisServer,
    pause: float = PAUSE_SECONDS,
    seed: int = 1,
) -> Tally:
    """Run all faults, the last check included."""
    tally, url = Tally(allowed=frozenset((*AWAY, 507))), database.new_database()
    with ExitStack() as stack:
        environment = prepare(
            folder,
            DATABASE_URL=url,
            REDIS_URL=cache.url,
            WEB_PROCESSES=str(WEB_PROCESSES),
            TRUSTED_PROXIES="1",
            CREATE_RATE="100000",
        )
        webs = stack.enter_context(sites(folder, environment, WEB_PROCESSES))
        door, _ = stack.enter_context(nginx(folder, folder / "static", [site.port for site in webs]))
        house = House(webs, database, cache, url, door, tally, random.Random(f"chaos {seed}"))
        held = asyncio.run(use(door, 0, tally, harm(house, faults, pause)))
        for site in webs:
            restart(site, tally)
        tally.wrong += asyncio.run(compare(door, tally, held))
        end_family(tally.before)
        tally.wrong += lost(tally, url, held) + replays(url)
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--pause", type=float, default=PAUSE_SECONDS, help="seconds of rest after each")
    parser.add_argument("--seed", type=int, default=1)
    end_in_order()
    arguments = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, postgres(durable=True) as database, redis() as cache:
        tally = run(arguments.faults, Path(folder), database, cache, arguments.pause, arguments.seed)
    print(f"{dict(tally.kills)}, {(time.monotonic() - began) / 60:.1f} minutes")
    print(f"{tally.answered} commands answered in {len(tally.shown)} sandboxes; {dict(sorted(tally.statuses.items()))}")
    print(f"acknowledged in rooms {dict(sorted(tally.acts.items()))}")
    print(*(f"FAILED: {text}" for text in tally.wrong[:50]), sep="\n")
    sys.exit(bool(tally.wrong))


if __name__ == "__main__":
    main()
