"""How the search of an attempt ended, and whether anybody then looked for room: the reasons why a panel is empty."""

from __future__ import annotations

from typing import Literal

from sandbox.panels.facts.verdicts import MAY_HELP
from sandbox.panels.model.state import Cycle

SearchEnd = Literal["", "stopped", "refused", "failed", "nominated", "enough", "all"]
PREEMPTION = "DefaultPreemption"


def search_end(cycle: Cycle) -> SearchEnd:
    """Return how the search of an attempt ended, "" if it can still begin.

    ``stopped``: the attempt was over before Filter. ``refused``: PreFilter left no node. ``failed``: an error in Filter
    ended it. ``nominated``: the nominated node was visited first, and fits. ``enough``: enough nodes fit. ``all``: all
    nodes that PreFilter left were visited.
    """
    if cycle.filter is not None:
        return cycle.filter.cut_short or "all"
    if cycle.fit_error is not None:
        return "refused"
    if cycle.mark("Filter") is not None:
        return "failed"
    return "stopped" if cycle.outcome else ""


def looked_for_room(cycle: Cycle) -> bool:
    """Return True if preemption tried nodes in PostFilter, or knew by their statuses that evictions help nowhere."""
    if cycle.tried:
        return True
    verdicts = cycle.post_filter.verdicts if cycle.post_filter is not None else ()
    asked = any(plugin == PREEMPTION and code == MAY_HELP for plugin, code, _ in verdicts)
    return asked and not _eviction_may_help(cycle)


def _eviction_may_help(cycle: Cycle) -> bool:
    """Return True if evictions may help on a node, by the statuses of Filter or, without it, of PreFilter."""
    if cycle.filter is not None:
        return any(row[1] and row[2] == MAY_HELP for row in cycle.filter.looked_at)
    return cycle.pre_filter is not None and any(code == MAY_HELP for _, code, _ in cycle.pre_filter.verdicts)
