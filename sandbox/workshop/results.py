"""The results of a room as a table."""

from __future__ import annotations

import csv
import json
import logging
from collections.abc import Iterator
from datetime import datetime
from io import StringIO

from sandbox.words.say import say
from sandbox.worker.errors import EngineError
from sandbox.worker.live import ReplayFailed
from sandbox.workshop import sources
from sandbox.workshop.board import helped_commands, own_steps
from sandbox.workshop.models import Answer, Participant, Question, Seat, Workshop
from sandbox.workshop.parts import Place, part_names, places
from sandbox.workshop.progress import progress_of
from sandbox.workshop.questions import NONE, earlier_of, matches, outcome
from scheduler_engine.errors import Rejected

log = logging.getLogger(__name__)

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Starts of cells that a spreadsheet would execute."""
COLUMNS = (
    *("participant", "removed_at", "question", "asked", "answer", "right", "expected", "steps"),
    *("asked_at", "answered_at", "revealed_at"),
    *("part", "wrong", "hints", "seconds"),
)
"""Times are in UTC."""
Row = dict[str, str]


def results_csv(room: Workshop) -> str:
    """Return the results as CSV: a row for each question and person, and one for each sandbox of each person, followed
    by one for each part of its lesson that they have opened.

    Removed participants are included. Right answers are included even if they are not revealed yet.
    """
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\r\n")
    writer.writerow(dict(zip(COLUMNS, say("csv.results").split(", "), strict=True)))
    people = list(room.participants.order_by("pk"))
    for row in (*_of_questions(room, people), *_of_sandboxes(room)):
        writer.writerow({name: _safe(cell) for name, cell in row.items()})
    return text.getvalue()


def _of_questions(room: Workshop, people: list[Participant]) -> Iterator[Row]:
    answers = {(row.question_id, row.participant_id): row for row in Answer.objects.filter(question__workshop=room)}
    for question in room.questions.order_by("number"):
        right = _expected(room, question)
        asked = {
            "question": str(question.number),
            "asked": question.ask,
            "expected": "" if right is None else _listed(right),
            "asked_at": _time(question.asked),
            "revealed_at": _time(question.revealed),
        }
        for chosen, count in earlier_of(question).answers:
            who = {"participant": say("room.earlier-people", count=count)}
            yield who | asked | _judged(question, right, chosen)
        for person in people:
            answer = answers.get((question.pk, person.pk))
            yield _of_person(person) | asked | (_of_answer(question, right, answer) if answer else {})


def _of_answer(question: Question, right: list[str] | None, answer: Answer) -> Row:
    return _judged(question, right, json.loads(answer.chosen)) | {"answered_at": _time(answer.at)}


def _judged(question: Question, right: list[str] | None, chosen: list[str]) -> Row:
    verdict = None if right is None else matches(question, right, chosen)
    mark = "" if verdict is None else "yes" if verdict else "no"
    return {"answer": _listed(chosen), "right": mark}


def _expected(room: Workshop, question: Question) -> list[str] | None:
    """Return the right choices; None if there are none, or the scheduler has not decided yet or cannot be asked."""
    if question.prediction and not question.revealed:
        try:
            result = outcome(room, question)
        except (Rejected, EngineError, ReplayFailed) as error:
            log.info("results without the right answer to question %s: %s", question.number, error)
            return None
        return list(result.right) if result else None
    right: list[str] = json.loads(question.right or "[]")
    return right if right or question.prediction else None


def _of_sandboxes(room: Workshop) -> Iterator[Row]:
    seats = Seat.objects.filter(workshop=room).exclude(participant=None).exclude(sandbox=None)
    occupied = list(seats.select_related("sandbox", "participant").order_by("participant", "number"))
    sandboxes = [seat.sandbox for seat in occupied if seat.sandbox]
    progress, helped = progress_of(sandboxes), helped_commands(sandboxes)
    studied = {place.seat.pk: place for place in places(occupied)}
    for seat in occupied:
        assert seat.participant is not None
        lesson = progress.get(seat.sandbox_id)
        yield _of_person(seat.participant) | {
            "asked": sources.from_text(seat.source)["title"],
            "answer": lesson.text if lesson else "",
            "steps": str(own_steps(seat, helped)),
            "asked_at": _time(seat.created),
        }
        if seat.pk in studied:
            yield from _of_parts(seat.participant, studied[seat.pk])


def _of_parts(person: Participant, place: Place) -> Iterator[Row]:
    """Yield a row for each opened part. ``wrong``: wrong answers; ``seconds``: until the part was last left."""
    for number, name in enumerate(part_names(place)):
        state, seconds = place.state(number), place.spent(number)
        if state == "ahead":
            continue
        yield _of_person(person) | {
            "asked": f"{place.study.sandbox.title}: {name}" if name else place.study.sandbox.title,
            "answer": state,
            "part": str(number + 1),
            "wrong": str(place.wrong[number]),
            "hints": str(place.hints(number)),
            "seconds": "" if seconds is None else str(seconds),
        }


def _of_person(person: Participant) -> Row:
    return {"participant": person.name, "removed_at": _time(person.removed)}


def _listed(choices: list[str]) -> str:
    return "; ".join(choices) or NONE


def _time(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}" if moment else ""


def _safe(cell: str) -> str:
    """Return a cell that no spreadsheet executes as a formula."""
    return f"'{cell}" if cell.startswith(FORMULA) and not cell[1:].isdecimal() else cell
