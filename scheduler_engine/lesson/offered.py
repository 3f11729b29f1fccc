"""The nodes and pods offered as choices.

An attempt sees its snapshot: a pod that waits at Permit is on its node there, and later deletions do not show.
Until the snapshot is taken, the cache shows its future content. Objects that the attempt does not see are offered, too.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_engine.framework.extension_points import STAGE_INDEX
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.lesson.model import Question
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.simulation import Simulation

MOST_OFFERED = 400
"""The maximum number of nodes and pods offered."""


def nodes(run: RunView, question: Question) -> tuple[str, ...]:
    """Return the nodes of the cluster, then those that only the attempt sees."""
    there = [node.name for node in run.simulation.api.list("Node")]
    return _in_order(there, (info.name for info in _looked_at(run.simulation, question.pod)))


def could_leave(run: RunView, question: Question) -> tuple[str, ...]:
    """Return the pods on nodes, even of higher priority: that they stay is part of the answer."""
    looked_at = _looked_at(run.simulation, question.pod)
    counted = {info.pod.key: None for node in looked_at for info in node.pods}
    there = [pod.key for pod in run.simulation.api.pods() if pod.node_name or pod.key in counted]
    return _in_order((key for key in there if key != question.pod), (key for key in counted if key != question.pod))


def _looked_at(simulation: Simulation, pod: str) -> list[NodeInfo]:
    """Return the nodes that the attempt for a pod sees, or the next one would see."""
    scheduler = simulation.scheduler
    cycle = scheduler.cycle
    if cycle is not None and cycle.pod.key == pod and STAGE_INDEX[cycle.stage] > STAGE_INDEX["Snapshot"]:
        return [*scheduler.snapshot.list()]
    return [info for info in scheduler.cache.nodes.values() if info.node is not None]


def _in_order(there: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """Return names as the API server lists them, then those that it does not list."""
    first = dict.fromkeys(there)
    return (*first, *sorted(name for name in names if name not in first))[:MOST_OFFERED]
