"""The panels of the workbench: read models over the trace. No Django, no engine; templates see only a panel's stats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import (
    bindings,
    cache,
    cluster,
    configuration,
    events,
    evictions,
    faults,
    filter,
    inspector,
    leader,
    metrics,
    nodes,
    preemption,
    queues,
    ribbon,
    scores,
    sentence,
    status,
    timeline,
    toolbar,
    workloads,
)
from .view import TABS, View
from .world import World

__all__ = ["PANELS", "TABS", "Panel", "View", "World"]


@dataclass(frozen=True, slots=True)
class Panel:
    """``stats`` gives plain data for ``templates/panels/<id>.html``; it reads only these fields of the View."""

    id: str
    title: str
    stats: Callable[[World, View], dict[str, Any]]
    depends_on_view: tuple[str, ...] = ()
    same_while: Callable[[World, View], object] | None = None
    """While this stays equal for one World, the stats do too; None: they may change with every command."""


PANELS: dict[str, Panel] = {
    panel.id: panel
    for panel in (
        Panel("toolbar", "Clock", toolbar.stats),
        Panel("ribbon", "Stages", ribbon.stats, ("cycle",)),
        Panel("sentence", "What just happened", sentence.stats, ("cycle",)),
        Panel("queues", "Queues", queues.stats),
        Panel("bindings", "Binding cycles", bindings.stats),
        Panel("faults", "Faults", faults.stats),
        Panel("cluster", "Cluster", cluster.stats, ("cycle", "shape"), cluster.same_while),
        Panel("inspector", "Inspector", inspector.stats, ("pod", "node", "cycle")),
        Panel("filter", "Filter", filter.stats, ("cycle", "node", "plugin", "page", "group", "reasons")),
        Panel("scores", "Scores", scores.stats, ("cycle", "node", "plugin", "page")),
        Panel("preemption", "Preemption", preemption.stats, ("cycle", "node")),
        Panel("cache", "Cache & snapshot", cache.stats, ("cycle",)),
        Panel("workloads", "Workloads", workloads.stats, ("page",), workloads.same_while),
        Panel("nodes", "Nodes", nodes.stats, ("pod", "node", "page")),
        Panel("evictions", "Evictions", evictions.stats, ("pod", "node", "page")),
        Panel("leader", "Leader", leader.stats),
        Panel("metrics", "Metrics", metrics.stats),
        Panel("events", "Events", events.stats, ("pod", "node", "page")),
        Panel("configuration", "Configuration", configuration.stats),
        Panel("timeline", "Time line", timeline.stats, ("cycle",)),
        Panel("status", "Status", status.stats),
    )
}
