"""Requests to evict as rows: the answer, how an allowed eviction goes on, what would let a refused one through."""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.budgets import KIND, Budgets, ways_out
from sandbox.panels.facts.eviction_nodes import block
from sandbox.panels.model.eviction_log import Request
from sandbox.panels.model.world import World
from sandbox.words.amounts import clock, left, seconds, share, short_name
from sandbox.words.say import say

STUCK = 3
"""Refusals in a row after which an eviction counts as stuck."""
ANSWERS = {
    200: ("yes", "200 OK"),
    403: ("no", "403 Forbidden"),
    429: ("no", "429 Too Many Requests"),
    500: ("bang", "500 Internal Server Error"),
}
AFTER = {
    "allowed": "evictions.then-allowed",
    "deleting": "evictions.then-deleting",
    "deleted": "evictions.then-deleted",
    "other": "evictions.then-another-answer",
}
SHUTS_DOWN = {
    (False, True): "evictions.kubelet-on-node-shuts-down",
    (False, False): "evictions.kubelet-shuts-down",
    (True, True): "evictions.kubelet-on-node-has-shut-down",
    (True, False): "evictions.kubelet-has-shut-down",
}
"""By whether it is gone, and whether its node is known."""


def row(world: World, budgets: Budgets, request: Request) -> dict[str, Any]:
    sign, answer = ANSWERS.get(request.code, ("no", str(request.code)))
    newest = world.evictions.open.get(request.pod)
    is_open = newest is request
    there = is_open or (newest is not None and request.then in ("allowed", "deleting", "other"))
    return {
        "id": request.number,
        "pod": request.pod,
        "block": block(world, request.pod, there, f"er-{request.number}"),
        "at": clock(request.at_us),
        "since": clock(request.first_us) if request.times > 1 else "",
        "times": request.times,
        "code": request.code,
        "sign": sign,
        "answer": answer,
        "message": request.message,
        "cause": request.cause,
        "budgets": [short_name(key) for key in request.budgets],
        "live": _budget_line(budgets, request) if is_open and request.refused else "",
        "node": request.asked_by,
        "by": "" if request.asked_by else world.people.get(request.command) or say("evictions.a-person"),
        "steps": [] if request.refused else _steps(world, request),
        "stuck": is_open and stuck(world, budgets, request),
        "again": is_open and request.refused,
        **_way_out(world, budgets, request, is_open),
        "after": say(AFTER[request.then], clock=clock(request.ended_us)) if request.then in AFTER else "",
    }


def _budget_line(budgets: Budgets, request: Request) -> str:
    there = budgets.named(request.budgets)
    return "; ".join(say("evictions.budget-now", budget=item.name, numbers=item.text) for item in there)


def stuck(world: World, budgets: Budgets, request: Request) -> bool:
    """Refused again and again, and nothing is under way that would change the answer."""
    pod = world.pods.get(request.pod)
    if not (request.refused and request.row >= STUCK and pod is not None and pod.state != "terminating"):
        return False
    there = budgets.named(request.budgets)
    return len(there) > 1 or (len(there) == 1 and not there[0].allowed and not there[0].is_changing)


def _way_out(world: World, budgets: Budgets, request: Request, is_open: bool) -> dict[str, Any]:
    """What would let a refused pod go, and buttons for it: (label, kind, key) of what may be deleted."""
    pod = world.pods.get(request.pod)
    if not (is_open and request.refused and pod is not None):
        return {"ways": [], "deletes": []}
    if pod.state == "terminating":
        return {"ways": [say("evictions.deleted-past-the-api")], "deletes": []}
    pods = [(say("evictions.delete-pod", pod=short_name(request.pod)), "Pod", request.pod)]
    there = budgets.named(request.budgets)
    if len(there) > 1:
        ways = [say("evictions.several-budgets", count=len(there))]
        deletes = [(say("evictions.delete-budget", budget=item.name), KIND, item.key) for item in there]
        return {"ways": ways, "deletes": deletes + pods}
    ways = ways_out(pod, there[0]) if there else [say("evictions.budget-gone")]
    return {"ways": ways, "deletes": pods if stuck(world, budgets, request) else []}


def _steps(world: World, request: Request) -> list[dict[str, Any]]:
    """How a pod goes once its eviction is allowed, as far as it has come."""
    if request.leaves_us is None:
        return [{"state": "done", "at": clock(request.first_us), "text": say("evictions.not-started")}]
    gone = request.then == "gone"
    held = not gone and request.pod in world.pods and world.pods[request.pod].pod.finished
    rest = request.leaves_us - world.clock_us
    shuts_down = say(SHUTS_DOWN[gone or held, bool(request.node)], node=request.node)
    shut: dict[str, Any] = {"state": "done", "at": "", "text": shuts_down}
    if not gone and not held:
        shut |= {"state": "now", "left": left(rest), "ring": share(rest, request.grace_us)}
    first = [say("evictions.grace-period", seconds=seconds(request.grace_us)), say("evictions.not-counted")]
    if request.late:
        first = [say("evictions.on-its-way-already")]
    if held:
        last = {"state": "now", "at": "", "text": say("evictions.held-by-finalizers")}
        return [*({"state": "done", "at": clock(request.first_us), "text": text} for text in first), shut, last]
    return [
        *({"state": "done", "at": clock(request.first_us), "text": text} for text in first),
        shut,
        {
            "state": "done" if gone else "next",
            "at": clock(request.ended_us if gone else request.leaves_us),
            "text": say("evictions.has-removed") if gone else say("evictions.removes"),
        },
    ]
