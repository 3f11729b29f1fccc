"""The plan of a room: ordered rows that the trainer runs one after the other. Each sends, asks or starts a timer.

What a row does and that it was run are stored in one transaction, so nothing is sent twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.db import transaction
from django.utils import timezone

from sandbox.content.scenarios import scenarios
from sandbox.content.shelf import lessons
from sandbox.words.say import say
from sandbox.worker.jobs.rooms import PREDICTED
from sandbox.workshop import questions, sources
from sandbox.workshop.layers import notify_room
from sandbox.workshop.models import Question, Workshop
from sandbox.workshop.questions import LONGEST_ASK, LONGEST_CHOICE
from sandbox.workshop.room import MOST_MINUTES, send, set_timer
from scheduler_engine.errors import Rejected
from scheduler_engine.lesson import model, predictions
from scheduler_engine.shapes import Data, Flag, ListOf, Number, Shape, Text

MINUTE = 60
Act = Callable[[], int]
"""What a row does, in a transaction. It returns the number of the question that it asked, 0 = none."""

QUESTION: dict[str, Shape] = {
    "ask": Text(longest=LONGEST_ASK),
    "choices": ListOf(Text(longest=LONGEST_CHOICE), fewest=2),
    "right": ListOf(Text()),
    "many": Flag(),
    "predict": Text(values=PREDICTED),
    "pod": Text(),
}
"""Key of a question in a room's file → shape."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of row. ``what``: what it does, in words. ``prepare`` checks it, and raises ``Rejected`` or what it asks.

    ``asks``: True if it asks a question.
    """

    what: Callable[[Workshop, Data], str]
    prepare: Callable[[Workshop, Data], Act]
    asks: bool = False


def _sends(room: Workshop, find: Callable[[], sources.Source]) -> Act:
    source = find()

    def act() -> int:
        send(room, source, room.people, everybody=True)
        return 0

    return act


def _asks(room: Workshop, question: Question) -> Act:
    return lambda: questions.save(room, question).number


def _starts_timer(room: Workshop, row: Data) -> Act:
    def act() -> int:
        set_timer(room, row["minutes"])
        return 0

    return act


def _ask_row(row: Data) -> Question:
    return questions.with_choices(
        row["ask"], row.get("choices", ()), row.get("right", ()), bool(row.get("many", False))
    )


def _sending(title: str) -> str:
    return say("room.plan-send", title=title)


def _lesson_title(slug: str) -> str:
    placed = lessons().get(slug)
    return placed.lesson.title if placed else slug


def _scenario_title(slug: str) -> str:
    installed = scenarios().get(slug)
    return installed.title if installed else slug


def _own_title(room: Workshop, number: int) -> str:
    title: str | None = room.lessons.filter(number=number).values_list("title", flat=True).first()
    return title or str(number)


def _predicted(row: Data) -> str:
    kind, pod = row["predict"], row.get("pod") or say("room.next-pod")
    return predictions.asked(model.Question(kind, pod, at=predictions.KINDS[kind].at))


KINDS: dict[str, Kind] = {
    "lesson": Kind(
        lambda room, row: _sending(_lesson_title(row["lesson"])),
        lambda room, row: _sends(room, lambda: sources.lesson(row["lesson"])),
    ),
    "own": Kind(
        lambda room, row: _sending(_own_title(room, row["own"])),
        lambda room, row: _sends(room, lambda: sources.own(room, str(row["own"]))),
    ),
    "scenario": Kind(
        lambda room, row: _sending(_scenario_title(row["scenario"])),
        lambda room, row: _sends(room, lambda: sources.scenario(row["scenario"])),
    ),
    "predict": Kind(
        lambda room, row: say("room.plan-ask", ask=_predicted(row)),
        lambda room, row: _asks(room, questions.prediction(room, row["predict"], row.get("pod", ""))),
        asks=True,
    ),
    "ask": Kind(
        lambda room, row: say("room.plan-ask", ask=row["ask"]),
        lambda room, row: _asks(room, _ask_row(row)),
        asks=True,
    ),
    "minutes": Kind(lambda room, row: say("room.plan-timer", count=f"{row['minutes']:g}"), _starts_timer),
}
"""Key of a row → what it does. A row with ``minutes`` and another key does what the other says; see ``kind_of``."""
TIMER = "minutes"
ROW: dict[str, Shape] = {
    "title": Text(longest=120),
    "minutes": Number(above=0, most=MOST_MINUTES),
    "lesson": Text(),
    "own": Number(whole=True, least=1),
    "scenario": Text(),
    **QUESTION,
}
"""Key of a row of the plan in a room's file → shape."""


def kind_of(row: Data) -> str:
    """Return the key of a row that says what it does."""
    return next(key for key in KINDS if key in row)


def asks(row: Data) -> bool:
    """Return True if a row asks a question."""
    return KINDS[kind_of(row)].asks


