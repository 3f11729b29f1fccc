"""How often each of the equal nodes of an attempt wins under other seeds, in words."""

from __future__ import annotations

from typing import Any

from sandbox.words.say import say
from sandbox.worker.earlier import simulation_at
from sandbox.worker.live import Live
from sandbox.worker.other_run import moment_before
from scheduler_engine.answers.rerolling import Rerolled, chooses, reroll_from
from scheduler_engine.trace.events import CycleStarted

CHOICES = (100, 1_000, 10_000)
"""Numbers of draws."""


def answer(live: Live, cycle: int, draws: int) -> dict[str, Any]:
    """Return how often each equal node wins, beside its exact share.

    ``problem``: why there was no choice, or "". ``unknown``: "cycle" if there is no such attempt.
    Shares are texts in percent. ``nodes`` are in the order of the search. ``bar`` and ``mark``: of the longest bar, how
    long the node's is, and where the exact share is.
    """
    started = (entry.event for entry in live.world.entries if isinstance(entry.event, CycleStarted))
    pod = next((event.pod for event in started if event.cycle == cycle), "")
    data: dict[str, Any] = {"problem": "", "unknown": "", "cycle": cycle, "pod": pod, "draws": draws}
    if not pod:
        return {**data, "problem": say("differences.no-cycle", cycle=cycle), "unknown": "cycle"}
    found = _rerolled(live, cycle, draws)
    if found is None:
        return {**data, "problem": say("reroll-page.no-choice", pod=pod)}
    if not found.draws:
        return {**data, "problem": say("reroll-page.never-drawn")}
    equal = len(found.tied)
    scale = max(*found.wins.values(), draws / equal)
    return {
        **data,
        "verdict": say("reroll-page.drawn", count=equal) if equal > 1 else say("reroll-page.not-drawn"),
        "runner_up": _runner_up(found),
        "mark": _percent(draws / equal / scale),
        "exact": _percent(1 / equal),
        "nodes": [
            {
                "node": node,
                "wins": wins,
                "share": _percent(wins / draws),
                "bar": _percent(wins / scale),
                "here": node == found.node,
            }
            for node, wins in found.wins.items()
        ],
    }


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _rerolled(live: Live, cycle: int, draws: int) -> Rerolled | None:
    """Stand before the choice of a node, in the past or in the running attempt, and draw."""
    chosen = next((entry.n for entry in live.world.entries if chooses(entry, cycle)), None)
    at = None if chosen is None else moment_before(live.world, chosen)
    return reroll_from(simulation_at(live, at), cycle, draws)


def _runner_up(found: Rerolled) -> str:
    if found.margin is None:
        return say("reroll-page.no-runner-up")
    return say("reroll-page.runner-up", node=found.runner_up, margin=found.margin)
