"""Eviction requests as rows: the answer, how an allowed eviction continues, and what would let a refused one pass."""

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
"""(the pod has ended, its node is known) → key."""


def row(world: World, budgets: Budgets, request: Request) -> dict[str, Any]:
    sign, answer = ANSWERS.get(request.code, ("no", str(request.code)))
    newest = world.evictions.open.get(request.pod)
    is_open = newest is request
    still_there = is_open or (newest is not None and request.then in ("allowed", "deleting", "other"))
    existing = budgets.named(request.budgets) if is_open and request.refused else []
    return {
        "id": request.number,
        "pod": request.pod,
        "block": block(world, request.pod, still_there, f"er-{request.number}"),
        "at": clock(request.at_us),
        "since": clock(request.first_us) if request.times > 1 else "",
        "times": request.times,
        "code": request.code,
        "sign": sign,
        "answer": answer,
        "message": request.message,
        "cause": request.cause,
        "budgets": [short_name(key) for key in request.budgets],
        "live": "; ".join(say("evictions.budget-now", budget=item.name, numbers=item.text) for item in existing),
        "node": request.asked_by,
        "by": "" if request.asked_by else world.people.get(request.command) or say("evictions.a-person"),
        "steps": [] if request.refused else _steps(world, request),
        "stuck": is_open and stuck(world, budgets, request),
        "again": is_open and request.refused,
        **_way_out(world, budgets, request, is_open),
        "after": say(AFTER[request.then], clock=clock(request.ended_us)) if request.then in AFTER else "",
    }


def stuck(world: World, budgets: Budgets, request: Request) -> bool:
    """Return True if a request is refused again and again, and nothing is happening that would change the answer."""
    pod = world.pods.get(request.pod)
    if not (request.refused and request.row >= STUCK and pod is not None and pod.state != "terminating"):
        return False
    existing = budgets.named(request.budgets)
    return len(existing) > 1 or (len(existing) == 1 and not existing[0].allowed and not existing[0].is_changing)


def _way_out(world: World, budgets: Budgets, request: Request, is_open: bool) -> dict[str, Any]:
    """Return what would let a refused pod go, and buttons for it: (label, kind, key) of objects to delete."""
    pod = world.pods.get(request.pod)
    if not (is_open and request.refused and pod is not None):
        return {"ways": [], "deletes": []}
    if pod.state == "terminating":
        return {"ways": [say("evictions.deleted-past-the-api")], "deletes": []}
    pods = [(say("evictions.delete-pod", pod=short_name(request.pod)), "Pod", request.pod)]
    existing = budgets.named(request.budgets)
    if len(existing) > 1:
        ways = [say("evictions.several-budgets", count=len(existing))]
        deletes = [(say("evictions.delete-budget", budget=item.name), KIND, item.key) for item in existing]
        return {"ways": ways, "deletes": deletes + pods}
    ways = ways_out(pod, existing[0]) if existing else [say("evictions.budget-gone")]
    return {"ways": ways, "deletes": pods if stuck(world, budgets, request) else []}


def _steps(world: World, request: Request) -> list[dict[str, Any]]:
    """Return the steps of an allowed eviction so far."""
    if request.leaves_us is None:
        return [{"state": "done", "at": clock(request.first_us), "text": say("evictions.not-started")}]
    is_gone = request.then == "gone"
    is_held = not is_gone and request.pod in world.pods and world.pods[request.pod].pod.finished
    rest = request.leaves_us - world.clock_us
    shuts_down = say(SHUTS_DOWN[is_gone or is_held, bool(request.node)], node=request.node)
    shutdown: dict[str, Any] = {"state": "done", "at": "", "text": shuts_down}
    if not is_gone and not is_held:
        shutdown |= {"state": "now", "left": left(rest), "ring": share(rest, request.grace_us)}
    first = [say("evictions.grace-period", seconds=seconds(request.grace_us)), say("evictions.not-counted")]
    if request.late:
        first = [say("evictions.on-its-way-already")]
    if is_held:
        last = {"state": "now", "at": "", "text": say("evictions.held-by-finalizers")}
    elif is_gone:
        last = {"state": "done", "at": clock(request.ended_us), "text": say("evictions.has-removed")}
    else:
        last = {"state": "next", "at": clock(request.leaves_us), "text": say("evictions.removes")}
    return [*({"state": "done", "at": clock(request.first_us), "text": text} for text in first), shutdown, last]
