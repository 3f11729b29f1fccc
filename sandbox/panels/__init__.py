"""The panels of the workbench: read models over the trace. No Django, no engine; templates see only a panel's stats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.panels import bindings, cluster, events, faults, ribbon, scores, status, timeline, toolbar
from sandbox.panels.cache import panel as cache
from sandbox.panels.configuration import panel as configuration
from sandbox.panels.evictions import panel as evictions
from sandbox.panels.filter import panel as filter
from sandbox.panels.inspector import panel as inspector
from sandbox.panels.leader import panel as leader
from sandbox.panels.metrics import panel as metrics
from sandbox.panels.model.world import World
from sandbox.panels.nodes import panel as nodes
from sandbox.panels.preemption import panel as preemption
from sandbox.panels.queues import panel as queues
from sandbox.panels.sentence import panel as sentence
from sandbox.panels.view import View
from sandbox.panels.words.say import say
from sandbox.panels.workloads import panel as workloads

__all__ = ["GROUPS", "PANELS", "TABS", "Panel", "Tab", "View", "World"]


@dataclass(frozen=True, slots=True)
class Tab:
    """Of the decision panels one is open at a time. ``tall``: it wants room as soon as there is an attempt to show.

    ``group``: those that belong together stand together, in the order of ``GROUPS``. ``stays``: whoever opens it goes
    on looking at it, whatever stage comes. ``note``: the key of a line beside the tabs.
    """

    group: str
    tall: bool = True
    stays: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """``stats`` gives plain data for ``templates/panels/<id>.html``; it reads only these fields of the View.

    ``called``: the key of its title.
    """

    id: str
    called: str
    stats: Callable[[World, View], dict[str, Any]]
    depends_on_view: tuple[str, ...] = ()
    same_while: Callable[[World, View], object] | None = None
    """While this stays equal for one World, the stats do too; None: they may change with every command."""
    tab: Tab | None = None
    """None: it is always on the page."""

    @property
    def title(self) -> str:
        return say(self.called)


PANELS: dict[str, Panel] = {
    panel.id: panel
    for panel in (
        Panel("toolbar", "tabs.toolbar", toolbar.stats),
        Panel("ribbon", "tabs.ribbon", ribbon.stats, ("cycle",)),
        Panel("sentence", "tabs.sentence", sentence.stats, ("cycle",)),
        Panel("queues", "tabs.queues", queues.stats),
        Panel("bindings", "tabs.bindings", bindings.stats),
        Panel("faults", "tabs.faults", faults.stats),
        Panel("cluster", "tabs.cluster", cluster.stats, ("cycle", "layout"), cluster.same_while),
        Panel("inspector", "tabs.inspector", inspector.stats, ("pod", "node", "cycle")),
        Panel(
            "filter",
            "tabs.filter",
            filter.stats,
            ("cycle", "pod", "node", "plugin", "page", "group", "reasons"),
            tab=Tab("decision", tall=False),
        ),
        Panel(
            "scores",
            "tabs.scores",
            scores.stats,
            ("cycle", "pod", "node", "plugin", "page"),
            tab=Tab("decision", note="tabs.scores-note"),
        ),
        Panel(
            "preemption",
            "tabs.preemption",
            preemption.stats,
            ("cycle", "pod", "node"),
            tab=Tab("decision", note="tabs.preemption-note"),
        ),
        Panel("cache", "tabs.cache", cache.stats, ("cycle",), tab=Tab("scheduler")),
        Panel(
            "workloads",
            "tabs.workloads",
            workloads.stats,
            ("page",),
            workloads.same_while,
            tab=Tab("cluster", stays=True),
        ),
        Panel("nodes", "tabs.nodes", nodes.stats, ("pod", "node", "page"), tab=Tab("cluster", stays=True)),
        Panel("evictions", "tabs.evictions", evictions.stats, ("pod", "node", "page"), tab=Tab("cluster", stays=True)),
        Panel("leader", "tabs.leader", leader.stats, tab=Tab("scheduler", stays=True)),
        Panel("metrics", "tabs.metrics", metrics.stats, tab=Tab("run", stays=True)),
        Panel("events", "tabs.events", events.stats, ("pod", "node", "page"), tab=Tab("run", tall=False)),
        Panel("configuration", "tabs.configuration", configuration.stats, tab=Tab("scheduler")),
        Panel("timeline", "tabs.timeline", timeline.stats, ("cycle",)),
        Panel("status", "tabs.status", status.stats),
    )
}
GROUPS = {
    "decision": "tabs.group-decision",
    "scheduler": "tabs.group-scheduler",
    "cluster": "tabs.group-cluster",
    "run": "tabs.group-run",
}
"""Groups of tabs in the order in which they stand, and the keys of their names."""

TABS: dict[str, Panel] = {
    panel.id: panel
    for group in GROUPS
    for panel in PANELS.values()
    if panel.tab is not None and panel.tab.group == group
}
