"""What a trainer does in a room."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import path

from sandbox.access import problem
from sandbox.workshop import room
from sandbox.workshop.access import RoomAccess, done_by
from sandbox.workshop.models import Participant
from sandbox.workshop.views.doors import chosen
from scheduler_engine.errors import FieldError, Rejected

NOT_HERE = "This participant is not in the room any more."
DONE = 204


def _switch(request: HttpRequest) -> bool:
    return request.POST.get("on") == "1"


@done_by("trainer")
def freeze(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    room.set_frozen(access.room, _switch(request))
    return HttpResponse(status=DONE)


@done_by("trainer")
def eyes(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    room.set_eyes(access.room, _switch(request))
    return HttpResponse(status=DONE)


@done_by("trainer")
def timer(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    given = request.POST.get("minutes", "")
    try:
        minutes = float(given)
    except ValueError:
        raise Rejected([FieldError("minutes", "Invalid value", "must be a number")]) from None
    room.set_timer(access.room, minutes)
    return HttpResponse(status=DONE)


@done_by("trainer")
def rename(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    person = _person(request, access)
    if person is None:
        return problem(request, 404, NOT_HERE)
    room.rename(person, request.POST.get("name", ""))
    return HttpResponse(status=DONE)


@done_by("trainer")
def remove(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    person = _person(request, access)
    if person is None:
        return problem(request, 404, NOT_HERE)
    room.remove(person)
    return HttpResponse(status=DONE)


@done_by("trainer")
def send(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    """Send what the form names to those that it names; to all when it names nobody."""
    source = room.moment_of_trainer(access.room) if request.POST.get("moment") == "1" else chosen(request)
    everybody = list(access.room.participants.order_by("pk"))
    wanted = set(request.POST.getlist("to"))
    to = [person for person in everybody if not wanted or str(person.pk) in wanted]
    if not to:
        raise Rejected("Nobody is in the room yet.")
    room.send(access.room, source, to)
    return HttpResponse(status=DONE)


@done_by("trainer")
def close(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    room.close(access.room)
    return HttpResponse(status=DONE)


def _person(request: HttpRequest, access: RoomAccess) -> Participant | None:
    return room.participant_of(access.room, request.POST.get("who", ""))


urlpatterns = [
    path("freeze/", freeze, name="room-freeze"),
    path("eyes/", eyes, name="room-eyes"),
    path("timer/", timer, name="room-timer"),
    path("rename/", rename, name="room-rename"),
    path("remove/", remove, name="room-remove"),
    path("send/", send, name="room-send"),
    path("close/", close, name="room-close"),
]
