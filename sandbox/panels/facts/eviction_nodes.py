"""Drains and evictions by taint as rows, each with what is left of its wait."""

from __future__ import annotations

from typing import Any

from sandbox.panels.drawing.blocks import Block, gone_block
from sandbox.panels.drawing.blocks import block as pod_block
from sandbox.panels.model.eviction_log import Drain, Plan
from sandbox.panels.model.world import World
from sandbox.panels.words.amounts import clock, left, share, short_name
from sandbox.panels.words.phrases import plural

MOST_PODS = 20
DRAINS = {
    "started": ("ring", "started"),
    "waiting": ("ring", "waiting"),
    "evicted": ("ring", "pods on their way out"),
    "finished": ("yes", "finished"),
    "stopped": ("no", "stopped"),
}
PLANS = {
    "planned": ("ring", "planned"),
    "evicted": ("no", "evicted"),
    "cancelled": ("yes", "cancelled"),
    "overtaken": ("no", "overtaken"),
}


def block(world: World, key: str, there: bool, mark: str) -> Block:
    """``there``: the pod of this name is still the one in question. ``mark`` makes the button's id its own."""
    pod = world.pods.get(key)
    if pod is None or not there:
        return gone_block(key)
    return pod_block(pod, mark)


def draining(world: World, node: str) -> bool:
    drain = world.evictions.drains.get(node)
    return drain is not None and not drain.over


def drain_row(world: World, drain: Drain) -> dict[str, Any]:
    sign, state = DRAINS.get(drain.what, ("ring", drain.what))
    leaving = [] if drain.over else _leaving(world, drain)
    node = world.nodes.get(drain.node)
    rest, whole = _wait(world, drain, leaving)
    refused = [key for key in drain.refused if key in world.pods and world.pods[key].state != "terminating"]
    return {
        "node": drain.node,
        "sign": sign,
        "state": _drain_words(drain, refused, leaving) or state,
        "left": f"asks again in {left(rest)}" if drain.what == "waiting" else (left(rest) if rest else ""),
        "ring": share(rest, whole),
        "started": clock(drain.started_us),
        "ended": clock(drain.at_us) if drain.over else "",
        "rounds": plural(drain.rounds, "round"),
        "lists": [
            _list(world, "Refused", "fell", refused),
            _list(world, "On the way out", "", leaving),
            _list(world, "Stay", "", list(drain.kept), "of DaemonSets"),
        ],
        "evicted": len(drain.evicted),
        "over": drain.over,
        "cordoned": node is not None and node.node.unschedulable,
    }


def _drain_words(drain: Drain, refused: list[str], leaving: list[str]) -> str:
    if drain.what == "waiting":
        return f"{plural(len(refused), 'pod')} refused"
    if drain.what == "evicted":
        return f"waits for {plural(len(leaving), 'pod')} to end"
    return ""


def _leaving(world: World, drain: Drain) -> list[str]:
    kept = set(drain.kept)
    return [pod.key for pod in world.pods_of(drain.node) if pod.state == "terminating" and pod.key not in kept]


def _wait(world: World, drain: Drain, leaving: list[str]) -> tuple[int, int]:
    """(what is left of the wait, its whole length) in microseconds: for the next round, or for the last pod to end."""
    if drain.what == "waiting" and drain.next_us is not None:
        return max(0, drain.next_us - world.clock_us), drain.next_us - drain.at_us
    ends = [(world.pods[key].gone_at_us or 0, world.pods[key].terminating_since_us or 0) for key in leaving]
    last, since = max(ends, default=(0, 0))
    return max(0, last - world.clock_us), last - since


def _list(world: World, title: str, sign: str, keys: list[str], note: str = "") -> dict[str, Any]:
    """Pods of a drain; only the first of them are named."""
    more = len(keys) - MOST_PODS
    return {
        "title": title,
        "sign": sign,
        "pods": [_named(world, key) for key in keys[:MOST_PODS]],
        "note": f"and {more} more {note}".strip() if more > 0 else note,
    }


def _named(world: World, key: str) -> dict[str, str]:
    pod = world.pods.get(key)
    rest = left(pod.left_us(world.clock_us)) if pod is not None and pod.state == "terminating" else ""
    return {"key": key, "name": short_name(key), "left": rest}


def plans(world: World) -> list[Plan]:
    """Those to come by their time, then the others, newest first."""
    log = world.evictions
    over = [plan for plan in log.plans.values() if plan.state != "planned"]
    over.sort(key=lambda plan: (-plan.ended_us, -plan.number))
    return [*sorted(log.planned.values(), key=lambda plan: plan.at_us), *over]


def counted(given: list[Plan]) -> str:
    counts = dict.fromkeys(PLANS, 0)
    for plan in given:
        counts[plan.state] += 1
    return ", ".join(f"{count} {state}" for state, count in counts.items() if count)


def plan_row(world: World, plan: Plan) -> dict[str, Any]:
    log = world.evictions
    sign, state = PLANS[plan.state]
    there = plan.state == "cancelled" or plan is log.planned.get(plan.pod) or plan is log.leaving.get(plan.pod)
    rest = plan.at_us - world.clock_us
    return {
        "id": plan.number,
        "pod": plan.pod,
        "block": block(world, plan.pod, there, f"et-{plan.number}"),
        "node": plan.node,
        "taint": plan.taint,
        "tolerated": "not tolerated" if plan.seconds is None else f"tolerationSeconds {plan.seconds}",
        "sign": sign,
        "state": state,
        "ring": share(rest, plan.at_us - plan.since_us),
        "text": _plan_words(world, plan),
        "at": clock(plan.at_us if plan.state == "planned" else plan.ended_us),
    }


def _plan_words(world: World, plan: Plan) -> str:
    rest = plan.at_us - world.clock_us
    if plan.state == "planned":
        return f"must leave in {left(rest)}"
    if plan.state == "evicted":
        return "evicted at once" if not plan.seconds else f"evicted after {left(plan.ended_us - plan.since_us)}"
    early = left(plan.at_us - plan.ended_us)
    if plan.state == "cancelled":
        return f"cancelled {early} before: {plan.why}"
    return f"the pod went for another reason, {early} before"
