"""Two runs that are stepped together from the moment before they differ, as the logs of two new sandboxes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from sandbox.panels.model.moment import Moment
from sandbox.storage.commands import ended_early
from sandbox.words.say import say
from sandbox.worker.earlier import simulation_at
from sandbox.worker.live import Live
from sandbox.worker.other_run import Course, Other, course, rest_before
from scheduler_engine.answers.parting import first_apart
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation


def in_step(live: Live, other: Other, at: Moment | None) -> tuple[Course, Course]:
    """Return the sandbox's run up to a moment, None = the present, and another run; no command of either is refused.

    If they differ, each ends at the last rest before its first attempt that the other one does not make in the same
    way at its turn. Raises ``OverBudget``, or ``Rejected`` if the other run cannot be a log.
    """
    if other.cycle or other.later:
        raise Rejected(say("differences.not-in-step"))
    first, run = simulation_at(live, at), course(live, other, at)
    second = run.play()
    apart = first_apart(first, second.simulation)
    if apart is None:
        return Course(live.plan, (*live.texts_until(at),)), Course(run.plan, second.texts)
    ends = [live.world.end_of(command) for command in range(1, live.n + 1)]
    own = _cut([*live.texts(0, live.n)], ends, first, apart[0])
    return Course(live.plan, own), Course(run.plan, _cut(second.texts, second.ends, second.simulation, apart[1]))


def _cut(texts: Sequence[str], ends: Sequence[int], simulation: Simulation, entry: int | None) -> tuple[str, ...]:
    """Return the commands before the one that writes entry ``entry``, and that one up to the last rest before it.

    ``ends``: the number of entries after each command. ``entry``: None = none, so the run goes to its end.
    """
    recorder = simulation.recorder
    entry = len(recorder.entries) + 1 if entry is None else entry
    whole, rest = bisect_left(ends, entry), rest_before(recorder.rests, entry)
    began = ends[whole - 1] if whole else 0
    return (*texts[:whole], *((ended_early(texts[whole], rest - began),) if began < rest else ()))
