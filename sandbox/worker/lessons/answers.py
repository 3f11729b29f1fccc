"""Questions as they are stored and shown, and answers compared with the engine's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sandbox.content.shelf import lessons
from sandbox.storage.records import Guessed
from sandbox.words.say import say
from sandbox.worker.lessons.wording import reason_text
from scheduler_engine.framework.extension_points import STAGE_INDEX, STAGES
from scheduler_engine.lesson import Question, predictions
from scheduler_engine.lesson.answers import BOUND
from scheduler_engine.lesson.ends import ATTEMPT
from scheduler_engine.lesson.model import Option
from scheduler_engine.lesson.predictions import Sight
from scheduler_engine.scenario.attempts import RunView

THINGS = {"passes": "node", "winner": "node", "victims": "pod", "lane": "queue"}
"""Kind of a question → what its choices are on the page, by the name of their pointer; those of others are texts."""
FEW_NODES = 60
"""In larger clusters only the winner and the lane are asked, and people type the choice."""


def question_text(question: Question, offered: Sequence[str]) -> str:
    """Return the question as JSON for ``models.Guess``, with the choices that were offered."""
    # A revealed misconception is read from the lesson: workers of older versions do not know the field.
    data = {name: value for name, value in asdict(question).items() if name != "reveals"}
    return json.dumps({**data, "offered": offered}, separators=(",", ":"), ensure_ascii=False)


def question_of(text: str) -> Question:
    data = json.loads(text)
    options = tuple(Option(option["text"], tuple(option["holds"])) for option in data.pop("options"))
    # Questions stored by older versions lack the offered choices.
    offered = None if data.get("offered") is None else tuple(data["offered"])
    return Question(**{**data, "options": options, "tempting": tuple(data["tempting"]), "offered": offered})


def question_data(run: RunView, question: Question, predicts: bool) -> dict[str, Any]:
    """Return a question with its choices, and when it is checked. ``typed``: there are too many choices to list."""
    offered = predictions.choices(run, question)
    return {
        "kind": question.kind,
        "thing": THINGS.get(question.kind, ""),
        "ask": predictions.asked(question),
        "when": _when(question, predicts),
        "choices": list(offered),
        "many": predictions.KINDS[question.kind].many,
        "typed": len(offered) > FEW_NODES,
    }


def _when(question: Question, predicts: bool) -> str:
    if not predicts:
        return say("lesson.when-answered")
    if question.at == ATTEMPT:
        return say("lesson.when-attempt")
    return (
        say("lesson.when-stage", stage=STAGES[STAGE_INDEX[question.at]].title)
        if question.at
        else say("lesson.when-step")
    )


def compare(question: Question, since: int, sight: Sight, named: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the engine's answer compared point by point with ``named`` (None: nobody guessed). None = not known yet.

    ``none``: why there is no answer, "" if there is one. ``nobody``: why no choice is right, "" if one is.
    """
    judged = predictions.judge(question, since, sight)
    if judged.none is not None:
        none = reason_text(judged.none)
        return {"right": False, "rows": [], "kind": question.kind, "none": none, "nobody": "", "end": judged.end}
    answer = judged.answer
    if answer is None:
        return None
    right = named is not None and predictions.is_right(question, named, answer)
    points = predictions.compare(named or (), answer)
    rows = [
        {
            "choice": point.choice,
            "thing": "" if point.choice == BOUND else THINGS.get(question.kind, ""),
            "chosen": point.chosen,
            "right": point.right,
            "why": reason_text(point.why) if point.why else "",
        }
        for point in points
    ]
    nobody = reason_text(answer.nobody) if answer.nobody else ""
    return {"right": right, "rows": rows, "kind": question.kind, "none": "", "nobody": nobody, "end": judged.end}


def revealed(question: Question, guess: Guessed | None, points: dict[str, Any] | None) -> dict[str, str] | None:
    """Return name and words of the misconception that a wrong answer shows. None if it shows none, or is not known."""
    named = (guess and json.loads(guess.named)) or ()
    if points is None or points["none"] or points["right"] or question.tempting[:1] not in {(name,) for name in named}:
        return None
    placed = lessons().get(question.reveals)
    return {"name": question.reveals, "belief": placed.lesson.belief} if placed else None


def answer_data(guess: Guessed | None, points: dict[str, Any] | None) -> dict[str, Any]:
    named = json.loads(guess.named) if guess else None
    return {
        "answered": guess is not None,
        "looked": guess is not None and named is None,
        "named": named or [],
        "who": guess.who if guess else "",
        "points": points,
    }


def score(answers: list[tuple[Guessed, dict[str, Any]]]) -> dict[str, Any]:
    """Return how many predictions were right, in total and by kind. Answers shown without a guess do not count."""
    kinds: dict[str, list[int]] = {}
    for guess, points in answers:
        if points.get("none") or json.loads(guess.named) is None:
            continue
        row = kinds.setdefault(points["kind"], [0, 0])
        row[0] += points["right"]
        row[1] += 1
    rows = [{"kind": kind, "right": right, "of": of} for kind, (right, of) in kinds.items()]
    return {"right": sum(row["right"] for row in rows), "of": sum(row["of"] for row in rows), "kinds": rows}
