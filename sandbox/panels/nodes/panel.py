"""Nodes in trouble: a list of all, and one in detail with its conditions, gauges, pods and evictions."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.facts.node_conditions import conditions, other_taints, rank, troubles
from sandbox.panels.facts.node_gauges import configuration_of, gauges, stats_of, threshold_text, written_configuration
from sandbox.panels.model.state import NodeState
from sandbox.panels.model.world import World
from sandbox.panels.nodes.ranking import history, ranking, relief
from sandbox.panels.nodes.usage import users
from sandbox.panels.view import View
from sandbox.words.phrases import plural
from sandbox.words.say import say
from sandbox.words.yaml_text import written
from scheduler_engine.api.simulated import HARD_EVICTION_GRACE
from scheduler_engine.config.kubelet import API_VERSION, DEFAULT_HARD, KIND

PAGE = 50
DEFAULT: dict[str, Any] = {"evictionHard": dict(DEFAULT_HARD)}
SOFT: dict[str, Any] = {
    "evictionHard": {"memory.available": "500Mi"},
    "evictionSoft": {"memory.available": "1.5Gi"},
    "evictionSoftGracePeriod": {"memory.available": "1m30s"},
    "evictionMaxPodGracePeriod": 20,
    "evictionPressureTransitionPeriod": "5m",
}


def configuration_text(data: dict[str, Any]) -> str:
    """A KubeletConfiguration as YAML, with its kind on top."""
    return written({"apiVersion": API_VERSION, "kind": KIND, **data})


PRESETS = tuple(
    (name, key, configuration_text(data))
    for name, key, data in (
        ("default", "nodes.default", DEFAULT),
        ("hard", "nodes.hard", {"evictionHard": {"memory.available": "500Mi"}}),
        ("soft", "nodes.soft", SOFT),
        (
            "reclaim",
            "nodes.reclaim",
            {"evictionHard": {"memory.available": "500Mi"}, "evictionMinimumReclaim": {"memory.available": "500Mi"}},
        ),
    )
)
"""(id, key of the title, text) of configurations to start from."""

GRACES = (("", "nodes.grace-of-today"), ("0", "nodes.grace-as-documented"))
"""(seconds as the node's annotation has them, key of the title) of how long a hard eviction lets a pod end."""


def stats(world: World, view: View) -> dict[str, Any]:
    there = sorted((node for node in world.nodes.values() if not node.ghost), key=rank)
    if not there:
        return {"empty": True}
    pages = pager(len(there), view, "nodes", PAGE)
    shown = _chosen(world, view, there)
    return {
        "empty": False,
        "count": len(there),
        "troubled": sum(1 for node in there if troubles(node.node)),
        "rows": [_row(node, node is shown) for node in on_page(there, pages)],
        "pages": pages,
        "node": _detail(world, shown, view),
        "loose": view.node != shown.name,
        "asked": view.stay_of("nodes"),
    }


def _chosen(world: World, view: View, there: list[NodeState]) -> NodeState:
    """The node that somebody chose or works with, or that of the pod that they chose; else the worst one."""
    name = view.node or view.stay_of("nodes") or (world.pods[view.pod].node if view.pod in world.pods else "")
    wanted = world.nodes.get(name)
    return wanted if wanted is not None and not wanted.ghost else there[0]


def _row(node: NodeState, shown: bool) -> dict[str, Any]:
    return {
        "name": node.name,
        "shown": shown,
        "cordoned": node.node.unschedulable,
        "leaving": node.leaving,
        "troubles": troubles(node.node),
    }


def _detail(world: World, node: NodeState, view: View) -> dict[str, Any]:
    health = world.health.of(node.name, node.node.uid)
    configuration = configuration_of(node)
    measured = stats_of(world, node, health)
    shown = gauges(world, measured, configuration, health)
    return {
        "name": node.name,
        "zone": node.zone,
        "cordoned": node.node.unschedulable,
        "leaving": node.leaving,
        "running": plural(len(measured.running), "running pod"),
        "silent": "Unreachable" in troubles(node.node),
        "conditions": conditions(world, node, configuration, health),
        "taints": other_taints(node),
        "gauges": shown,
        "users": users(world, measured, shown["focus"], view),
        "ranking": ranking(world, health, view),
        "relief": relief(health),
        "history": history(health, view),
        "kubelet": _kubelet(node, [threshold_text(item) for item in configuration.thresholds]),
    }


def _kubelet(node: NodeState, thresholds: list[str]) -> dict[str, Any]:
    given, grace = written_configuration(node), node.node.annotations.get(HARD_EVICTION_GRACE, "")
    graces = tuple((value, say(key)) for value, key in GRACES)
    if grace not in dict(graces):
        graces = (*graces, (grace, say("nodes.grace-of-its-own", seconds=grace)))
    return {
        "given": given is not None,
        "thresholds": thresholds,
        "yaml": PRESETS[0][2] if given is None else configuration_text(given),
        "grace": grace,
        "graces": graces,
        "presets": tuple((name, say(key), text) for name, key, text in PRESETS),
    }
