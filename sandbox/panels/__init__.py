"""The panels of the workbench: read models over the trace. No Django, no engine; templates see only a panel's stats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.panels import bindings, cluster, configuration, events, faults, ribbon, scores, status, timeline, toolbar
from sandbox.panels.cache import panel as cache
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

__all__ = ["PANELS", "TABS", "Panel", "Tab", "View", "World"]


@dataclass(frozen=True, slots=True)
class Tab:
    """Of the decision panels one is open at a time. ``tall``: it wants room as soon as there is an attempt to show.

    ``stays``: whoever opens it goes on looking at it, whatever stage comes. ``note``: a line beside the tabs.
    """

    tall: bool = True
    stays: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """``stats`` gives plain data for ``templates/panels/<id>.html``; it reads only these fields of the View."""

    id: str
    title: str
    stats: Callable[[World, View], dict[str, Any]]
    depends_on_view: tuple[str, ...] = ()
    same_while: Callable[[World, View], object] | None = None
    """While this stays equal for one World, the stats do too; None: they may change with every command."""
    tab: Tab | None = None
    """None: it is always on the page."""


PANELS: dict[str, Panel] = {
    panel.id: panel
    for panel in (
        Panel("toolbar", say("tabs.toolbar"), toolbar.stats),
        Panel("ribbon", say("tabs.ribbon"), ribbon.stats, ("cycle",)),
        Panel("sentence", say("tabs.sentence"), sentence.stats, ("cycle",)),
        Panel("queues", say("tabs.queues"), queues.stats),
        Panel("bindings", say("tabs.bindings"), bindings.stats),
        Panel("faults", say("tabs.faults"), faults.stats),
        Panel("cluster", say("tabs.cluster"), cluster.stats, ("cycle", "layout"), cluster.same_while),
        Panel("inspector", say("tabs.inspector"), inspector.stats, ("pod", "node", "cycle")),
        Panel(
            "filter",
            say("tabs.filter"),
            filter.stats,
            ("cycle", "node", "plugin", "page", "group", "reasons"),
            tab=Tab(tall=False),
        ),
        Panel(
            "scores",
            say("tabs.scores"),
            scores.stats,
            ("cycle", "node", "plugin", "page"),
            tab=Tab(note=say("tabs.scores-note")),
        ),
        Panel(
            "preemption",
            say("tabs.preemption"),
            preemption.stats,
            ("cycle", "node"),
            tab=Tab(note=say("tabs.preemption-note")),
        ),
        Panel("cache", say("tabs.cache"), cache.stats, ("cycle",), tab=Tab()),
        Panel(
            "workloads", say("tabs.workloads"), workloads.stats, ("page",), workloads.same_while, tab=Tab(stays=True)
        ),
        Panel("nodes", say("tabs.nodes"), nodes.stats, ("pod", "node", "page"), tab=Tab(stays=True)),
        Panel("evictions", say("tabs.evictions"), evictions.stats, ("pod", "node", "page"), tab=Tab(stays=True)),
        Panel("leader", say("tabs.leader"), leader.stats, tab=Tab(stays=True)),
        Panel("metrics", say("tabs.metrics"), metrics.stats, tab=Tab(stays=True)),
        Panel("events", say("tabs.events"), events.stats, ("pod", "node", "page"), tab=Tab(tall=False)),
        Panel("configuration", say("tabs.configuration"), configuration.stats, tab=Tab()),
        Panel("timeline", say("tabs.timeline"), timeline.stats, ("cycle",)),
        Panel("status", say("tabs.status"), status.stats),
    )
}
TABS: dict[str, Panel] = {panel.id: panel for panel in PANELS.values() if panel.tab is not None}
