"""Questions as they are kept and shown, and answers beside those of the engine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sandbox.storage.records import Guessed
from sandbox.words.say import say
from sandbox.worker.lessons.wording import worded
from scheduler_engine.framework.extension_points import STAGE_INDEX, STAGES
from scheduler_engine.lesson import Question, predictions
from scheduler_engine.lesson.ends import ATTEMPT
from scheduler_engine.lesson.model import Option
from scheduler_engine.lesson.predictions import Sight
from scheduler_engine.scenario.attempts import Seen

FEW_NODES = 60
"""Of larger clusters only the winner and the lane are asked; their choices are typed."""


def question_text(question: Question, offered: Sequence[str]) -> str:
    """As it is kept with a guess, with the choices that were offered."""
    return json.dumps({**asdict(question), "offered": offered}, separators=(",", ":"), ensure_ascii=False)


def question_of(text: str) -> Question:
    given = json.loads(text)
    options = tuple(Option(option["text"], tuple(option["holds"])) for option in given.pop("options"))
    # Those of older versions do not say what was offered.
    offered = None if given.get("offered") is None else tuple(given["offered"])
    return Question(**{**given, "options": options, "tempting": tuple(given["tempting"]), "offered": offered})


def asked(seen: Seen, question: Question, foresee: bool) -> dict[str, Any]:
    """A question with its choices, and when it is checked. ``typed``: there are too many choices to be listed."""
    offered = predictions.choices(seen, question)
    return {
        "kind": question.kind,
        "ask": predictions.asked(question),
        "when": _when(question, foresee),
        "choices": list(offered),
        "many": predictions.KINDS[question.kind].many,
        "typed": len(offered) > FEW_NODES,
    }


def _when(question: Question, foresee: bool) -> str:
    if not foresee:
        return say("lesson.when-answered")
    if question.at == ATTEMPT:
        return say("lesson.when-attempt")
    return (
        say("lesson.when-stage", stage=STAGES[STAGE_INDEX[question.at]].title)
        if question.at
        else say("lesson.when-step")
    )


def compared(question: Question, since: int, sight: Sight, named: Sequence[str] | None) -> dict[str, Any] | None:
    """The engine's answer beside what was named (None: nobody guessed), point by point; None: it is not over.

    ``none``: why there is no answer, "" where there is one. ``nobody``: why no choice is right, "" where one is.
    """
    judged = predictions.judge(question, since, sight)
    if judged.none is not None:
        none = worded(judged.none)
        return {"right": False, "rows": [], "kind": question.kind, "none": none, "nobody": "", "end": judged.end}
    found = judged.answer
    if found is None:
        return None
    right = named is not None and predictions.is_right(question, named, found)
    points = predictions.compare(named or (), found)
    rows = [
        {"choice": each.choice, "given": each.given, "right": each.right, "why": worded(each.why) if each.why else ""}
        for each in points
    ]
    nobody = worded(found.nobody) if found.nobody else ""
    return {"right": right, "rows": rows, "kind": question.kind, "none": "", "nobody": nobody, "end": judged.end}


def answered(guess: Guessed | None, points: dict[str, Any] | None) -> dict[str, Any]:
    named = json.loads(guess.named) if guess else None
    return {
        "given": guess is not None,
        "looked": guess is not None and named is None,
        "named": named or [],
        "who": guess.who if guess else "",
        "points": points,
    }


def score(known: list[tuple[Guessed, dict[str, Any]]]) -> dict[str, Any]:
    """How many of the predictions were right, in all and by kind. To look is no prediction."""
    kinds: dict[str, list[int]] = {}
    for guess, points in known:
        if points.get("none") or json.loads(guess.named) is None:
            continue
        row = kinds.setdefault(points["kind"], [0, 0])
        row[0] += points["right"]
        row[1] += 1
    rows = [{"kind": kind, "right": right, "of": of} for kind, (right, of) in kinds.items()]
    return {"right": sum(row["right"] for row in rows), "of": sum(row["of"] for row in rows), "kinds": rows}
