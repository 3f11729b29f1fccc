"""Fold entries about eviction requests, drains and planned evictions into the eviction log."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.applied import Applied
from sandbox.panels.model.base import Appliers, Models
from sandbox.panels.model.eviction_log import Drain, Happening, Plan, Request
from sandbox.words.say import say
from scheduler_engine.commands import Advance, Command
from scheduler_engine.trace import events as ev

BY_TAINT = "TaintManagerEviction"
BY_TIME = ("answer", "drain", "plan", "deed", "pressure")
"""Kinds of happenings that continue as time passes."""


def record(world: Models, entry: ev.Entry, kind: str, item: Any) -> None:
    """Record the last thing that happened."""
    world.evictions.happened = Happening(len(world.entries), entry.at_us, kind, item)


def commanded(world: Models, entry: ev.Entry, event: ev.CommandGiven) -> None:
    """Record a command, unless it is a step, or an advance during something that continues anyway."""
    going_on = world.evictions.news(world.latest.get(ev.StageFinished, 0))
    command: Command = event.command
    # Playing advances the clock in many small commands.
    is_advance = isinstance(command, Advance) and not command.play
    own = not command.steps and not command.traced
    if own or (is_advance and (going_on is None or going_on.kind not in BY_TIME)):
        record(world, entry, "command", event)
    world.last_apply = Applied() if event.kind == "apply" else None
    if world.last_apply is not None:
        record(world, entry, "applied", world.last_apply)


def answered(world: Models, entry: ev.Entry, event: ev.EvictionAnswered) -> None:
    log = world.evictions
    before = log.open.get(event.pod)
    answer = event.code, event.message, event.asked_by
    if before is not None and (before.code, before.message, before.asked_by) == answer:
        before.times, before.at_us, before.row = before.times + 1, entry.at_us, before.row + 1
        before.cause, before.budgets = event.cause, event.budgets
        request = before
    else:
        request = _request(world, entry, event)
        if before is not None and before.refused:
            request.row = before.row + 1 if request.refused else 0
            before.then = "other" if request.refused else "deleting" if request.late else "allowed"
            before.ended_us = entry.at_us
    log.move_to_end(request)
    if request.then:
        log.open.pop(request.pod, None)
    else:
        log.open[request.pod] = request
    drain = log.drains.get(event.asked_by)
    if drain is not None:
        drain.rounds += drain.asked_us != entry.at_us
        drain.asked_us = entry.at_us
        if not request.refused:
            drain.evicted[event.pod] = entry.n
    record(world, entry, "answer", request)


def _request(world: Models, entry: ev.Entry, event: ev.EvictionAnswered) -> Request:
    pod = world.pods.get(event.pod)
    about = event.pod, pod.node if pod else "", event.code, event.message, event.cause, event.budgets, event.asked_by
    request = Request(*about, entry.at_us, entry.at_us, entry.command, late=event.late)
    request.row = int(request.refused)
    if not request.refused:
        request.leaves_us = pod.gone_at_us if pod else None
        request.grace_us = request.leaves_us - entry.at_us if request.leaves_us is not None else 0
        if pod is None:
            request.then, request.ended_us = "gone", entry.at_us
    return request


def deleted(world: Models, entry: ev.Entry, event: ev.ObjectDeleted) -> None:
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


def drain_changed(world: Models, entry: ev.Entry, event: ev.DrainChanged) -> None:
    drains = world.evictions.drains
    if event.what == "started" or event.node not in drains:
        drains.pop(event.node, None)
        drains[event.node] = Drain(event.node, entry.at_us, entry.command)
    drain = drains[event.node]
    drain.what, drain.at_us, drain.entry, drain.next_us = event.what, entry.at_us, entry.n, event.next_us
    drain.refused = event.pods if event.what in ("waiting", "failed") else ()
    if event.what == "started":
        drain.flags, drain.warning = event.flags, event.message
    if event.what == "failed":
        drain.helping, drain.error = event.flags, event.message
    if event.what != "stopped":
        drain.staying = event.kept
    record(world, entry, "drain", drain)


def taint_planned(world: Models, entry: ev.Entry, event: ev.TaintEvictionPlanned) -> None:
    log = world.evictions
    before = log.planned.pop(event.pod, None)
    if event.at_us is None:
        if before is not None:
            before.state, before.ended_us = "cancelled", entry.at_us
            before.why = say(CANCELLED[event.why], taint=event.taint, seconds=event.seconds)
            record(world, entry, "plan", before)
        return
    plan = Plan(event.pod, event.node, event.taint, event.seconds, entry.at_us, event.at_us)
    log.plan(plan)
    log.planned[event.pod] = plan
    record(world, entry, "plan", plan)


def recorded(world: Models, entry: ev.Entry, event: ev.EventRecorded) -> None:
    """Record an eviction by the taint manager. For a pod that must go at once, this Event is the only trace of it."""
    if event.reason != BY_TAINT or not event.message.startswith("Marking"):
        return
    log = world.evictions
    plan = log.planned.pop(event.regarding, None)
    if plan is None:
        pod = world.pods.get(event.regarding)
        node = pod.node if pod else ""
        plan = Plan(event.regarding, node, event.cause, None, entry.at_us, entry.at_us)
        log.plan(plan)
    plan.state, plan.ended_us = "evicted", entry.at_us
    log.leaving[event.regarding] = plan
    record(world, entry, "plan", plan)


CANCELLED = {
    "deleted": "evictions.being-deleted",
    "removed": "evictions.taint-removed",
    "tolerated": "evictions.rest-tolerated",
    "evicted": "evictions.driven-away",
    "stays": "evictions.may-stay",
}
"""Why a plan was cancelled → key of the sentence."""
APPLIERS: Appliers = {
    ev.CommandGiven: commanded,
    ev.EvictionAnswered: answered,
    ev.ObjectDeleted: deleted,
    ev.DrainChanged: drain_changed,
    ev.TaintEvictionPlanned: taint_planned,
    ev.EventRecorded: recorded,
}
