"""Drains and evictions by taint as rows, each with the rest of its wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandbox.panels.drawing.blocks import Block, gone_block
from sandbox.panels.drawing.blocks import block as pod_block
from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.model.eviction_log import Drain, Plan
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import clock, left, share, short_name
from sandbox.words.phrases import plural
from sandbox.words.say import say
from scheduler_engine.commands import DRAIN_FLAGS

MOST_PODS, PAGE = 20, 100
DRAINS = {
    "started": ("ring", "evictions.drain-started"),
    "waiting": ("ring", "evictions.drain-waits"),
    "evicted": ("ring", "evictions.drain-waits-for-the-end"),
    "finished": ("yes", "evictions.drain-finished"),
    "failed": ("bang", "evictions.drain-failed"),
    "stopped": ("no", "evictions.drain-stopped"),
}
"""State → its sign, the key of its name."""
PLANS = {
    "planned": ("ring", "evictions.planned", "evictions.count-planned"),
    "evicted": ("no", "evictions.evicted", "evictions.count-evicted"),
    "cancelled": ("yes", "evictions.cancelled", "evictions.count-cancelled"),
    "overtaken": ("no", "evictions.overtaken", "evictions.count-overtaken"),
}
"""State → its sign, the key of its name, the key of its count."""
ABOUT = {
    "force": "evictions.flag-force",
    "ignore_daemonsets": "evictions.flag-ignore-daemonsets",
    "delete_emptydir_data": "evictions.flag-delete-emptydir-data",
}
"""Field of a drain → key of what its flag does."""


def block(world: World, key: str, still_there: bool, mark: str) -> Block:
    """Return a block of the pod ``key``.

    ``still_there``: the pod of this name is still the same one. ``mark`` makes the id of the button unique.
    """
    pod = world.pods.get(key)
    return gone_block(key) if pod is None or not still_there else pod_block(pod, mark)


def is_draining(world: World, node: str) -> bool:
    """Return True if a drain of ``node`` is running."""
    drain = world.evictions.drains.get(node)
    return drain is not None and not drain.over


def flags(world: World, node: str) -> list[dict[str, Any]]:
    """Return kubectl's flags for a drain of ``node``; those of its last drain are ticked."""
    drain = world.evictions.drains.get(node)
    ticked = drain.flags if drain else ()
    return [
        {"field": name, "name": flag, "about": say(ABOUT[name]), "on": name in ticked}
        for name, flag in DRAIN_FLAGS.items()
    ]


def failure(world: World, node: str) -> dict[str, Any] | None:
    """Return why the last drain of ``node`` failed, what helps, and flags that avoid it; None if it did not fail."""
    drain = world.evictions.drains.get(node)
    if drain is None or drain.what != "failed":
        return None
    flag_fields = [name for name in DRAIN_FLAGS if name in drain.flags or name in drain.helping]
    names = " ".join(DRAIN_FLAGS[name] for name in flag_fields)
    helping = [say("evictions.helps", flag=DRAIN_FLAGS[name], what=say(ABOUT[name])) for name in drain.helping]
    return {
        "error": drain.error,
        "ways": helping or [say("evictions.look-at-the-requests")],
        "again": flag_fields,
        "label": say("evictions.drain-with", flags=names) if flag_fields else say("evictions.drain-as-before"),
    }


def drain_row(world: World, drain: Drain, view: View) -> dict[str, Any]:
    sign, state = DRAINS[drain.what]
    leaving = [] if drain.over else _leaving(world, drain)
    node, daemons = world.nodes.get(drain.node), say("evictions.of-daemon-sets")
    rest, whole = _wait(world, drain, leaving)
    there = ((key, world.pod_at(key, drain.entry)) for key in drain.refused)
    refused = [key for key, pod in there if pod is not None and pod.state != "terminating"]
    asks_again = say("evictions.asks-again", left=left(rest)) if drain.what == "waiting" else ""
    return {
        "node": drain.node,
        "sign": sign,
        "state": say(state, pods=plural(len(refused if drain.what == "waiting" else leaving), "pod")),
        "left": asks_again or (left(rest) if rest else ""),
        "ring": share(rest, whole),
        "started": clock(drain.started_us),
        "ended": clock(drain.at_us) if drain.over else "",
        "rounds": plural(drain.rounds, "round"),
        "lists": [
            _list(world, view, f"refused/{drain.node}", say("evictions.refused"), refused, sign="fell"),
            _list(world, view, f"leaving/{drain.node}", say("evictions.on-the-way-out"), leaving),
            _list(world, view, f"kept/{drain.node}", say("evictions.stay"), drain.staying, note=daemons),
        ],
        "evicted": len(drain.evicted),
        "warning": drain.warning,
        "failure": failure(world, drain.node),
        "over": drain.over,
        "cordoned": node is not None and node.node.unschedulable,
    }


