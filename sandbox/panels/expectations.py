"""The expectations of a run by moment, and whether the exported test would find them true."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from sandbox.panels.model.expected import AHEAD, BEHIND, HERE, UNDONE, Outcome
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.say import say

NOTES = {
    HERE: "expectations.here",
    BEHIND: "expectations.behind",
    AHEAD: "expectations.ahead",
    UNDONE: "expectations.undone",
}
"""Place of a moment, seen from the one in view → key of its note."""


def stats(world: World, view: View) -> dict[str, Any]:
    outcomes = world.expected.outcomes()
    own = sum(1 for outcome in outcomes if outcome.key)
    red = sum(outcome.red for outcome in outcomes)
    summary = say("expectations.red", count=red) if red else say("expectations.none-red")
    return {
        "groups": [_group(world, list(group)) for _, group in groupby(outcomes, _where)],
        "own": own,
        "of_scenario": len(outcomes) - own,
        "red": red,
        "summary": summary if outcomes else "",
        "checked": all(outcome.differs is not None for outcome in outcomes),
    }


def _where(outcome: Outcome) -> tuple[Any, ...]:
    return bool(outcome.key), outcome.n, outcome.moment, outcome.place == UNDONE, outcome.path.partition("[")[0]


def _group(world: World, outcomes: list[Outcome]) -> dict[str, Any]:
    first = outcomes[0]
    return {
        "title": _title(world, first),
        "moment": first.moment,
        "note": say(NOTES[first.place]),
        "place": first.place,
        "rows": [_row(outcome) for outcome in outcomes],
    }


def _title(world: World, outcome: Outcome) -> str:
    present = world.present or world
    is_executed = 0 < outcome.n <= len(present.commands) and outcome.place != UNDONE
    summary = present.commands[outcome.n - 1].summary if is_executed else ""
    if outcome.key:
        return say("expectations.after", n=outcome.n, what=summary) if summary else say("expectations.at", n=outcome.n)
    if outcome.path.startswith("expect"):
        return say("expectations.scenario-end")
    if outcome.path.startswith("opened"):
        return say("expectations.scenario-opened")
    step = int(outcome.path.partition("[")[2].partition("]")[0]) + 1
    return say("expectations.scenario-step", step=step)


def _row(outcome: Outcome) -> dict[str, Any]:
    sign = _sign(outcome)
    return {
        "key": outcome.key,
        "text": outcome.text,
        "sign": sign,
        "wrong": outcome.wrong,
        "left": say("expectations.left") if sign == "left" and outcome.place != UNDONE else "",
        "differs": () if outcome.red else outcome.differs or (),
        "who": outcome.who,
    }


def _sign(outcome: Outcome) -> str:
    """Return how an export judges it: ``yes``, ``no``, ``later`` (it lies ahead) or ``left`` (it is not exported)."""
    if outcome.place == AHEAD:
        return "later"
    if not outcome.counts:
        return "left"
    return "no" if outcome.wrong else "yes"
