"""What the pages of a room show, by role: fragment id → HTML. The page has them, and the live line keeps them so."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.urls import reverse

from sandbox.storage import tokens
from sandbox.workshop import board, sources
from sandbox.workshop.access import Role, RoomAccess
from sandbox.workshop.addresses import own
from sandbox.workshop.models import Seat
from sandbox.workshop.questions import as_listed, bars, for_projector, is_right, latest, promised, waits_for
from sandbox.workshop.room import current

FRAGMENTS: dict[Role, tuple[str, ...]] = {
    "trainer": ("controls", "lessons", "asked", "board"),
    "beamer": ("corner", "shown", "asked"),
    "participant": ("strip", "desk", "asked"),
}


@dataclass(frozen=True, slots=True)
class Board:
    """How a trainer looks at the board: an order of ``board.ORDERS``, and words that its rows must have."""

    order: str = "joined"
    find: str = ""


def fragments(access: RoomAccess, looked: Board = Board()) -> dict[str, str]:
    """Queries the room anew, but for ``access`` itself."""
    context = CONTEXTS[access.role](access, looked) | _asked(access) | {"room": access.room, "role": access.role}
    return {name: render_to_string(f"workshop/{name}.html", context) for name in FRAGMENTS[access.role]}


def _asked(access: RoomAccess) -> dict[str, Any]:
    """The question that the room is at. A participant sees what others answered once nobody can answer any more."""
    question = latest(access.room)
    if question is None or question.away:
        return {"question": None}
    own = question.answers.filter(participant=access.participant).first() if access.participant else None
    chosen = json.loads(own.chosen) if own else []
    counted = bars(question) if access.role != "participant" or question.over is not None else []
    shown, others = for_projector(counted) if access.role == "beamer" else (counted, [])
    return {
        "question": question,
        "bars": shown,
        "others": others,
        "waits": waits_for(access.room, question) if access.role == "trainer" else "",
        "answered": question.answers.filter(participant__removed=None).count(),
        "of": access.room.people.count(),
        "choices": json.loads(question.choices),
        "given": own is not None,
        "chosen": as_listed(question, chosen) if own else [],
        "promised": promised(access.room, question),
        "verdict": is_right(question, chosen) if own else None,
    }


def _trainer(access: RoomAccess, looked: Board) -> dict[str, Any]:
    people = access.room.people
    return {
        "rows": board.rows(access.room, looked.order, looked.find),
        "people": people.count(),
        "keys": list(people.order_by("pk").values_list("pk", flat=True)),
        "hands": people.exclude(hand=None).count(),
        "looked": looked,
        "own_lessons": list(access.room.lessons.order_by("number").defer("text", "learned")),
    }


def _beamer(access: RoomAccess, looked: Board) -> dict[str, Any]:
    return {"trainer": _watch(current(None, access.room)), "people": access.room.people.count()}


def _participant(access: RoomAccess, looked: Board) -> dict[str, Any]:
    assert access.participant is not None
    seats = list(access.participant.seats.select_related("sandbox").order_by("-number"))
    if access.room.closed:  # What was sent and not made by then never will be.
        seats = [seat for seat in seats if seat.sandbox_id] or seats
    return {
        "person": access.participant,
        "code": tokens.code_of(access.token) if access.participant.sealed else "",
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


CONTEXTS: dict[Role, Callable[[RoomAccess, Board], dict[str, Any]]] = {
    "trainer": _trainer,
    "beamer": _beamer,
    "participant": _participant,
}
