"""The score of DynamicResources: a request that lists alternatives prefers the first.

Source: upstream v1.35 ``plugins/dynamicresources/dynamicresources.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from scheduler_engine.api.devices import ResourceClaim, results_of
from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.amounts import IntArray
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.facts import Facts, Keys, fact
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Nodes
from scheduler_engine.plugins.dynamic_resources.plugin import STATE, ClaimState, DynamicResources, state_of
from scheduler_engine.plugins.normalize_score import default_normalize_all, default_normalize_score
from scheduler_engine.plugins.score_facts import scaled
from scheduler_engine.records import record

MOST_ALTERNATIVES = 8
"""The points for the first alternative of a request. Each later one has one less."""


@record(frozen=True, slots=True)
class Taken:
    """The alternative that a request takes on a node. ``number``: 0 for the first."""

    claim: str
    request: str
    alternative: str
    number: int

    @property
    def points(self) -> int:
        return MOST_ALTERNATIVES - self.number


class ScoringDynamicResources(DynamicResources):
    """With a score per node, by the rule ``dynamic_resources_weight``."""

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """Return the points of all alternatives that the claims of the pod would take. Raises PluginError if PreFilter
        did not run.
        """
        return sum(item.points for item in _taken(state_of(state), node_info.name))

    def score_all(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntArray | None:
        held = state.read(STATE)
        if not isinstance(held, ClaimState) or held.claims:
            return None
        return np.zeros(len(nodes), dtype=np.int64)

    def explain_score(self, state: CycleState, pod: Pod, node_info: NodeInfo, raw: Mapping[str, int]) -> Facts:
        held, node = state_of(state), node_info.name
        taken = [*_taken(held, node)]
        points = sum(item.points for item in taken)
        row = "scored" if taken else "nothing-to-score" if held.claims else "none-claimed-to-score"
        says = fact(f"devices.{row}", node=node, pod=Keys((pod.key,)))
        shown = [
            fact(
                "devices.takes-alternative",
                claim=item.claim,
                request=item.request,
                alternative=item.alternative,
                most=MOST_ALTERNATIVES,
                number=item.number,
                points=item.points,
            )
            for item in taken
        ]
        return scaled(says, shown, points, node, raw, reverse=False)

    def normalize_score(self, state: CycleState, pod: Pod, scores: dict[str, int]) -> None:
        default_normalize_score(scores, reverse=False)

    def normalize_all(self, state: CycleState, pod: Pod, scores: IntArray) -> IntArray:
        return default_normalize_all(scores, reverse=False)


def _taken(held: ClaimState, node: str) -> Iterator[Taken]:
    """Yield the alternatives that the claims have or would get on a node; none if no claim needs devices there."""
    if node not in held.allocations:
        return
    found = iter(held.allocations[node])
    for claim in held.claims:
        allocation = claim.allocation if claim.allocation is not None else next(found)
        yield from _alternatives(claim, allocation)


def _alternatives(claim: ResourceClaim, allocation: Mapping[str, Any]) -> Iterator[Taken]:
    names = {item["request"] for item in results_of(allocation)}
    for request in claim.requests:
        for number, item in enumerate(request.get("firstAvailable") or ()):
            if f"{request['name']}/{item['name']}" in names:
                yield Taken(claim.name, request["name"], item["name"], number)
