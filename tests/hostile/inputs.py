"""Hostile inputs to every route: ``python -m tests.hostile.inputs --count 100000 --seed 1`` says what became of them.

Meanwhile a workshop's room is at work, and visitors step in their own sandboxes. Nothing of theirs may be lost. No
answer may be 5xx but 503 and 507 in words, no page may show a tag that somebody sent, no traceback may be in the log.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import django

from tests.hostile.kills import compare, lost, restart, rooms
from tests.hostile.oddities import ITS_RESULT, MARK
from tests.hostile.people import Person, Tally
from tests.hostile.requests import Drawer, Input
from tests.hostile.rooms import Room
from tests.hostile.routes import Form, Route, forms_of, routes
from tests.hostile.site import MEGABYTE, Site, end_in_order, prepare
from tests.hostile.targets import Targets
from tests.hostile.visitors import Click, gather, statuses
from tests.hostile.wire import BROKEN, TEXT, Answer, enter, frame, head, opened, read_frame, served, upgrade

LIMITED = ("ADDRESS", "CREATE", "SOCKET", "COMMAND", "ROOM", "JOIN", "CODE", "LOOK", "MESSAGE")
RATES = {f"{name}_RATE": "100000" for name in LIMITED}
"""Environment of a server that turns nobody away for coming often: what they bring is to be looked at."""
SECONDS = 300
"""Without an answer for so long, something hangs."""
DOCUMENTED = (503, 507)
"""Statuses of a server that is busy or full, which it says in words."""
FEW_WORDS = 4
REFLECTED = re.compile(rf"<{MARK}|\" {MARK}=|{ITS_RESULT}")
ENTRY = re.compile(r"^(?=\d{4}-\d\d-\d\d )", re.MULTILINE)
TRACE = re.compile(r"Traceback|^\S+ \S+ (?:ERROR|CRITICAL)")
TRY_AGAIN = 1011
"""Close code of a live line that broke down."""
TOLD_EVERY = 5000
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
    restarts: bool = True
    """Whether a fresh process has to show what the attacked one showed."""


@dataclass
class Report:
    plan: Plan
    sent: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    routes: dict[str, Counter[int]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Inputs after which the line ended without an answer."""
    clicks: list[Click] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    rooms: int = 0
    largest: int = 0
    seconds: float = 0

    def note(self, number: int, route: str, status: int) -> None:
        self.sent += 1
        self.statuses[status] += 1
        self.routes.setdefault(route, Counter())[status] += 1

    def fault(self, number: int, route: str, text: str) -> None:
        self.wrong.append(f"input {number}, {route}: {text}")


def run(plan: Plan, directory: Path, environment: dict[str, str]) -> Report:
    """One server, from its start to its end. Django has to be set up."""
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
        *lost(report.tally, directory / "db.sqlite3", held, True),
        *errors_in(site.log),
    ]
    report.wrong += [*_of_clicks(report.clicks)]
    if report.largest > plan.bound:
        report.wrong.append(f"memory reached {report.largest // MEGABYTE} MB")
    return report


def errors_in(log: str) -> Iterator[str]:
    """Each error of a server's log, with the end of its traceback."""
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
    """Everybody at once; the rooms that were at work."""
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
    """In one sandbox, like somebody who thinks."""
    base = await enter(person.http)
    while not tally.over:
        await person.step(base)
        await asyncio.sleep(THINKS)
    tally.shown[base] = await served(person.http, base)
    person.http.close()


async def _strangers(plan: Plan, site: Site, report: Report, room: Callable[[], Room]) -> None:
    known = routes()
    targets = [Targets(site.port, number, room, SECONDS) for number in range(plan.at_once)]
    for one in targets:
        await one.renew()
    forms, methods = await _harvest(targets[0], known)
    drawer = Drawer(plan.seed, known, forms, methods)
    numbers = iter(range(plan.first, plan.first + plan.count))

    async def send(target: Targets) -> None:
        for number in numbers:
            given = drawer.input(number)
            await target.renew_if_used()
            sender = Sender(target, report)
            await (sender.talk(given) if given.socket else sender.ask(given))
            if report.sent % TOLD_EVERY == 0:
                print(f"{report.sent} inputs, {len(report.wrong)} wrong, {site.memory() // MEGABYTE} MB", flush=True)
            if not site.alive():
                return

    await asyncio.gather(*map(send, targets))
    for one in targets:
        one.http.close()


Found = dict[Route, list[tuple[list[str], Form]]]


async def _harvest(targets: Targets, known: tuple[Route, ...]) -> tuple[Found, dict[Route, Sequence[str]]]:
    """The forms of the site's pages, and which methods its routes take."""
    forms: Found = {}
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


