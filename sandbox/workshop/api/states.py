"""What a link shows of its room, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

from django.http import HttpRequest
from django.urls import reverse
from ninja.errors import HttpError

from sandbox.storage import tokens
from sandbox.web.api.access import PROBLEMS, addresses_of
from sandbox.web.api.shapes import Problem
from sandbox.workshop import plan, sources
from sandbox.workshop.access import RoomAccess, enter, gone_text, unless_gone
from sandbox.workshop.addresses import watch_path
from sandbox.workshop.fragments import asked
from sandbox.workshop.models import Seat
from sandbox.workshop.room import current, seats_of

T = TypeVar("T")

ROOM = "/rooms/{uuid:room_id}/{token}"
ROOM_PROBLEMS = {**PROBLEMS, 410: Problem}


def in_room(access: RoomAccess, act: Callable[[], T]) -> T:
    """Return what ``act`` returns. Raise ``HttpError`` if it fails because the room or the participant is gone."""
    done = unless_gone(access.room.pk, access.token, lambda: (act(),))
    if done is None:
        raise _gone(access)
    return done[0]


def after(request: HttpRequest, access: RoomAccess, act: Callable[[], object]) -> dict[str, Any]:
    """Do something in a room, and return what its link shows then."""
    in_room(access, act)
    now = enter(access.room.pk, access.token)
    if now is None:
        raise _gone(access)
    return in_room(now, lambda: state_of(request, now))


def _gone(access: RoomAccess) -> HttpError:
    return HttpError(404, gone_text(access.room.pk, access.token))


def state_of(request: HttpRequest, access: RoomAccess) -> dict[str, Any]:
    """Return a room as ``shapes.RoomState``."""
    room, trains = access.room, access.role == "trainer"
    plans = trains or access.role == "assistant"
    shows_trainer = access.role != "participant" or room.eyes
    trainer = watch_path(current(None, room)) if shows_trainer else ""
    state = plan.state_of(room) if plans else plan.PlanState()
    return {
        "role": access.role,
        "title": room.title,
        "code": room.code,
        "people": room.people.count(),
        "frozen": room.frozen,
        "eyes": room.eyes,
        "timer_ends": room.timer_ends,
        "closed": room.closed is not None,
        "question": _question(access),
        "person": _person(access),
        "sandboxes": [_sandbox(request, access.token, seat) for seat in _seats(access)],
        "trainer": request.build_absolute_uri(trainer) if trainer else "",
        "plan": plan.described(room) if plans else [],
        "plan_now": state.now,
        "plan_count": state.count,
        "lessons": list(room.lessons.order_by("number").values("number", "title")) if trains else [],
    }


def _seats(access: RoomAccess) -> list[Seat]:
    if access.role == "trainer":
        return [current(None, access.room)]
    return seats_of(access.participant, access.room) if access.participant is not None else []


def _sandbox(request: HttpRequest, token: str, seat: Seat) -> dict[str, Any]:
    own = tokens.seat_token(token, seat.number)
    addresses = None if seat.sandbox_id is None else addresses_of(request, seat.sandbox_id, own)
    return {"title": sources.from_text(seat.source)["title"], "addresses": addresses}


def _person(access: RoomAccess) -> dict[str, Any] | None:
    person = access.participant
    if person is None:
        return None
    back = tokens.code_of(access.token) if person.sealed else ""
    return {"name": person.name, "back": back, "hand": person.hand is not None, "help": bool(person.key)}


def _question(access: RoomAccess) -> dict[str, Any] | None:
    context = asked(access)
    question = context["question"]
    if question is None:
        return None
    return {
        "number": question.number,
        "ask": question.ask,
        "many": question.many,
        "over": question.over is not None,
        "revealed": question.revealed is not None,
        "bars": [asdict(bar) for bar in (*context["bars"], *context["others"])],
        "chosen": context["answer"] if context["has_answered"] else None,
        "can_reveal": access.role == "trainer" and context["can_reveal"],
        **{name: context[name] for name in ("choices", "waits", "answered", "of", "verdict")},
    }


def room_addresses(request: HttpRequest, access: RoomAccess) -> dict[str, str]:
    """Return the addresses of a link in the API and on the site."""
    args = [access.room.pk, access.token]
    paths = {"api": reverse("api:room", args=args), "page": reverse("room", args=args)}
    return {
        "id": str(access.room.pk),
        **{name: request.build_absolute_uri(path) for name, path in paths.items()},
    }
