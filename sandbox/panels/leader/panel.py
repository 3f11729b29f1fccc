"""The replicas of the scheduler: which one leads, what each believes, its clock, and the record in the lock."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sandbox.panels.drawing.paging import on_page, pager
from sandbox.panels.leader.leases import draw
from sandbox.panels.model.election import KINDS, ElectionLog, Replica
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import SECOND, clock, duration, seconds, short_clock
from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine.trace import events as ev

FEW_SENTENCES, MOST_SENTENCES = 6, 40
RECORD = ("holderIdentity", "leaseDurationSeconds", "acquireTime", "renewTime", "leaderTransitions")
"""Fields of the lock's record."""


def stats(world: World, view: View) -> dict[str, Any]:
    log = world.election
    if log.configured is None or (len(log.replicas) < 2 and not log.elects):
        return {"empty": True, **form(world)}
    pages = pager(len(log.sentences), view, "leader.log", MOST_SENTENCES, few=FEW_SENTENCES)
    rows = [_row(log, name, replica, world.clock_us) for name, replica in log.replicas.items()]
    return {
        "empty": False,
        "elects": log.elects,
        "summary": _summary(log),
        "alarm": alarm(log),
        "rows": rows,
        "lock": _lock(log, world.clock_us),
        "log": [{"at": clock(at_us), "text": text} for at_us, text in on_page(list(reversed(log.sentences)), pages)],
        "log_pages": pages,
        "line": draw(log, world.clock_us),
        **form(world),
    }


def form(world: World) -> dict[str, Any]:
    """Return the values of the form about replicas: those in force, else those of the configuration."""
    now = world.election.configured
    election = (world.configured.configuration if world.configured else {}).get("leaderElection") or {}
    periods = {
        "lease_duration": election.get("leaseDuration", "15s"),
        "renew_deadline": election.get("renewDeadline", "10s"),
        "retry_period": election.get("retryPeriod", "2s"),
    }
    if now is None or not now.leader_elect:
        lock = now.lock if now else ""
        return {"form": {"count": 3, "leader_elect": True, "lock": lock or "leases", "release": True, **periods}}
    spans = now.lease_duration_us, now.renew_deadline_us, now.retry_period_us
    periods = {name: duration(us) for name, us in zip(periods, spans, strict=True)}
    about = {"count": len(now.replicas), "lock": now.lock, "release": now.release_on_cancel}
    return {"form": {**about, "leader_elect": True, **periods}}


def _summary(log: ElectionLog) -> str:
    configured = log.configured
    if configured is None or not configured.leader_elect:
        return say("leader.election-is-off")
    lease, renew = duration(configured.lease_duration_us), duration(configured.renew_deadline_us)
    return f"leaseDuration {lease}, renewDeadline {renew}, retryPeriod {duration(configured.retry_period_us)}"


def alarm(log: ElectionLog) -> str:
    """Return what it means that more than one replica schedules, "" if that is not so."""
    scheduling = {name: one for name, one in log.replicas.items() if one.now.schedules}
    if len(scheduling) < 2:
        return ""
    working = [name for name, one in scheduling.items() if not one.now.paused]
    paused = [name for name, one in scheduling.items() if one.now.paused]
    if not log.elects:
        return say("leader.nobody-elects", names=listed(working))
    if len(working) > 1:
        return say("leader.both-schedule" if len(working) == 2 else "leader.all-schedule", names=listed(working))
    return say("leader.stands-still", names=listed(paused), leader=working[0], count=len(paused)) if working else ""


# --- one replica -----------------------------------------------------------------------------------------------------


def _row(log: ElectionLog, name: str, replica: Replica, clock_us: int) -> dict[str, Any]:
    now = replica.now
    stopped = now.state == "stopped"
    return {
        "name": name,
        "id": name.rpartition("-")[2],
        "kind": _kind(log, now),
        "leads": log.elects and now.schedules,
        "says": _state(log, replica),
        "ended": replica.ended if stopped else "",
        "holder": log.lock is not None and log.lock.holder == name,
        "stopped": stopped,
        "paused": now.paused,
        "cut": not now.reachable,
        "believes": "" if stopped else _belief(log, name, replica, clock_us),
        "tried": _tried(replica),
        **_clock(replica, clock_us),
    }


def _kind(log: ElectionLog, now: ev.ReplicaChanged) -> str:
    if now.state == "stopped":
        return "gone"
    if not now.schedules:
        return "wait"
    return "no" if _overtaken(log, now.replica) else "ok"


def _state(log: ElectionLog, replica: Replica) -> str:
    now = replica.now
    if now.state == "stopped":
        return say("leader.stopped")
    if not log.elects:
        return say("leader.schedules")
    if not now.schedules:
        return say("leader.waits")
    return say("leader.believes-it-leads") if _overtaken(log, now.replica) else say("leader.leads")


