"""Participants ask the trainer and vote; the trainer marks, hides and shows their questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.http import HttpRequest, HttpResponse

from sandbox.web.access import RoutedView, problem
from sandbox.words.say import say
from sandbox.workshop import inquiries
from sandbox.workshop.access import Role, RoomAccess, room_action
from sandbox.workshop.models import Inquiry


@room_action("participant")
def inquire(request: HttpRequest, access: RoomAccess) -> None:
    assert access.participant is not None
    inquiries.inquire(access.participant, request.POST.get("text", ""))


@room_action("trainer")
def show(request: HttpRequest, access: RoomAccess) -> None:
    inquiries.show_on_projector(access.room, request.POST.get("on") == "1")


def _with_inquiry(roles: Sequence[Role], act: Callable[[RoomAccess, Inquiry, bool], None]) -> RoutedView:
    """Make a view of an action on the question with the primary key ``key``. ``on``: 1 to do it, 0 to undo it."""

    @room_action(*roles)
    def view(request: HttpRequest, access: RoomAccess) -> HttpResponse | None:
        inquiry = inquiries.by_key(access.room, request.POST.get("key", ""))
        if inquiry is None:
            return problem(request, 404, say("room.no-inquiry"))
        act(access, inquiry, request.POST.get("on") == "1")
        return None

    return view


def _vote(access: RoomAccess, inquiry: Inquiry, on: bool) -> None:
    assert access.participant is not None
    inquiries.vote(access.participant, inquiry, on)


vote = _with_inquiry(("participant",), _vote)
answered = _with_inquiry(("trainer", "assistant"), lambda access, inquiry, on: inquiries.set_answered(inquiry, on))
hide = _with_inquiry(("trainer",), lambda access, inquiry, on: inquiries.hide(inquiry))
