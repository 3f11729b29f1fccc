"""Simulations of the past, replayed for questions that the trace alone cannot answer."""

from __future__ import annotations

import copy

from sandbox.panels.model.moment import Moment
from sandbox.worker import simulations
from sandbox.worker.live import Live
from scheduler_engine.simulation import Simulation

CACHED = 2
"""Past simulations to cache: that of the moment in view, and that of an attempt before it."""


def simulation_at(live: Live, moment: Moment | None) -> Simulation:
    """Return the simulation at a moment, None = the present. Do not change it.

    The last ``CACHED`` are cached, because the next moment in view is often the same or a little later. Raises
    ``Rejected`` if a command cannot end at the moment, or ``StateGone``.
    """
    if live.at(moment) is live.world:
        return live.simulation
    whole, ended = live.log_until(moment)
    key = whole, live.records.keys(live.plan.sandbox_id, [whole]).get(whole, 0), ended
    simulation = live.past_simulations.pop(key, None)
    if simulation is None:
        simulation = _replay(live, whole)
        if ended is not None:
            simulations.execute(simulation, ended)
    live.past_simulations[key] = simulation
    while len(live.past_simulations) > CACHED:
        del live.past_simulations[next(iter(live.past_simulations))]
    return simulation


def _replay(live: Live, whole: int) -> Simulation:
    """Return the simulation after ``whole`` commands, replayed from the nearest copy that is still part of the log."""
    read = {n: (n, state, None) for n, state, ended in live.past_simulations if ended is None and n <= whole}
    begins = {n: frame.state for n, frame in live.keyframes.items() if n <= whole}
    begins |= {n: state for n, state, _ in read.values()}
    in_log = live.records.keys(live.plan.sandbox_id, [*begins])
    nearest = max((n for n, state in begins.items() if n and in_log.get(n) == state), default=0)
    if nearest in read:
        simulation = live.past_simulations.pop(read[nearest])
    elif nearest:
        simulation = copy.deepcopy(live.keyframes[nearest].simulation)
    else:
        simulation = simulations.new_simulation(live.plan)
    for text in live.texts(nearest, whole):
        simulations.execute(simulation, text)
    return simulation
