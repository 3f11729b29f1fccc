"""Hostile inputs to every route: ``python -m tests.hostile.inputs --count 100000 --seed 1`` prints the results.

The calls of the API are drawn from its document, and each answer must be as the document says. A refused input must
change no row of the sandbox and the room that it was sent to.

Meanwhile a workshop's room is in use, and visitors step in their sandboxes. They may lose nothing. No answer may be
5xx, except 503 and 507 with a message. No page may contain a tag that somebody sent, and the log no traceback.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import django

from tests.hostile.kills import compare, lost, restart, rooms
from tests.hostile.people import Person, Tally
from tests.hostile.requests import Drawer
from tests.hostile.rooms import Room
from tests.hostile.routes import Form, Route, forms_of, routes
from tests.hostile.rows import Rows
from tests.hostile.sender import DOCUMENTED, FEW_WORDS, SECONDS, Answers, Sender
from tests.hostile.site import MEGABYTE, Site, end_in_order, prepare
from tests.hostile.targets import Targets
from tests.hostile.visitors import Click, gather, statuses
from tests.hostile.wire import enter, served

LIMITED = ("ADDRESS", "CREATE", "SOCKET", "COMMAND", "ROOM", "JOIN", "CODE", "LOOK", "MESSAGE")
RATES = {f"{name}_RATE": "100000" for name in LIMITED}
"""Environment of a server without rate limits: the tests are about the inputs."""
ENTRY = re.compile(r"^(?=\d{4}-\d\d-\d\d )", re.MULTILINE)
TRACE = re.compile(r"Traceback|^\S+ \S+ (?:ERROR|CRITICAL) (?!django.request:)")
"""An error in a log. Django's messages about an answer are checked with the answer."""
REPORTED_EVERY = 1000
THINKS = 0.3


@dataclass(frozen=True, slots=True)
class Plan:
    """``at_once``: how many inputs are on their way; ``bound``, ``cap`` in bytes as in ``attack``."""

    count: int = 100_000
    seed: int = 1
    at_once: int = 6
    visitors: int = 4
    people: int = 2
    first: int = 0
    bound: int = 2 << 30
    cap: int = 4 << 30
    only: str = ""
    """Part of the paths of the routes that get inputs; "" = all."""
    restarts: bool = True
    """True if a fresh process must show what the attacked one showed."""


@dataclass
class Report:
    plan: Plan
    answers: Answers = field(default_factory=Answers)
    wrong: list[str] = field(default_factory=list)
    clicks: list[Click] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    rooms: int = 0
    largest: int = 0
    seconds: float = 0


def run(plan: Plan, directory: Path, environment: dict[str, str]) -> Report:
    """Run one server, from its start to its end. Django must be set up."""
    report, began = Report(plan), time.monotonic()
    site = Site(directory, environment | RATES, plan.cap)
    site.start()
    try:
        with site.watched():
            held = asyncio.run(_attack(plan, site, report))
        report.largest = max([site.overrun, *(sample.size for sample in site.samples)])
        if not site.alive():
            report.wrong.append(f"the server ended{' at its cap' if site.overrun else ''}")
        elif plan.restarts:
            restart(site, report.tally)
            report.wrong += asyncio.run(compare(site.port, report.tally, held))
    finally:
        site.end()
    report.rooms, report.seconds = len(held), time.monotonic() - began
    report.wrong += [
        *report.tally.wrong,
        *report.answers.wrong,
        *lost(report.tally, environment["DATABASE_URL"], held, strangers=True),
        *errors_in(site.log),
    ]
    report.wrong += [*_of_clicks(report.clicks)]
    if report.largest > plan.bound:
        report.wrong.append(f"memory reached {report.largest // MEGABYTE} MB")
    return report


def errors_in(log: str) -> Iterator[str]:
    """Yield each error of a server's log, with the end of its traceback."""
    for entry in ENTRY.split(log):
        if TRACE.search(entry):
            first, _, rest = entry.partition("\n")
            yield f"the log has: {first[:200]} … {rest.strip()[-900:]}"


def _of_clicks(clicks: list[Click]) -> Iterator[str]:
    for click in clicks:
        wordless = click.status in DOCUMENTED and len(click.detail.split()) < FEW_WORDS
        if click.status == 0 or wordless or (click.status >= 500 and click.status not in DOCUMENTED):
            yield f"a visitor was answered {click.status} {click.detail[:200]}"


