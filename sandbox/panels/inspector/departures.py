"""What may make a pod leave its node, for the inspector: budgets, the last answer, a taint."""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.budgets import Budgets
from sandbox.panels.facts.eviction_nodes import failure, flags, is_draining
from sandbox.panels.facts.node_conditions import is_bad
from sandbox.panels.model.state import NodeState, PodState
from sandbox.panels.model.world import World
from sandbox.words.amounts import clock, left, share, short_name
from sandbox.words.say import say


def of_pod(world: World, pod: PodState) -> dict[str, Any]:
    log = world.evictions
    request, plan = log.open.get(pod.key), log.planned.get(pod.key)
    rest = plan.at_us - world.clock_us if plan else 0
    return {
        "pending": not pod.pod.node_name and pod.state != "terminating" and not pod.pod.finished,
        "can_evict": bool(pod.pod.node_name) and pod.state != "terminating" and not pod.pod.finished,
        "budgets": [{"name": short_name(item.key), "text": item.text} for item in Budgets(world).of(pod)],
        "answer": {
            "code": request.code,
            "refused": request.refused,
            "text": request.message or say("inspector.allowed"),
            "cause": request.cause,
            "at": clock(request.at_us),
            "times": request.times,
            "by": say("inspector.by-drain", node=request.asked_by) if request.asked_by else "",
        }
        if request
        else None,
        "plan": {
            "taint": plan.taint,
            "at": clock(plan.at_us),
            "left": left(rest),
            "ring": share(rest, plan.at_us - plan.since_us),
        }
        if plan
        else None,
    }


def of_node(world: World, node: NodeState) -> dict[str, Any]:
    log = world.evictions
    soonest = min((plan.at_us for plan in log.planned.values() if plan.node == node.name), default=None)
    return {
        "draining": is_draining(world, node.name),
        "flags": flags(world, node.name),
        "failure": failure(world, node.name) if node.node.unschedulable else None,
        "conditions": [_condition(condition) for condition in node.node.status.get("conditions") or ()],
        "planned": sum(1 for plan in log.planned.values() if plan.node == node.name),
        "planned_left": left(soonest - world.clock_us) if soonest is not None else "",
    }


def _condition(condition: dict[str, Any]) -> dict[str, Any]:
    name, status = str(condition.get("type", "")), str(condition.get("status", ""))
    return {"type": name, "status": status, "good": not is_bad(name, status)}
