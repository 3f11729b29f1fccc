"""The trainer's board: one row for each participant, from six queries for any number of participants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max, OuterRef, Subquery

from sandbox.storage.commands import summary
from sandbox.storage.models import CommandRecord, Sandbox
from sandbox.workshop import sources
from sandbox.workshop.addresses import look_paths
from sandbox.workshop.models import Seat, Workshop
from sandbox.workshop.progress import Progress, progress_of
from sandbox.workshop.room import current


@dataclass(frozen=True, slots=True)
class Row:
    """A participant as the trainer's board shows them."""

    key: int
    name: str
    hand: datetime | None
    sandbox: str
    """Title of their current sandbox."""
    lesson: Progress | None
    action: str
    """Their last own command in force, in words; empty if they have none."""
    steps: int
    """Number of their own commands in force; below 0 after steps back past the start of the sandbox."""
    since: datetime
    """When they last joined, acted in a sandbox of the room, answered, or raised their hand."""
    watch: str
    help: str
    """Paths of the workbench, to watch and to help; empty without a sandbox, or if help is not allowed."""

    @property
    def text(self) -> str:
        """The text that a search looks at, in small letters."""
        return f"{self.name} {self.sandbox} {self.action}".casefold()


ORDERS: dict[str, Callable[[Row], Any]] = {
    "joined": lambda row: row.key,
    "name": lambda row: row.name.casefold(),
    "quiet": lambda row: row.since,
    "steps": lambda row: -row.steps,
    "lesson": lambda row: (row.lesson is None, row.lesson.share if row.lesson else 0),
    "hand": lambda row: (row.hand is None, row.hand or row.since),
}
"""Name of an order → the key that sorts the rows."""


def rows(room: Workshop, order: str = "joined", find: str = "") -> list[Row]:
    """Return the rows, sorted, whose name, sandbox or last action contain all words of ``find``."""
    people = list(room.people.annotate(acted=Max("seats__sandbox__acted"), answered=Max("answers__at")).order_by("pk"))
    seats = seats_of(room)
    sandboxes = [seat.sandbox for seat in seats.values() if seat.sandbox]
    last, helped, progress = _last_commands(sandboxes), helped_commands(sandboxes), progress_of(sandboxes)
    all_rows = [_row(person, seats[person.pk], last, helped, progress) for person in people if person.pk in seats]
    words = find.casefold().split()
    matching = [row for row in all_rows if all(word in row.text for word in words)]
    return sorted(matching, key=ORDERS.get(order, ORDERS["joined"]))


def seats_of(room: Workshop) -> dict[int, Seat]:
    """Return a mapping from the id of each participant in the room to their current seat."""
    occupied = Seat.objects.filter(workshop=room, participant__in=room.people)
    seats = occupied.select_related("sandbox", "participant").order_by("number")
    return {seat.participant_id: seat for seat in seats if seat.participant_id is not None}


def _last_commands(sandboxes: list[Sandbox]) -> dict[UUID, str]:
    """Return a mapping from sandbox id to the last command in force that no helper executed."""
    records = CommandRecord.objects.filter(
        sandbox=OuterRef("pk"), branch=None, n__lte=OuterRef("head"), by_helper=False
    )
    last = Subquery(records.order_by("-n").values("command")[:1])
    annotated = Sandbox.objects.filter(pk__in=[sandbox.pk for sandbox in sandboxes]).annotate(last=last)
    return dict(annotated.values_list("pk", "last"))


def helped_commands(sandboxes: list[Sandbox]) -> dict[UUID, int]:
    """Return a mapping from sandbox id to the number of commands in force that a helper executed, if any."""
    helped = CommandRecord.objects.filter(
        sandbox__in=[sandbox.pk for sandbox in sandboxes], branch=None, by_helper=True
    )
    counted = helped.filter(n__lte=F("sandbox__head")).values("sandbox").annotate(count=Count("pk"))
    return dict(counted.values_list("sandbox", "count"))


def own_steps(seat: Seat, helped: dict[UUID, int]) -> int:
    """Return how many commands in force the owner executed. ``helped`` is from ``helped_commands``."""
    sandbox = seat.sandbox
    return sandbox.head - seat.began - helped.get(sandbox.pk, 0) if sandbox is not None else 0


def _row(person: Any, seat: Seat, last: dict[UUID, str], helped: dict[UUID, int], progress: dict[Any, Progress]) -> Row:
    sandbox = seat.sandbox
    steps = own_steps(seat, helped)
    text = last.get(sandbox.pk) if sandbox is not None and steps > 0 else None
    return Row(
        key=person.pk,
        name=person.name,
        hand=person.hand,
        sandbox=sources.from_text(seat.source)["title"],
        lesson=progress.get(seat.sandbox_id),
        action=summary(text) if text else "",
        steps=steps,
        since=max(filter(None, (person.joined, person.acted, person.answered, person.hand))),
        **look_paths(seat),
    )


def watched(room: Workshop) -> list[Any]:
    """Return the ids of the sandboxes on the trainer's page: those of the rows, and the trainer's own."""
    seats = [*seats_of(room).values(), current(None, room)]
    return [seat.sandbox_id for seat in seats if seat.sandbox_id]
