"""Simulations of the past, made by replaying: for what cannot be read from the trace alone."""

from __future__ import annotations

import copy

from sandbox.panels.model.moment import Moment
from sandbox.worker import simulations
from sandbox.worker.live import Live
from scheduler_engine.simulation import Simulation

KEPT = 2
"""Simulations of the past that are kept: of the moment that is looked at, and of an attempt before it."""


def simulation_at(live: Live, moment: Moment | None) -> Simulation:
    """The simulation as it was at a moment, None = the present; to be read only.

    Those that were read last are kept, as the next moment that is looked at is often the same, or a little later.
    Raises ``Rejected`` where a command cannot end, or ``StateGone``.
    """
    if live.at(moment) is live.world:
        return live.simulation
    whole, ended = live.log_until(moment)
    key = whole, live.records.keys(live.plan.sandbox_id, [whole]).get(whole, 0), ended
    simulation = live.read.pop(key, None)
    if simulation is None:
        simulation = _after(live, whole)
        if ended is not None:
            simulations.execute(simulation, ended)
    live.read[key] = simulation
    while len(live.read) > KEPT:
        del live.read[next(iter(live.read))]
    return simulation


def _after(live: Live, whole: int) -> Simulation:
    """After so many commands of the log, from the nearest copy that is still part of it."""
    read = {n: (n, state, None) for n, state, ended in live.read if ended is None and n <= whole}
    begins = {n: frame.state for n, frame in live.keyframes.items() if n <= whole}
    begins |= {n: state for n, state, _ in read.values()}
    kept = live.records.keys(live.plan.sandbox_id, [*begins])
    nearest = max((n for n, state in begins.items() if n and kept.get(n) == state), default=0)
    if nearest in read:
        simulation = live.read.pop(read[nearest])
    elif nearest:
        simulation = copy.deepcopy(live.keyframes[nearest].simulation)
    else:
        simulation = simulations.new_simulation(live.plan)
    for text in live.texts(nearest, whole):
        simulations.execute(simulation, text)
    return simulation
