"""A participant's actions in a room."""

from __future__ import annotations

from django.http import HttpRequest

from sandbox.web.access import limited
from sandbox.workshop import people, room
from sandbox.workshop.access import RoomAccess, room_action


@limited
@room_action("trainer", "participant")
def take(request: HttpRequest, access: RoomAccess) -> None:
    """Create the sandbox of the own seat, if it has none yet."""
    room.take_seat(access.room, access.participant, access.token)


@room_action("participant")
def hand(request: HttpRequest, access: RoomAccess) -> None:
    assert access.participant is not None
    room.raise_hand(access.participant, request.POST.get("on") == "1")


@room_action("participant")
def let_help(request: HttpRequest, access: RoomAccess) -> None:
    assert access.participant is not None
    room.allow_help(access.participant, access.token, request.POST.get("on") == "1")


@room_action("participant")
def leave(request: HttpRequest, access: RoomAccess) -> None:
    assert access.participant is not None
    people.leave(access.participant)