@dataclass(slots=True)
class PlanState:
    """How far a plan has run, as it is stored. ``count``: how many rows were run, again or not.

    ``at``: number of a row, as text → when it was last run, in seconds since 1970; the row of now is the last one.
    ``first``: when the first row was run. ``asked``: numbers of the questions that rows asked. ``last``: that of the
    row of now, 0 = none.
    """

    count: int = 0
    at: dict[str, float] = field(default_factory=dict)
    first: float = 0
    asked: list[int] = field(default_factory=list)
    last: int = 0

    @property
    def now(self) -> int | None:
        """The number of the last row that was run."""
        return int([*self.at][-1]) if self.at else None

    def to_text(self) -> str:
        """Return the JSON text that ``state_of`` reads."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__}, separators=(",", ":"))


def rows_of(room: Workshop) -> list[Data]:
    """Return the rows of a plan. Rooms of older versions have questions only."""
    rows: list[Data] = json.loads(room.rows or room.plan)
    return rows


def state_of(room: Workshop) -> PlanState:
    """Return how far the plan of a room has run."""
    return PlanState(**json.loads(room.plan_state or "{}"))


def run(room: Workshop, number: int, after: int | None = None) -> bool:
    """Run a row by number, from 0. Return False if there is no such row.

    ``after``: how many rows had been run when somebody pressed the button, None = unknown. Pressing twice runs a row
    once. Raise ``Rejected`` if another row was run meanwhile, and what the row's act raises; nothing is changed then.
    """
    rows = rows_of(room)
    if not 0 <= number < len(rows):
        return False
    kind = KINDS[kind_of(rows[number])]
    if _has_run(state_of(room), number, after):
        return True
    act = kind.prepare(room, rows[number])
    with transaction.atomic():
        locked = Workshop.objects.select_for_update().get(pk=room.pk)
        state = state_of(locked)
        if _has_run(state, number, after):
            return True
        _leave(locked, rows, state, kind)
        asked = act()
        now = timezone.now().timestamp()
        state.at.pop(str(number), None)
        state.at[str(number)] = now
        state.first, state.count, state.last = state.first or now, state.count + 1, asked
        state.asked += [asked] if asked else []
        Workshop.objects.filter(pk=room.pk).update(plan_state=state.to_text())
    notify_room(room.pk)
    return True


def _has_run(state: PlanState, number: int, after: int | None) -> bool:
    """Return True if the same click has run the row already. Raise ``Rejected`` if another row was run meanwhile."""
    if after is None or after == state.count:
        return False
    if state.now == number:
        return True
    raise Rejected(say("room.plan-moved"))


def _leave(room: Workshop, rows: list[Data], state: PlanState, coming: Kind) -> None:
    """End what the row of now has left on the pages. A new question or timer replaces the old one anyway."""
    if state.now is None or state.now >= len(rows):
        return
    latest = questions.latest(room)
    if state.last and latest is not None and latest.number == state.last and not coming.asks:
        questions.hide(room, latest)
    if kind_of(rows[state.now]) == TIMER:
        set_timer(room, 0)


@dataclass(frozen=True, slots=True)
class RowView:
    """A row as the trainer's page shows it. ``minutes``: planned, as text, "" if unknown.

    ``state``: ``done``, ``now`` or ``ahead``. ``title``: the row's own, or what it does.
    """

    number: int
    title: str
    what: str
    minutes: str
    state: str


@dataclass(frozen=True, slots=True)
class Overview:
    """A plan as the trainer's page shows it. ``next``: None if no row follows the row of now.

    ``since``: when the row of now was run. ``due``: when it should end, by the minutes of the rows up to it; None if no
    row has run or none of them has minutes. ``minutes``: those of all rows, as text.
    """

    rows: list[RowView]
    count: int
    now: RowView | None
    next: RowView | None
    since: datetime | None
    due: datetime | None
    minutes: str


def overview(room: Workshop) -> Overview:
    """Return the plan of a room for the trainer's page."""
    rows, state = rows_of(room), state_of(room)
    views = [_view(room, row, number, state) for number, row in enumerate(rows)]
    now = state.now if state.now is not None and state.now < len(rows) else None
    coming = 0 if now is None else now + 1
    planned = sum(row.get("minutes", 0) for row in rows[:coming])
    return Overview(
        rows=views,
        count=state.count,
        now=None if now is None else views[now],
        next=views[coming] if coming < len(views) else None,
        since=None if now is None else _moment(state.at[str(now)]),
        due=_moment(state.first + planned * MINUTE) if now is not None and planned else None,
        minutes=_minutes(sum(row.get("minutes", 0) for row in rows)),
    )


def _view(room: Workshop, row: Data, number: int, state: PlanState) -> RowView:
    mark = "now" if number == state.now else "done" if str(number) in state.at else "ahead"
    what = KINDS[kind_of(row)].what(room, row)
    return RowView(number, row.get("title") or what, what, _minutes(row.get("minutes", 0)), mark)


def _minutes(count: float) -> str:
    return say("room.plan-minutes", count=f"{count:g}") if count else ""


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def describe(row: Data) -> str:
    """Return a question of a plan in words, without what is done with it."""
    return str(row["ask"]) if "ask" in row else _predicted(row)


def described(room: Workshop) -> list[str]:
    """Return the title of each row, or what it does; of a question its words."""
    return [
        row.get("title") or (describe(row) if asks(row) else KINDS[kind_of(row)].what(room, row))
        for row in rows_of(room)
    ]
