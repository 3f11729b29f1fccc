"""What becomes of the pods if a node is drained, or a zone is lost, in words."""

from __future__ import annotations

from typing import Any

from sandbox.words.say import say
from sandbox.worker.errors import UnknownName, no_answer
from scheduler_engine.answers import leaving_phrases
from scheduler_engine.answers.leaving import FINE, Leaving, drain, lose
from scheduler_engine.api.topology import ZONE
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation


def answer(simulation: Simulation, node: str, zone: str) -> dict[str, Any]:
    """Return what a drain of ``node`` or the loss of ``zone`` does to the pods there.

    ``problem``: why there is no answer, or "". ``unknown``: the field that names something that does not exist.
    """
    nodes = [*simulation.api.list("Node")]
    data: dict[str, Any] = {
        "problem": "",
        "unknown": "",
        "nodes": [item.name for item in nodes],
        "zones": [*dict.fromkeys(item.labels[ZONE] for item in nodes if item.labels.get(ZONE))],
    }
    try:
        left = _left(simulation, node, zone)
    except Rejected as problem:
        return data | no_answer(problem)
    return {
        **data,
        "fine": left.is_fine,
        "verdicts": leaving_phrases.verdicts(left),
        "pods": [{"text": leaving_phrases.outcome(item), "fine": item.outcome in FINE} for item in left.leavers],
        "displaced": [leaving_phrases.displaced(pod) for pod in left.displaced],
    }


def _left(simulation: Simulation, node: str, zone: str) -> Leaving:
    """Raises Rejected if there is no such node, or none in the zone."""
    if not node and not zone:
        raise Rejected(say("leave.nothing-chosen"))
    if node:
        if simulation.api.get("Node", node) is None:
            raise UnknownName("node", say("errors.no-such-object", kind="Node", key=node))
        return drain(simulation, node)
    lost = [item.name for item in simulation.api.list("Node") if item.labels.get(ZONE) == zone]
    if not lost:
        raise UnknownName("zone", say("leave.no-zone", zone=zone))
    return lose(simulation, lost)
