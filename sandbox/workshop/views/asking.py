"""Ask, answer, close and reveal questions of a room, and run the rows of its plan."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from sandbox.web.access import RoutedView, problem
from sandbox.web.numbers import whole_number
from sandbox.words.say import say
from sandbox.workshop import plan, questions
from sandbox.workshop.access import RoomAccess, room_action
from sandbox.workshop.models import Question, Workshop

LONGEST_PAGE, LONGEST_TURN = 40, 9
"""Characters of a browser's name, and digits of the number of its answer."""
RIGHT = "*"
"""The start of a line with a right choice."""


@room_action("trainer")
def ask(request: HttpRequest, access: RoomAccess) -> None:
    """Ask a question. Each line is a choice; right ones start with a star."""
    lines = [line.strip() for line in request.POST.get("choices", "").splitlines()]
    choices = [line.removeprefix(RIGHT).strip() for line in lines]
    right = [line.removeprefix(RIGHT).strip() for line in lines if line.startswith(RIGHT)]
    questions.ask(access.room, request.POST.get("ask", ""), choices, right, request.POST.get("many") == "1")


@room_action("trainer")
def predict(request: HttpRequest, access: RoomAccess) -> None:
    questions.predict(access.room, request.POST.get("kind", ""), request.POST.get("pod", "").strip())


@room_action("trainer")
def planned(request: HttpRequest, access: RoomAccess) -> HttpResponse | None:
    """Run the row ``number`` of the plan, from 0. ``after``: how many rows had been run when the page was shown."""
    number, after = (whole_number(request.POST.get(name, ""), LONGEST_TURN) for name in ("number", "after"))
    found = number is not None and plan.run(access.room, number, after)
    return None if found else problem(request, 404, say("room.no-row"))


def _with_question(act: Callable[[Workshop, Question], None]) -> RoutedView:
    """Make a view of a trainer's action on the current question. ``number`` in the form must be that question's."""

    @room_action("trainer")
    def view(request: HttpRequest, access: RoomAccess) -> HttpResponse | None:
        question = questions.current_question(access.room, request.POST.get("number", ""))
        if question is None:
            return problem(request, 404, say("room.no-question"))
        act(access.room, question)
        return None

    return view


end, reveal, put_away = map(_with_question, (questions.end, questions.reveal, questions.hide))


@room_action("trainer")
def show_answer(request: HttpRequest, access: RoomAccess) -> HttpResponse | None:
    """Show the free answer ``text`` to a question on the projector, or no longer (``on``: 0)."""
    question = questions.by_number(access.room, request.POST.get("number", ""))
    if question is None:
        return problem(request, 404, say("room.no-question"))
    questions.show_answer(access.room, question, request.POST.get("text", ""), request.POST.get("on") == "1")
    return None


@room_action("participant")
def answer(request: HttpRequest, access: RoomAccess) -> HttpResponse | None:
    question = questions.by_number(access.room, request.POST.get("number", ""))
    if question is None or access.participant is None:
        return problem(request, 404, say("room.no-question"))
    page, turn = request.POST.get("page", "")[:LONGEST_PAGE], request.POST.get("turn", "")
    number = whole_number(turn, LONGEST_TURN) or 0
    questions.answer(question, access.participant, request.POST.getlist("chosen"), page, number)
    return None
