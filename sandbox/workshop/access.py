"""Access to a room: the role that a token has, and the decorators of every view below a room's URL."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe
from ninja.errors import HttpError

from sandbox.limits import ratelimit
from sandbox.storage import tokens
from sandbox.storage.failures import read_again
from sandbox.web.access import TOO_OFTEN, RoutedView, problem, readable_body, too_often
from sandbox.web.errors import RateExceeded
from sandbox.words.say import say
from sandbox.workshop import assistants
from sandbox.workshop.models import Participant, Workshop

P = ParamSpec("P")
T = TypeVar("T")
Role = Literal["trainer", "assistant", "projector", "participant"]
USED_WITHIN = timedelta(hours=1)
"""How precise ``last_used`` is: it is written at most once in this time."""


@dataclass(frozen=True, slots=True)
class RoomAccess:
    """A room and the role that a token has in it. ``participant`` is None for the other roles."""

    room: Workshop
    token: str = field(repr=False)
    role: Role
    participant: Participant | None = None


RoomView = Callable[Concatenate[HttpRequest, RoomAccess, P], HttpResponse]
RoomAction = Callable[Concatenate[HttpRequest, RoomAccess, P], HttpResponse | None]
"""None is the empty answer 204."""


def enter(room_id: UUID, token: str) -> RoomAccess | None:
    """Return the access that a token grants, or None.

    An unknown room and a wrong token have the same result: nobody must learn which rooms exist.
    """
    room = read_again(lambda: Workshop.objects.filter(pk=room_id).first())
    if room is None:
        return None
    digest = tokens.digest(token)
    if secrets.compare_digest(digest, room.trainer_token_hash):
        return RoomAccess(room, token, "trainer")
    if secrets.compare_digest(digest, room.beamer_token_hash):
        return RoomAccess(room, token, "projector")
    participant = Participant.objects.filter(workshop=room, token_hash=digest, removed=None).first()
    if participant is not None:
        return RoomAccess(room, token, "participant", participant)
    return RoomAccess(room, token, "assistant") if assistants.find(room, digest) else None


def why_gone(room_id: UUID, token: str) -> Literal["removed", "left", "deleted"]:
    """Return why a token no longer grants access: its participant was removed or left, or the room was deleted."""
    if not Workshop.objects.filter(pk=room_id).exists():
        return "deleted"
    return "removed" if _was_removed(room_id, token) else "left"


def _was_removed(room_id: UUID, token: str) -> bool:
    return Participant.objects.filter(workshop=room_id, token_hash=tokens.digest(token)).exists()


def unless_gone(room_id: UUID, token: str, look: Callable[[], T]) -> T | None:
    """Return what ``look`` returns. If it fails, and the token no longer grants access, return None.

    Meanwhile the room may have been deleted, and a participant may have left.
    """
    try:
        return look()
    except Exception:
        if enter(room_id, token) is not None:
            raise
        return None


def room_page(view: RoomView[P]) -> RoutedView:
    """Make a GET view of a room page, for every role."""

    @require_safe
    @wraps(view)
    def routed(request: HttpRequest, room_id: UUID, token: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        return _checked(view, request, room_id, token, *args, **kwargs)

    return routed


def room_action(*roles: Role, closed: bool = False) -> Callable[[RoomAction[P]], RoutedView]:
    """Make a POST view of an action that only ``roles`` may do. ``closed``: also after the room was closed."""

    def decorate(view: RoomAction[P]) -> RoutedView:
        @csrf_exempt  # The token in the URL grants access, no cookie does; see sandbox.web.access.edits.
        @require_POST
        @readable_body
        @wraps(view)
        def routed(request: HttpRequest, room_id: UUID, token: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            def allowed(request: HttpRequest, access: RoomAccess, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
                if access.role not in roles:
                    return problem(request, 403, say("room.not-allowed"))
                if access.room.closed and not closed:
                    return problem(request, 410, say("room.closed"))
                return view(request, access, *args, **kwargs) or HttpResponse(status=204)

            return _checked(allowed, request, room_id, token, *args, **kwargs)

        return routed

    return decorate


def room_access(room_id: UUID, token: str, roles: Sequence[Role] = (), closed: bool = False) -> RoomAccess:
    """Return the access of a token for a call of the API, by the rules of ``room_action``; no ``roles``: of all.

    Raise ``HttpError`` if it is refused, ``RateExceeded`` after too many requests.
    """
    access = enter(room_id, token)
    if access is None:
        raise HttpError(404, gone_text(room_id, token))
    if seconds := ratelimit.wait("room", tokens.digest(token)):
        raise RateExceeded(say(TOO_OFTEN["room"]), seconds)
    _touch(access.room)
    if roles and access.role not in roles:
        raise HttpError(403, say("room.not-allowed"))
    if access.room.closed and not closed:
        raise HttpError(410, say("room.closed"))
    return access


def _checked(
    view: Callable[..., HttpResponse], request: HttpRequest, room_id: UUID, token: str, *args: Any, **kwargs: Any
) -> HttpResponse:
    access = enter(room_id, token)
    if access is None:
        if request.method == "POST" or _was_removed(room_id, token):
            return _gone(request, room_id, token)
        raise Http404
    if seconds := ratelimit.wait("room", tokens.digest(token)):
        return too_often(request, "room", seconds)
    _touch(access.room)
    response = unless_gone(room_id, token, lambda: view(request, access, *args, **kwargs))
    return _gone(request, room_id, token) if response is None else response


def _gone(request: HttpRequest, room_id: UUID, token: str) -> HttpResponse:
    """Return the answer to a token that no longer grants access, or never did."""
    return problem(request, 404, gone_text(room_id, token))


def gone_text(room_id: UUID, token: str) -> str:
    """Return the sentence for a token that no longer grants access, or never did."""
    return say("room.removed") if _was_removed(room_id, token) else say("room.gone")


def _touch(room: Workshop) -> None:
    """Save that the room was used, unless that is already saved."""
    now = timezone.now()
    if now - room.last_used > USED_WITHIN:
        Workshop.objects.filter(pk=room.pk).update(last_used=now)
