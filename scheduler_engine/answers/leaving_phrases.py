"""The words for what becomes of pods if nodes leave, one phrase at a time, for a terminal and for a page."""

from __future__ import annotations

from dataclasses import asdict

from scheduler_engine.answers.leaving import Leaver, Leaving
from scheduler_engine.words import say


def outcome(leaver: Leaver) -> str:
    """Return what becomes of one pod."""
    return say(f"leaving.{leaver.outcome}", **{**asdict(leaver), "budgets": ", ".join(leaver.budgets)})


def displaced(pod: str) -> str:
    """Return that a pod of another node had to go."""
    return say("leaving.displaced", pod=pod)


def verdicts(left: Leaving) -> list[str]:
    """Return whether pods run there, and whether all have a place."""
    nothing = [] if left.leavers else [say("leaving.nothing")]
    return [*nothing, say("leaving.fine" if left.is_fine else "leaving.not-fine")]
