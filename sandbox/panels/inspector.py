"""The inspector: everything about one pod or node, with why here and why not there, in words from the trace."""

from __future__ import annotations

from typing import Any

from . import markup
from .amounts import clock, memory, ratio, seconds, short_name
from .brief import Briefs
from .pod_facts import facts
from .state import Cycle, NodeState, PodState
from .verdicts import words_for
from .view import View
from .words import OUTCOMES, helps, listed, plural
from .world import World

MOST = 12


def stats(world: World, view: View) -> dict[str, Any]:
    if view.node and view.node in world.nodes:
        return _node(world, world.nodes[view.node], world.cycle_in_view(view.cycle))
    cycle = world.cycle_in_view(view.cycle)
    key = view.pod or (cycle.pod if cycle else "")
    if key in world.pods:
        return _pod(world, world.pods[key], view)
    if view.pod and view.pod in world.attempts:
        return {"kind": "gone", "name": short_name(view.pod), "attempts": _attempts(world, view.pod, view.cycle)}
    return {
        "kind": "none",
        "nodes": plural(len(world.nodes), "node"),
        "pods": plural(len(world.pods), "pod"),
        "bound": sum(1 for pod in world.pods.values() if pod.pod.node_name),
        "empty": not world.nodes and not world.pods,
    }


def _pod(world: World, pod: PodState, view: View) -> dict[str, Any]:
    attempts = world.attempts.get(pod.key, [])
    asked_for = world.by_number.get(view.cycle)
    cycle = asked_for if asked_for in attempts else (attempts[-1] if attempts else None)
    return {
        "kind": "pod",
        "key": pod.key,
        "name": short_name(pod.key),
        "namespace": pod.pod.namespace,
        "app": pod.app,
        "priority": pod.pod.priority,
        "state": _state(world, pod),
        "facts": facts(pod),
        "here": _why_here(pod, cycle),
        "not_there": _why_not(world, cycle),
        "cycle": cycle.number if cycle else 0,
        "attempts": _attempts(world, pod.key, view.cycle),
        "message": _message(pod, cycle),
        "events": [
            {
                "at": clock(recorded.at_us),
                "reason": recorded.event.reason,
                "message": recorded.event.message,
                "warning": recorded.event.type == "Warning",
                "times": recorded.count,
            }
            for recorded in reversed(world.kube_events)
            if recorded.event.regarding == pod.key and recorded.event.regarding_kind == "Pod"
        ][:MOST],
        "hints": [
            {"plugin": hint.plugin, "event": hint.cluster_event, "verdict": hint.verdict, "why": hint.why}
            for hint in reversed(world.hints.get(pod.key, [])[-MOST:])
        ],
        "moves": [
            {"at": clock(at), "source": move.source or "outside", "target": move.target or "out", "cause": move.cause}
            for at, move in world.moves
            if move.pod == pod.key
        ][-MOST:],
    }


def _state(world: World, pod: PodState) -> str:
    queued = world.queue.get(pod.key)
    lanes = {
        "inFlight": "being scheduled",
        "unschedulablePods": "unschedulable",
        "errorBackoffQ": "backoffQ",
        "gated": "gated",
    }
    nominated = world.nominations.get(pod.key)
    note = f", nominated to {nominated}" if nominated and not pod.node else ""
    if pod.state == "terminating":
        left = max(0, (pod.gone_at_us or 0) - world.clock_us)
        return f"terminating on {pod.node}, {seconds(left)} left" if pod.node else "terminating"
    if pod.state == "assumed":
        return f"assumed on {pod.node}, not yet bound"
    if pod.state == "bound":
        return f"bound to {pod.node}"
    if queued is not None:
        return f"{lanes.get(queued.lane, 'in ' + queued.lane)}{note}"
    return f"waiting{note}"


def _why_here(pod: PodState, cycle: Cycle | None) -> dict[str, Any] | None:
    """Why the node that was chosen: what it led by, in words."""
    if cycle is None or cycle.selected is None:
        if pod.pod.node_name and cycle is None:
            return {"node": pod.pod.node_name, "text": "It was given with this node: the scheduler did not choose it."}
        return None
    chosen = cycle.selected
    if chosen.how == "only":
        nominated = cycle.filter is not None and cycle.filter.nominated_first == chosen.node
        text = "It was nominated here and fits, so no other node was looked at." if nominated else "No other node fits."
        return {"node": chosen.node, "text": text}
    if chosen.how == "draw":
        return {
            "node": chosen.node,
            "text": f"It shares the highest total, {chosen.total}, with "
            f"{listed([node for node in chosen.ties if node != chosen.node])}; the seeded draw picked it.",
        }
    return {
        "node": chosen.node,
        "text": f"It has the highest total, {chosen.total}. {_edge(cycle, chosen.node)}".strip(),
    }


