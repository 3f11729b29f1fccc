"""Commands that let the sandbox go on: a stage, a pod, all of an instant, or time.

Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.timeline import SECOND_US

if TYPE_CHECKING:
    from scheduler_engine.simulation import Simulation

MOST_ROUNDS = 500
"""Instants in a row, beyond those that are foreseen, after which a run ends: nothing is scheduled, and what goes round
among controllers and kubelets may do so for ever. A second or two of computing.
"""
FORESEEN = 4
"""Instants to which one timer leads at most if nothing goes round: a pod starts, is ready, is done, is gone."""
NOTHING_TO_STEP = "There is no pod to schedule now: nobody is ready to leave the queue. Add a pod, or let time pass."
NOBODY_LEADS = "No replica leads and runs now, so nobody schedules: let time pass, or restart or resume one."


def stage(simulation: Simulation, command: commands.Stage) -> None:
    _first_stage(simulation)


def _first_stage(simulation: Simulation) -> None:
    if not simulation.step():
        raise Rejected(NOTHING_TO_STEP if simulation.replicas.works() else NOBODY_LEADS)


def pod_cycle(simulation: Simulation, command: commands.PodCycle) -> None:
    _first_stage(simulation)
    while simulation.step(only_busy=True):
        pass


def settle(simulation: Simulation, command: commands.Settle) -> None:
    simulation.settle(commands.MAX_CYCLES)


def advance(simulation: Simulation, command: commands.Advance) -> None:
    simulation.settle()
    simulation.fire_timers(simulation.now_us + commands.time_us(command))


def run(simulation: Simulation, command: commands.Run) -> None:
    """What is due in more than a day is not waited for, nor what goes round for ever without the scheduler."""
    limit = simulation.scheduler.cycle_count + command.cycles
    until_us = simulation.now_us + simulation.patience_us()
    tomorrow_us = simulation.now_us + commands.MAX_ADVANCE_SECONDS * SECOND_US
    scheduled, rounds, counted_us = -1, 0, simulation.now_us
    while simulation.settle(limit - simulation.scheduler.cycle_count):
        if simulation.scheduler.cycle_count > scheduled:
            scheduled = simulation.scheduler.cycle_count
            rounds = MOST_ROUNDS + FORESEEN * len(simulation.timeline.timers)
        if not simulation.timeline.has_work(tomorrow_us) and not simulation.replicas.waits_for_time():
            return
        due = simulation.timeline.next_us()
        assert due is not None
        if due > until_us:
            return
        if due > counted_us and not simulation.timeline.timers[0].housekeeping:
            counted_us = due
            rounds -= 1
            if rounds < 0:
                return
        simulation.fire_next()
        if simulation.scheduler.cycle_count >= limit:
            return


HANDLERS: dict[str, Callable[[Simulation, Any], None]] = {
    "stage": stage,
    "pod": pod_cycle,
    "settle": settle,
    "advance": advance,
    "run": run,
}
