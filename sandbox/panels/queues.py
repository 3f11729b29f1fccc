"""The scheduling queue, lane by lane, in the order in which pods would leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .amounts import SECOND, seconds, short_clock, short_name
from .state import Queued
from .view import View
from .wakes import wakes
from .words import listed, short_reason
from .world import World

MOST = 60
"""Cards shown per lane; the rest is a number."""

CAUSES = {
    "BackoffComplete": "from backoffQ, backoff over",
    "PopFromBackoffQ": "from backoffQ, as activeQ was empty",
    "UnschedulableTimeout": "waited too long, so it may try again",
    "ForceActivate": "activated",
    "PodUpdate": "the pod was changed",
}


def stats(world: World, view: View) -> dict[str, Any]:
    lanes = [
        _lane(
            world, "inFlight", "In flight", "being scheduled", ("inFlight",), lambda queued: (queued.at_us,), _flying
        ),
        _lane(world, "activeQ", "activeQ", "priority, then time", ("activeQ",), _by_priority, _active),
        _lane(
            world, "backoffQ", "backoffQ", "by end of backoff", ("backoffQ", "errorBackoffQ"), _by_expiry, _backing_off
        ),
        _lane(
            world, "unschedulable", "unschedulable", "until an event helps", ("unschedulablePods",), _by_time, _stuck
        ),
        _lane(world, "gated", "gated", "PreEnqueue says no", ("gated",), _by_time, _gated),
    ]
    return {"lanes": lanes, "pending": sum(lane["count"] for lane in lanes)}


def _by_priority(queued: Queued) -> tuple[int, ...]:
    return -queued.move.priority, queued.move.timestamp_us


def _by_expiry(queued: Queued) -> tuple[int, ...]:
    end = queued.move.backoff_until_us or 0
    return end // SECOND, -queued.move.priority, queued.move.timestamp_us


def _by_time(queued: Queued) -> tuple[int, ...]:
    return (queued.at_us,)


def _lane(
    world: World,
    name: str,
    title: str,
    note: str,
    sources: tuple[str, ...],
    order: Callable[[Queued], tuple[int, ...]],
    card: Callable[[World, Queued], dict[str, Any]],
) -> dict[str, Any]:
    found = sorted((queued for queued in world.queue.values() if queued.lane in sources), key=order)
    cards = []
    for place, queued in enumerate(found[:MOST], 1):
        pod = world.pods.get(queued.move.pod)
        cards.append(
            {
                "pod": queued.move.pod,
                "name": short_name(queued.move.pod),
                "app": pod.app if pod else 1,
                "priority": queued.move.priority,
                "place": place,
                "attempts": queued.move.attempts,
                "title": _cause(queued),
                "now": world.cycle is not None and world.cycle.pod == queued.move.pod and not world.cycle.outcome,
                **card(world, queued),
            }
        )
    return {
        "id": name,
        "title": title,
        "note": note,
        "count": len(found),
        "cards": cards,
        "more": len(found) - len(cards),
    }


def _cause(queued: Queued) -> str:
    move = queued.move
    came = f"from {move.source} " if move.source else ""
    by = f", {move.plugin} answered {move.hint}" if move.plugin else ""
    return f"{came}by {move.cause}{by} at {short_clock(queued.at_us)}"


def _tries(attempts: int) -> str:
    return "new" if attempts <= 1 else f"attempt {attempts}"


def _flying(world: World, queued: Queued) -> dict[str, Any]:
    noted = list(dict.fromkeys(world.noted.get(queued.move.pod, ())))
    detail = f"noted {listed(noted)}" if noted else "no event since its Pop"
    return {"age": f"attempt {max(queued.move.attempts, 1)}", "detail": detail}


def _active(world: World, queued: Queued) -> dict[str, Any]:
    move = queued.move
    attempts = move.attempts + 1
    detail = CAUSES.get(move.cause, "")
    if not detail and move.source not in ("", "activeQ", "inFlight"):
        detail = f"after {move.cause}"
    nominated = world.nominations.get(move.pod)
    return {
        "age": _tries(attempts),
        "moved": detail,
        "detail": f"nominated to {nominated}" if nominated else "",
    }


def _backing_off(world: World, queued: Queued) -> dict[str, Any]:
    move = queued.move
    end = move.backoff_until_us if move.backoff_until_us is not None else world.clock_us
    left = max(0, end - world.clock_us)
    whole = max(end - move.timestamp_us, 1)
    nominated = world.nominations.get(move.pod)
    return {
        "age": f"{seconds(left)} of {seconds(round(whole / SECOND) * SECOND)}",
        "ring": round(100 * min(left / whole, 1)),
        "left_us": left,
        "end_us": end,
        "whole_us": whole,
        "detail": f"nominated to {nominated}" if nominated else "",
        "error": queued.lane == "errorBackoffQ",
    }


def _stuck(world: World, queued: Queued) -> dict[str, Any]:
    move = queued.move
    by = list(move.unschedulable_plugins or move.pending_plugins)
    woken = wakes(move.unschedulable_plugins + move.pending_plugins)
    return {
        "age": f"since {short_clock(move.timestamp_us)}",
        "lead": f"{move.attempts}×",
        "by": by[:2],
        "by_more": max(0, len(by) - 2),
        "why": _why(world, move.pod) if len(by) < 3 else "",
        "wakes": woken[:2] + ([f"{len(woken) - 2} more"] if len(woken) > 2 else []),
    }


def _why(world: World, pod: str) -> str:
    attempts = world.attempts.get(pod)
    table = attempts[-1].filter if attempts else None
    reasons = [short_reason(row[3]) for row in table.rows if row[1]] if table else []
    return listed(list(dict.fromkeys(reasons)), 2)


def _gated(world: World, queued: Queued) -> dict[str, Any]:
    pod = world.pods.get(queued.move.pod)
    gates = list(pod.pod.scheduling_gates) if pod else []
    detail = f"gate {listed(gates, 2)}" if gates else f"by {queued.move.gating_plugin}"
    return {"age": "gated", "detail": detail}
