"""A workshop's room at work on a real server, and what must be there of it in the end.

A trainer opens it, people join, questions are asked and answered, hands go up, steps are sent, a timer runs. A ``Room``
remembers what was acknowledged, so that ``room_faults.faults`` can say what the database lost, doubled or changed.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urlencode

from tests.hostile.audit import ANSWERED, REFUSED, UNKNOWN
from tests.hostile.people import DONE, HANGS, Person, Tally, persistently
from tests.hostile.wire import BROKEN, Answer, Connection, Line

FILE = """\
kind: Workshop
title: A room at work
begin: {scenario: node-selector}
questions:
- {ask: "Which queue?", choices: [activeQ, backoffQ], right: [activeQ]}
- {ask: "Which of them?", choices: [a, b, c], right: [a, b], many: true}
"""
PLANNED = ("Which queue?", "Which of them?")
SENT = ("node-selector", "node-name-pin")
PEOPLE = 4
QUESTIONS = 25
"""Questions after which another room is opened: pages stay as long as those of a class."""
THINKS = 0.4
"""Seconds between two clicks of a person. A page may do five things a second."""
NEVER = ("400", "403", "404", "410", "500", "507")
LATER = (409, 429, 503)
FORM = {"Content-Type": "application/x-www-form-urlencoded", "HX-Request": "true"}
OPEN_QUESTION = re.compile(r'action="answer/".*?name="number" value="(\d+)".*?</fieldset>', re.DOTALL)
CHOICE = re.compile(r'name="chosen" value="([^"]*)"')
LATEST = re.compile(r'name="number" value="(\d+)"')
OWN = re.compile(r'id="desk-own"[^>]* src="([^"]+)"')
TRAINERS_OWN = re.compile(r'title="Your sandbox" src="([^"]+)"')
CODE = re.compile(r"data-code hidden>code (\d{4})<")
ROOM_CODE = re.compile(r'aria-label="Code (\w{6})"')
BEAMER = re.compile(r'href="https?://[^/"]+(/w/[^"]+)"[^>]*>Beamer view')
ROW = re.compile(r'data-person="(\d+)">([^<]*)</button>')


class Known:
    """What a thing may be: as it was acknowledged last, or as somebody asked since who was cut off."""

    def __init__(self, value: Any) -> None:
        self.may = [value]

    def note(self, value: Any, outcome: str) -> None:
        if outcome == ANSWERED:
            self.may = [value]
        elif outcome == UNKNOWN:
            self.may.append(value)

    def __contains__(self, value: Any) -> bool:
        return value in self.may

    @property
    def certain(self) -> Any:
        """The value if there is one only, else None."""
        return self.may[0] if len(self.may) == 1 else None


@dataclass
class Count:
    """How often something was done, at least and at most."""

    least: int = 0
    most: int = 0

    def note(self, outcome: str) -> None:
        self.least += outcome == ANSWERED
        self.most += outcome != REFUSED

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.least <= number <= self.most


@dataclass
class Participant:
    """Somebody in the room; ``base`` is the path of their page."""

    base: str
    name: Known
    person: Person
    hand: Known = field(default_factory=lambda: Known(False))
    help: Known = field(default_factory=lambda: Known(False))
    answers: dict[int, Known] = field(default_factory=dict)
    """Number of a question → what was chosen; None = no answer."""
    seats: Count = field(default_factory=lambda: Count(1, 1))
    taken: set[str] = field(default_factory=set)
    """Paths of the sandboxes that their page showed."""
    steps: Count = field(default_factory=Count)
    """Steps that the trainer sent."""
    key: str = ""
    turn: int = 0


class Room:
    """One room, its trainer and its people: ``open`` it, then let them ``work``."""

    def __init__(self, number: int, port: int, lane: int, tally: Tally) -> None:
        self.number, self.port, self.lane, self.tally = number, port, lane, tally
        self.random = random.Random(f"room {number} of {lane}")
        self.http = Connection(port, f"127.0.{20 + lane}.{200 + number % 50}", timeout=HANGS)
        self.trainer = Person(1000 * number + 100, port, lane, tally, alone=False)
        self.people: list[Participant] = []
        self.base = self.code = self.beamer = ""
        self.frozen, self.eyes, self.timer = Known(False), Known(False), Known(False)
        self.asked: dict[str, Count] = {}
        """Text of a question → how often it was put."""
        self.predicted = Count()
        self.marks: dict[tuple[int, str], Known] = {}
        """Number of a question and ``over``, ``revealed`` or ``away`` → whether it is."""
        self.lost_names: list[str] = []
        """Under which somebody may have joined whose page never came."""
        self.acts: Counter[str] = Counter()
        """What was acknowledged, by path."""
        self.results = ""
        """The table of results, once nobody does anything any more."""
        self.given = 0

    @property
    def id(self) -> str:
        """As the database has it."""
        return self.base.split("/")[2].replace("-", "")

    # --- Opening

    async def open(self) -> None:
        """A room with ``PEOPLE`` people in it who have their sandboxes."""
        answer = await self._done(lambda: self._post(self.http, "/workshop/open/", text=FILE))
        self.base = answer.headers["hx-redirect"]
        page = (await self._page(self.http, self.base)).text
        self.code, self.beamer = _first(ROOM_CODE, page), _first(BEAMER, page)
        for number in range(PEOPLE):
            self.people.append(await self.joined(f"Zoë {number}"))
        for person in self.people:
            await self._done(lambda person=person: self._post(person.person.http, f"{person.base}take/"))
        await self._learn_keys()

    async def joined(self, name: str) -> Participant:
        """Whose answer is lost is in the room, perhaps, and joins again under another name."""
        person = Person(1000 * self.number + 101 + len(self.people), self.port, self.lane, self.tally, alone=False)
        for again in range(100):
            called = name + " again" * again
            outcome, answer = await self._post(person.http, "/join/", code=self.code, name=called)
            if outcome == ANSWERED:
                return Participant(answer.headers["hx-redirect"], Known(called), person)
            if outcome == UNKNOWN:
                self.lost_names.append(called)
            await asyncio.sleep(THINKS)
        raise ConnectionRefusedError(f"{name} could not join")

    async def _learn_keys(self) -> None:
        """Under which numbers the trainer's page knows the people."""
        page = (await self._page(self.http, self.base)).text
        keys = {unescape(name): key for key, name in ROW.findall(page)}
        for person in self.people:
            person.key = keys.get(person.name.certain, person.key)
            if not person.key:
                self.tally.wrong.append(f"{self.number}: the trainer's page lacks {person.name.may}")

    # --- At work

    async def work(self, until: Callable[[], bool]) -> None:
        """Until ``until`` holds, or there were enough questions; then one more question, which everybody answers."""

        def over() -> bool:
            return until() or self.given >= QUESTIONS

        async with AsyncExitStack() as stack:
            for path in (self.base, self.beamer, self.people[0].base):
                line = Line(self.port, path, self.http.address)
                await persistently(lambda line=line: stack.enter_async_context(line))
            await asyncio.gather(self._teach(over), *(self._take_part(person, over) for person in self.people))
        await self._end_well()
        for http in (self.http, self.trainer.http, *(person.person.http for person in self.people)):
            http.close()

    async def _teach(self, over: Callable[[], bool]) -> None:
        weights = [weight for weight, _ in self._acts()]
        while not over():
            await self.random.choices([act for _, act in self._acts()], weights)[0]()
            await asyncio.sleep(THINKS)

    def _acts(self) -> list[tuple[int, Callable[[], Awaitable[Any]]]]:
        """How often, and what a trainer does."""
        return [
            (25, self.ask),
            (8, self._planned),
            (5, self._predict),
            (6, lambda: self._mark("end")),
            (8, lambda: self._mark("reveal")),
            (3, lambda: self._mark("put-away")),
            (6, lambda: self._switch("freeze", self.frozen)),
            (5, lambda: self._switch("eyes", self.eyes)),
            (6, self._set_timer),
            (12, self._step),
            (4, self._rename),
            (2, self._send),
            (8, self._own_step),
        ]

    async def ask(self) -> str:
        self.given += 1
        text = f"Question {self.given} of room {self.number}?"
        choices = [f"{letter}{self.given}" for letter in "abc"]
        fields = {"ask": text, "choices": "\n".join(["*" + choices[0], *choices[1:]]), "many": str(self.given % 2)}
        outcome, _ = await self._post(self.http, f"{self.base}ask/", **fields)
        self.asked.setdefault(text, Count()).note(outcome)
        return outcome

    async def _planned(self) -> None:
        number = self.random.randrange(len(PLANNED))
        outcome, _ = await self._post(self.http, f"{self.base}planned/", number=str(number))
        self.asked.setdefault(PLANNED[number], Count()).note(outcome)

    async def _predict(self) -> None:
        kind = self.random.choice(("passes", "winner", "lane"))
        self.predicted.note((await self._post(self.http, f"{self.base}predict/", kind=kind))[0])

    async def _mark(self, verb: str) -> None:
        """End, reveal or put away the question that the page shows."""
        number = _first(LATEST, (await self._page(self.http, self.base)).text)
        if number:
            outcome, _ = await self._post(self.http, f"{self.base}{verb}/", number=number)
            for mark in {"end": ("over",), "reveal": ("over", "revealed"), "put-away": ("over", "away")}[verb]:
                self.marks.setdefault((int(number), mark), Known(False)).note(True, outcome)

    async def _switch(self, verb: str, known: Known) -> None:
        """On is rare: who is stopped does nothing."""
        on = known.certain is not True and self.random.random() < 0.4
        known.note(on, (await self._post(self.http, f"{self.base}{verb}/", on=str(int(on))))[0])

    async def _set_timer(self) -> None:
        minutes = self.random.choice(("0", "5", "0.5", "600"))
        self.timer.note(minutes != "0", (await self._post(self.http, f"{self.base}timer/", minutes=minutes))[0])

    async def _step(self) -> None:
        """Who could not make it is named in the answer."""
        verb = self.random.choice(("stage", "pod", "second"))
        pairs = [("verb", verb), *(("to", person.key) for person in self.people)]
        outcome, answer = await self._post(self.http, f"{self.base}step/", pairs)
        text = unescape(answer.text)
        partly = outcome == REFUSED and "Not everybody" in text
        for person in self.people:
            named = any(f"{name}: " in text for name in person.name.may)
            person.steps.note(REFUSED if named else ANSWERED if partly else outcome)

    async def _rename(self) -> None:
        person = self.random.choice(self.people)
        name = f"Zoë {self.people.index(person)}, {self.acts.total()}"
        fields = {"who": person.key, "name": name}
        person.name.note(name, (await self._post(self.http, f"{self.base}rename/", **fields))[0])

    async def _send(self) -> None:
        pairs = [("scenario", self.random.choice(SENT)), *(("to", person.key) for person in self.people)]
        outcome, _ = await self._post(self.http, f"{self.base}send/", pairs)
        for person in self.people:
            person.seats.note(outcome)

    async def _own_step(self) -> None:
        await self.trainer.step(_first(TRAINERS_OWN, (await self._page(self.http, self.base)).text))

    # --- A participant

    async def _take_part(self, person: Participant, over: Callable[[], bool]) -> None:
        while not over():
            page = (await self._page(person.person.http, person.base)).text
            self._look(person, page)
            drawn = self.random.random()
            if drawn < 0.4:
                await self.answer(person, page)
            elif drawn < 0.55:
                await self.raise_hand(person, person.hand.certain is not True)
            elif drawn < 0.6:
                on = person.help.certain is not True
                fields = {"on": str(int(on))}
                person.help.note(on, (await self._post(person.person.http, f"{person.base}help/", **fields))[0])
            elif own := _first(OWN, page):
                await person.person.step(own)
            else:
                await self._post(person.person.http, f"{person.base}take/")
            await asyncio.sleep(THINKS)

    def _look(self, person: Participant, page: str) -> None:
        """The page shows what its owner did."""
        if ("Lower hand" in page) not in person.hand:
            self.tally.wrong.append(f"room {self.number}: the page of {person.name.may} shows another hand")
        if own := _first(OWN, page):
            person.taken.add(own)

    async def answer(self, person: Participant, page: str) -> str:
        """To the question that the page shows, if it shows one."""
        form = OPEN_QUESTION.search(page)
        if form is None:
            return REFUSED
        offered = list(map(unescape, CHOICE.findall(form[0])))
        many = 'type="checkbox"' in form[0]
        chosen = [one for one in offered if self.random.random() < 0.5] if many else [self.random.choice(offered)]
        person.turn += 1
        pairs = [("number", form[1]), ("page", "tab"), ("turn", str(person.turn))]
        outcome, _ = await self._post(
            person.person.http, f"{person.base}answer/", [*pairs, *(("chosen", one) for one in chosen)]
        )
        person.answers.setdefault(int(form[1]), Known(None)).note(chosen, outcome)
        return outcome

    async def raise_hand(self, person: Participant, up: bool) -> str:
        outcome, _ = await self._post(person.person.http, f"{person.base}hand/", on=str(int(up)))
        person.hand.note(up, outcome)
        return outcome

    # --- The end

    async def _end_well(self) -> None:
        """A question that everybody answers, a hand that stays up, and everybody comes back by their code."""
        await self._until_done(self.ask)
        await self._until_done(lambda: self.raise_hand(self.people[0], True))
        for person in self.people:

            async def answer(person: Participant = person) -> str:
                return await self.answer(person, (await self._page(person.person.http, person.base)).text)

            await self._until_done(answer)
            await self._come_back(person)
        self.results = (await self._page(self.http, f"{self.base}results.csv")).text

    async def _come_back(self, person: Participant) -> None:
        code = _first(CODE, (await self._page(person.person.http, person.base)).text)
        for name in person.name.may:
            fields = {"code": self.code, "name": name, "back": code}
            _, answer = await self._post(person.person.http, "/join/", **fields)
            if answer.headers.get("hx-redirect") == person.base:
                return
        self.tally.wrong.append(f"room {self.number}: {person.name.may} could not come back: {answer.status}")

    async def _until_done(self, act: Callable[[], Awaitable[str]]) -> None:
        for _ in range(HANGS):
            if await act() == ANSWERED:
                return
            await asyncio.sleep(THINKS)
        self.tally.wrong.append(f"room {self.number}: {act} was never acknowledged")

    # --- Asking

    async def _post(
        self, http: Connection, path: str, pairs: Iterable[tuple[str, str]] = (), **fields: str
    ) -> tuple[str, Answer]:
        """What its sender knows of it, and the answer; an empty one when the line broke."""
        body = urlencode([*pairs, *fields.items()]).encode()
        try:
            answer = await http.ask("POST", path, body, FORM)
        except BROKEN:
            await asyncio.sleep(0.05)
            return UNKNOWN, Answer(0, {}, b"")
        self._note(answer, path)
        if answer.status in DONE:
            self.acts[path.removeprefix(self.base).split("/")[-2]] += 1
            return ANSWERED, answer
        return REFUSED, answer

    async def _page(self, http: Connection, path: str) -> Answer:
        """Patient with a server that is killed, or at work."""
        while True:
            answer = await persistently(lambda: http.get(path))
            self._note(answer, path)
            if answer.status not in LATER:
                return answer
            await asyncio.sleep(THINKS)

    async def _done(self, act: Callable[[], Awaitable[tuple[str, Answer]]]) -> Answer:
        while True:
            outcome, answer = await act()
            if outcome == ANSWERED:
                return answer
            await asyncio.sleep(THINKS)

    def _note(self, answer: Answer, path: str) -> None:
        self.tally.statuses[answer.status] += 1
        if str(answer.status) in NEVER:
            where = path.rstrip("/").rpartition("/")[2]
            self.tally.wrong.append(f"room {self.number}: {where} was answered {answer.status} {answer.text[:200]}")


def _first(pattern: re.Pattern[str], page: str) -> str:
    """What a page has in the first place that a pattern fits, or nothing."""
    found = pattern.search(page)
    return unescape(found[1]) if found else ""