def _leaving(world: World, drain: Drain) -> list[str]:
    """Return the evicted pods that are still there, also those that finalizers hold."""
    evicted = (world.pod_at(key, entry) for key, entry in drain.evicted.items())
    return [pod.key for pod in evicted if pod is not None and pod.state == "terminating" and pod.node == drain.node]


def _wait(world: World, drain: Drain, leaving: list[str]) -> tuple[int, int]:
    """Return (rest of the wait, its whole length) in microseconds: until the next round, or until the last pod ends."""
    if drain.what == "waiting" and drain.next_us is not None:
        return max(0, drain.next_us - world.clock_us), drain.next_us - drain.at_us
    ends = [(world.pods[key].gone_at_us or 0, world.pods[key].terminating_since_us or 0) for key in leaving]
    last, since = max(ends, default=(0, 0))
    return max(0, last - world.clock_us), last - since


def _list(
    world: World, view: View, name: str, title: str, keys: Sequence[str], sign: str = "", note: str = ""
) -> dict[str, Any]:
    """Return one list of pods of a drain. It shows the first few until somebody asks for all."""
    pages = pager(len(keys), view, f"evictions.{name}", PAGE, few=MOST_PODS)
    return {
        "title": title,
        "sign": sign,
        "pods": [_named(world, key) for key in on_page(keys, pages)],
        "pages": pages,
        "note": note,
    }


def _named(world: World, key: str) -> dict[str, str]:
    pod = world.pods.get(key)
    rest = left(pod.left_us(world.clock_us)) if pod is not None and pod.state == "terminating" else ""
    return {"key": key, "name": short_name(key), "left": rest}


def plans(world: World) -> list[Plan]:
    """Return the plans to come by their time, then the others, the newest first."""
    log = world.evictions
    over = [plan for plan in log.plans.values() if plan.state != "planned"]
    over.sort(key=lambda plan: (-plan.ended_us, -plan.number))
    return [*sorted(log.planned.values(), key=lambda plan: plan.at_us), *over]


def plan_counts(plans: list[Plan]) -> str:
    """Return how many plans are in each state, in words."""
    counts = dict.fromkeys(PLANS, 0)
    for plan in plans:
        counts[plan.state] += 1
    return ", ".join(say(PLANS[state][2], count=count) for state, count in counts.items() if count)


def plan_row(world: World, plan: Plan) -> dict[str, Any]:
    log = world.evictions
    sign, state, _ = PLANS[plan.state]
    still_there = plan.state == "cancelled" or plan is log.planned.get(plan.pod) or plan is log.leaving.get(plan.pod)
    rest = plan.at_us - world.clock_us
    tolerated = "evictions.not-tolerated" if plan.seconds is None else "evictions.tolerated-for"
    return {
        "id": plan.number,
        "pod": plan.pod,
        "block": block(world, plan.pod, still_there, f"et-{plan.number}"),
        "node": plan.node,
        "taint": plan.taint,
        "tolerated": say(tolerated, seconds=plan.seconds),
        "sign": sign,
        "state": say(state),
        "ring": share(rest, plan.at_us - plan.since_us),
        "text": _plan_words(world, plan),
        "at": clock(plan.at_us if plan.state == "planned" else plan.ended_us),
    }


def _plan_words(world: World, plan: Plan) -> str:
    if plan.state == "planned":
        return say("evictions.must-leave", left=left(plan.at_us - world.clock_us))
    if plan.state == "evicted":
        key = "evictions.evicted-after" if plan.seconds else "evictions.evicted-at-once"
        return say(key, waited=left(plan.ended_us - plan.since_us))
    left_before = left(plan.at_us - plan.ended_us)
    if plan.state == "cancelled":
        return say("evictions.cancelled-before", left=left_before, why=plan.why)
    return say("evictions.went-before", left=left_before)
