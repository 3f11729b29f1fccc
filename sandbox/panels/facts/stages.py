"""Which decision panel shows a stage."""

from __future__ import annotations

from sandbox.panels.model.state import Cycle

TAB_OF_STAGE = {
    "Pop": "cache",
    "Snapshot": "cache",
    "PreFilter": "filter",
    "Filter": "filter",
    "PostFilter": "preemption",
    "PreScore": "scores",
    "Score": "scores",
    "NormalizeScore": "scores",
    "SelectHost": "scores",
    "Assume": "cache",
    "Reserve": "cache",
    "Permit": "cache",
    "WaitOnPermit": "cache",
    "PreBind": "events",
    "Bind": "events",
    "PostBind": "events",
}
"""The panel that a click on a stage opens."""
BINDING = ("PreBind", "Bind", "PostBind")
"""Stages after which the cache panel stays open: it shows that the pod is assumed."""


def tab_for(cycle: Cycle | None) -> str:
    """Return the decision panel of the current stage; for an attempt that has ended, the one that says why."""
    if cycle is None:
        return "cache"
    if cycle.outcome == "error":
        return "events"
    why = "filter" if cycle.score is None else "scores"
    if cycle.last_stage == "PostFilter":
        helped = cycle.post_filter is not None and bool(cycle.post_filter.nominated_node)
        return "preemption" if helped or any(not tried.rejected for tried in cycle.tried) else "filter"
    if cycle.last_stage == "SelectHost" or cycle.outcome:
        return why
    return "cache" if cycle.last_stage in BINDING else TAB_OF_STAGE.get(cycle.last_stage, why)
