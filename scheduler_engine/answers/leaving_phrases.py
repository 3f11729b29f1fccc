"""The words for what becomes of pods if nodes leave, one phrase at a time, for a terminal and for a page."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

from scheduler_engine.answers.leaving import FINE, Displaced, Leaver, Leaving
from scheduler_engine.words import say


def outcome(leaver: Leaver) -> str:
    """Return what becomes of one pod."""
    return say(f"leaving.{leaver.outcome}", **{**asdict(leaver), "budgets": ", ".join(leaver.budgets)})


def displaced(item: Displaced) -> str:
    """Return why a pod of another node had to go, and what becomes of it."""
    then = say(f"leaving.then-{item.left.outcome}", **asdict(item.left))
    return say(f"leaving.{item.cause}", pod=item.left.pod, by=item.by.strip(), node=item.node, then=then)


def verdicts(left: Leaving) -> list[str]:
    """Return whether pods run there, whether all have a place, and whether others had to make room."""
    nothing = [] if left.leavers else [say("leaving.nothing")]
    made_room = [say("leaving.made-room", count=len(left.displaced))] if left.displaced else []
    return [*nothing, say("leaving.fine" if left.have_places else "leaving.not-fine"), *made_room]


def why_not(left: Leaving) -> str:
    """Return how many pods keep the node from being removed, by what becomes of them, or that it is the only one."""
    if left.is_fine:
        return say("leaving.short-last")
    outcomes = Counter(item.outcome for item in left.leavers if item.outcome not in FINE)
    counts = [say(f"leaving.short-{name}", count=count) for name, count in outcomes.items()]
    if left.displaced:
        counts.append(say("leaving.short-displaced", count=len(left.displaced)))
    return ", ".join(counts)
