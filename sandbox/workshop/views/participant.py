"""A participant's actions in a room."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse

from sandbox.web.access import limited, problem
from sandbox.web.numbers import whole_number
from sandbox.words.say import say
from sandbox.workshop import notes, people, room
from sandbox.workshop.access import RoomAccess, room_action, room_page
from sandbox.workshop.views.asking import LONGEST_PAGE, LONGEST_TURN


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


@room_action("participant", closed=True)
def save_notes(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    """Save the own notes ``text``. Answer how often they were saved, for the next ``after``."""
    assert access.participant is not None
    page, after = request.POST.get("page", "")[:LONGEST_PAGE], request.POST.get("after", "")
    turn = whole_number(after, LONGEST_TURN) or 0
    saved = notes.save(access.participant, request.POST.get("text", ""), page, turn)
    if saved is None:
        return problem(request, 409, say("room.notes-changed"))
    return HttpResponse(str(saved), content_type="text/plain; charset=utf-8")


@room_page
def notes_file(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    if access.participant is None:
        raise Http404
    headers = {"Content-Disposition": 'attachment; filename="notes.txt"'}
    return HttpResponse(notes.as_file(access.participant), content_type="text/plain; charset=utf-8", headers=headers)


@room_action("participant")
def leave(request: HttpRequest, access: RoomAccess) -> None:
    assert access.participant is not None
    people.leave(access.participant)
