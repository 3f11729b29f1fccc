"""The progress of a long job in words."""

from __future__ import annotations

from sandbox.storage.records import Position
from sandbox.words.amounts import clock
from sandbox.words.phrases import plural
from sandbox.words.say import say
from sandbox.worker.live import Live
from sandbox.worker.so_far import SoFar
from scheduler_engine.answers.leaving import Departure
from scheduler_engine.simulation import Simulation


def progress(live: Live, position: Position) -> SoFar:
    """Report the progress of a running job at ``position``. The values change while it runs."""
    if live.so_far is not None:
        return live.so_far()
    text = of_run(live.simulation)
    if live.n < position.head:
        text = say("progress.again", n=live.n + 1, head=position.head, so_far=text)
    return SoFar(text)


def of_run(simulation: Simulation) -> str:
    """Return how far a run is, in words."""
    pods = simulation.api.pods()
    bound = sum(bool(pod.node_name) for pod in pods)
    return say("progress.so-far", bound=bound, pods=plural(len(pods), "pod"), clock=clock(simulation.now_us))


def departed(departure: Departure) -> str:
    """Return how many pods have left their node, and how far the run is, in words."""
    return say("progress.departed", gone=departure.gone, count=len(departure.uids), so_far=of_run(departure.twin))