async def _attack(plan: Plan, site: Site, report: Report) -> list[Room]:
    """Run everybody at once. Return the rooms that were in use."""
    tally, held = report.tally, list[Room]()
    room = Room(0, site.port, 0, tally)
    await room.open()
    crowd = await gather(plan.visitors, site.port, ["127.0.0.1"], plan.seed)
    people = [Person(number, site.port, 0, tally, alone=True) for number in range(plan.people)]

    async def strangers() -> None:
        try:
            await _strangers(plan, site, report, lambda: held[-1])
        finally:
            tally.over = True

    async def visit() -> None:
        while not tally.over:
            report.clicks += await crowd.play(1)

    await asyncio.gather(strangers(), visit(), rooms(room, tally, held), *(_step(person, tally) for person in people))
    async with asyncio.timeout(SECONDS):
        while await crowd.behind():
            await asyncio.sleep(THINKS)
    for visitor in crowd.visitors if plan.restarts else ():
        tally.shown[visitor.base] = await served(visitor.http, visitor.base)
    await crowd.leave()
    return held


async def _step(person: Person, tally: Tally) -> None:
    """Step in one sandbox, at a person's pace, until time is over and something was done."""
    base = await enter(person.http)
    while not (tally.over and tally.answered):
        await person.step(base)
        await asyncio.sleep(THINKS)
    tally.shown[base] = await served(person.http, base)
    person.http.close()


async def _strangers(plan: Plan, site: Site, report: Report, room: Callable[[], Room]) -> None:
    known, database = routes(), Rows(site.directory / "db.sqlite3")
    targets = [Targets(site.port, number, room, SECONDS, database) for number in range(plan.at_once)]
    for one in targets:
        await one.renew()
    forms, methods = await _harvest(targets[0], known)
    chosen = [route for route in known if plan.only in f"/{route.path}"]
    assert chosen, f"no route has {plan.only} in its path"
    drawer = Drawer(plan.seed, chosen, forms, methods)
    numbers = iter(range(plan.first, plan.first + plan.count))

    async def send(target: Targets) -> None:
        for number in numbers:
            item = drawer.input(number)
            await target.renew_if_used()
            sender = Sender(target, report.answers)
            await (sender.talk(item) if item.socket else sender.ask(item))
            if report.answers.sent % REPORTED_EVERY == 0:
                print(
                    f"{report.answers.sent} inputs, {len(report.answers.wrong)} wrong, {site.memory() // MEGABYTE} MB",
                    flush=True,
                )
            if not site.alive():
                return

    await asyncio.gather(*map(send, targets))
    for one in targets:
        one.http.close()


FormsByRoute = dict[Route, list[tuple[list[str], Form]]]


async def _harvest(targets: Targets, known: tuple[Route, ...]) -> tuple[FormsByRoute, dict[Route, Sequence[str]]]:
    """Return the forms of the site's pages, and the methods that its routes accept."""
    forms: FormsByRoute = {}
    methods: dict[Route, Sequence[str]] = {}
    for route in known:
        for path in targets.pages(route):
            answer = await targets.http.get(path)
            if route.path.startswith("api/"):
                continue
            if answer.status == 405:
                methods[route] = ("POST",)
            elif route not in forms:
                methods[route] = (*["GET"] * 9, "POST")
            if answer.status == 200 and "text/html" in answer.headers.get("content-type", ""):
                for at, parameters, form in forms_of(answer.text, path, known):
                    forms.setdefault(at, []).append((parameters, form))
    return forms, methods


def tell(report: Report) -> None:
    """Print the figures."""
    print(f"{report.answers.sent} inputs to {len(report.answers.routes)} routes in {report.seconds:.0f} s")
    print(f"answers {dict(sorted(report.answers.statuses.items()))}, largest {report.largest // MEGABYTE} MB")
    print(f"{len(report.answers.broken)} lines ended without an answer {report.answers.broken[:10]}")
    print(f"visitors: {len(report.clicks)} clicks {statuses(report.clicks)}")
    print(
        f"people: {report.tally.answered} commands, in {report.rooms} rooms {dict(sorted(report.tally.acts.items()))}"
    )
    print(*(f"FAILED: {text}" for text in report.wrong[:60]), sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("count", "seed", "at_once", "visitors", "people", "first"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=getattr(Plan(), name))
    parser.add_argument("--bound", type=int, default=Plan().bound // MEGABYTE, help="MB that memory may reach")
    parser.add_argument("--only", default="", help="only to routes whose path has this part")
    parser.add_argument("--routes", action="store_true", help="list what each route answered")
    end_in_order()
    fields = vars(parser.parse_args())
    by_route = fields.pop("routes")
    bound = fields.pop("bound") * MEGABYTE
    with tempfile.TemporaryDirectory() as folder:
        environment = prepare(Path(folder))
        os.environ.update(environment)
        django.setup(set_prefix=False)
        report = run(Plan(**fields, bound=bound), Path(folder), environment)
        for route, codes in sorted(report.answers.routes.items()) if by_route else ():
            print(f"{route:<60} {dict(sorted(codes.items()))}")
        tell(report)
        sys.exit(bool(report.wrong))


if __name__ == "__main__":
    main()
