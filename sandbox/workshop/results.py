"""What is left of a room: its results as a table."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

from sandbox.workshop import sources
from sandbox.workshop.models import Answer, Seat, Workshop
from sandbox.workshop.progress import far
from sandbox.workshop.questions import is_right

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would execute."""


def table(room: Workshop) -> str:
    """CSV: a row for each answer, one for whoever gave none to a question, and one for each lesson of each person."""
    made = StringIO()
    writer = csv.writer(made, lineterminator="\r\n")
    writer.writerow(["participant", "question", "asked", "answer", "right", "expected"])
    given = {(row.question_id, row.participant_id): json.loads(row.chosen) for row in _answers(room)}
    people = list(room.participants.order_by("pk"))
    for question in room.questions.order_by("number"):
        expected = "; ".join(json.loads(question.right or "[]")) if question.revealed else ""
        for person in people:
            chosen = given.get((question.pk, person.pk))
            right = is_right(question, chosen) if chosen is not None else None
            told = "" if right is None else "yes" if right else "no"
            said = "; ".join(chosen) if chosen is not None else ""
            writer.writerow(map(_safe, (person.name, str(question.number), question.ask, said, told, expected)))
    seats = Seat.objects.filter(workshop=room).exclude(participant=None).exclude(sandbox=None)
    sat = list(seats.select_related("sandbox", "participant").order_by("participant", "number"))
    learnt = far(seat.sandbox for seat in sat if seat.sandbox)
    for seat in sat:
        if seat.participant and (lesson := learnt.get(seat.sandbox_id)):
            title = sources.read(seat.source)["title"]
            writer.writerow(map(_safe, (seat.participant.name, "", title, lesson.told, "", "")))
    return made.getvalue()


def _answers(room: Workshop) -> Any:
    return Answer.objects.filter(question__workshop=room)


def _safe(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA) else cell
