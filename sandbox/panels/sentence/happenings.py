"""One sentence for what happens beside the scheduler: answers to evictions, drains, taints, and what a person turned.

Each teller gives (before, kind, key, after, next): the sentence is ``before``, the name of the pod or node (``kind``)
as a button, and ``after``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.panels.facts.node_gauges import amount
from sandbox.panels.model.eviction_log import Drain, Happening, Plan, Request
from sandbox.panels.model.node_health import Deed, Pressure
from sandbox.panels.model.world import World
from sandbox.panels.words.amounts import clock, left, short_name
from sandbox.panels.words.phrases import listed, plural, taint_text
from scheduler_engine.trace import events as ev

Told = tuple[str, str, str, str, str]
SYSTEM = "the system on "


def happening(world: World) -> Happening | None:
    """The last one, as long as no scheduling cycle has moved on since."""
    last = world.evictions.happened
    return last if last is not None and last.n > world.latest.get(ev.StageFinished, 0) else None


def told(world: World, last: Happening) -> dict[str, Any]:
    before, kind, key, after, following = TELLERS[last.kind](world, last.item)
    return {
        "before": before,
        "of": kind,
        "key": key,
        "name": short_name(key),
        "text": after,
        "next": following,
        "precise": _precise(last.item),
        "n": last.n,
    }


def _precise(item: Any) -> str:
    """The same in Kubernetes' words, where it has any."""
    if isinstance(item, Request):
        return item.cause
    return item.event.message if isinstance(item, Deed) and isinstance(item.event, ev.PodEvicted) else ""


def _request(world: World, request: Request) -> Told:
    if request.refused:
        times = f" It was asked {request.times} times." if request.times > 1 else ""
        after = f": {request.code}, {request.message}{times}"
        following = "once one budget is left" if request.code == 500 else "ask again later, or look at Evictions"
        return "The API server refused to evict ", "pod", request.pod, after, following
    if request.then == "gone" and request.leaves_us is None:
        return "The API server evicted ", "pod", request.pod, ": 200, and it is gone, as nothing ran yet.", ""
    after = f": 200. It has {left(request.grace_us)} to end, and no controller counts it any more."
    gone = f"gone at {clock(request.leaves_us)}" if request.leaves_us is not None else ""
    return "The API server lets ", "pod", request.pod, f" go{after}", gone


def _drain(world: World, drain: Drain) -> Told:
    kept = f" {listed([short_name(key) for key in drain.kept])} of a DaemonSet stays." if drain.kept else ""
    if drain.what == "waiting":
        names = listed([short_name(key) for key in drain.refused])
        following = f"asks again at {clock(drain.next_us)}" if drain.next_us is not None else ""
        gone = f"{plural(len(drain.evicted), 'pod')} evicted so far, but " if drain.evicted else ""
        return "The drain of ", "node", drain.node, f" waits: {gone}the API server refuses {names}.", following
    after = {
        "started": f" is cordoned, and its pods are evicted one by one.{kept}",
        "evicted": f": all pods that must leave are on their way out.{kept}",
        "finished": f" is over: {plural(len(drain.evicted), 'pod')} evicted.{kept}",
        "stopped": " was stopped: nobody is asked any more.",
    }
    before = "" if drain.what == "started" else "The drain of "
    return before, "node", drain.node, after.get(drain.what, f" {drain.what}."), ""


def _plan(world: World, plan: Plan) -> Told:
    others = _others(world, plan)
    if plan.state == "planned":
        also = f"and {plural(others, 'more pod')} must" if others else "must"
        why = f"{plan.taint}, tolerationSeconds {plan.seconds}"
        after = f" {also} leave {plan.node} at {clock(plan.at_us)}: {why}."
        return "", "pod", plan.pod, after, f"{left(plan.at_us - world.clock_us)} to go"
    if plan.state == "cancelled":
        also = f"and {plural(others, 'more pod')} may" if others else "may"
        return "", "pod", plan.pod, f" {also} stay on {plan.node} after all: {plan.why}.", ""
    also = f"and {plural(others, 'more pod')} are" if others else "is"
    why = f"{plan.taint} is not tolerated" if plan.seconds is None else f"tolerationSeconds {plan.seconds} are over"
    return "", "pod", plan.pod, f" {also} evicted from {plan.node}: {why}.", _soonest(world)


def _soonest(world: World) -> str:
    """The pod that a taint drives away next."""
    plan = min(world.evictions.planned.values(), key=lambda item: item.at_us, default=None)
    return f"{short_name(plan.pod)} must leave in {left(plan.at_us - world.clock_us)}" if plan else ""


