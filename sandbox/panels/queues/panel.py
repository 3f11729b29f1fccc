"""The scheduling queue, lane by lane, in the order in which pods would leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.panels.drawing.ordering import Head, Keys, by_name, head, ordered, own
from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.facts import devices
from sandbox.panels.facts.moves import origin, source_of
from sandbox.panels.facts.version import rules_in
from sandbox.panels.facts.waking import event_of, event_of_hint, woken_by
from sandbox.panels.model.state import PodState, Queued, by_error_expiry, by_expiry, by_priority, by_time, leaves_us
from sandbox.panels.model.world import World
from sandbox.panels.queues.outside import MOST, outside_queue
from sandbox.panels.queues.wakes import wakes
from sandbox.panels.view import View
from sandbox.words.amounts import SECOND, clock, seconds, share, short_clock, short_name
from sandbox.words.phrases import listed, short_reason
from sandbox.words.say import say
from scheduler_engine import wording
from scheduler_engine.trace.events import HintAnswered

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
CAUSES = {
    "BackoffComplete": "queues.backoff-is-over",
    "PopFromBackoffQ": "queues.popped-from-backoff",
    "UnschedulableTimeout": "queues.waited-too-long",
    "ForceActivate": "queues.activated",
    "UnschedulablePodUpdate": "queues.pod-changed",
}
QUIET_CAUSES = ("UnschedulablePodAdd", "PodAdd", "ScheduleAttemptFailure", "Pop")
"""Causes that say no more than the lane does."""
RULES = {"v1.34": "queues.rules-of-v1-34", "design-doc": "queues.rules-of-the-design-doc"}
"""Rules of the queue → key of how they differ from the others."""
FEW = 5
"""Most pods of a lane that are seen at a glance, in any order."""


def stats(world: World, view: View) -> dict[str, Any]:
    by_lane = world.lanes()
    lanes = [_lane(world, lane, by_lane.get(lane.source, []), view) for lane in LANES]
    lanes = [lane for lane in lanes if lane["cards"] or lane["id"] != "errorBackoffQ"]
    others, ended = outside_queue(world, view)
    initial, most = _backoff(world)
    return {
        "lanes": [*lanes, *(lane for lane in (others, ended) if lane["cards"])],
        "heads": _heads(view) if view.order_of("queues") or any(lane["count"] > FEW for lane in lanes) else (),
        "pending": sum(lane["count"] for lane in (*lanes, others)) - _deleted(world, by_lane.get("inFlight", [])),
        "nobody": "" if world.schedulers else world.election.nobody(),
        "replicas": _replicas(world),
        "stem": world.scheduler.replica.rpartition("-")[0],
        "rules": _called(world),
        "rules_say": say(RULES[_rules_of(world)], initial=initial, most=most),
    }


def _replicas(world: World) -> list[dict[str, Any]]:
    """Return the replicas whose queue may be shown, if there is more than one."""
    if len(world.schedulers) < 2:
        return []
    return [
        {"name": name, "short": name.rpartition("-")[2], "on": name == world.scheduler.replica}
        for name in sorted(world.schedulers)
    ]


def _backoff(world: World) -> tuple[int, int]:
    """Return the first and the longest backoff in seconds."""
    configuration = world.configured.configuration if world.configured else {}
    return configuration.get("podInitialBackoffSeconds", 1), configuration.get("podMaxBackoffSeconds", 10)


def _called(world: World) -> str:
    """Return the name of the queue's rules. Those of Kubernetes have the name of the version in force."""
    rules = _rules_of(world)
    return rules_in(world.configured).kubernetes if rules == "v1.34" else rules


def _rules_of(world: World) -> str:
    return world.configured.queue_rules if world.configured else "v1.34"


