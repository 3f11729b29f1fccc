"""Measure one to three web processes with real servers: ``make scale-test`` prints CPU time and waiting times.

People step once a second over plain sockets. Levels of people are measured until one waits too long. In the end each
log is compared with what its client knows. Nothing asserts the figures, which mean something only on an idle machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import quantiles

from tests.bench.crowd import Crowd, Person, step_once_a_second
from tests.bench.ui.clusters import manifests
from tests.hostile.audit import gaps, logs
from tests.hostile.site import TICK, Site, prepare, sites
from tests.hostile.wire import Line
from tests.nginx import nginx
from tests.processes import children
from tests.servers import missing, postgres, redis

NODES, PODS = 6, 12
WARM_UP_SECONDS = 3
KINDS = ("web", "engine", "postgres", "redis", "nginx")
KNEE_MS = 500
"""The p95 above which people wait too long."""
RUNNER = 9999
"""Number of the visitor who runs a large cluster beside the people."""
STAGE = '{"kind":"stage"}'


@dataclass(frozen=True)
class Way:
    """One way to serve. ``apart``: live lines are at another web process than clicks, without nginx."""

    processes: int
    shared: bool = True
    apart: bool = False


WAYS = {
    "one web process, SQLite": Way(1, shared=False),
    "one web process": Way(1),
    "two web processes": Way(2),
    "three web processes": Way(3),
    "two web processes, live lines apart from clicks": Way(2, apart=True),
}


@dataclass(frozen=True)
class Serving:
    """What runs. ``doors``: the ports that visitors use. ``servers``: pids of the other servers by kind."""

    sites: list[Site]
    doors: list[int]
    servers: dict[str, int]
    database: str


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.scale", description=__doc__)
    parser.add_argument("--people", type=int, nargs="+", default=[20, 40, 60, 80, 100, 120, 140, 160, 200, 250, 300])
    parser.add_argument("--seconds", type=int, default=15, help="how long to measure each number of people")
    parser.add_argument("--only", default="", help="only the ways with this in their name")
    parser.add_argument("--all-levels", action="store_true", help=f"go on after a p95 above {KNEE_MS} ms")
    parser.add_argument("--beside", type=int, default=0, help="also measure beside somebody who runs so many nodes")
    parser.add_argument("--cores", type=int, default=0, help="cores of the servers; the people get the others")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if not 0 <= options.cores < len(cores):
        parser.error(f"this machine has {len(cores)} cores, and the people need one of them")
    if lacks := missing():
        print(f"Only SQLite is measured: this machine has no {' and no '.join(lacks)}.")
    print(f"CPU ms a step: {' + '.join(KINDS)}; ms until the panels arrive; most people below {KNEE_MS} ms")
    wrong: list[str] = []
    for name, way in WAYS.items():
        if options.only in name and not (way.shared and missing()):
            if options.cores:
                os.sched_setaffinity(0, cores[: options.cores])
            with tempfile.TemporaryDirectory() as folder, serving(Path(folder), way) as running:
                if options.cores:
                    os.sched_setaffinity(0, cores[options.cores :])
                wrong += asyncio.run(measure(name, way, running, options))
    print(*(f"FAILED: {text}" for text in wrong[:50]), sep="\n")
    sys.exit(bool(wrong))


@contextmanager
def serving(folder: Path, way: Way) -> Iterator[Serving]:
    """Start the servers of a way."""
    settings, servers = {"WEB_PROCESSES": str(way.processes), "CREATE_RATE": "100000", "TRUSTED_PROXIES": "0"}, {}
    with ExitStack() as stack:
        if way.shared:
            database, cache = stack.enter_context(postgres(durable=True)), stack.enter_context(redis())
            settings |= {"DATABASE_URL": database.new_database(), "REDIS_URL": cache.url}
            assert database.process is not None
            assert cache.process is not None
            servers = {"postgres": database.process.pid, "redis": cache.process.pid}
            if not way.apart:
                settings["TRUSTED_PROXIES"] = "1"
        environment = prepare(folder, **settings)
        webs = stack.enter_context(sites(folder, environment, way.processes, cap=16 << 30))
        doors = [site.port for site in webs]
        if way.shared and not way.apart:
            port, process = stack.enter_context(nginx(folder, folder / "static", doors))
            servers["nginx"], doors = process.pid, [port]
        yield Serving(webs, doors, servers, environment["DATABASE_URL"])


class Divided(Person):
    """A visitor whose live line may be at another web process than the clicks. ``steps``: those answered."""

    def __init__(self, number: int, port: int, line_port: int) -> None:
        super().__init__(number, port)
        self.line_port, self.steps = line_port, 0

    async def enter(self, manifests: list[str]) -> None:
        await super().enter(manifests)
        if self.line_port != self.http.port:
            await self.live.__aexit__(None, None, None)
            self.live = await Line(self.line_port, self.base, self.http.address).__aenter__()
            await self.live.news.wait()

    async def step(self, verb: str, due: float, crowd: Crowd) -> None:
        refused = crowd.refused
        await super().step(verb, due, crowd)
        self.steps += crowd.refused == refused


async def measure(name: str, way: Way, running: Serving, options: argparse.Namespace) -> list[str]:
    """Measure a way at each number of people. Return what its logs lost or doubled."""
    people: list[Divided] = []
    held, doors = 0, running.doors
    runner = Person(RUNNER, doors[0])
    if options.beside:
        await runner.enter(manifests(options.beside, options.beside))
    for level in options.people:
        await join(people, level, doors, way)
        await step_once_a_second(people, WARM_UP_SECONDS, "stage")
        p95 = await measure_level(name, people, running, options.seconds)
        if options.beside:
            async with running_again_and_again(runner):
                await measure_level(f"{name}, beside {options.beside} nodes", people, running, options.seconds)
        if p95 > KNEE_MS and not options.all_levels:
            break
        held = level if p95 <= KNEE_MS else held
    print(f"{name}: {held} people", flush=True)
    await asyncio.gather(*(person.leave() for person in people), *([runner.leave()] if options.beside else []))
    return await asyncio.to_thread(compare, name, people, running.database)


async def measure_level(name: str, people: list[Divided], running: Serving, seconds: int) -> float:
    """Let all step once a second, and print their figures. Return p95 in milliseconds."""
    before = cpu(running)
    crowd = await step_once_a_second(people, seconds, "stage")
    after = cpu(running)
    used = [after[kind] - before[kind] for kind in KINDS]
    return report(name, crowd, used, len(children(running.servers.get("postgres", 0))))


@asynccontextmanager
async def running_again_and_again(runner: Person) -> AsyncIterator[None]:
    """Meanwhile let a visitor click Run and Back in turn, and print what they are answered."""
    statuses, start = Counter[str](), time.perf_counter()

    async def run() -> None:
        for verb in cycle(("run", "back")):
            answer = await runner.http.post(f"{runner.base}do/{verb}/")
            statuses[f"{verb} {answer.status}"] += 1

    task = asyncio.create_task(run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        print(f"  the other one in {time.perf_counter() - start:.0f} s: {dict(statuses)}", flush=True)


async def join(people: list[Divided], level: int, doors: list[int], way: Way) -> None:
    """Let people enter until there are ``level`` of them."""
    entering = asyncio.Semaphore(8)

    async def enter(person: Divided) -> None:
        async with entering:
            await person.enter(manifests(NODES, PODS))

    more = [
        Divided(number, doors[number % len(doors)], doors[(number + way.apart) % len(doors)])
        for number in range(len(people), level)
    ]
    await asyncio.gather(*map(enter, more))
    people += more


def compare(name: str, people: list[Divided], database: str) -> list[str]:
    """Return the logs with a gap, and those that do not hold every answered step once."""
    by_sandbox = logs(database)
    wrong = gaps(by_sandbox.values())
    for person in people:
        log = by_sandbox[person.base.split("/")[2].replace("-", "")]
        stored = sum(text == STAGE for _, text, _ in log.commands)
        if stored != person.steps:
            wrong.append(f"{log.sandbox} has {stored} steps, and {person.steps} were answered")
    print(f"{name}: {sum(person.steps for person in people)} steps were answered; {len(wrong)} logs are wrong")
    return wrong


def report(name: str, crowd: Crowd, seconds: list[float], processes: int) -> float:
    """Print the figures of a number of people. Return p95 in milliseconds."""
    steps = len(crowd.shown)
    each = [1000 * used / steps for used in seconds]
    p50, p95 = (quantiles(crowd.shown, n=20)[at] * 1000 for at in (9, 18))
    print(
        f"{name:48} {crowd.people:4} people: {' + '.join(f'{ms:4.1f}' for ms in each)} = {sum(each):5.1f};"
        f" p50 {p50:6.0f} p95 {p95:6.0f}; {crowd.refused} refused; {processes} processes of PostgreSQL",
        flush=True,
    )
    return p95


def cpu(running: Serving) -> dict[str, float]:
    """Return the CPU seconds so far, by kind of process."""
    web = sum(seconds(site.pid) for site in running.sites)
    others = {kind: sum(map(seconds, [pid, *children(pid)])) for kind, pid in running.servers.items()}
    engine = sum(site.cpu_seconds() for site in running.sites) - web
    return dict.fromkeys(KINDS, 0.0) | {"web": web, "engine": engine} | others


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