def _overtaken(log: ElectionLog, name: str) -> bool:
    """Return True if the lock names another holder."""
    return log.elects and log.lock is not None and bool(log.lock.holder) and log.lock.holder != name


def _belief(log: ElectionLog, name: str, replica: Replica, clock_us: int) -> str:
    if not log.elects:
        return say("leader.nobody-has-to-lead")
    tried = replica.tried
    if tried is None or not tried.holder:
        return say("leader.nobody-leads")
    leads, leads_for, has_ended = BELIEFS["itself" if tried.holder == name else "other"]
    if tried.valid_until_us is None:
        return say(leads, holder=tried.holder)
    left = tried.valid_until_us - clock_us
    return say(leads_for if left > 0 else has_ended, holder=tried.holder, left=seconds(left))


BELIEFS = {
    "itself": ("leader.itself-leads", "leader.itself-leads-for", "leader.own-lease-has-ended"),
    "other": ("leader.other-leads", "leader.other-leads-for", "leader.other-lease-has-ended"),
}
"""Holder of the lock → keys: it leads, it leads for some time yet, its lease has ended."""
TRIED = {
    "created": "leader.created",
    "acquired": "leader.acquired",
    "renewed": "leader.renewed",
    "released": "leader.released",
    "held": "leader.held",
    "failed": "leader.failed",
}
STEPS = {
    ("fast path", "done"): "leader.fast-path",
    ("fast path", "failed"): "leader.fast-path-fails",
    ("create", "done"): "leader.create",
    ("create", "failed"): "leader.create-fails",
    ("get", "done"): "leader.get",
    ("get", "failed"): "leader.get-fails",
    ("judge", "held"): "leader.judge-held",
    ("judge", "ended"): "leader.judge-ended",
    ("judge", "free"): "leader.judge-free",
    ("judge", "own"): "leader.judge-own",
    ("update", "done"): "leader.update",
    ("update", "failed"): "leader.update-fails",
    ("release", "done"): "leader.release",
    ("release", "failed"): "leader.release-fails",
}
"""(step of a try, its result) → key. The three steps are those of seed 003; the fast path is newer."""


def _tried(replica: Replica) -> dict[str, Any]:
    tried = replica.tried
    if tried is None:
        return {"text": ""}
    return {
        "text": say(TRIED[tried.outcome]) if tried.outcome in TRIED else tried.outcome,
        "at": clock(replica.tried_us),
        "message": tried.message,
        "outcome": tried.outcome,
        "steps": [say(STEPS[step]) for step in tried.steps],
    }


def _clock(replica: Replica, clock_us: int) -> dict[str, Any]:
    shows = replica.shows_us(clock_us)
    off, rate = shows - clock_us, Fraction(replica.now.rate)
    return {
        "clock": signed_clock(shows),
        "off": _off(off),
        "rate": "" if rate == 1 else say("leader.runs", rate=f"{float(rate):g}"),
        "rate_value": f"{float(rate):g}",
    }


def signed_clock(us: int) -> str:
    """Return ``00:12.4``; a clock that was set back may show a negative time."""
    return f"−{clock(-us)}" if us < 0 else clock(us)


def _off(us: int) -> str:
    """Return how wrong a clock is: ``10 min fast``, ``2.5 s slow``; "" if it is right to a tenth of a second."""
    size = abs(us)
    if size < SECOND // 10:
        return ""
    minutes, rest = divmod(size, 60 * SECOND)
    amount = f"{minutes if rest < SECOND // 10 else short_clock(size)} min" if minutes else seconds(size)
    return say("leader.fast" if us > 0 else "leader.slow", span=amount)


# --- the lock --------------------------------------------------------------------------------------------------------


def _lock(log: ElectionLog, clock_us: int) -> dict[str, Any] | None:
    configured, record = log.configured, log.lock
    if configured is None or not configured.leader_elect:
        return None
    rows: list[dict[str, str]] = []
    if record is not None:
        times = (
            say("leader.no-time") if us is None else signed_clock(us)
            for us in (record.acquire_time_us, record.renew_time_us)
        )
        values = (record.holder or '""', str(record.lease_duration_seconds), *times, str(record.leader_transitions))
        rows = [{"name": name, "value": value, "note": ""} for name, value in zip(RECORD, values, strict=True)]
        rows[0]["note"] = "" if record.holder else say("leader.no-holder")
    return {
        "kind": KINDS[configured.lock],
        "old": configured.lock != "leases",
        "key": configured.lock_key,
        "rows": rows,
        "writer": record.writer if record else "",
        "age": seconds(max(0, clock_us - log.lock_us)),
    }