# --- the lanes --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane. ``title`` and ``note`` are keys; ``order`` is the order in which pods leave.

    ``source``: the lane of the model. ``card``: a function that returns what only cards of this lane say.
    """

    name: str
    title: str
    note: str
    source: str
    order: Callable[[Queued], tuple[int | str, ...]]
    card: Callable[[World, Queued], dict[str, Any]]


COLUMNS = {"name": "orders.name", "priority": "orders.priority", "attempts": "orders.attempts", "age": "orders.age"}
ORDERS: Keys[tuple[int, Queued]] = {
    "name": lambda placed: by_name(short_name(placed[1].move.pod)),
    "priority": lambda placed: placed[1].move.priority,
    "attempts": lambda placed: placed[1].move.attempts,
    "age": lambda placed: -placed[1].at_us,
}


def _deleted(world: World, in_flight: list[Queued]) -> int:
    """Return how many pods in flight no longer exist."""
    return sum(1 for queued in in_flight if _pod(world, queued) is None)


def _pod(world: World, queued: Queued) -> PodState | None:
    """Return the pod in a place of the queue; None if it is gone, even if another pod has its name."""
    pod = world.pods.get(queued.move.pod)
    return pod if pod is not None and queued.is_of(pod.pod.uid) else None


def _heads(view: View) -> tuple[Head, ...]:
    """Return buttons for the order of all lanes; a card keeps the place at which its pod would leave."""
    columns = (head(view, "queues", column, [say(key)], down=column != "name") for column, key in COLUMNS.items())
    return own(view, "queues", say("orders.queue")), *columns


def _lane(world: World, lane: Lane, queued_pods: list[Queued], view: View) -> dict[str, Any]:
    queued_pods = sorted(queued_pods, key=lane.order)
    pages = pager(len(queued_pods), view, f"queues.{lane.name}", MOST)
    in_order = ordered(enumerate(queued_pods, 1), view, "queues", ORDERS)
    cards = [_card(world, queued, place, lane) for place, queued in on_page(in_order, pages)]
    return {
        "id": lane.name,
        "source": lane.source,
        "title": say(lane.title),
        "note": _note(world, lane, queued_pods),
        "count": len(queued_pods),
        "cards": cards,
        "pages": pages,
    }


def _note(world: World, lane: Lane, queued_pods: list[Queued]) -> str:
    """Return in which order the pods of a lane leave."""
    if lane.name == "activeQ" and any(queued.move.order_us is not None for queued in queued_pods):
        return say("queues.active-order-of-groups")
    return say(NOTES.get((_rules_of(world), lane.name), lane.note))


def _card(world: World, queued: Queued, place: int, lane: Lane) -> dict[str, Any]:
    key = queued.move.pod
    pod, cycle = _pod(world, queued), world.cycle
    by = origin(world, queued)
    return {
        "lane": lane.name,
        "id": f"{key}:{queued.move.uid}" if queued.move.uid in world.replaced else key,
        "pod": key,
        "name": short_name(key),
        "app": pod.app if pod else 1,
        "priority": queued.move.priority,
        "place": place,
        "woken": woken_by(world, queued),
        "title": _title(queued) + (f"; {by['text']}" if by["text"] else ""),
        "command": by.get("command", 0),
        "now": cycle is not None and not cycle.outcome and cycle.pod == key and cycle.is_of(queued.move.uid),
        **lane.card(world, queued),
    }


# --- what a card says -------------------------------------------------------------------------------------------------


def _title(queued: Queued) -> str:
    came, source = queued.came, source_of(queued.came)
    key = CAME[bool(source), bool(came.plugin)]
    about = {"source": source, "cause": came.cause, "plugin": came.plugin, "hint": came.hint}
    return say(key, clock=short_clock(queued.at_us), **about)


CAME = {
    (False, False): "queues.came",
    (False, True): "queues.came-by-hint",
    (True, False): "queues.came-from",
    (True, True): "queues.came-from-by-hint",
}
"""(it was in a queue before, a plugin's hint brought it) → key of how it came."""


def _hint(answer: HintAnswered | None) -> dict[str, Any]:
    """Return which plugin's hint brought the pod here or left it, for which event, and why."""
    if answer is None:
        return {}
    return {"hint": (answer.plugin, answer.verdict, event_of_hint(answer), wording.hint(answer))}


def _moved(queued: Queued) -> str:
    came = queued.came
    if came.cause in QUIET_CAUSES or queued.answer is not None:
        return ""
    if came.cause in CAUSES:
        return say(CAUSES[came.cause])
    return say("queues.after", event=event_of(came.cause, queued.about))


NOTED = {"v1.34": ("queues.noted", "queues.noted-nothing"), "design-doc": ("queues.moves", "queues.moves-none")}
"""Rules → (key of what a pod in flight says of events since its Pop, key for none).

By the design document it notes none: it compares the cycle of the last move request with its own.
"""


def _flying(world: World, queued: Queued) -> dict[str, Any]:
    key = queued.move.pod
    if queued.move.uid in world.replaced:
        return _of_a_taken_name(world, queued)
    noted = list(dict.fromkeys(event_of(*item) for item in world.noted.get(key, ())))
    attempt = world.attempt_of(key, world.scheduler)
    binding = attempt is not None and attempt.number in world.binding
    some, none = NOTED[_rules_of(world)]
    early = queued.came.cause == "PopFromBackoffQ"
    return {
        "age": say("queues.binding") if binding else say("queues.attempt", number=max(queued.move.attempts, 1)),
        "lead": "now",
        "moved": say(CAUSES["PopFromBackoffQ"]) if early else "",
        "detail": say(some if noted else none, events=listed(noted)),
    }


def _of_a_taken_name(world: World, queued: Queued) -> dict[str, Any]:
    """Return the card of a deleted pod in flight whose name another pod now has."""
    attempts = world.attempts.get(queued.move.pod, ())
    over = all(cycle.outcome for cycle in attempts if cycle.uid == queued.move.uid)
    return {
        "age": say("queues.over") if over else say("queues.attempt", number=max(queued.move.attempts, 1)),
        "lead": "now",
        "moved": "",
        "detail": say("queues.leaked") if over else say("queues.name-taken"),
    }


def _nominated(world: World, queued: Queued) -> str:
    node = world.nominations.get(queued.move.pod)
    return say("queues.nominated", node=node) if node else ""


def _active(world: World, queued: Queued) -> dict[str, Any]:
    attempts = queued.move.attempts + 1
    return {
        "age": say("queues.new") if attempts <= 1 else say("queues.attempt", number=attempts),
        "moved": _moved(queued),
        "detail": _nominated(world, queued),
        **_hint(queued.answer),
    }


def _backing_off(world: World, queued: Queued) -> dict[str, Any]:
    end = leaves_us(queued.move, world.clock_us)
    left, whole = max(0, end - world.clock_us), max(end - queued.move.timestamp_us, 1)
    return {
        "age": say("queues.backoff-left", left=seconds(left), whole=seconds(whole)),
        "ring": share(left, whole),
        "lead": "ring",
        "moved": _moved(queued),
        "detail": _nominated(world, queued),
        "until": _until(world, queued, end),
        "error": queued.lane == "errorBackoffQ",
        **_hint(queued.answer),
    }


def _until(world: World, queued: Queued, end_us: int) -> str:
    """Return when the pod leaves its queue, and why then: whole seconds of backoff, and the rest of the last one."""
    initial, most = _backoff(world)
    lasts_us = (queued.move.backoff_until_us or 0) - queued.move.timestamp_us
    whole = -(-lasts_us // SECOND)
    power = max(whole // initial, 1).bit_length() - 1 if initial else 0
    if whole == most:
        until = say("queues.backoff-most", end=clock(end_us), most=most)
    elif initial and initial << power == whole:
        exponent = str(power).translate(SUPERSCRIPTS)
        until = say("queues.backoff-formula", end=clock(end_us), initial=initial, power=exponent)
    else:  # The backoff began under another configuration.
        until = say("queues.backoff-until", end=clock(end_us))
    if end_us > queued.move.timestamp_us + whole * SECOND:
        until = say("queues.backoff-and-rest", until=until)
    sooner = _rules_of(world) == "v1.34" and queued.lane == "backoffQ"
    return say("queues.backoff-or-idle", until=until) if sooner else until


SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _stuck(world: World, queued: Queued) -> dict[str, Any]:
    move = queued.move
    by = list(move.unschedulable_plugins or move.pending_plugins)
    pod = _pod(world, queued)
    has_affinity = pod is not None and bool((pod.pod.affinity.get("podAffinity") or {}).get(REQUIRED))
    profile = pod.pod.scheduler_name if pod is not None else ""
    woken = wakes(world, profile, move.unschedulable_plugins + move.pending_plugins, has_affinity)
    stayed = world.stayed.get(move.pod)
    return {
        "age": say("queues.since", clock=short_clock(move.timestamp_us)),
        "lead": f"{move.attempts}×",
        "by": by[:2],
        "by_more": max(0, len(by) - 2),
        "why": _why(world, move.pod) if len(by) < 3 else "",
        "wakes": woken[:2] + ([say("queues.more", count=len(woken) - 2)] if len(woken) > 2 else []),
        **_hint(queued.answer),
        **(_hint(stayed.hint) if stayed else {}),
    }


def _why(world: World, pod: str) -> str:
    attempt = world.attempt_of(pod, world.scheduler)
    table = attempt.filter if attempt else None
    reasons_of_nodes = dict.fromkeys(row[3] for row in table.looked_at if row[1]) if table else ()
    return listed(list(dict.fromkeys(short_reason(reasons) for reasons in reasons_of_nodes)), 2)


OF_CLAIMS = "DynamicResources"
"""The plugin that keeps a pod out of activeQ until it has all its claims."""


def _gated(world: World, queued: Queued) -> dict[str, Any]:
    pod = _pod(world, queued)
    gates = list(pod.pod.scheduling_gates) if pod else []
    plugin = queued.move.gating_plugin
    blocking = [row for row in devices.claims(world, pod.pod) if row.blocks] if pod and plugin == OF_CLAIMS else []
    if gates:
        detail = say("queues.gate", gates=listed(gates, 2), count=len(gates))
    elif blocking:
        detail = say("queues.claim", name=blocking[0].name or blocking[0].entry, state=blocking[0].state)
    else:
        detail = say("queues.gated-by", plugin=plugin)
    return {"age": say("queues.is-gated"), "lead": "lock", "detail": detail}


LANES = (
    Lane("inFlight", "queues.in-flight", "queues.in-flight-order", "inFlight", by_time, _flying),
    Lane("activeQ", "queues.active", "queues.active-order", "activeQ", by_priority, _active),
    Lane("backoffQ", "queues.backoff", "queues.backoff-order", "backoffQ", by_expiry, _backing_off),
    Lane("errorBackoffQ", "queues.error", "queues.error-order", "errorBackoffQ", by_error_expiry, _backing_off),
    Lane("unschedulable", "queues.stuck", "queues.stuck-order", "unschedulablePods", by_time, _stuck),
    Lane("gated", "queues.gated", "queues.gated-order", "gated", by_time, _gated),
)
NOTES = {("design-doc", "unschedulable"): "queues.stuck-order-of-the-design-doc"}
"""(rules, lane) → key of the note that replaces the lane's own."""
