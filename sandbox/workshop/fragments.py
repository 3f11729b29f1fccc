"""The parts of a room's pages, by role: fragment id → HTML. The page starts with them, the live line updates them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string

from sandbox.storage import tokens
from sandbox.workshop import assistants, board, inquiries, notes, parts, plan, sources
from sandbox.workshop.access import Role, RoomAccess
from sandbox.workshop.addresses import own_path, watch_path
from sandbox.workshop.models import INQUIRY_CHARACTERS
from sandbox.workshop.questions import (
    LONGEST_CHOICE,
    bars,
    can_reveal,
    displayed,
    for_projector,
    is_free,
    is_right,
    latest,
    shown_answers,
    turnout,
    waits_for,
)
from sandbox.workshop.room import current, seats_of, sendings

FRAGMENTS: dict[Role, tuple[str, ...]] = {
    "assistant": ("plan", "asked", "inquiries", "stuck", "board"),
    "trainer": ("plan", "controls", "assistants", "sendings", "lessons", "asked", "inquiries", "stuck", "board"),
    "projector": ("corner", "shown", "asked", "inquiries"),
    "participant": ("strip", "noted", "desk", "asked", "inquiries"),
}


@dataclass(frozen=True, slots=True)
class Board:
    """The trainer's view of the board: a name in ``board.ORDERS``, and words that the rows must contain."""

    order: str = "joined"
    find: str = ""


def fragments(access: RoomAccess, looked: Board = Board()) -> dict[str, str]:
    """Return the fragments of a page by id. Everything is queried again, except ``access`` itself."""
    context = CONTEXTS[access.role](access, looked) | asked(access) | {"room": access.room, "role": access.role}
    return {name: render_to_string(f"workshop/{name}.html", context) for name in FRAGMENTS[access.role]}


def asked(access: RoomAccess) -> dict[str, Any]:
    """Return the context of the current question. A participant sees the answers of others once it is closed."""
    question = latest(access.room)
    if question is None or question.away:
        return {"question": None}
    answer = question.answers.filter(participant=access.participant).first() if access.participant else None
    chosen = json.loads(answer.chosen) if answer else []
    all_bars = bars(question) if access.role != "participant" or question.over is not None else []
    free, keys = is_free(question), shown_answers(question)
    chosen_to_show = {bar.choice for bar in all_bars if bar.choice.casefold() in keys}
    if free and access.role != "trainer":
        all_bars = [bar for bar in all_bars if bar.choice in chosen_to_show]
    answered, of = turnout(question)
    displayed_answer = displayed(question, chosen) if answer else []
    right = [bar.choice for bar in all_bars if bar.right]
    if access.role == "participant" and right:
        # A small screen shows the first ones: what was right, then the own answer.
        all_bars.sort(key=lambda bar: (not bar.right, bar.choice not in displayed_answer))
    shown, others = for_projector(all_bars) if access.role == "projector" else (all_bars, [])
    return {
        "free": free,
        "longest": LONGEST_CHOICE,
        "shown_answers": chosen_to_show,
        "question": question,
        "bars": shown,
        "others": others,
        "waits": waits_for(access.room, question) if access.role == "trainer" else "",
        "answered": answered,
        "of": of,
        "choices": json.loads(question.choices),
        "has_answered": answer is not None,
        "answered_at": answer.at.timestamp() if answer else None,
        "answer": chosen,
        "chosen": displayed_answer,
        "right": right,
        "can_reveal": can_reveal(access.room, question),
        "verdict": is_right(question, chosen) if answer else None,
    }


def _assistant(access: RoomAccess, looked: Board) -> dict[str, Any]:
    people = access.room.people
    return {
        "rows": board.rows(access.room, looked.order, looked.find),
        "heat_maps": parts.heat_maps(parts.places(board.seats_of(access.room).values())),
        "people": people.count(),
        "keys": list(people.order_by("pk").values_list("pk", flat=True)),
        "hands": people.exclude(hand=None).count(),
        "looked": looked,
        **_inquiries(access),
        "plan": plan.overview(access.room),
    }


def _trainer(access: RoomAccess, looked: Board) -> dict[str, Any]:
    return _assistant(access, looked) | {
        "sendings": sendings(access.room),
        "assistants": assistants.listed(access.room, access.token),
        "own_lessons": list(access.room.lessons.order_by("number").defer("text", "learned")),
    }


def _projector(access: RoomAccess, looked: Board) -> dict[str, Any]:
    shown = {"trainer": watch_path(current(None, access.room)), "people": access.room.people.count()}
    return shown | _inquiries(access)


def _inquiries(access: RoomAccess) -> dict[str, Any]:
    """Return the context of the participants' questions. A participant's list keeps its order: nothing moves there."""
    found = inquiries.listed(access.room, access.participant, by_votes=access.role != "participant")
    return {
        "inquiries": [one for one in found if not one.answered],
        "answered_inquiries": [one for one in found if one.answered],
        "projected": inquiries.MOST_PROJECTED,
        "longest_inquiry": INQUIRY_CHARACTERS,
    }


def _participant(access: RoomAccess, looked: Board) -> dict[str, Any]:
    assert access.participant is not None
    seats = seats_of(access.participant, access.room)
    return _inquiries(access) | {
        "person": access.participant,
        "longest_notes": notes.LONGEST,
        "code": tokens.code_of(access.token) if access.participant.sealed else "",
        "title": sources.from_text(seats[0].source)["title"],
        "own": own_path(access.token, seats[0]),
        "number": seats[0].number,
        "earlier": [
            {"title": sources.from_text(seat.source)["title"], "path": path}
            for seat in seats[1:]
            if (path := own_path(access.token, seat))
        ],
        "trainer": watch_path(current(None, access.room)) if access.room.eyes else "",
    }


CONTEXTS: dict[Role, Callable[[RoomAccess, Board], dict[str, Any]]] = {
    "trainer": _trainer,
    "assistant": _assistant,
    "projector": _projector,
    "participant": _participant,
}
