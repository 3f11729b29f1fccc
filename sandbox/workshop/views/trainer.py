"""What a trainer does in a room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, reverse

from sandbox.changes.opening import read_lesson
from sandbox.panels.view import View
from sandbox.web.access import limited, problem
from sandbox.web.errors import line_of
from sandbox.web.views.lessons import brought_text
from sandbox.workshop import files, lessons, people, room
from sandbox.workshop.access import RoomAccess, done_by, shown
from sandbox.workshop.models import Participant, Workshop
from sandbox.workshop.results import table
from sandbox.workshop.views.doors import chosen
from scheduler_engine.errors import FieldError, Rejected

NOT_HERE = "This participant is no longer in the room. Close this dialog."
DONE = 204
MOST_TOLD = 5
STEPS: dict[str, dict[str, Any]] = {
    "stage": {"kind": "stage"},
    "pod": {"kind": "pod"},
    "settle": {"kind": "settle"},
    "second": {"kind": "advance", "seconds": 1},
}
"""What a trainer can do in everybody's sandbox."""


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
        raise Rejected([FieldError("minutes", "Invalid value", "Enter a number of minutes.")]) from None
    room.set_timer(access.room, minutes)
    return HttpResponse(status=DONE)


@done_by("trainer")
def rename(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    person = _person(request, access)
    if person is None:
        return problem(request, 404, NOT_HERE)
    people.rename(person, request.POST.get("name", ""))
    return HttpResponse(status=DONE)


@done_by("trainer")
def remove(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    person = _person(request, access)
    if person is None:
        return problem(request, 404, NOT_HERE)
    people.remove(person)
    return HttpResponse(status=DONE)


@done_by("trainer")
def send(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    """Send what the form names to those that it names; to all when it names nobody. ``at``: which moment.

    What is sent to all, whoever joins later gets as well: so it may be sent before anybody is there.
    """
    people = list(access.room.people.order_by("pk"))
    to = _to(request, access) if people else []
    if request.POST.get("moment") == "1":
        source = room.moment_of_trainer(access.room, View.from_mapping(request.POST.dict()).at)
    else:
        source = chosen(request, access.room)
    room.send(access.room, source, to, everybody=len(to) == len(people))
    return HttpResponse(status=DONE)


@limited
@done_by("trainer")
def bring_lesson(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    """Keep a lesson file in the room; ``instead``: the number of the one that it corrects."""
    text, name = brought_text(request)
    try:
        learned = read_lesson(text, name)
    except Rejected as refusal:
        lines = [FieldError("", error.kind, line_of(error)) for error in refusal.errors]
        return problem(request, 422, "This lesson has errors. Nothing was added.", lines)
    lessons.bring(access.room, lessons.Brought(text, learned), request.POST.get("instead", ""))
    return HttpResponse(status=DONE)


def _to(request: HttpRequest, access: RoomAccess) -> list[Participant]:
    everybody = list(access.room.people.order_by("pk"))
    wanted = set(request.POST.getlist("to"))
    to = [person for person in everybody if not wanted or str(person.pk) in wanted]
    if not to:
        raise Rejected("Those you chose are no longer in the room." if everybody else "Nobody is in the room yet.")
    return to


@done_by("trainer")
def step(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    """Make a step in the sandboxes of those that the form names; of all when it names nobody."""
    verb = request.POST.get("verb", "")
    if verb not in STEPS:
        return problem(request, 400, "There is no such step.")
    refused = room.step(access.room, STEPS[verb], _to(request, access))
    if refused:
        told = "; ".join(f"{name}: {why}" for name, why in refused[:MOST_TOLD])
        if len(refused) > MOST_TOLD:
            told += f"; and {len(refused) - MOST_TOLD} more"
        return problem(request, 422, f"Not everybody could make this step. {told}", calm=True)
    return HttpResponse(status=DONE)


@shown
def results(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    return _download(access, "text/csv", "results.csv", table)


@shown
def as_a_file(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    return _download(access, "application/yaml", files.NAME, files.written)


def _download(access: RoomAccess, kind: str, name: str, made: Callable[[Workshop], str]) -> HttpResponse:
    if access.role != "trainer":
        raise Http404
    response = HttpResponse(made(access.room), content_type=f"{kind}; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@done_by("trainer", closed=True)
def delete(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    """The room and all that is known of its people goes."""
    room.delete(access.room)
    response = HttpResponse(status=DONE)
    response.headers["HX-Redirect"] = reverse("workshops")
    return response


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
    path("lessons/", bring_lesson, name="room-lesson"),
    path("step/", step, name="room-step"),
    path("results.csv", results, name="room-results"),
    path("workshop.yaml", as_a_file, name="room-file"),
    path("close/", close, name="room-close"),
    path("delete/", delete, name="room-delete"),
]
