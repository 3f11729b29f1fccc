"""Rounds of practice: how many answers were right, and which rounds may follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sandbox.words.say import say
from scheduler_engine.lesson.practice import LEVELS, LONGEST_SEED, PARTS, Round, round_of

HARDER, EASIER = PARTS - 1, PARTS // 2
"""Right answers from which on a harder round is offered first, and up to which an easier one is."""


def round_data(name: str, rights: Mapping[int, bool], parts: int) -> dict[str, Any] | None:
    """Return a round with its answers: ``right`` → whether the answer of each part was right."""
    drawn = round_of(name)
    if drawn is None:
        return None
    answered = sum(rights.values())
    return {
        "link": drawn.name.removeprefix("practice-"),
        "rights": " ".join(f"{part}:{int(right)}" for part, right in sorted(rights.items())),
        "score": say("lesson.round-score", right=answered, parts=parts),
    }


def rounds_after(name: str, rights: Mapping[int, bool]) -> list[dict[str, Any]]:
    """Return the rounds to offer after this one, the most fitting one first."""
    drawn = round_of(name)
    if drawn is None:
        return []
    right, seed = sum(rights.values()), (drawn.seed + 1) % 10**LONGEST_SEED
    again = replace(drawn, seed=seed)
    rows = [_row(again, say("lesson.five-more"))]
    if right >= HARDER and drawn.level < LEVELS[-1]:
        rows.insert(0, _row(replace(again, level=drawn.level + 1), say("lesson.harder")))
    if right <= EASIER and drawn.level > LEVELS[0]:
        rows.insert(0, _row(replace(again, level=drawn.level - 1), say("lesson.easier")))
    return rows


def _row(drawn: Round, title: str) -> dict[str, Any]:
    return {"slug": drawn.name, "title": title, "about": "", "minutes": PARTS}
