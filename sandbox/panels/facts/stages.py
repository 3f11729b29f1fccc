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


def tab_for(cycle: Cycle | None) -> str:
    """The decision panel that shows the stage at hand."""
    if cycle is None:
        return "cache"
    tab = TAB_OF_STAGE.get(cycle.last_stage, "filter")
    if tab == "scores" and cycle.score is None and cycle.last_stage == "SelectHost":
        return "filter"
    return tab
