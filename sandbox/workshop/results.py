"""What is left of a room: its results as a table."""

from __future__ import annotations

import csv
import json
import logging
from collections.abc import Iterator
from datetime import datetime
from io import StringIO

from sandbox.worker.errors import EngineError
from sandbox.worker.live import ReplayFailed
from sandbox.workshop import sources
from sandbox.workshop.board import helped_commands, own_steps
from sandbox.workshop.models import Answer, Participant, Question, Seat, Workshop
from sandbox.workshop.progress import far
from sandbox.workshop.questions import NONE, fits, outcome
from scheduler_engine.errors import Rejected

log = logging.getLogger(__name__)

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would execute."""


COLUMNS = (
    "participant", "removed at", "question", "asked", "answer", "right", "expected", "steps",
    "asked at", "answered at", "revealed at",
)  # fmt: skip
"""Times are in UTC."""
Row = dict[str, str]


def table(room: Workshop) -> str:
    """CSV: a row for each question and person, and one for each sandbox of each person, with their steps there.

    Who was taken out of the room is among them. What a question expects is told also before it is revealed.
    """
    made = StringIO()
    writer = csv.DictWriter(made, COLUMNS, restval="", lineterminator="\r\n")
    writer.writeheader()
    people = list(room.participants.order_by("pk"))
    for row in (*_of_questions(room, people), *_of_sandboxes(room)):
        writer.writerow({name: _safe(cell) for name, cell in row.items()})
    return made.getvalue()


def _of_questions(room: Workshop, people: list[Participant]) -> Iterator[Row]:
    given = {(row.question_id, row.participant_id): row for row in Answer.objects.filter(question__workshop=room)}
    for question in room.questions.order_by("number"):
        right = _expected(room, question)
        asked = {
            "question": str(question.number),
            "asked": question.ask,
            "expected": "" if right is None else _listed(right),
            "asked at": _time(question.asked),
            "revealed at": _time(question.revealed),
        }
        for person in people:
            answer = given.get((question.pk, person.pk))
            yield _of_person(person) | asked | (_of_answer(question, right, answer) if answer else {})


def _of_answer(question: Question, right: list[str] | None, answer: Answer) -> Row:
    chosen = json.loads(answer.chosen)
    verdict = None if right is None else fits(question, right, chosen)
    told = "" if verdict is None else "yes" if verdict else "no"
    return {"answer": _listed(chosen), "right": told, "answered at": _time(answer.at)}


def _expected(room: Workshop, question: Question) -> list[str] | None:
    """The right choices; None when there are none, or when the scheduler has not come to them or cannot be asked."""
    if question.prediction and not question.revealed:
        try:
            found = outcome(room, question)
        except (Rejected, EngineError, ReplayFailed) as error:
            log.info("the results do without what question %s expects: %s", question.number, error)
            return None
        return list(found.right) if found else None
    right: list[str] = json.loads(question.right or "[]")
    return right if right or question.prediction else None


def _of_sandboxes(room: Workshop) -> Iterator[Row]:
    seats = Seat.objects.filter(workshop=room).exclude(participant=None).exclude(sandbox=None)
    sat = list(seats.select_related("sandbox", "participant").order_by("participant", "number"))
    sandboxes = [seat.sandbox for seat in sat if seat.sandbox]
    learnt, helped = far(sandboxes), helped_commands(sandboxes)
    for seat in sat:
        assert seat.participant is not None
        lesson = learnt.get(seat.sandbox_id)
        yield _of_person(seat.participant) | {
            "asked": sources.read(seat.source)["title"],
            "answer": lesson.told if lesson else "",
            "steps": str(own_steps(seat, helped)),
            "asked at": _time(seat.created),
        }


def _of_person(person: Participant) -> Row:
    return {"participant": person.name, "removed at": _time(person.removed)}


def _listed(choices: list[str]) -> str:
    return "; ".join(choices) or NONE


def _time(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}" if moment else ""


def _safe(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA) and not cell[1:].isdecimal() else cell
