"""Two runs as the logs of two new sandboxes, which are stepped together from the moment before they differ."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from sandbox.panels.model.moment import Moment
from sandbox.storage.commands import ended_early
from sandbox.storage.records import Plan
from sandbox.words.say import say
from sandbox.worker import simulations
from sandbox.worker.earlier import simulation_at
from sandbox.worker.live import Live
from sandbox.worker.other_run import Course, Other, course, until_end
from scheduler_engine.answers.parting import first_apart
from scheduler_engine.errors import OverBudget, Rejected
from scheduler_engine.simulation import Simulation


@dataclass(frozen=True, slots=True)
class Run:
    """What a new sandbox starts from, and the texts of its commands, of which the last one may end early."""

    plan: Plan
    texts: tuple[str, ...]


def in_step(live: Live, other: Other, at: Moment | None) -> tuple[Run, Run]:
    """Return the sandbox's run up to a moment, None = the present, and another run.

    If they differ, each ends at the last rest before its first attempt that the other one does not make in the same
    way at its turn.
    Raises ``OverBudget``, or ``Rejected`` if the other run cannot be a log.
    """
    if other.cycle or other.later:
        raise Rejected(say("differences.not-in-step"))
    first, second = simulation_at(live, at), course(live, other, at)
    simulation, kept, ends = _followed(second)
    apart = first_apart(first, simulation)
    if apart is None:
        whole, ended = live.log_until(at)
        own = (*live.texts(0, whole), *(() if ended is None else (ended,)))
        return Run(live.plan, own), Run(second.plan, tuple(kept))
    own_ends = [live.world.end_of(command) for command in range(1, live.n + 1)]
    own = _cut([*live.texts(0, live.n)], own_ends, first.recorder.rests, apart[0] or len(first.recorder.entries) + 1)
    return Run(live.plan, own), Run(
        second.plan, _cut(kept, ends, simulation.recorder.rests, apart[1] or len(simulation.recorder.entries) + 1)
    )


def _followed(run: Course) -> tuple[Simulation, list[str], list[int]]:
    """Return a run at its end, the texts of the commands that were not refused, and the entries after each of them."""
    simulation = simulations.new_simulation(run.plan)
    kept, ends = [], []
    for text in chain(run.texts, _rest(simulation, run)):
        try:
            simulations.execute(simulation, text)
        except OverBudget:
            raise
        except Rejected:
            continue
        kept.append(text)
        ends.append(len(simulation.recorder.entries))
    return simulation, kept, ends


def _rest(simulation: Simulation, run: Course) -> Iterator[str]:
    """Yield what remains when all commands are executed: this looks at the time only then."""
    yield from until_end(simulation, run.ends_us)


def _cut(texts: Sequence[str], ends: Sequence[int], rests: Sequence[tuple[int, int]], entry: int) -> tuple[str, ...]:
    """Return the commands before the one that writes entry ``entry``, and that one up to the last rest before it.

    ``ends``: the number of entries after each command. ``rests``: as ``Recorder.rests``.
    """
    whole = bisect_left(ends, entry)
    began = ends[whole - 1] if whole else 0
    place = bisect_left(rests, entry, key=lambda rest: rest[0])
    rest = rests[place - 1][0] if place else 0
    return (*texts[:whole], *((ended_early(texts[whole], rest - began),) if began < rest else ()))