class Sender:
    """Sends an input, and judges what comes back."""

    def __init__(self, target: Targets, report: Report) -> None:
        self.target, self.report = target, report

    async def ask(self, given: Input) -> None:
        path, body = self.target.filled(given.path), self.target.filled_body(given.body)
        headers = {name: text.replace("\r", " ").replace("\n", " ") for name, text in given.headers.items()}
        try:
            answer = await self.target.http.ask(given.method, path, body, headers)
        except TimeoutError:
            self.report.note(given.number, given.route, 0)
            return self.report.fault(given.number, given.route, f"no answer within {SECONDS} s")
        except BROKEN as error:
            self.report.note(given.number, given.route, 0)
            self.report.broken.append(f"{given.number} {given.method} {given.route} {error!r}")
            return None
        self.report.note(given.number, given.route, answer.status)
        self.target.saw(given, answer.status)
        if wrong := judged(answer):
            self.report.fault(given.number, given.route, wrong)
        return None

    async def talk(self, given: Input) -> None:
        """Open a live line, say it all, and ask whether the line is alive."""
        try:
            async with asyncio.timeout(SECONDS):
                code = await self._talk(given)
        except TimeoutError:
            self.report.note(given.number, given.route, 0)
            return self.report.fault(given.number, given.route, f"neither a word nor an end within {SECONDS} s")
        except BROKEN:
            code = 0
        self.report.note(given.number, given.route, code)
        if code == TRY_AGAIN:
            self.report.fault(given.number, given.route, "the live line broke down")
        return None

    async def _talk(self, given: Input) -> int:
        """Status of the handshake if it is refused; else the code with which the line was closed, or 101."""
        reader, writer = await opened(self.target.http.port, self.target.http.address)
        try:
            headers = upgrade(self.target.http.port) | given.headers
            writer.write(head("GET", self.target.filled(given.path), self.target.http.port, headers))
            answer = await reader.readuntil(b"\r\n\r\n")
            status = int(answer.split()[1])
            if status != 101:
                if status >= 500:
                    self.report.fault(given.number, given.route, f"the handshake was answered {status}")
                return status
            for kind, payload in given.messages:
                writer.write(frame(kind, payload))
            writer.write(frame(TEXT, b'{"ping": 1}'))
            wanted = {b'{"pong"'} | ({b"<!--"} if given.shows else set())
            while True:
                kind, payload = await read_frame(reader)
                if kind == TEXT and REFLECTED.search(payload.decode(errors="replace")):
                    self.report.fault(given.number, given.route, f"reflected in {payload[:200]!r}")
                wanted = {start for start in wanted if not payload.startswith(start)}
                if not wanted:
                    return status
                if kind == 0x88:
                    return int.from_bytes(payload[:2])
        finally:
            writer.transport.abort()


def judged(answer: Answer) -> str:
    """What is wrong with an answer, or nothing."""
    text = _text(answer)
    if answer.status >= 500 and (answer.status not in DOCUMENTED or len(text.split()) < FEW_WORDS):
        return f"{answer.status} {text[:300]}"
    kind = answer.headers.get("content-type", "")
    if "html" in kind and (found := REFLECTED.search(text)):
        return f"reflected: …{text[max(0, found.start() - 100) : found.end() + 60]}…"
    if answer.body and not kind:
        return f"{answer.status} has no content type"
    return ""


def _text(answer: Answer) -> str:
    if answer.headers.get("content-encoding") != "gzip":
        return answer.text
    with suppress(OSError, EOFError):
        return gzip.decompress(answer.body).decode(errors="replace")
    return ""


def tell(report: Report) -> None:
    """The figures, on standard output."""
    print(f"{report.sent} inputs to {len(report.routes)} routes in {report.seconds:.0f} s")
    print(f"answers {dict(sorted(report.statuses.items()))}, largest {report.largest // MEGABYTE} MB")
    print(f"{len(report.broken)} lines ended without an answer {report.broken[:10]}")
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
    parser.add_argument("--routes", action="store_true", help="list what each route answered")
    end_in_order()
    given = vars(parser.parse_args())
    by_route = given.pop("routes")
    bound = given.pop("bound") * MEGABYTE
    with tempfile.TemporaryDirectory() as folder:
        environment = prepare(Path(folder))
        os.environ.update(environment)
        django.setup(set_prefix=False)
        report = run(Plan(**given, bound=bound), Path(folder), environment)
        for route, seen in sorted(report.routes.items()) if by_route else ():
            print(f"{route:<60} {dict(sorted(seen.items()))}")
        tell(report)
        sys.exit(bool(report.wrong))


if __name__ == "__main__":
    main()
