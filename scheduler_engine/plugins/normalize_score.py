"""The default normalization to 0–100. Source: upstream ``framework/plugins/helper/normalize_score.go``."""

from __future__ import annotations

import numpy as np

from scheduler_engine.framework.amounts import IntArray
from scheduler_engine.framework.interface import MAX_NODE_SCORE


def default_normalize_score(scores: dict[str, int], reverse: bool) -> None:
    """Scale so that the highest raw score becomes 100; ``reverse`` inverts the order. Raw scores are not negative."""
    highest = max(scores.values(), default=0)
    for node, raw in scores.items():
        scaled = MAX_NODE_SCORE * raw // highest if highest else 0
        scores[node] = MAX_NODE_SCORE - scaled if reverse else scaled


def default_normalize_all(scores: IntArray, reverse: bool) -> IntArray:
    """Scale the scores of all nodes at once, as ``default_normalize_score`` does."""
    highest = int(scores.max(initial=0))
    scaled = scores * MAX_NODE_SCORE // highest if highest else np.zeros_like(scores)
    return MAX_NODE_SCORE - scaled if reverse else scaled
