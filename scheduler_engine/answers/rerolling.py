"""Repeat the choice of a node under other seeds: which nodes are equal, and how often each wins.

The scheduler's own stage draws each time, on a copy that stands just before it. Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from scheduler_engine.answers.looking import scratch
from scheduler_engine.scheduler.cycles import Cycle
from scheduler_engine.scheduler.schedule_one import select_host
from scheduler_engine.scheduler.scheduler import Scheduler
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import CommandGiven, Entry, HostSelected

STAGE = "SelectHost"
BEFORE = ("Snapshot", "PreFilter", "Filter", "PreScore", "Score", "NormalizeScore")


@dataclass(frozen=True, slots=True)
class Rerolled:
    """``node``: the choice of the sandbox's seed. ``tied``: the nodes with the best total, in the order of the search.
    ``wins``: each of them → how often it was drawn; each seed draws once. ``runner_up``: the best other node;
    ``margin``: how much less it has; "" and None: there is none, or nothing was scored. ``draws``: False if the
    scheduler never draws, but takes the first in its ranking.
    """

    node: str
    tied: tuple[str, ...]
    wins: Mapping[str, int]
    runner_up: str = ""
    margin: int | None = None
    draws: bool = True


def reroll(simulation: Simulation, cycle: int, draws: int) -> Rerolled | None:
    """Return the choice in a cycle under the seeds 0 … ``draws`` - 1; None: the cycle chooses no node.

    The cycle may be running. ``simulation`` must keep its commands (``undoes``), and does not change.
    """
    entries = simulation.recorder.entries
    index = next((n for n, item in enumerate(entries) if chooses(item, cycle)), None)
    if index is not None and isinstance(entries[index - 1].event, CommandGiven):
        # A command ends only after a step: stop at the end of the command before.
        index -= 1
    return reroll_from(simulation if index is None else simulation.as_of(index), cycle, draws)


def chooses(entry: Entry, cycle: int) -> bool:
    """Return True for the trace entry with the choice of a cycle."""
    return isinstance(entry.event, HostSelected) and entry.event.cycle == cycle


def reroll_from(simulation: Simulation, cycle: int, draws: int) -> Rerolled | None:
    """Do as ``reroll`` with a simulation that stands before the choice, and need not keep commands."""
    standing = _before_choice(simulation, cycle)
    if standing is None:
        return None
    twin, scheduler, chosen = standing
    own = _draw(twin, scheduler, chosen)
    wins = dict.fromkeys(own.ties, 0)
    for seed in range(draws):
        scheduler.random = Random(seed)
        wins[_draw(twin, scheduler, chosen).node] += 1
    runner_up, margin = _runner_up(chosen, own.ties)
    return Rerolled(own.node, own.ties, wins, runner_up, margin, chosen.rules.draws_among_equals)


def _before_choice(simulation: Simulation, number: int) -> tuple[Simulation, Scheduler, Cycle] | None:
    """Return a copy in which the next stage of the cycle chooses its node."""
    twin = scratch(simulation)
    twin.recorder.full = True
    scheduler = twin.replicas.scheduler_of(number)
    cycle = scheduler.cycle if scheduler is not None else None
    if scheduler is None or cycle is None or cycle.number != number:
        return None
    while cycle.stage in BEFORE:
        scheduler.step()
    return (twin, scheduler, cycle) if cycle.stage == STAGE else None


def _draw(twin: Simulation, scheduler: Scheduler, cycle: Cycle) -> HostSelected:
    """Run the stage, and take back what it recorded."""
    recorder = twin.recorder
    entries, rests = len(recorder.entries), len(recorder.rests)
    select_host(scheduler, cycle)
    event = recorder.entries[entries].event
    recorder.forget_from(entries, rests)
    assert isinstance(event, HostSelected)
    return event


def _runner_up(cycle: Cycle, tied: tuple[str, ...]) -> tuple[str, int | None]:
    if cycle.totals is None or cycle.search is None:
        return "", None
    totals = {info.name: int(total) for info, total in zip(cycle.search.feasible, cycle.totals.numbers, strict=True)}
    others = [name for name in totals if name not in tied]
    if not others:
        return "", None
    best = max(others, key=lambda name: totals[name])
    return best, totals[tied[0]] - totals[best]
