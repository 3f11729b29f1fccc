"""Requests to evict as rows: the answer, how an allowed eviction goes on, what would let a refused one through."""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.budgets import KIND, Budgets, ways_out
from sandbox.panels.facts.eviction_nodes import block
from sandbox.panels.model.eviction_log import Request
from sandbox.panels.model.world import World
from sandbox.panels.words.amounts import clock, left, seconds, share, short_name

STUCK = 3
"""Refusals in a row after which an eviction counts as stuck."""
ANSWERS = {
    200: ("yes", "200 OK"),
    403: ("no", "403 Forbidden"),
    429: ("no", "429 Too Many Requests"),
    500: ("bang", "500 Internal Server Error"),
}
AFTER = {
    "allowed": "Asked again, it was allowed",
    "deleted": "The pod was deleted past the Eviction API, gone",
    "other": "Asked again with another answer",
}


def row(world: World, budgets: Budgets, request: Request) -> dict[str, Any]:
    sign, answer = ANSWERS.get(request.code, ("no", str(request.code)))
    newest = world.evictions.open.get(request.pod)
    is_open = newest is request
    there = is_open or (newest is not None and request.then in ("allowed", "other"))
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
        "by": "" if request.asked_by else world.people.get(request.command) or "a person",
        "steps": [] if request.refused else _steps(world, request),
        "stuck": is_open and stuck(world, budgets, request),
        "again": is_open and request.refused,
        **_way_out(world, budgets, request, is_open),
        "after": f"{AFTER[request.then]} at {clock(request.ended_us)}." if request.then in AFTER else "",
    }


def _budget_line(budgets: Budgets, request: Request) -> str:
    return "; ".join(f"{item.name} now: {item.text}" for item in budgets.named(request.budgets))


def stuck(world: World, budgets: Budgets, request: Request) -> bool:
    """Refused again and again, and nothing is under way that would change the answer."""
    pod = world.pods.get(request.pod)
    if not (request.refused and request.row >= STUCK and pod is not None and pod.state != "terminating"):
        return False
    there = budgets.named(request.budgets)
    return len(there) > 1 or (len(there) == 1 and not there[0].allowed and not there[0].leaving)


def _way_out(world: World, budgets: Budgets, request: Request, is_open: bool) -> dict[str, Any]:
    """What would let a refused pod go, and buttons for it: (label, kind, key) of what may be deleted."""
    pod = world.pods.get(request.pod)
    if not (is_open and request.refused and pod is not None):
        return {"ways": [], "deletes": []}
    if pod.state == "terminating":
        return {"ways": ["It is being deleted past the Eviction API: nobody needs to ask any more."], "deletes": []}
    name = short_name(request.pod)
    pods = [(f"Delete {name} past the Eviction API", "Pod", request.pod)]
    there = budgets.named(request.budgets)
    if len(there) > 1:
        ways = [f"{len(there)} budgets select it, and the answer stays the same until only one does."]
        return {"ways": ways, "deletes": [(f"Delete budget {item.name}", KIND, item.key) for item in there] + pods}
    ways = ways_out(pod, there[0]) if there else ["Ask again: its budget is gone."]
    return {"ways": ways, "deletes": pods if stuck(world, budgets, request) else []}


def _steps(world: World, request: Request) -> list[dict[str, Any]]:
    """How a pod goes once its eviction is allowed, as far as it has come."""
    if request.leaves_us is None:
        return [{"state": "done", "at": clock(request.first_us), "text": "it had not been started: deleted at once"}]
    gone = request.then == "gone"
    where = f"the kubelet on {request.node}" if request.node else "the kubelet"
    rest = request.leaves_us - world.clock_us
    shut: dict[str, Any] = {"state": "done", "at": "", "text": f"{where} has shut it down"}
    if not gone:
        shut |= {"state": "now", "text": f"{where} shuts it down", "left": left(rest)}
        shut["ring"] = share(rest, request.grace_us)
    return [
        {
            "state": "done",
            "at": clock(request.first_us),
            "text": f"deletion timestamp, grace period {seconds(request.grace_us)}",
        },
        {"state": "done", "at": clock(request.first_us), "text": "controllers and budgets count it no more"},
        shut,
        {
            "state": "done" if gone else "next",
            "at": clock(request.ended_us if gone else request.leaves_us),
            "text": "the API server has removed it" if gone else "the API server removes it",
        },
    ]
