"""The board of a room: who does what, in one row each, from five queries however many there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse

from sandbox import engine
from sandbox.models import CommandRecord, Sandbox
from sandbox.workshop import sources
from sandbox.workshop.models import Participant, Seat, Workshop
from sandbox.workshop.progress import Far, far


@dataclass(frozen=True, slots=True)
class Row:
    """A participant as the trainer sees them."""

    key: int
    name: str
    hand: datetime | None
    sandbox: str
    """Title of what they work in."""
    lesson: Far | None
    action: str
    """The last command in force, in words; empty as long as there is none beyond what the sandbox began with."""
    steps: int
    """Commands beyond those; below 0 after steps back behind them."""
    since: datetime
    """When they did something last."""
    watch: str
    help: str
    """Paths of the workbench; empty when there is none, or no help is allowed."""


ORDERS: dict[str, Callable[[Row], Any]] = {
    "joined": lambda row: row.key,
    "name": lambda row: row.name.casefold(),
    "quiet": lambda row: row.since,
    "steps": lambda row: -row.steps,
    "lesson": lambda row: (row.lesson is None, row.lesson.share if row.lesson else 0),
    "hand": lambda row: (row.hand is None, row.hand or row.since),
}
"""The rows of a board: a name → what comes first."""


def rows(room: Workshop, order: str = "joined", find: str = "") -> list[Row]:
    """Those whose name, sandbox or last action has the words of ``find``."""
    people = list(room.people.order_by("pk"))
    seats = seats_of(room)
    sandboxes = [seat.sandbox for seat in seats.values() if seat.sandbox]
    last, learnt = _last_commands(sandboxes), far(sandboxes)
    found = [_row(person, seats[person.pk], last, learnt) for person in people if person.pk in seats]
    wanted = find.casefold().split()
    told = [row for row in found if all(word in f"{row.name} {row.sandbox} {row.action}".casefold() for word in wanted)]
    return sorted(told, key=ORDERS.get(order, ORDERS["joined"]))


def seats_of(room: Workshop) -> dict[int, Seat]:
    """Participant's key → where they sit."""
    found = Seat.objects.filter(workshop=room).exclude(participant=None).select_related("sandbox").order_by("number")
    return {seat.participant_id: seat for seat in found if seat.participant_id is not None}


def _last_commands(sandboxes: list[Sandbox]) -> dict[int, str]:
    states = [sandbox.state for sandbox in sandboxes if sandbox.state]
    return dict(CommandRecord.objects.filter(pk__in=states).values_list("pk", "command"))


def _row(person: Participant, seat: Seat, last: dict[int, str], learnt: dict[Any, Far]) -> Row:
    sandbox = seat.sandbox
    paths = {"watch": "", "help": ""}
    if sandbox is not None:
        paths["watch"] = reverse("workbench", args=[sandbox.pk, seat.view_token])
        paths["help"] = reverse("workbench", args=[sandbox.pk, person.key]) if person.key else ""
    steps = sandbox.head - seat.began if sandbox is not None else 0
    text = last.get(sandbox.state) if sandbox is not None and steps else None
    return Row(
        key=person.pk,
        name=person.name,
        hand=person.hand,
        sandbox=sources.read(seat.source)["title"],
        lesson=learnt.get(seat.sandbox_id),
        action=engine.summary(text) if text else "",
        steps=steps,
        since=max(sandbox.last_used, seat.created) if sandbox is not None else seat.created,
        **paths,
    )


def watched(room: Workshop) -> list[Any]:
    """Ids of the sandboxes that the rows tell of."""
    return [seat.sandbox_id for seat in seats_of(room).values() if seat.sandbox_id]
