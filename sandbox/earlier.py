"""Simulations of the past, made by replaying: for what cannot be read from the trace alone."""

from __future__ import annotations

import copy

from sandbox import engine
from sandbox.live import Live
from sandbox.panels.model.moment import Moment
from scheduler_engine.simulation import Simulation


def simulation_at(live: Live, moment: Moment | None) -> Simulation:
    """The simulation as it was at a moment, None = the present; to be read only.

    The one that was read last is kept, as the next moment that is looked at is often the same, or a little later.
    Raises ``Rejected`` where a command cannot end, or ``StateGone``.
    """
    if live.at(moment) is live.world:
        return live.simulation
    whole, ended = live.log_until(moment)
    state = live.records.keys(live.plan.sandbox_id, [whole]).get(whole, 0)
    if live.read is None or live.read[:3] != (whole, state, ended):
        simulation = _after(live, whole)
        if ended is not None:
            engine.execute(simulation, ended)
        live.read = (whole, state, ended, simulation)
    return live.read[3]


def _after(live: Live, whole: int) -> Simulation:
    """After so many commands of the log, from the nearest copy that is still part of it."""
    read, live.read = live.read, None
    begins = {n: frame.state for n, frame in live.keyframes.items() if n <= whole}
    if read is not None and read[2] is None and read[0] <= whole:
        begins[read[0]] = read[1]
    kept = live.records.keys(live.plan.sandbox_id, [*begins])
    nearest = max((n for n, state in begins.items() if n and kept.get(n) == state), default=0)
    if nearest and read is not None and read[:3] == (nearest, begins[nearest], None):
        simulation = read[3]
    elif nearest:
        simulation = copy.deepcopy(live.keyframes[nearest].simulation)
    else:
        simulation = live.plan.simulation()
    for text in live.texts(nearest, whole):
        engine.execute(simulation, text)
    return simulation
