"""What the pages of a room show, by role: fragment id → HTML. The page has them, and the live line keeps them so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.template.loader import render_to_string
from django.urls import reverse

from sandbox.workshop import board, sources
from sandbox.workshop.access import Role, RoomAccess
from sandbox.workshop.addresses import own
from sandbox.workshop.models import Seat
from sandbox.workshop.room import current

FRAGMENTS: dict[Role, tuple[str, ...]] = {
    "trainer": ("controls", "board"),
    "beamer": ("corner", "shown"),
    "participant": ("strip", "desk"),
}


def fragments(access: RoomAccess) -> dict[str, str]:
    """Queries the room anew, but for ``access`` itself."""
    context = CONTEXTS[access.role](access) | {"room": access.room}
    return {name: render_to_string(f"workshop/{name}.html", context) for name in FRAGMENTS[access.role]}


def _trainer(access: RoomAccess) -> dict[str, Any]:
    rows = board.rows(access.room)
    return {"rows": rows, "hands": sum(row.hand is not None for row in rows)}


def _beamer(access: RoomAccess) -> dict[str, Any]:
    return {"trainer": _watch(current(None, access.room)), "people": access.room.participants.count()}


def _participant(access: RoomAccess) -> dict[str, Any]:
    assert access.participant is not None
    seats = list(access.participant.seats.select_related("sandbox").order_by("-number"))
    return {
        "person": access.participant,
        "title": sources.read(seats[0].source)["title"],
        "own": own(access.token, seats[0]),
        "number": seats[0].number,
        "earlier": [
            {"title": sources.read(seat.source)["title"], "path": path}
            for seat in seats[1:]
            if (path := own(access.token, seat))
        ],
        "trainer": _watch(current(None, access.room)) if access.room.eyes else "",
    }


def _watch(seat: Seat) -> str:
    return reverse("workbench", args=[seat.sandbox_id, seat.view_token]) if seat.sandbox_id else ""


CONTEXTS: dict[Role, Callable[[RoomAccess], dict[str, Any]]] = {
    "trainer": _trainer,
    "beamer": _beamer,
    "participant": _participant,
}
