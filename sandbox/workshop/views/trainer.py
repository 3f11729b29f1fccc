"""The trainer's actions in a room."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse

from sandbox.changes.opening import read_lesson
from sandbox.panels.view import View
from sandbox.web.access import RoutedView, limited, problem
from sandbox.web.errors import line_of
from sandbox.web.numbers import KEY_DIGITS, whole_number
from sandbox.web.views.lessons import uploaded_lesson
from sandbox.words.say import say
from sandbox.workshop import assistants, files, lessons, people, room
from sandbox.workshop.access import Role, RoomAccess, room_action, room_page
from sandbox.workshop.models import Participant, Workshop
from sandbox.workshop.results import results_csv
from sandbox.workshop.views.doors import chosen_source
from scheduler_engine.errors import FieldError, Rejected


def _switch(turn: Callable[[Workshop, bool], None]) -> RoutedView:
    """Make a view that turns something on or off for the whole room."""

    @room_action("trainer")
    def view(request: HttpRequest, access: RoomAccess) -> None:
        turn(access.room, request.POST.get("on") == "1")

    return view


freeze, eyes = _switch(room.set_frozen), _switch(room.show_trainer)


@room_action("trainer")
def timer(request: HttpRequest, access: RoomAccess) -> None:
    text = request.POST.get("minutes", "")
    try:
        minutes = float(text)
    except ValueError:
        raise Rejected([FieldError("minutes", "Invalid value", say("room.no-minutes"))]) from None
    room.set_timer(access.room, minutes)


def _with_person(act: Callable[[Participant, QueryDict], None], *more: Role) -> RoutedView:
    """Make a view of an action on the participant ``who``. ``more``: the roles besides the trainer that may do it."""

    @room_action("trainer", *more)
    def view(request: HttpRequest, access: RoomAccess) -> HttpResponse | None:
        person = room.participant_of(access.room, request.POST.get("who", ""))
        if person is None:
            return problem(request, 404, say("room.no-participant"))
        act(person, request.POST)
        return None

    return view


rename = _with_person(lambda person, data: people.rename(person, data.get("name", "")))
remove = _with_person(lambda person, _: people.remove(person))
lower_hand = _with_person(lambda person, _: room.raise_hand(person, False), "assistant")


@room_action("trainer")
def add_assistant(request: HttpRequest, access: RoomAccess) -> None:
    assistants.make(access.room, access.token)


@room_action("trainer")
def revoke_assistant(request: HttpRequest, access: RoomAccess) -> HttpResponse | None:
    number = whole_number(request.POST.get("number", ""), KEY_DIGITS)
    found = number is not None and assistants.revoke(access.room, number)
    return None if found else problem(request, 404, say("room.no-assistant"))


@room_action("trainer")
def send(request: HttpRequest, access: RoomAccess) -> None:
    """Send a source to the participants in the form, or to all if it names none. ``at``: the moment to copy."""
    if request.POST.get("moment") == "1":
        find = partial(room.moment_of_trainer, access.room, View.from_mapping(request.POST.dict()).at)
    else:
        find = partial(chosen_source, request, access.room)
    room.send_to(access.room, request.POST.getlist("to"), find)


@limited
@room_action("trainer")
def add_lesson(request: HttpRequest, access: RoomAccess) -> HttpResponse | None:
    """Save a lesson file in the room. ``instead``: the number of the lesson that it replaces."""
    text, name = uploaded_lesson(request)
    try:
        learned = read_lesson(text, name)
    except Rejected as refusal:
        lines = [FieldError("", error.kind, line_of(error)) for error in refusal.errors]
        return problem(request, 422, say("room.lesson-errors"), lines)
    lessons.save_lesson(access.room, lessons.LessonFile(text, learned), request.POST.get("instead", ""))
    return None


@room_action("trainer")
def step(request: HttpRequest, access: RoomAccess) -> HttpResponse | None:
    """Run a step in the sandboxes of the participants in the form, or of all if it names none."""
    verb = request.POST.get("verb", "")
    if verb not in room.STEPS:
        return problem(request, 400, say("room.no-step"))
    to = room.recipients(access.room, request.POST.getlist("to"))
    done, failures = room.step(access.room, room.STEPS[verb], to)
    if failures:
        # A refusal changes nothing, so a step that some have run is none.
        response = problem(request, 200 if done else 422, room.step_failures(failures), calm=True)
        response["HX-Retarget"], response["HX-Reswap"] = "#notice", "innerHTML"
        return response
    return None


@room_page
def results(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    return _download(access, "text/csv", "results.csv", results_csv)


@room_page
def room_file(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    return _download(access, "application/yaml", files.NAME, files.write)


def _download(access: RoomAccess, kind: str, name: str, write: Callable[[Workshop], str]) -> HttpResponse:
    """Return a file of the room for the trainer. Raise ``Http404`` for other roles."""
    if access.role != "trainer":
        raise Http404
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(write(access.room), content_type=f"{kind}; charset=utf-8", headers=headers)


@room_action("trainer", closed=True)
def delete(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    """Delete the room with everything about its participants."""
    room.delete(access.room)
    return HttpResponse(status=204, headers={"HX-Redirect": reverse("workshops")})


@room_action("trainer")
def close(request: HttpRequest, access: RoomAccess) -> None:
    room.close(access.room)
