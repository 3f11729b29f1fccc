"""What is left of a room: its results as a table, and the room as a file that can be opened again."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

import yaml

from sandbox.workshop import sources
from sandbox.workshop.models import Answer, Workshop
from sandbox.workshop.questions import is_right

API_VERSION, KIND = "scheduler-sandbox/v1", "Workshop"
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would execute."""


def table(room: Workshop) -> str:
    """CSV: a row for each answer, and one for whoever gave none to a question."""
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
    return made.getvalue()


def _answers(room: Workshop) -> Any:
    return Answer.objects.filter(question__workshop=room)


def _safe(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def as_file(room: Workshop) -> str:
    """The room without its people: what newcomers get, and the questions that were put to it."""
    put = [_question(question) for question in room.questions.order_by("number")]
    found = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "title": room.title,
        "begin": _plain(sources.read(room.source)),
        "questions": put,
    }
    return yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=120)


def _question(question: Any) -> dict[str, Any]:
    if question.prediction:
        put = json.loads(question.prediction)
        return {put["kind"]: put["pod"]}
    found = {"ask": question.ask, "choices": json.loads(question.choices), "right": json.loads(question.right or "[]")}
    return found | {"many": True} if question.many else found


def _plain(source: sources.Source) -> dict[str, Any]:
    return {name: value for name, value in source.items() if name in ("kind", "title", "slug", "text")}
