"""A workshop's room in use on a real server, and the state that must exist in the end.

A trainer opens it, people join, questions are asked and answered, hands go up, steps are sent, a timer runs. A ``Room``
records what was acknowledged, so that ``room_faults.faults`` can report what the database lost, doubled or changed.
"""

from __future__ import annotations

import asyncio
import csv
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from html import unescape
from io import StringIO
from typing import Any

from sandbox.words.say import say
from tests.hostile.audit import ANSWERED, REFUSED, UNKNOWN
from tests.hostile.participants import Count, Known, Participant
from tests.hostile.people import HANGS, Person, Tally, persistently
from tests.hostile.room_pages import BEAMER, LATEST, ROOM_CODE, ROW, THINKS, TRAINERS_OWN, Asker, first
from tests.hostile.wire import Connection, Line

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
LOST = say("limits.database-lost")
OF_ENGINE = ("right", "expected")
"""Columns of the results that the site requests from an engine."""
QUESTIONS = 25
"""Questions per room: this keeps its pages as long as those of a class."""


class Room:
    """One room, its trainer and its people: ``open`` it, then let them ``work``."""

    def __init__(self, number: int, port: int, lane: int, tally: Tally) -> None:
        self.number, self.port, self.lane, self.tally = number, port, lane, tally
        self.asker = Asker(number, tally)
        self.random = random.Random(f"room {number} of {lane}")
        self.http = Connection(port, f"127.0.{20 + lane}.{200 + number % 50}", timeout=HANGS)
        self.trainer = Person(1000 * number + 100, port, lane, tally, alone=False)
        self.people: list[Participant] = []
        self.base = self.code = self.beamer = ""
        self.frozen, self.eyes, self.timer = Known(False), Known(False), Known(False)
        self.asked: dict[str, Count] = {}
        """Text of a question → how often it was asked."""
        self.predicted = Count()
        self.marks: dict[tuple[int, str], Known] = {}
        """Number of a question and ``over``, ``revealed`` or ``away`` → its state."""
        self.lost_names: list[str] = []
        """Names of people who may have joined without getting an answer."""
        self.results: list[dict[str, str]] = []
        """The final table of results."""
        self.question_count = 0

    @property
    def acts(self) -> Counter[str]:
        """Count what was acknowledged, by the end of its path."""
        return self.asker.acts

    @property
    def id(self) -> str:
        """Return the id that the database has."""
        return self.base.split("/")[2].replace("-", "")

    # --- Opening

    async def open(self) -> None:
        """Open a room, and let ``PEOPLE`` people join it and take their sandboxes."""
        answer = await self.asker.done(lambda: self.asker.post(self.http, "/workshop/open/", text=FILE))
        self.base = answer.headers["hx-redirect"]
        page = (await self.asker.page(self.http, self.base)).text
        self.code, self.beamer = first(ROOM_CODE, page), first(BEAMER, page)
        for number in range(PEOPLE):
            self.people.append(await self.joined(f"Zoë {number}"))
        for person in self.people:
            await self.asker.done(lambda person=person: self.asker.post(person.person.http, f"{person.base}take/"))
        await self._learn_keys()

    async def joined(self, name: str) -> Participant:
        """Join the room. If an answer is lost, the name may be taken: try another one."""
        person = Person(1000 * self.number + 101 + len(self.people), self.port, self.lane, self.tally, alone=False)
        for again in range(100):
            called = name + " again" * again
            outcome, answer = await self.asker.post(person.http, "/join/", code=self.code, name=called)
            if outcome == ANSWERED:
                return Participant(answer.headers["hx-redirect"], Known(called), person, self.asker)
            if outcome == UNKNOWN:
                self.lost_names.append(called)
            await asyncio.sleep(THINKS)
        raise ConnectionRefusedError(f"{name} could not join")

    async def _learn_keys(self) -> None:
        """Read from the trainer's page the number of each participant."""
        page = (await self.asker.page(self.http, self.base)).text
        keys = {unescape(name): key for key, name in ROW.findall(page)}
        for person in self.people:
            person.key = keys.get(person.name.certain, person.key)
            if not person.key:
                self.tally.wrong.append(f"{self.number}: the trainer's page lacks {person.name.may}")

    # --- At work

    async def work(self, until: Callable[[], bool]) -> None:
        """Work until ``until`` holds or enough questions were asked. Then ask one more, which everybody answers."""

        def over() -> bool:
            return until() or self.question_count >= QUESTIONS

        async with AsyncExitStack() as stack:
            for path in (self.base, self.beamer, self.people[0].base):
                line = Line(self.port, path, self.http.address)
                await persistently(lambda line=line: stack.enter_async_context(line))
            await asyncio.gather(self._teach(over), *(person.take_part(over) for person in self.people))
        await self._end_well()
        for http in (self.http, self.trainer.http, *(person.person.http for person in self.people)):
            http.close()

    async def _teach(self, over: Callable[[], bool]) -> None:
        weights = [weight for weight, _ in self._acts()]
        while not over():
            await self.random.choices([act for _, act in self._acts()], weights)[0]()
            await asyncio.sleep(THINKS)

    def _acts(self) -> list[tuple[int, Callable[[], Awaitable[Any]]]]:
        """Return a trainer's actions, each with its weight."""
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
        self.question_count += 1
        text = f"Question {self.question_count} of room {self.number}?"
        choices = [f"{letter}{self.question_count}" for letter in "abc"]
        fields = {
            "ask": text,
            "choices": "\n".join(["*" + choices[0], *choices[1:]]),
            "many": str(self.question_count % 2),
        }
        outcome, _ = await self.asker.post(self.http, f"{self.base}ask/", **fields)
        self.asked.setdefault(text, Count()).note(outcome)
        return outcome

    async def _planned(self) -> None:
        number = self.random.randrange(len(PLANNED))
        outcome, _ = await self.asker.post(self.http, f"{self.base}planned/", number=str(number))
        self.asked.setdefault(PLANNED[number], Count()).note(outcome)

    async def _predict(self) -> None:
        kind = self.random.choice(("passes", "winner", "lane"))
        self.predicted.note((await self.asker.post(self.http, f"{self.base}predict/", kind=kind))[0])

    async def _mark(self, verb: str) -> None:
        """End, reveal or put away the question that the page shows."""
        number = first(LATEST, (await self.asker.page(self.http, self.base)).text)
        if number:
            outcome, _ = await self.asker.post(self.http, f"{self.base}{verb}/", number=number)
            for mark in {"end": ("over",), "reveal": ("over", "revealed"), "put-away": ("over", "away")}[verb]:
                self.marks.setdefault((int(number), mark), Known(False)).note(True, outcome)

    async def _switch(self, verb: str, known: Known) -> None:
        """Turn a switch. On is rare, because nobody in a frozen room does anything."""
        on = known.certain is not True and self.random.random() < 0.4
        known.note(on, (await self.asker.post(self.http, f"{self.base}{verb}/", on=str(int(on))))[0])

    async def _set_timer(self) -> None:
        minutes = self.random.choice(("0", "5", "0.5", "600"))
        self.timer.note(minutes != "0", (await self.asker.post(self.http, f"{self.base}timer/", minutes=minutes))[0])

    async def _step(self) -> None:
        """Send a step to everybody. The answer names those who could not make it."""
        verb = self.random.choice(("stage", "pod", "second"))
        pairs = [("verb", verb), *(("to", person.key) for person in self.people)]
        outcome, answer = await self.asker.post(self.http, f"{self.base}step/", pairs)
        text = unescape(answer.text)
        for person in self.people:
            lost = any(f"{name}: {LOST}" in text for name in person.name.may)
            named = any(f"{name}: " in text for name in person.name.may)
            person.steps.note(UNKNOWN if lost else REFUSED if named else outcome)

    async def _rename(self) -> None:
        person = self.random.choice(self.people)
        name = f"Zoë {self.people.index(person)}, {self.acts.total()}"
        fields = {"who": person.key, "name": name}
        person.name.note(name, (await self.asker.post(self.http, f"{self.base}rename/", **fields))[0])

    async def _send(self) -> None:
        pairs = [("scenario", self.random.choice(SENT)), *(("to", person.key) for person in self.people)]
        outcome, _ = await self.asker.post(self.http, f"{self.base}send/", pairs)
        for person in self.people:
            person.seats.note(outcome)

    async def _own_step(self) -> None:
        await self.trainer.step(first(TRAINERS_OWN, (await self.asker.page(self.http, self.base)).text))

    # --- The end

    async def _end_well(self) -> None:
        """Ask a question that everybody answers, leave a hand up, and let everybody join again by their code."""
        await self.asker.until_done(self.ask)
        await self.asker.until_done(lambda: self.people[0].raise_hand(True))
        for person in self.people:
            await self.asker.until_done(person.answer_now)
            await person.come_back(self.code)
        self.results = self.own_rows((await self.asker.page(self.http, f"{self.base}results.csv")).text)

    def own_rows(self, table: str) -> list[dict[str, str]]:
        """Return the rows of the room's people in a table of results, without the engine's columns: it may be busy."""
        names = {name for person in self.people for name in person.name.may}
        rows = [row for row in csv.DictReader(StringIO(table)) if row["participant"] in names]
        return [{name: cell for name, cell in row.items() if name not in OF_ENGINE} for row in rows]
