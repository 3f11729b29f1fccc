"""A few names of pods or nodes, which lead to them, and how many more there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandbox.panels.drawing.ordering import by_name
from sandbox.words.amounts import short_name
from scheduler_engine import wording
from scheduler_engine.framework.facts import Fact, Keys

MOST_NAMES = 3


def tokens(keys: Sequence[str], most: int = MOST_NAMES) -> dict[str, Any]:
    """Return the first few objects by name as (key, name), and how many more there are."""
    in_order = sorted(keys, key=by_name)
    return {"shown": [(key, short_name(key)) for key in in_order[:most]], "more": max(0, len(keys) - most)}


def left_out_line(item: Fact) -> dict[str, Any]:
    """Return what does not count, and why, in the words of the cells."""
    kind = "pod" if "pods" in item.values else "node"
    keys = item.values["pods" if kind == "pod" else "nodes"]
    assert isinstance(keys, Keys)
    return {"why": wording.worded(item, "note"), "kind": kind, "count": len(keys), **tokens(keys, 2 * MOST_NAMES)}
