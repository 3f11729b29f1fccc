"""The inspector: everything about one pod or node, with why here and why not there, in words."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.blocks import block
from sandbox.panels.drawing.ordering import head, ordered, own
from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.explain import explain_filter
from sandbox.panels.facts import devices, expectable
from sandbox.panels.facts.moves import origin, source_of, target_of
from sandbox.panels.facts.nobodys import has_no_scheduler
from sandbox.panels.facts.verdicts import words_for
from sandbox.panels.facts.waking import event_of, event_of_hint, last_skip, last_woken
from sandbox.panels.inspector.departures import of_node, of_pod
from sandbox.panels.inspector.node_info import node_info
from sandbox.panels.inspector.pod_facts import facts
from sandbox.panels.inspector.why import dry_run, prepared, why_here, why_not
from sandbox.panels.model.state import Cycle, NodeState, PodState, Queued
from sandbox.panels.model.steps import untouched
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import clock, cores, memory, seconds, short_name, shown
from sandbox.words.phrases import OUTCOMES, plural, zone_title
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.rejected_pods import is_rejected

FEW, PAGE = 12, 60
"""Items of a list at first, and on a page."""
LANES = {
    "": "inspector.waiting",
    "inFlight": "inspector.being-scheduled",
    "unschedulablePods": "inspector.unschedulable",
    "gated": "inspector.gated",
}
ENDED = {"Succeeded": "inspector.succeeded", "Failed": "inspector.failed"}


def stats(world: World, view: View) -> dict[str, Any]:
    if view.node and view.node in world.nodes:
        return _node(world, world.nodes[view.node], view)
    cycle = world.cycle_in_view(view.cycle)
    flight = cycle.pod if cycle and not untouched(world) else ""
    if view.pod:
        return _shown(world, view.pod, view)
    stay = view.stay_of("inspector")
    is_known = stay in world.pods or stay in world.attempts
    shown = _shown(world, stay if is_known else flight, view)
    other = short_name(flight) if is_known and flight != stay else ""
    return shown | {"loose": True, "asked": stay, "in_flight": other}


def _shown(world: World, key: str, view: View) -> dict[str, Any]:
    if key in world.pods:
        return _pod(world, world.pods[key], view)
    if key and key in world.attempts:
        stats = {"kind": "gone", "key": key, "name": short_name(key), **_attempts(world, key, view)}
        return stats | {"expectable": expectable.of_pod(world, key, None)}
    return {
        "kind": "none",
        "nodes": plural(len(world.existing_nodes()), "node"),
        "pods": plural(len(world.pods), "pod"),
        "bound": sum(1 for pod in world.pods.values() if pod.pod.node_name and not pod.pod.finished),
        "empty": not world.nodes and not world.pods,
    }


def _pod(world: World, pod: PodState, view: View) -> dict[str, Any]:
    attempts = world.attempts.get(pod.key, [])
    chosen = world.by_number.get(view.cycle)
    own = [cycle for cycle in attempts if cycle.is_of(pod.pod.uid)]
    cycle = chosen if chosen in attempts else _deciding(pod, own)
    return {
        "kind": "pod",
        "key": pod.key,
        "at": str(view.at or ""),
        "applied": pod.key in world.applied.get("Pod", ()),
        "name": short_name(pod.key),
        "namespace": pod.pod.namespace,
        "app": pod.app,
        "priority": pod.pod.priority,
        "state": _state(world, pod),
        "woken": last_woken(world, pod) or last_skip(world, pod),
        "facts": facts(pod, world),
        "finished": pod.pod.finished,
        "labels": sorted(pod.pod.labels.items()),
        "device_claims": devices.claims(world, pod.pod),
        "gates": pod.pod.scheduling_gates,
        **_finalizers(pod.pod),
        "containers": [_asks(container) for container in pod.pod.spec.get("containers") or ()],
        **of_pod(world, pod),
        "here": why_here(world, pod, cycle) if cycle is None or cycle.is_of(pod.pod.uid) else None,
        "prepared": prepared(world, cycle) if cycle is None or cycle.is_of(pod.pod.uid) else None,
        **why_not(world, cycle, view),
        "cycle": cycle.number if cycle else 0,
        "expectable": expectable.of_pod(world, pod.key, cycle),
        **_attempts(world, pod.key, view),
        "message": _message(pod, cycle),
        "message_of": _of_namesake(pod, attempts),
        "withdrawn": _withdrawn(world, pod, own),
        **_events(world, pod.pod, view),
        **_hints(world, pod.pod, view),
        "cycle_state": [value for written in cycle.state for value in written.values] if cycle else [],
        **_moves(world, pod.pod, view),
    }


def _of_namesake(pod: PodState, attempts: list[Cycle]) -> str:
    """Say that the message of a pending pod comes from the attempt of a deleted pod of its name, else "".

    Attempts may end in another order than they began: the last one to end with this message wrote it.
    """
    message = (pod.pod.condition("PodScheduled") or {}).get("message")
    if pod.pod.node_name or not message:
        return ""
    latest_first = sorted(attempts, key=lambda cycle: -cycle.last_entry)
    writer = next((cycle for cycle in latest_first if cycle.message.startswith(str(message))), None)
    if writer is None or not writer.taken or writer.is_of(pod.pod.uid):
        return ""
    return say("inspector.message-of-namesake", cycle=writer.number)


def _withdrawn(world: World, pod: PodState, own: list[Cycle]) -> str:
    """Return which preemption withdrew the nomination that the last attempt of a pending pod had given it, else ""."""
    if pod.pod.node_name or pod.key in world.nominations or not own or own[-1].outcome != "nominated":
        return ""
    for cycle in reversed(world.cycles):
        if cycle.number <= own[-1].number:
            break
        if cycle.post_filter is not None and pod.key in cycle.post_filter.cleared_nominations:
            node, other = cycle.post_filter.nominated_node, short_name(cycle.pod)
            return say("inspector.nomination-withdrawn", node=node, pod=other)
    return ""


def _finalizers(item: Pod | Node) -> dict[str, Any]:
    says = "inspector.finalizers-hold" if item.terminating else "inspector.finalizers-will-hold"
    return {"finalizers": item.metadata.get("finalizers") or [], "finalizers_say": say(says)}


def _asks(container: dict[str, Any]) -> dict[str, Any]:
    requests = (container.get("resources") or {}).get("requests") or {}
    return {"name": container["name"], "cpu": requests.get("cpu", ""), "memory": requests.get("memory", "")}


def _deciding(pod: PodState, attempts: list[Cycle]) -> Cycle | None:
    """Return the attempt that put the pod where it is, even if another scheduler tried later; else the last one."""
    bound = (cycle for cycle in reversed(attempts) if cycle.outcome == "bound" and cycle.node == pod.node)
    return next(bound, attempts[-1] if attempts else None)


def _events(world: World, pod: Pod, view: View) -> dict[str, Any]:
    events = [recorded for recorded in reversed(world.kube_events) if recorded.is_of(pod)]
    pages = pager(len(events), view, "inspector.events", PAGE, few=FEW)
    rows = [
        {
            "at": clock(recorded.at_us),
            "reason": recorded.event.reason,
            "message": recorded.event.message,
            "warning": recorded.event.type == "Warning",
            "times": recorded.count,
        }
        for recorded in on_page(events, pages)
    ]
    return {"events": rows, "event_pages": pages}


def _hints(world: World, pod: Pod, view: View) -> dict[str, Any]:
    hints = world.hints.get(pod.uid, [])[::-1]
    pages = pager(len(hints), view, "inspector.hints", PAGE, few=FEW)
    rows = [
        {"plugin": hint.plugin, "event": event_of_hint(hint), "verdict": hint.verdict, "why": wording.hint(hint)}
        for hint in on_page(hints, pages)
    ]
    return {"hints": rows, "hint_pages": pages}


def _moves(world: World, pod: Pod, view: View) -> dict[str, Any]:
    moves = [queued for queued in reversed(world.moves.get(pod.key, ())) if queued.is_of(pod.uid)]
    pages = pager(len(moves), view, "inspector.moves", PAGE, few=FEW)
    return {"moves": [_move(world, queued) for queued in on_page(moves, pages)], "move_pages": pages}


def _move(world: World, queued: Queued) -> dict[str, Any]:
    """Return source and target of a move, its event and hint, and its cause."""
    came, answer = queued.came, queued.answer
    return {
        "at": clock(queued.at_us),
        "source": source_of(came) or say("inspector.outside"),
        "target": target_of(came) or say("inspector.out"),
        "cause": event_of(came.cause, queued.about),
        "hint": say("inspector.hint", plugin=answer.plugin, verdict=answer.verdict, event=event_of_hint(answer))
        if answer
        else "",
        "why": wording.hint(answer) if answer else "",
        "origin": origin(world, queued),
    }


def _state(world: World, pod: PodState) -> str:
    if pod.state == "terminating":
        if pod.pod.finished or (not pod.node and pod.pod.metadata.get("finalizers")):
            return say("inspector.held-by-finalizers")
        if not pod.node:
            return say("inspector.terminating")
        return say("inspector.terminating-on", node=pod.node, left=seconds(pod.left_us(world.clock_us)))
    if pod.pod.finished:
        return _ended(pod.pod)
    if pod.state in ("assumed", "bound"):
        return say("inspector.assumed" if pod.state == "assumed" else "inspector.bound", node=pod.node)
    if has_no_scheduler(world, pod):
        return say("inspector.nobodys", scheduler=pod.pod.scheduler_name)
    queued, nominated = world.place_of(pod), world.nominations.get(pod.key)
    lane = queued.lane if queued is not None else ""
    state = say(LANES.get(lane, "inspector.in-lane"), lane=lane)
    return say("inspector.nominated", state=state, node=nominated) if nominated and not pod.node else state


def _ended(pod: Pod) -> str:
    """Return ``evicted from n1``, ``not taken by n1 (OutOfcpu)`` or ``failed on n1 (DeadlineExceeded)``."""
    reason = pod.status.get("reason") or ""
    if is_rejected(pod):
        return say("inspector.rejected", node=pod.node_name, reason=reason)
    if reason == "Evicted" and pod.node_name:
        return say("inspector.evicted", node=pod.node_name)
    state = say(ENDED[pod.phase])
    if pod.node_name:
        state = say("inspector.ended-on", state=state, node=pod.node_name)
    return say("inspector.ended-because", state=state, reason=reason) if reason else state


def _attempts(world: World, key: str, view: View) -> dict[str, Any]:
    name, outcomes = "inspector.attempts", OUTCOMES | {"bound": "inspector.bound"}
    attempts = ordered(world.attempts.get(key, [])[::-1], view, name, {"oldest": lambda cycle: cycle.number})
    pages = pager(len(attempts), view, name, PAGE, few=FEW)
    rows = [
        {
            "number": cycle.attempt,
            "cycle": cycle.number,
            "at": clock(cycle.at_us),
            "moment": str(world.moment_of(cycle.last_entry)),
            "by": cycle.replica.rpartition("-")[2] if world.election.several else "",
            "replica": cycle.replica,
            "what": say(outcomes.get(cycle.outcome, "inspector.now"), node=cycle.node),
            "earlier": key in world.pods and not cycle.is_of(world.pods[key].pod.uid),
            "chosen": cycle.number == view.cycle,
        }
        for cycle in on_page(attempts, pages)
    ]
    heads = own(view, name, say("orders.newest")), head(view, name, "oldest", [say("orders.oldest")])
    return {"attempts": rows, "attempt_pages": pages, "attempt_heads": heads if len(attempts) > 1 else ()}


def _message(pod: PodState, cycle: Cycle | None) -> str:
    """Return the message of the PodScheduled condition of a pending pod; for a finished pod, why it ended, if known."""
    if pod.pod.finished and pod.pod.status.get("message"):
        return str(pod.pod.status["message"]).strip()
    if pod.pod.node_name:
        return ""
    message = (pod.pod.condition("PodScheduled") or {}).get("message")
    if message or cycle is None or cycle.outcome == "bound" or not cycle.is_of(pod.pod.uid):
        return str(message or "")
    return cycle.message


def _node(world: World, node: NodeState, view: View) -> dict[str, Any]:
    cycle = world.cycle_in_view(view.cycle)
    used = world.used(node.name)
    info = world.cache.infos.get(node.name)
    word = words_for(world, cycle, (node.name,)).get(node.name)
    refused_by = word.plugin if word else ""
    images = [item for item in node.node.images if item[0]]
    image_pages = pager(len(images), view, "inspector.images", PAGE, few=FEW)
    shown_resources = [
        name for name in node.allocatable if name in ("cpu", "memory", "pods", "ephemeral-storage") or "/" in name
    ]
    return {
        "kind": "node",
        "key": node.name,
        "at": str(view.at or ""),
        "applied": node.name in world.applied.get("Node", ()),
        "name": node.name,
        "zone": node.zone or zone_title(""),
        "generation": info.generation if info else 0,
        "node_info": node_info(world, node.name, view),
        "ghost": node.ghost,
        **({"finalizers": []} if node.ghost else _finalizers(node.node)),
        "terminating": node.node.terminating and not node.ghost,
        "cordoned": node.node.unschedulable,
        **of_node(world, node),
        "resources": [
            {
                "name": name.rpartition("/")[2],
                # More exact than on the node's card: ``2.25/4`` or ``320Mi/32Gi``.
                "text": "/".join(_exact(name, number) for number in (used.get(name, 0), node.allocatable[name])),
                "percent": f"{100 * used.get(name, 0) / (node.allocatable[name] or 1):.0f} %",
                "used": used.get(name, 0),
                "total": node.allocatable[name],
            }
            for name in shown_resources
        ],
        **_devices(world, node),
        "taints": [{"text": taint.text, "key": taint.key, "effect": taint.effect} for taint in node.node.taints],
        "labels": sorted(node.node.labels.items()),
        "images": [f"{names[0].rpartition('/')[2]}, {memory(size)}" for names, size in on_page(images, image_pages)],
        "image_pages": image_pages,
        "pods": [block(pod) for pod in sorted(world.pods_of(node.name), key=lambda pod: -pod.pod.priority)],
        "pod_count": len(world.pods_of(node.name)),
        "nominated": [short_name(pod.key) for pod in world.nominated_to(node.name)],
        "question": short_name(cycle.pod) if cycle and word else "",
        "word": word,
        "instead": cycle.number if cycle and word and not _chosen(cycle, node.name) else 0,
        "expectable": [expectable.verdict(cycle, node.name)] if cycle and word and word.kind != "out" else [],
        "dry_run": dry_run(world, cycle, node.name),
        "says": explain_filter(world, cycle, node.name, refused_by).sentence if cycle and refused_by else "",
        "place": (world.cache.order.index(node.name) + 1) if node.name in world.cache.order else 0,
        "last_change": info.change if info else "",
    }


def _devices(world: World, node: NodeState) -> dict[str, Any]:
    rows = devices.offers(world).of(node.node)
    return {"devices": rows, "devices_used": sum(row.taken for row in rows)}


def _chosen(cycle: Cycle, node: str) -> bool:
    return cycle.selected is not None and cycle.selected.node == node


def _exact(resource: str, number: int) -> str:
    return cores(number) if resource == "cpu" else shown(resource, number)
