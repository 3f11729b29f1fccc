"""What a participant does in a room."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import path

from sandbox.web.access import limited
from sandbox.workshop import people, room
from sandbox.workshop.access import RoomAccess, done_by

DONE = 204


@limited
@done_by("trainer", "participant")
def take(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    """Make the sandbox of one's seat, if it is not there yet."""
    room.take_seat(access.room, access.participant, access.token)
    return HttpResponse(status=DONE)


@done_by("participant")
def hand(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    assert access.participant is not None
    room.raise_hand(access.participant, request.POST.get("on") == "1")
    return HttpResponse(status=DONE)


@done_by("participant")
def let_help(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    assert access.participant is not None
    room.allow_help(access.participant, access.token, request.POST.get("on") == "1")
    return HttpResponse(status=DONE)


@done_by("participant")
def leave(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    assert access.participant is not None
    people.leave(access.participant)
    return HttpResponse(status=DONE)


urlpatterns = [
    path("take/", take, name="room-take"),
    path("hand/", hand, name="room-hand"),
    path("help/", let_help, name="room-help"),
    path("leave/", leave, name="room-leave"),
]