def _edge(cycle: Cycle, winner: str) -> str:
    """What the winner gains and loses most against the runner-up."""
    if cycle.normalized is None:
        return ""
    others = sorted((item for item in cycle.normalized.totals if item[0] != winner), key=lambda item: -item[1])
    if not others:
        return ""
    second = others[0][0]
    changes = sorted(
        ((dict(rows).get(winner, 0) - dict(rows).get(second, 0), plugin) for plugin, rows in cycle.normalized.weighted)
    )
    text = (
        f"Against {second} it gains most by {changes[-1][1]} ({changes[-1][0]:+d})"
        if changes and changes[-1][0] > 0
        else ""
    )
    if text and changes[0][0] < 0:
        text += f" and loses most by {changes[0][1]} (−{-changes[0][0]})"
    return f"{text}." if text else ""


def _why_not(world: World, cycle: Cycle | None) -> list[dict[str, Any]]:
    """Nodes grouped by what they said."""
    if cycle is None or cycle.filter is None:
        return []
    briefs = Briefs(world, cycle)
    groups: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
    words: dict[tuple[str, tuple[str, ...], str], str] = {}
    for row in cycle.filter.rows:
        node, plugin, code, reasons, _ = row
        if plugin:
            groups.setdefault((plugin, reasons, code), []).append(node)
            words.setdefault((plugin, reasons, code), briefs.of(row))
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return [
        {
            "short": words[plugin, reasons, code],
            "why": "; ".join(reasons),
            "plugin": plugin,
            "nodes": listed(nodes, 3),
            "first": nodes[0],
            "all": " ".join(nodes),
            "helps": helps(code),
        }
        for (plugin, reasons, code), nodes in ordered[:MOST]
    ]


def _attempts(world: World, key: str, chosen: int) -> list[dict[str, Any]]:
    return [
        {
            "number": cycle.attempt,
            "cycle": cycle.number,
            "at": clock(cycle.at_us),
            "what": (f"bound to {cycle.node}" if cycle.outcome == "bound" else OUTCOMES.get(cycle.outcome, "now")),
            "running": not cycle.outcome,
            "chosen": cycle.number == chosen,
        }
        for cycle in world.attempts.get(key, [])[-MOST:]
    ]


def _message(pod: PodState, cycle: Cycle | None) -> str:
    """The PodScheduled condition's message while the pod is pending."""
    if pod.pod.node_name:
        return ""
    for condition in pod.pod.conditions:
        if condition.get("type") == "PodScheduled" and condition.get("message"):
            return str(condition["message"])
    return cycle.message if cycle and cycle.outcome != "bound" else ""


def _node(world: World, node: NodeState, cycle: Cycle | None) -> dict[str, Any]:
    used = world.used(node.name)
    word = words_for(world, cycle).get(node.name)
    shown_resources = [
        name for name in node.allocatable if name in ("cpu", "memory", "pods", "ephemeral-storage") or "/" in name
    ]
    return {
        "kind": "node",
        "key": node.name,
        "name": node.name,
        "zone": node.zone or "no zone",
        "generation": node.generation,
        "ghost": node.ghost,
        "cordoned": node.node.unschedulable,
        "resources": [
            {
                "name": name.rpartition("/")[2],
                "text": ratio(name, used.get(name, 0), node.allocatable[name]),
                "used": used.get(name, 0),
                "total": node.allocatable[name],
            }
            for name in shown_resources
        ],
        "taints": [
            f"{taint.key}{'=' + taint.value if taint.value else ''}:{taint.effect}" for taint in node.node.taints
        ],
        "labels": [f"{key}={value}" for key, value in sorted(node.node.labels.items())],
        "images": [f"{names[0].rpartition('/')[2]}, {memory(size)}" for names, size in node.node.images if names][
            :MOST
        ],
        "pods": markup.join(
            markup.pod_block(pod) for pod in sorted(world.pods_of(node.name), key=lambda pod: -pod.pod.priority)
        ),
        "pod_count": len(world.pods_of(node.name)),
        "nominated": [short_name(pod.key) for pod in world.nominated_to(node.name)],
        "question": short_name(cycle.pod) if cycle and word else "",
        "word": word,
        "place": (world.order.index(node.name) + 1) if node.name in world.order else 0,
        "last_change": node.last_change,
    }