def _others(world: World, plan: Plan) -> int:
    """Plans for the same node that changed in the same way at the same moment."""
    return sum(_turn(other) == _turn(plan) for other in world.evictions.plans.values()) - 1


def _turn(plan: Plan) -> tuple[str, str, int]:
    return plan.state, plan.node, plan.since_us if plan.state == "planned" else plan.ended_us


def _expired(world: World, event: ev.CachePodChanged) -> Told:
    after = f" expired: nothing confirmed it in time, so the cache counts nothing of it on {event.node} any more."
    return "", "pod", event.pod, after, "its room may be given away twice"


def _command(world: World, given: ev.CommandGiven) -> Told:
    if given.kind == "scale":
        return _scaled(world, given)
    if given.kind == "delete":
        return _deleted(world, given)
    if given.kind == "usage":
        who, _, what = given.summary.partition(" uses ")
        system = who.startswith(SYSTEM)
        key = who.removeprefix(SYSTEM)
        return SYSTEM.capitalize() if system else "", "node" if system else "pod", key, f" now uses {what}.", ""
    node, _, what = given.summary.partition(": ")
    taints = [taint_text(taint) for taint in world.nodes[node].node.taints] if node in world.nodes else []
    after = f": {what} now. Its taints: {listed(taints)}." if taints else f": {what} now. It has no taints."
    return "", "node", node, after, ""


def _scaled(world: World, given: ev.CommandGiven) -> Told:
    """``scale Deployment default/web to 4`` and what came of it so far."""
    _, kind, key, _, number = given.summary.split(" ")
    status = world.objects.get(kind, {}).get(key, {}).get("status") or {}
    there, ready = status.get("replicas") or 0, status.get("readyReplicas") or 0
    after = f"{kind} {short_name(key)} now wants {plural(int(number), 'pod')}: {there} there, {ready} ready."
    return "", "", "", after, ""


def _deleted(world: World, given: ev.CommandGiven) -> Told:
    """``delete Pod default/web (Foreground)``: no budget has a say, but a pod may take its time."""
    _, kind, key, *how = given.summary.split(" ")
    pod = world.pods.get(key) if kind == "Pod" else None
    if kind == "Pod" and pod is None:
        return "", "pod", key, " was deleted: no budget is asked for that.", ""
    if pod is not None:
        rest = left(pod.left_us(world.clock_us))
        return "", "pod", key, f" is deleted: no budget is asked for that. It has {rest} to end.", ""
    there = kind != "Node" and key in world.objects.get(kind, {})
    after = "is being deleted: what it owns goes first" if there else "was deleted"
    stays = "; what it owned stays" if how == ["(Orphan)"] else ""
    return "", "", "", f"{kind} {short_name(key)} {after}{stays}.", ""


def _deed(world: World, deed: Deed) -> Told:
    event = deed.event
    if isinstance(event, ev.NodeResourcesReclaimed):
        freed = amount("nodefs.available", event.freed)
        names = listed([short_name(name) for name in event.names])
        after = f" removes {event.what} before it evicts anyone: {names}, {freed} freed."
        return "The kubelet of ", "node", event.node, after, ""
    low = event.message.partition(" Container ")[0].removesuffix(".")
    grace = " The minimum is not reclaimed yet." if deed.above else ""
    grace += f" It has {event.grace_seconds} s to end." if event.grace_seconds else ""
    return "", "pod", event.pod, f" is evicted by the kubelet of {event.node}: {low[:1].lower()}{low[1:]}.{grace}", ""


def _pressure(world: World, told: Pressure) -> Told:
    reports = [f"reports {listed(list(told.began))}"] if told.began else []
    reports += [f"reports no {listed(list(told.ended))} any more"] if told.ended else []
    sees = [f"{text} must last until {clock(until)} before it evicts" for text, until in told.waits]
    sees += [f"{text} holds no more, so its grace period would start anew" for text in told.calmed]
    said = f" {listed(reports)}" if reports else ""
    return "The kubelet of ", "node", told.node, f"{': '.join([said, '; '.join(sees)] if sees else [said])}.", ""


def _election(world: World, text: str) -> Told:
    return "", "", "", text, ""


TELLERS: dict[str, Callable[[World, Any], Told]] = {
    "answer": _request,
    "drain": _drain,
    "plan": _plan,
    "command": _command,
    "expired": _expired,
    "deed": _deed,
    "pressure": _pressure,
    "election": _election,
}
