"""Questions to the room, and what is answered."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import path

from sandbox.web.access import RoutedView, problem
from sandbox.workshop import files, questions
from sandbox.workshop.access import RoomAccess, done_by
from sandbox.workshop.models import Question, Workshop

DONE = 204
NO_QUESTION = "No question is open. Ask one first."
ANOTHER = "The room has moved to another question. Nothing was changed."
LONGEST_PAGE, LONGEST_TURN = 40, 9
"""Characters and digits of the name of a page, and of its turn."""
RIGHT = "*"
"""Before a line of choices that is right."""


@done_by("trainer")
def ask(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    """One choice in each line; those that are right begin with a star."""
    lines = [line.strip() for line in request.POST.get("choices", "").splitlines()]
    choices = [line.removeprefix(RIGHT).strip() for line in lines]
    right = [line.removeprefix(RIGHT).strip() for line in lines if line.startswith(RIGHT)]
    questions.ask(access.room, request.POST.get("ask", ""), choices, right, request.POST.get("many") == "1")
    return HttpResponse(status=DONE)


@done_by("trainer")
def predict(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    questions.predict(access.room, request.POST.get("kind", ""), request.POST.get("pod", "").strip())
    return HttpResponse(status=DONE)


@done_by("trainer")
def planned(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    """Put a question of the room's file: ``number``, from 0."""
    plan, number = files.planned(access.room), request.POST.get("number", "")
    if number not in map(str, range(len(plan))):
        return problem(request, 404, NO_QUESTION)
    wanted = plan[int(number)]
    if "predict" in wanted:
        questions.predict(access.room, wanted["predict"], wanted.get("pod", ""))
    else:
        questions.ask(
            access.room, wanted["ask"], wanted["choices"], wanted.get("right", ()), bool(wanted.get("many", False))
        )
    return HttpResponse(status=DONE)


def _with_question(act: Callable[[Workshop, Question], None]) -> RoutedView:
    """What a trainer does with the question that the page shows, by its ``number``; an older one stays as it is."""

    @done_by("trainer")
    def view(request: HttpRequest, access: RoomAccess) -> HttpResponse:
        question = questions.numbered(access.room, request.POST.get("number", ""))
        if question is None:
            return problem(request, 404, NO_QUESTION)
        if question != questions.latest(access.room):
            return problem(request, 422, ANOTHER)
        act(access.room, question)
        return HttpResponse(status=DONE)

    return view


@done_by("participant")
def answer(request: HttpRequest, access: RoomAccess) -> HttpResponse:
    question = questions.numbered(access.room, request.POST.get("number", ""))
    if question is None or access.participant is None:
        return problem(request, 404, NO_QUESTION)
    page, turn = request.POST.get("page", "")[:LONGEST_PAGE], request.POST.get("turn", "")
    number = int(turn) if turn.isascii() and turn.isdigit() and len(turn) <= LONGEST_TURN else 0
    questions.answer(question, access.participant, request.POST.getlist("chosen"), page, number)
    return HttpResponse(status=DONE)


urlpatterns = [
    path("ask/", ask, name="room-ask"),
    path("predict/", predict, name="room-predict"),
    path("planned/", planned, name="room-planned"),
    path("end/", _with_question(questions.end), name="room-end"),
    path("reveal/", _with_question(questions.reveal), name="room-reveal"),
    path("put-away/", _with_question(questions.put_away), name="room-put-away"),
    path("answer/", answer, name="room-answer"),
]
