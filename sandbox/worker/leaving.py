"""What becomes of the pods if a node is drained, or a zone is lost, in words."""

from __future__ import annotations

from functools import partial
from typing import Any

from sandbox.panels.model.moment import Moment
from sandbox.words.say import say
from sandbox.worker.earlier import simulation_at
from sandbox.worker.errors import UnknownName, no_answer
from sandbox.worker.live import Live
from sandbox.worker.progress import departed
from sandbox.worker.so_far import SoFar
from scheduler_engine.answers import leaving_phrases
from scheduler_engine.answers.leaving import FINE, Departure, Leaving, Watch, drain, lose
from scheduler_engine.api.topology import ZONE
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation


def answer(live: Live, node: str, zone: str, at: Moment | None) -> dict[str, Any]:
    """Return what a drain of ``node`` or the loss of ``zone`` does to the pods there at a moment, None = the present.

    ``problem``: why there is no answer, or "". ``unknown``: the field that names something that does not exist.
    """
    simulation = simulation_at(live, at)
    nodes = [*simulation.api.list("Node")]
    data: dict[str, Any] = {
        "problem": "",
        "unknown": "",
        "nodes": [item.name for item in nodes],
        "zones": [*dict.fromkeys(item.labels[ZONE] for item in nodes if item.labels.get(ZONE))],
    }

    def watch(departure: Departure) -> None:
        live.so_far = partial(_so_far, departure)

    try:
        left = _left(simulation, node, zone, watch)
    except Rejected as problem:
        return data | no_answer(problem)
    return {
        **data,
        "fine": left.is_fine,
        "verdicts": leaving_phrases.verdicts(left),
        "pods": [{"text": leaving_phrases.outcome(item), "fine": item.outcome in FINE} for item in left.leavers],
        "displaced": [leaving_phrases.displaced(pod) for pod in left.displaced],
    }


def _so_far(departure: Departure) -> SoFar:
    return SoFar(departed(departure))


def _left(simulation: Simulation, node: str, zone: str, watch: Watch) -> Leaving:
    """Raises Rejected if there is no such node, or none in the zone."""
    if not node and not zone:
        raise Rejected(say("leave.nothing-chosen" if any(simulation.api.list("Node")) else "headroom.no-nodes"))
    if node:
        if simulation.api.get("Node", node) is None:
            raise UnknownName("node", say("errors.no-such-object", kind="Node", key=node))
        return drain(simulation, node, watch)
    lost = [item.name for item in simulation.api.list("Node") if item.labels.get(ZONE) == zone]
    if not lost:
        raise UnknownName("zone", say("leave.no-zone", zone=zone))
    return lose(simulation, lost, watch)
