"""One plugin's scores of many nodes: kept scores, then many nodes at once, then node by node."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.columns import WORTHWHILE, Columns, RawScores
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import MAX_NODE_SCORE, PluginError
from scheduler_engine.framework.nodes import Nodes, NodeScores, SlotArray, Slots, numbers_from


def raw_scores(
    plugin: Any, sign: Hashable | None, state: CycleState, pod: Pod, nodes: Nodes, columns: Columns, slots: Slots
) -> NDArray[Any]:
    """Return the raw scores, in the order of ``nodes``. They are kept if the plugin signs the pod."""
    if nodes.infos is not slots.infos:
        return _one_by_one(plugin, state, pod, nodes)
    if sign is None:
        return _together(plugin, state, pod, nodes)
    column = columns.raw_scores(plugin, sign, slots)
    unknown = _unknown(column, nodes.slots)
    if len(unknown):
        fresh = _together(plugin, state, pod, Nodes(nodes.infos, unknown))
        if fresh.dtype == object:
            return _one_by_one(plugin, state, pod, nodes)
        column.numbers[unknown] = fresh
        column.known[unknown] = 1
    return column.numbers.take(nodes.slots)


def _unknown(column: RawScores, slots: SlotArray) -> SlotArray:
    """Return the ``slots`` without a kept score. Usually at most one node has changed since the last pod."""
    missing: SlotArray = (column.known == 0).nonzero()[0]
    if not len(missing) or (len(missing) == 1 and len(slots) == len(column.known)):
        return missing
    unknown: SlotArray = slots[column.known.take(slots) == 0]
    return unknown


def normalized_scores(plugin: Any, state: CycleState, pod: Pod, scores: NodeScores) -> NDArray[Any]:
    """Return the scores as the plugin normalizes them. Raises PluginError when it fails."""
    if not hasattr(plugin, "normalize_score"):
        return scores.numbers
    if hasattr(plugin, "normalize_all") and scores.numbers.dtype != object:
        normalized: NDArray[Any] | None = plugin.normalize_all(state, pod, scores.numbers)
        if normalized is not None:
            return normalized
    values = dict(scores.by_name)
    try:
        plugin.normalize_score(state, pod, values)
    except PluginError as problem:
        text = f'running Normalize on Score plugins: plugin "{plugin.name}" failed with: {problem}'
        raise PluginError(text) from problem
    return numbers_from([values[name] for name in scores])


def _one_by_one(plugin: Any, state: CycleState, pod: Pod, nodes: Nodes) -> NDArray[Any]:
    return numbers_from([plugin.score(state, pod, info) for info in nodes])


def _together(plugin: Any, state: CycleState, pod: Pod, nodes: Nodes) -> NDArray[Any]:
    """Return the raw scores of the nodes: at once if the plugin can, and if they are many."""
    if len(nodes) >= WORTHWHILE and hasattr(plugin, "score_all"):
        numbers: NDArray[Any] | None = plugin.score_all(state, pod, nodes)
        if numbers is not None:
            return numbers
    return _one_by_one(plugin, state, pod, nodes)


def check_range(plugin: str, values: NDArray[Any]) -> None:
    """Raise PluginError for a normalized score outside 0–100."""
    if not len(values) or (values.dtype == np.int64 and int(values.view(np.uint64).max()) <= MAX_NODE_SCORE):
        return  # Read without a sign, negative numbers are very large.
    lowest, highest = int(values.min()), int(values.max())
    if lowest < 0 or highest > MAX_NODE_SCORE:
        raise PluginError(
            f'applying score defaultWeights on Score plugins: plugin "{plugin}" returns an invalid score '
            f"{lowest if lowest < 0 else highest}, it should in the range of [0, {MAX_NODE_SCORE}] after normalizing"
        )
