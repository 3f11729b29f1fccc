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
"""Where one looks who clicks on a stage."""
BINDING = ("PreBind", "Bind", "PostBind")
"""While a pod is bound nothing is opened: that it is assumed shows in the cache."""


def tab_for(cycle: Cycle | None) -> str:
    """The decision panel that shows the stage at hand; of an attempt that is over, the one that tells why."""
    if cycle is None:
        return "cache"
    if cycle.outcome == "error":
        return "events"
    why = "filter" if cycle.score is None else "scores"
    if cycle.last_stage == "PostFilter":
        return "preemption" if _may_help(cycle) else "filter"
    if cycle.last_stage == "SelectHost" or cycle.outcome:
        return why
    return "cache" if cycle.last_stage in BINDING else TAB_OF_STAGE.get(cycle.last_stage, why)


def _may_help(cycle: Cycle) -> bool:
    """Whether evicting pods helps somewhere, or was tried to."""
    return any(not tried.rejected for tried in cycle.tried) or bool(
        cycle.post_filter and cycle.post_filter.nominated_node
    )
