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
    """Return a KubeletConfiguration as YAML, with apiVersion and kind on top."""
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
"""(seconds as in the node's annotation, key of the title): the grace period of a hard eviction."""


def stats(world: World, view: View) -> dict[str, Any]:
    in_order = sorted(world.existing_nodes(), key=rank)
    if not in_order:
        return {"empty": True}
    pages = pager(len(in_order), view, "nodes", PAGE)
    node = _chosen(world, view, in_order)
    return {
        "empty": False,
        "at": str(view.at or ""),
        "count": len(in_order),
        "troubled": sum(1 for item in in_order if troubles(item.node)),
        "rows": [_row(item, item is node) for item in on_page(in_order, pages)],
        "pages": pages,
        "node": _detail(world, node, view),
        "loose": view.node != node.name,
        "asked": view.stay_of("nodes"),
    }


def _chosen(world: World, view: View, in_order: list[NodeState]) -> NodeState:
    """Return the node that somebody chose or works with, else that of the chosen pod, else the worst one."""
    name = view.node or view.stay_of("nodes") or (world.pods[view.pod].node if view.pod in world.pods else "")
    node = world.nodes.get(name)
    return node if node is not None and not node.ghost else in_order[0]


def _row(node: NodeState, is_shown: bool) -> dict[str, Any]:
    return {
        "name": node.name,
        "shown": is_shown,
        "cordoned": node.node.unschedulable,
        "leaving": node.leaving,
        "troubles": troubles(node.node),
    }


def _detail(world: World, node: NodeState, view: View) -> dict[str, Any]:
    health = world.health.of(node.name, node.node.uid)
    configuration = configuration_of(node)
    measured = stats_of(world, node, health)
    drawn_gauges = gauges(world, measured, configuration, health)
    return {
        "name": node.name,
        "zone": node.zone,
        "cordoned": node.node.unschedulable,
        "leaving": node.leaving,
        "running": plural(len(measured.running), "running pod"),
        "silent": "Unreachable" in troubles(node.node),
        "conditions": conditions(world, node, configuration, health),
        "taints": other_taints(node),
        "gauges": drawn_gauges,
        "users": users(world, measured, drawn_gauges["focus"], view),
        "ranking": ranking(world, health, view),
        "relief": relief(health),
        "history": history(health, view),
        "kubelet": _kubelet(node, [threshold_text(item) for item in configuration.thresholds]),
    }


def _kubelet(node: NodeState, thresholds: list[str]) -> dict[str, Any]:
    configuration, grace = written_configuration(node), node.node.annotations.get(HARD_EVICTION_GRACE, "")
    graces = tuple((value, say(key)) for value, key in GRACES)
    if grace not in dict(graces):
        graces = (*graces, (grace, say("nodes.grace-of-its-own", seconds=grace)))
    return {
        "configured": configuration is not None,
        "thresholds": thresholds,
        "yaml": PRESETS[0][2] if configuration is None else configuration_text(configuration),
        "grace": grace,
        "graces": graces,
        "presets": tuple((name, say(key), text) for name, key, text in PRESETS),
    }
