"""The board of a room: who does what, in one row each, from six queries however many there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max, OuterRef, Subquery
from django.urls import reverse

from sandbox.storage.commands import summary
from sandbox.storage.models import CommandRecord, Sandbox
from sandbox.workshop import sources
from sandbox.workshop.models import Seat, Workshop
from sandbox.workshop.progress import Far, far
from sandbox.workshop.room import current


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
    """Their last command in force, in words; empty if all are those that the sandbox began with, or a helper's."""
    steps: int
    """Their own commands in force; below 0 after steps back behind what the sandbox began with."""
    since: datetime
    """When they last did something in a sandbox of the room, answered, raised their hand, or joined."""
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
    people = list(room.people.annotate(acted=Max("seats__sandbox__acted"), answered=Max("answers__at")).order_by("pk"))
    seats = seats_of(room)
    sandboxes = [seat.sandbox for seat in seats.values() if seat.sandbox]
    last, helped, learnt = _last_commands(sandboxes), helped_commands(sandboxes), far(sandboxes)
    found = [_row(person, seats[person.pk], last, helped, learnt) for person in people if person.pk in seats]
    wanted = find.casefold().split()
    told = [row for row in found if all(word in f"{row.name} {row.sandbox} {row.action}".casefold() for word in wanted)]
    return sorted(told, key=ORDERS.get(order, ORDERS["joined"]))


def seats_of(room: Workshop) -> dict[int, Seat]:
    """Participant's key → where they sit."""
    found = Seat.objects.filter(workshop=room).exclude(participant=None).select_related("sandbox").order_by("number")
    return {seat.participant_id: seat for seat in found if seat.participant_id is not None}


def _last_commands(sandboxes: list[Sandbox]) -> dict[UUID, str]:
    """Id of a sandbox → the last command in force that no helper gave."""
    records = CommandRecord.objects.filter(
        sandbox=OuterRef("pk"), branch=None, n__lte=OuterRef("head"), by_helper=False
    )
    last = Subquery(records.order_by("-n").values("command")[:1])
    found = Sandbox.objects.filter(pk__in=[sandbox.pk for sandbox in sandboxes]).annotate(last=last)
    return dict(found.values_list("pk", "last"))


def helped_commands(sandboxes: list[Sandbox]) -> dict[UUID, int]:
    """Id of a sandbox → how many of its commands in force a helper gave; those without any are left out."""
    helped = CommandRecord.objects.filter(
        sandbox__in=[sandbox.pk for sandbox in sandboxes], branch=None, by_helper=True
    )
    counted = helped.filter(n__lte=F("sandbox__head")).values("sandbox").annotate(count=Count("pk"))
    return dict(counted.values_list("sandbox", "count"))


def own_steps(seat: Seat, helped: dict[UUID, int]) -> int:
    """How many commands in force its owner has given. ``helped``: as ``helped_commands`` counts."""
    sandbox = seat.sandbox
    return sandbox.head - seat.began - helped.get(sandbox.pk, 0) if sandbox is not None else 0


def _row(person: Any, seat: Seat, last: dict[UUID, str], helped: dict[UUID, int], learnt: dict[Any, Far]) -> Row:
    sandbox = seat.sandbox
    paths = {"watch": "", "help": ""}
    if sandbox is not None:
        paths["watch"] = reverse("workbench", args=[sandbox.pk, seat.view_token])
        paths["help"] = reverse("workbench", args=[sandbox.pk, person.key]) if person.key else ""
    steps = own_steps(seat, helped)
    text = last.get(sandbox.pk) if sandbox is not None and steps > 0 else None
    return Row(
        key=person.pk,
        name=person.name,
        hand=person.hand,
        sandbox=sources.read(seat.source)["title"],
        lesson=learnt.get(seat.sandbox_id),
        action=summary(text) if text else "",
        steps=steps,
        since=max(filter(None, (person.joined, person.acted, person.answered, person.hand))),
        **paths,
    )


def watched(room: Workshop) -> list[Any]:
    """Ids of the sandboxes that a trainer's page shows something of: those of the rows, and the trainer's own."""
    seats = [*seats_of(room).values(), current(None, room)]
    return [seat.sandbox_id for seat in seats if seat.sandbox_id]
