"""Requests to evict and their answers, drains, and evictions that taints have planned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sandbox.panels.words.phrases import taint_text
from scheduler_engine.api.taints import Taint, Toleration
from scheduler_engine.trace import events as ev

if TYPE_CHECKING:
    from sandbox.panels.model.world import World

BY_TAINT = "TaintManagerEviction"
OF_PEOPLE = ("evict", "drain", "node-condition", "usage", "scale", "delete")
"""Commands whose outcome is worth a sentence of its own."""


@dataclass(slots=True)
class Request:
    """An answer to a request to evict; the same one again counts on it (``times``, ``at_us`` is the last time).

    ``leaves_us``: when the grace period of a pod that may go ends. ``then`` tells how it went on, at ``ended_us``:
    ``gone``, or after a refusal ``allowed``, ``deleted`` or ``other`` (another answer, or asked by somebody else).
    ``row``: refusals of this pod one after the other, whoever asked.
    """

    pod: str
    node: str
    code: int
    message: str
    cause: str
    budgets: tuple[str, ...]
    asked_by: str
    first_us: int
    at_us: int
    command: int
    times: int = 1
    row: int = 0
    grace_us: int = 0
    leaves_us: int | None = None
    then: str = ""
    ended_us: int = 0
    number: int = 0

    @property
    def refused(self) -> bool:
        return self.code != 200


@dataclass(slots=True)
class Drain:
    """``what`` as in DrainChanged, since ``at_us``. ``evicted``: pods that went; ``rounds``: how often it asked."""

    node: str
    started_us: int
    command: int
    what: str = "started"
    at_us: int = 0
    refused: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    next_us: int | None = None
    rounds: int = 0
    evicted: dict[str, None] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        return self.what in ("finished", "stopped")


@dataclass(slots=True)
class Plan:
    """A pod must leave ``node`` at ``at_us`` for ``taint``; ``seconds`` None: it tolerates the taint not at all.

    ``state``: planned, evicted, cancelled (``why``) or overtaken (the pod went before).
    """

    pod: str
    node: str
    taint: str
    seconds: int | None
    since_us: int
    at_us: int
    state: str = "planned"
    why: str = ""
    ended_us: int = 0
    number: int = 0


@dataclass(slots=True)
class Happening:
    """Something that a person did or the clock brought; entry ``n`` is its last. ``item`` is what ``kind`` is about."""

    n: int
    at_us: int
    kind: str
    item: Any


@dataclass
class EvictionLog:
    """Oldest first. ``open``: pod → its newest request, ``planned`` and ``leaving``: pod → the plan to evict it and the
    one that did, all as long as the pod is there.
    """

    requests: dict[int, Request] = field(default_factory=dict)
    open: dict[str, Request] = field(default_factory=dict)
    drains: dict[str, Drain] = field(default_factory=dict)
    plans: dict[int, Plan] = field(default_factory=dict)
    planned: dict[str, Plan] = field(default_factory=dict)
    leaving: dict[str, Plan] = field(default_factory=dict)
    happened: Happening | None = None
    number: int = 0

    def newest(self, request: Request) -> None:
        """Put it at the end."""
        self.requests.pop(request.number, None)
        self.number += 1
        request.number = self.number
        self.requests[self.number] = request

    def plan(self, plan: Plan) -> None:
        self.number += 1
        plan.number = self.number
        self.plans[self.number] = plan


def tell(world: World, entry: ev.Entry, kind: str, item: Any) -> None:
    world.evictions.happened = Happening(len(world.entries), entry.at_us, kind, item)


def commanded(world: World, entry: ev.Entry, event: ev.CommandGiven) -> None:
    if event.kind in OF_PEOPLE:
        tell(world, entry, "command", event)


def answered(world: World, entry: ev.Entry, event: ev.EvictionAnswered) -> None:
    log = world.evictions
    before = log.open.get(event.pod)
    if before is not None and (before.code, before.message, before.asked_by) == (
        event.code,
        event.message,
        event.asked_by,
    ):
        before.times, before.at_us, before.row = before.times + 1, entry.at_us, before.row + 1
        before.cause, before.budgets = event.cause, event.budgets
        request = before
    else:
        request = _request(world, entry, event)
        if before is not None and before.refused:
            request.row = before.row + 1 if request.refused else 0
            before.then, before.ended_us = "other" if request.refused else "allowed", entry.at_us
    log.newest(request)
    if request.then:
        log.open.pop(request.pod, None)
    else:
        log.open[request.pod] = request
    drain = log.drains.get(event.asked_by)
    if drain is not None and not request.refused:
        drain.evicted[event.pod] = None
    tell(world, entry, "answer", request)


def _request(world: World, entry: ev.Entry, event: ev.EvictionAnswered) -> Request:
    pod = world.pods.get(event.pod)
    request = Request(
        event.pod,
        pod.node if pod else "",
        event.code,
        event.message,
        event.cause,
        event.budgets,
        event.asked_by,
        entry.at_us,
        entry.at_us,
        entry.command,
        row=int(event.code != 200),
    )
    if not request.refused:
        request.leaves_us = pod.gone_at_us if pod else None
        request.grace_us = request.leaves_us - entry.at_us if request.leaves_us is not None else 0
        if pod is None:
            request.then, request.ended_us = "gone", entry.at_us
    return request


def deleted(world: World, entry: ev.Entry, event: ev.ObjectDeleted) -> None:
    if event.kind != "Pod":
        return
    log = world.evictions
    request = log.open.pop(event.key, None)
    if request is not None:
        request.then, request.ended_us = "deleted" if request.refused else "gone", entry.at_us
    log.leaving.pop(event.key, None)
    plan = log.planned.pop(event.key, None)
    if plan is not None:
        plan.state, plan.ended_us = "overtaken", entry.at_us


def drain_changed(world: World, entry: ev.Entry, event: ev.DrainChanged) -> None:
    drains = world.evictions.drains
    if event.what == "started" or event.node not in drains:
        drains.pop(event.node, None)
        drains[event.node] = Drain(event.node, entry.at_us, entry.command)
    drain = drains[event.node]
    drain.what, drain.at_us, drain.next_us = event.what, entry.at_us, event.next_us
    drain.refused = event.pods if event.what == "waiting" else ()
    drain.rounds += event.what in ("waiting", "evicted")
    if event.what != "stopped":
        drain.kept = event.kept
    tell(world, entry, "drain", drain)


def taint_planned(world: World, entry: ev.Entry, event: ev.TaintEvictionPlanned) -> None:
    log = world.evictions
    before = log.planned.pop(event.pod, None)
    if event.at_us is None:
        if before is not None:
            before.state, before.ended_us = "cancelled", entry.at_us
            before.why = _why_cancelled(world, event)
            tell(world, entry, "plan", before)
        return
    taint, seconds = _decisive(world, event.pod, event.node)
    plan = Plan(event.pod, event.node, taint, seconds, entry.at_us, event.at_us)
    log.plan(plan)
    log.planned[event.pod] = plan
    tell(world, entry, "plan", plan)


def recorded(world: World, entry: ev.Entry, event: ev.EventRecorded) -> None:
    """The Event is all that tells of a pod that must go at once."""
    if event.reason != BY_TAINT or not event.message.startswith("Marking"):
        return
    log = world.evictions
    plan = log.planned.pop(event.regarding, None)
    if plan is None:
        pod = world.pods.get(event.regarding)
        node = pod.node if pod else ""
        taint, seconds = _decisive(world, event.regarding, node)
        plan = Plan(event.regarding, node, taint, seconds, entry.at_us, entry.at_us)
        log.plan(plan)
    plan.state, plan.ended_us = "evicted", entry.at_us
    log.leaving[event.regarding] = plan
    tell(world, entry, "plan", plan)


def no_execute(world: World, node: str) -> list[Taint]:
    """The taints of a node that drive pods away."""
    held = world.nodes.get(node)
    return [taint for taint in held.node.taints if taint.effect == "NoExecute"] if held else []


def _decisive(world: World, pod: str, node: str) -> tuple[str, int | None]:
    """The taint that drives the pod away, and for how long the pod tolerates it; None = not at all."""
    state = world.pods.get(pod)
    tolerations: tuple[Toleration, ...] = tuple(state.pod.tolerations) if state else ()
    soonest: tuple[str, int | None] = ("", None)
    for taint in no_execute(world, node):
        used = next((item for item in tolerations if item.tolerates(taint)), None)
        if used is None:
            return taint_text(taint), None
        if used.seconds is not None and (soonest[1] is None or used.seconds < soonest[1]):
            soonest = taint_text(taint), max(used.seconds, 0)
    return soonest


def _why_cancelled(world: World, event: ev.TaintEvictionPlanned) -> str:
    pod = world.pods.get(event.pod)
    if pod is not None and pod.pod.terminating:
        return "it is being deleted already"
    if not no_execute(world, event.node):
        return "the taint was removed in time"
    taint, seconds = _decisive(world, event.pod, event.node)
    if not taint:
        return "it tolerates the taints that are left for as long as they stay"
    return f"{taint} lets it stay {seconds} s" if seconds else f"{taint} drives it away at once"


APPLIERS: dict[type[ev.Event], Callable[[World, ev.Entry, Any], None]] = {
    ev.CommandGiven: commanded,
    ev.EvictionAnswered: answered,
    ev.ObjectDeleted: deleted,
    ev.DrainChanged: drain_changed,
    ev.TaintEvictionPlanned: taint_planned,
    ev.EventRecorded: recorded,
}
