"""Jobs that programs ask for: explain a pod, try commands, wait until something holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandbox.panels.model.moment import Moment
from sandbox.storage.records import Position
from sandbox.worker import earlier
from sandbox.worker.expecting import JudgedExpectations
from sandbox.worker.job import executing, reading
from sandbox.worker.jobs.log import execute
from sandbox.worker.jobs.reading import numbers
from sandbox.worker.live import Executed, Live
from sandbox.worker.waiting import Wait
from scheduler_engine.answers.explained import explained
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import wrong_with
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation


@reading
def explanation(
    live: Live,
    position: Position,
    pod: str,
    nodes: Sequence[str],
    attempt: int | None,
    cycle: int | None,
    at: Moment | None,
) -> dict[str, Any] | list[int] | None:
    """Return why a pod is where it is at a moment, as ``explained``. None: there was no such pod, or no such attempt.

    If several attempts have this number, return their cycles.
    """
    live.move_to(position)
    simulation = earlier.simulation_at(live, at)
    run = RunView(simulation)
    meant = run.meant(pod, attempt, cycle)
    if len(meant) > 1:
        return [item.cycle for item in meant]
    is_known = simulation.api.pod(pod) is not None or pod in run.attempts
    if not is_known or (not meant and (attempt, cycle) != (None, None)):
        return None
    before = _before_the_next(live, simulation, meant[0].cycle, meant[0].last_table) if meant else None
    return explained(simulation, pod, meant[0] if meant else None, nodes, before)


def _before_the_next(live: Live, simulation: Simulation, cycle: int, entry: int) -> Simulation | None:
    """Return a simulation in which the scheduler of an attempt has not begun another one, None if there is none.

    ``entry``: the last table of the attempt.
    """
    if simulation.replicas.scheduler_of(cycle) is not None:
        return simulation
    world = live.world
    try:
        return earlier.simulation_at(live, world.moment_of(world.rest_at(entry)))
    except Rejected:
        return None  # No command can end there.


@reading
def judged(live: Live, position: Position, expectations: Sequence[Data], at: Moment | None) -> list[list[str]]:
    """Return for each expectation what differs from it at a moment; [] if it holds."""
    live.move_to(position)
    run = RunView(earlier.simulation_at(live, at))
    return [wrong_with(run, expectation) for expectation in expectations]


@reading
def collected(live: Live, position: Position) -> list[dict[str, Any]]:
    """Return the expectations that people collected and those of the scenario, as the API lists them."""
    live.move_to(position)
    live.look_up_expected(None)
    expected = JudgedExpectations(live, live.world, None, live.expecting).in_full()
    return [
        {
            "key": outcome.key,
            "expectation": data,
            "command": outcome.n,
            "moment": outcome.moment,
            "place": outcome.place,
            "who": outcome.who,
            "wrong": list(outcome.wrong),
            "differs": None if outcome.differs is None else list(outcome.differs),
        }
        for data, outcome in expected
    ]


@executing
def tried(live: Live, position: Position, commands: Sequence[dict[str, Any]], texts: Sequence[str]) -> dict[str, Any]:
    """Return the state after commands that the log does not get, as ``state``. Raises as ``execute``."""
    execute(live, position, commands, texts)
    after = numbers(live)
    live.invalidate()
    return after


@executing
def wait(
    live: Live, position: Position, wanted: tuple[Sequence[Data], float], turns: str
) -> tuple[Executed | None, list[list[str]]]:
    """Let time pass until expectations hold, at most some simulated seconds. Return for each what differs at the end.

    Raises ``OverQuota`` or ``ReplayFailed``, with nothing changed in the log.
    """
    live.move_to(position)
    live.check_replayed()
    waiting = Wait(live, *wanted)
    executed = live.execute(waiting.commands())
    return executed if executed.texts else None, waiting.wrong
