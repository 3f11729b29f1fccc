"""The panels of the workbench: they read models folded from the trace. No Django, no engine.

A template sees only the stats of its panel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sandbox.panels import (
    bindings,
    events,
    expectations,
    faults,
    lesson,
    ribbon,
    scores,
    status,
    tables,
    timeline,
    toolbar,
)
from sandbox.panels.cache import panel as cache
from sandbox.panels.cluster import panel as cluster
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
from sandbox.panels.topology import panel as topology
from sandbox.panels.view import View
from sandbox.panels.workloads import panel as workloads
from sandbox.words.say import say

__all__ = ["EMBEDS", "GROUPS", "PANELS", "TABLES", "TABS", "Panel", "Tab", "View", "World"]


@dataclass(frozen=True, slots=True)
class Tab:
    """How a panel is a tab. One tab is open at a time. ``group``: one of ``GROUPS``, whose tabs stand together.

    ``stays``: once a lesson opened it, no stage opens another. ``note``: key of a line beside the tabs.
    """

    group: str
    stays: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A part of the page. ``stats`` returns plain data for ``templates/panels/<id>.html``.

    It reads only the fields ``depends_on_view`` of the View, and the pages and orders of its own lists. Its own styles,
    if any, are in ``static/css/panels/<id>.css``.
    """

    id: str
    stats: Callable[[World, View], dict[str, Any]]
    depends_on_view: tuple[str, ...] = ()
    same_while: Callable[[World, View], object] | None = None
    """While its value stays equal for a World, the stats stay equal; None: any command may change them."""
    tab: Tab | None = None
    """None: the panel is always on the page."""
    tells_expected: bool = False
    """It also changes when somebody adds or removes an expectation."""
    embed: str = ""
    """The name by which an embed shows it, "" if no embed does. Panels of one name appear together."""
    table: Callable[[World, View], Iterator[tables.Row]] | None = None
    """Its rows as comma-separated values, None if there are none."""

    @property
    def title(self) -> str:
        """Return the name of its tab, or of its part of the page."""
        return say(f"panels.{self.id}")


OF_CLUSTER, OF_RUN = Tab("cluster", stays=True), Tab("run", stays=True)
PANELS: dict[str, Panel] = {
    panel.id: panel
    for panel in (
        Panel("lesson", lesson.stats, ("predict",), tells_expected=True),
        Panel("toolbar", toolbar.stats),
        Panel("ribbon", ribbon.stats, ("cycle",), embed="ribbon"),
        Panel("sentence", sentence.stats, ("cycle",), tells_expected=True, embed="sentence"),
        Panel("queues", queues.stats, embed="lanes", table=tables.queue),
        Panel("bindings", bindings.stats, embed="bindings"),
        Panel("faults", faults.stats),
        Panel("cluster", cluster.stats, ("cycle", "layout", "colour", "lands"), cluster.same_while, embed="map"),
        Panel("inspector", inspector.stats, ("pod", "node", "cycle"), embed="why"),
        Panel(
            "filter",
            filter.stats,
            ("cycle", "pod", "node", "plugin", "group", "reasons"),
            tab=Tab("decision"),
            embed="matrix",
            table=tables.filters,
        ),
        Panel(
            "scores",
            scores.stats,
            ("cycle", "pod", "node", "plugin"),
            tab=Tab("decision", note="tabs.scores-note"),
            embed="matrix",
            table=tables.scores,
        ),
        Panel(
            "preemption",
            preemption.stats,
            ("cycle", "pod", "node"),
            tab=Tab("decision", note="tabs.preemption-note"),
            embed="ladder",
            table=tables.preemption,
        ),
        Panel("topology", topology.stats, ("cycle", "pod"), tab=Tab("decision", stays=True), embed="topology"),
        Panel("cache", cache.stats, ("cycle",), tab=Tab("scheduler"), embed="cache"),
        Panel("workloads", workloads.stats, (), workloads.same_while, tab=OF_CLUSTER, embed="workloads"),
        Panel("nodes", nodes.stats, ("pod", "node"), tab=OF_CLUSTER, embed="nodes", table=tables.nodes),
        Panel(
            "evictions",
            evictions.stats,
            ("pod", "node"),
            tab=OF_CLUSTER,
            embed="evictions",
            table=tables.evictions,
        ),
        Panel("leader", leader.stats, tab=Tab("scheduler", stays=True), embed="leader"),
        Panel("metrics", metrics.stats, tab=OF_RUN, embed="metrics"),
        Panel("events", events.stats, ("pod", "node"), tab=Tab("run"), embed="events", table=tables.events),
        Panel("expectations", expectations.stats, tab=OF_RUN, tells_expected=True),
        Panel("configuration", configuration.stats, tab=Tab("scheduler"), embed="configuration"),
        Panel("timeline", timeline.stats, ("cycle",), embed="timeline"),
        Panel("status", status.stats),
    )
}
GROUPS = {
    "decision": "tabs.group-decision",
    "scheduler": "tabs.group-scheduler",
    "cluster": "tabs.group-cluster",
    "run": "tabs.group-run",
}
"""Group of tabs → key of its name, in the order on the page."""

TABS: dict[str, Panel] = {
    panel.id: panel
    for group in GROUPS
    for panel in PANELS.values()
    if panel.tab is not None and panel.tab.group == group
}
TABLES: dict[str, Callable[[World, View], Iterator[tables.Row]]] = {
    panel.id: panel.table for panel in PANELS.values() if panel.table is not None
}
"""Panel → its table."""
EMBEDS: dict[str, tuple[str, ...]] = {
    panel.embed: tuple(other.id for other in PANELS.values() if other.embed == panel.embed)
    for panel in PANELS.values()
    if panel.embed
}
"""Name in the address of an embed → its panels. They appear in the order of the address."""
