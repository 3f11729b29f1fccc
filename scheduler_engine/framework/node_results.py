"""Results per node, kept as long as the node does not change.

A filter or score plugin that looks at nothing but the pod and one node (``reads_other_nodes`` False) answers the same
for every pod of one shape until that node's generation moves. In a cluster where pods of one kind are placed one after
the other, only the node that took the last one is asked again. Dry runs must not use this: their NodeInfos change
without a new generation.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import Status

MAX_SHAPES = 16
"""For how many kinds of pods results are kept; the least recently seen go first."""


@dataclass(slots=True)
class ShapeResults:
    """For one shape: node name → (generation, verdict), and plugin → node name → raw score with their generations."""

    verdicts: dict[str, tuple[int, Status | None]] = field(default_factory=dict)
    scored: dict[str, int] = field(default_factory=dict)
    scores: dict[str, dict[str, int]] = field(default_factory=dict)


class NodeResults:
    """All shapes of one profile. A copy starts empty: what is kept here only saves time."""

    __slots__ = ("shapes",)

    def __init__(self) -> None:
        self.shapes: OrderedDict[tuple[Any, ...], ShapeResults] = OrderedDict()

    def of(self, pod: Pod, plugins: Sequence[Any]) -> ShapeResults:
        """What is known for ``pod``'s shape and these plugins."""
        key = (pod.shape, *(plugin.name for plugin in plugins))
        results = self.shapes.get(key)
        if results is None:
            results = self.shapes[key] = ShapeResults()
            if len(self.shapes) > MAX_SHAPES:
                self.shapes.popitem(last=False)
        self.shapes.move_to_end(key)
        return results

    def raw_scores(
        self, state: CycleState, pod: Pod, nodes: Sequence[NodeInfo], plugins: Sequence[Any]
    ) -> dict[str, dict[str, int]]:
        """Plugin → node → raw score. Raises what a plugin raises."""
        results = self.of(pod, plugins)
        scored, scores = results.scored, results.scores
        for plugin in plugins:
            scores.setdefault(plugin.name, {})
        for info in nodes:
            if scored.get(info.name) != info.generation:
                for plugin in plugins:
                    scores[plugin.name][info.name] = plugin.score(state, pod, info)
                scored[info.name] = info.generation
        names = [info.name for info in nodes]
        return {name: dict(zip(names, map(known.__getitem__, names), strict=True)) for name, known in scores.items()}

    def __deepcopy__(self, memo: dict[int, object]) -> NodeResults:
        return NodeResults()

    def __reduce__(self) -> tuple[Any, ...]:
        return NodeResults, ()
