"""A participant of a workshop's room: their actions, and the state that must exist in the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from typing import Any

from tests.hostile.audit import ANSWERED, REFUSED, UNKNOWN
from tests.hostile.people import Person
from tests.hostile.room_pages import CHOICE, CODE, LATER, OPEN_QUESTION, OWN, THINKS, Asker, first


class Known:
    """The possible values of something: the last acknowledged one, and those sent since without an answer."""

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
        """Return the value if there is only one, else None."""
        return self.may[0] if len(self.may) == 1 else None


@dataclass
class Count:
    """Count how often something was done, at least and at most."""

    least: int = 0
    most: int = 0

    def note(self, outcome: str) -> None:
        self.least += outcome == ANSWERED
        self.most += outcome != REFUSED

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.least <= number <= self.most


@dataclass
class Participant:
    """Somebody in the room. ``base`` is the path of their page."""

    base: str
    name: Known
    person: Person
    asker: Asker
    hand: Known = field(default_factory=lambda: Known(False))
    help: Known = field(default_factory=lambda: Known(False))
    answers: dict[int, Known] = field(default_factory=dict)
    """Number of a question → the choice; None = no answer."""
    seats: Count = field(default_factory=lambda: Count(1, 1))
    taken: set[str] = field(default_factory=set)
    """Paths of the sandboxes that their page showed."""
    steps: Count = field(default_factory=Count)
    """Steps that the trainer sent."""
    key: str = ""
    """Number of the participant's row, from the trainer's page."""
    turn: int = 0

    async def take_part(self, over: Callable[[], bool]) -> None:
        while not over():
            page = (await self.asker.page(self.person.http, self.base)).text
            self._look(page)
            drawn = self.person.random.random()
            if drawn < 0.4:
                await self.answer(page)
            elif drawn < 0.55:
                await self.raise_hand(self.hand.certain is not True)
            elif drawn < 0.6:
                on = self.help.certain is not True
                fields = {"on": str(int(on))}
                self.help.note(on, (await self.asker.post(self.person.http, f"{self.base}help/", **fields))[0])
            elif own := first(OWN, page):
                await self.person.step(own)
            else:
                await self.asker.post(self.person.http, f"{self.base}take/")
            await asyncio.sleep(THINKS)

    def _look(self, page: str) -> None:
        """Check that the page shows its owner's actions, and record the sandbox in it."""
        if ("Lower hand" in page) not in self.hand:
            self.asker.tally.wrong.append(f"room {self.asker.number}: the page of {self.name.may} shows another hand")
        if own := first(OWN, page):
            self.taken.add(own)

    async def answer_now(self) -> str:
        return await self.answer((await self.asker.page(self.person.http, self.base)).text)

    async def answer(self, page: str) -> str:
        """Answer the question that the page shows, if any."""
        form = OPEN_QUESTION.search(page)
        if form is None:
            return REFUSED
        offered = list(map(unescape, CHOICE.findall(form[0])))
        many = 'type="checkbox"' in form[0]
        drawn = self.person.random
        chosen = [one for one in offered if drawn.random() < 0.5] if many else [drawn.choice(offered)]
        self.turn += 1
        pairs = [("number", form[1]), ("page", "tab"), ("turn", str(self.turn))]
        outcome, _ = await self.asker.post(
            self.person.http, f"{self.base}answer/", [*pairs, *(("chosen", one) for one in chosen)]
        )
        self.answers.setdefault(int(form[1]), Known(None)).note(chosen, outcome)
        return outcome

    async def raise_hand(self, up: bool) -> str:
        outcome, _ = await self.asker.post(self.person.http, f"{self.base}hand/", on=str(int(up)))
        self.hand.note(up, outcome)
        return outcome

    async def come_back(self, code: str) -> None:
        """Join the room again, with the participant's four-digit code."""
        back = first(CODE, (await self.asker.page(self.person.http, self.base)).text)
        for name in self.name.may:
            fields = {"code": code, "name": name, "back": back}
            while True:
                outcome, answer = await self.asker.post(self.person.http, "/join/", **fields)
                if answer.headers.get("hx-redirect") == self.base:
                    return
                if outcome != UNKNOWN and answer.status not in LATER:
                    break
                await asyncio.sleep(THINKS)
        self.asker.tally.wrong.append(f"room {self.asker.number}: {self.name.may} could not come back: {answer.status}")
