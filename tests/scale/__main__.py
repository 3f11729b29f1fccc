"""Measure one and two web processes with real servers: ``make scale-test`` prints CPU time and waiting times.

People step once a second over plain sockets. It asserts nothing about the figures, which mean something only on an
idle machine.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from tests.bench.crowd import Crowd, Person, step_once_a_second
from tests.bench.ui.clusters import manifests
from tests.hostile.site import TICK, Site, prepare
from tests.hostile.wire import Line
from tests.processes import children
from tests.servers import missing, postgres, redis

NODES, PODS = 6, 12
WARM_UP_SECONDS = 3
KINDS = ("web", "engine", "postgres", "redis")


@dataclass(frozen=True)
class Way:
    """One way to serve. ``apart``: live lines are at another web process than clicks."""

    processes: int
    shared: bool
    apart: bool = False


WAYS = {
    "one web process, SQLite": Way(1, False),
    "one web process, PostgreSQL and Redis": Way(1, True),
    "two web processes, routed by sandbox": Way(2, True),
    "two web processes, clicks and live lines apart": Way(2, True, apart=True),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.scale", description=__doc__)
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--seconds", type=int, default=15, help="how long to measure each way")
    parser.add_argument("--only", default="", help="only the ways with this in their name")
    options = parser.parse_args()
    if lacks := missing():
        print(f"Only SQLite is measured: this machine has no {' and no '.join(lacks)}.")
    print(f"{options.people} people, CPU ms a step: {' + '.join(KINDS)}; ms until the panels arrive; connections")
    for name, way in WAYS.items():
        if options.only in name and not (way.shared and missing()):
            with tempfile.TemporaryDirectory() as folder, serving(Path(folder), way) as (sites, servers):
                asyncio.run(measure(name, way, sites, servers, options))


@contextmanager
def serving(folder: Path, way: Way) -> Iterator[tuple[list[Site], dict[str, int]]]:
    """Start the servers of a way. Yield the web processes, and the pids of PostgreSQL and Redis by kind."""
    settings, servers = {"WEB_PROCESSES": str(way.processes), "CREATE_RATE": "100000"}, {}
    with ExitStack() as stack:
        if way.shared:
            database, cache = stack.enter_context(postgres(durable=True)), stack.enter_context(redis())
            settings |= {"DATABASE_URL": database.new_database(), "REDIS_URL": cache.url}
            assert database.process is not None
            assert cache.process is not None
            servers = {"postgres": database.process.pid, "redis": cache.process.pid}
        environment = prepare(folder, **settings)
        sites = []
        for number in range(way.processes):
            own = folder / f"web-{number}"
            own.mkdir()
            sites.append(Site(own, environment, cap=16 << 30))
            stack.callback(sites[-1].end)
            sites[-1].start()
        yield sites, servers


class Divided(Person):
    """A visitor whose live line may be at another web process than the clicks."""

    def __init__(self, number: int, port: int, line_port: int) -> None:
        super().__init__(number, port)
        self.line_port = line_port

    async def enter(self, manifests: list[str]) -> None:
        await super().enter(manifests)
        if self.line_port != self.http.port:
            await self.live.__aexit__(None, None, None)
            self.live = await Line(self.line_port, self.base, self.http.address).__aenter__()
            await self.live.news.wait()


async def measure(name: str, way: Way, sites: list[Site], servers: dict[str, int], options: argparse.Namespace) -> None:
    ports = [site.port for site in sites]
    people = [
        Divided(number, ports[number % len(ports)], ports[(number + way.apart) % len(ports)])
        for number in range(options.people)
    ]
    doors = asyncio.Semaphore(8)

    async def enter(person: Divided) -> None:
        async with doors:
            await person.enter(manifests(NODES, PODS))

    await asyncio.gather(*map(enter, people))
    await step_once_a_second(people, WARM_UP_SECONDS, "stage")
    before = cpu(sites, servers)
    crowd = await step_once_a_second(people, options.seconds, "stage")
    after = cpu(sites, servers)
    report(name, crowd, [after[kind] - before[kind] for kind in KINDS], len(children(servers.get("postgres", 0))))
    await asyncio.gather(*(person.leave() for person in people))


def report(name: str, crowd: Crowd, seconds: list[float], processes: int) -> None:
    steps = len(crowd.shown)
    each = [1000 * used / steps for used in seconds]
    p50, p95 = (quantiles(crowd.shown, n=20)[at] * 1000 for at in (9, 18))
    print(
        f"{name:48} {' + '.join(f'{ms:4.1f}' for ms in each)} = {sum(each):5.1f};"
        f" p50 {p50:6.0f} p95 {p95:6.0f}; {crowd.refused} refused; {processes} processes of PostgreSQL",
        flush=True,
    )


def cpu(sites: list[Site], servers: dict[str, int]) -> dict[str, float]:
    """Return the CPU seconds so far, by kind of process."""
    web = sum(seconds(site.pid) for site in sites)
    others = {kind: sum(map(seconds, [pid, *children(pid)])) for kind, pid in servers.items()}
    return dict.fromkeys(KINDS, 0.0) | {"web": web, "engine": sum(site.cpu_seconds() for site in sites) - web} | others


def seconds(pid: int) -> float:
    """Return the CPU seconds of a process, and of those children that have ended."""
    return sum(map(int, _fields(pid)[11:15])) * TICK


def _fields(pid: int) -> list[str]:
    """Return the fields of a process from its state on, [] if it has ended meanwhile."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


if __name__ == "__main__":
    main()
