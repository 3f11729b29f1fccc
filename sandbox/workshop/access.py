"""Who may do what in a room: the role that a token has there, and the decorators of every view below a room's URL."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from sandbox.limits import ratelimit
from sandbox.storage import tokens
from sandbox.web.access import RoutedView, problem, readable_body, too_often
from sandbox.workshop.models import Participant, Workshop

P = ParamSpec("P")
T = TypeVar("T")
Role = Literal["trainer", "beamer", "participant"]
USED_WITHIN = timedelta(hours=1)
"""How exactly it is known when a room was used last."""
GONE = "You are no longer in this room, or it was deleted. Your sandboxes stay yours, under their links."
TAKEN_OUT = "The trainer removed you from this room. Your sandboxes stay yours, under their links."
CLOSED = "This room is closed. Nothing was changed."


@dataclass(frozen=True, slots=True)
class RoomAccess:
    """A room, and as who somebody is there."""

    room: Workshop
    token: str = field(repr=False)
    role: Role
    participant: Participant | None = None


RoomView = Callable[Concatenate[HttpRequest, RoomAccess, P], HttpResponse]


def enter(room_id: UUID, token: str) -> RoomAccess | None:
    """None for an unknown room as for a wrong token: the answer must not tell which."""
    room = Workshop.objects.filter(pk=room_id).first()
    if room is None:
        return None
    given = tokens.digest(token)
    if secrets.compare_digest(given, room.trainer_token_hash):
        return RoomAccess(room, token, "trainer")
    if secrets.compare_digest(given, room.beamer_token_hash):
        return RoomAccess(room, token, "beamer")
    participant = Participant.objects.filter(workshop=room, token_hash=given, removed=None).first()
    return RoomAccess(room, token, "participant", participant) if participant else None


def parted(room_id: UUID, token: str) -> Literal["removed", "left", "deleted"]:
    """Why a token that gave a right in a room gives none any more."""
    if not Workshop.objects.filter(pk=room_id).exists():
        return "deleted"
    return "removed" if _was_taken_out(room_id, token) else "left"


def _was_taken_out(room_id: UUID, token: str) -> bool:
    return Participant.objects.filter(workshop=room_id, token_hash=tokens.digest(token)).exists()


def unless_deleted(room_id: UUID, look: Callable[[], T]) -> T | None:
    """What ``look`` returns; None when it stumbled because the room was deleted meanwhile."""
    try:
        return look()
    except Exception:
        if Workshop.objects.filter(pk=room_id).exists():
            raise
        return None


def shown(view: RoomView[P]) -> RoutedView:
    """A page of a room, for each role."""

    @require_safe
    @wraps(view)
    def routed(request: HttpRequest, room_id: UUID, token: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        return _checked(view, request, room_id, token, *args, **kwargs)

    return routed


def done_by(*roles: Role, closed: bool = False) -> Callable[[RoomView[P]], RoutedView]:
    """What somebody does in a room: POST, by one of ``roles``, while it is open; ``closed``: also afterwards."""

    def decorate(view: RoomView[P]) -> RoutedView:
        @csrf_exempt  # The token in the URL gives the right, no cookie does; see sandbox.access.edits.
        @require_POST
        @readable_body
        @wraps(view)
        def routed(request: HttpRequest, room_id: UUID, token: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            def allowed(request: HttpRequest, access: RoomAccess, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
                if access.role not in roles:
                    return problem(
                        request,
                        403,
                        "This link cannot do that. Only the trainer's page, or a participant's own page, can.",
                    )
                if access.room.closed and not closed:
                    return problem(request, 410, CLOSED)
                return view(request, access, *args, **kwargs)

            return _checked(allowed, request, room_id, token, *args, **kwargs)

        return routed

    return decorate


def _checked(
    view: Callable[..., HttpResponse], request: HttpRequest, room_id: UUID, token: str, *args: Any, **kwargs: Any
) -> HttpResponse:
    access = enter(room_id, token)
    if access is None:
        if _was_taken_out(room_id, token):
            return problem(request, 404, TAKEN_OUT)
        if request.method == "POST":
            return problem(request, 404, GONE)
        raise Http404
    if late := ratelimit.wait("room", tokens.digest(token)):
        return too_often(request, "room", late)
    _touch(access.room)
    response = unless_deleted(room_id, lambda: view(request, access, *args, **kwargs))
    return problem(request, 404, GONE) if response is None else response


def _touch(room: Workshop) -> None:
    """It was used, as far as that is news."""
    now = timezone.now()
    if now - room.last_used > USED_WITHIN:
        Workshop.objects.filter(pk=room.pk).update(last_used=now)
