"""The replicas of the scheduler: who leads, what each believes, its clock, and the record in the lock."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sandbox.panels.leader.leases import draw
from sandbox.panels.model.election import KINDS, ElectionLog, Replica
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.panels.words.amounts import SECOND, clock, duration, seconds, short_clock
from sandbox.panels.words.phrases import listed
from scheduler_engine.trace import events as ev

MOST_TOLD = 6


def stats(world: World, view: View) -> dict[str, Any]:
    log = world.election
    if log.configured is None or (len(log.replicas) < 2 and not log.elects):
        return {"empty": True, **form(world)}
    rows = [_row(log, name, replica, world.clock_us) for name, replica in log.replicas.items()]
    return {
        "empty": False,
        "elects": log.elects,
        "summary": _summary(log),
        "alarm": alarm(log, world.clock_us),
        "rows": rows,
        "lock": _lock(log, world.clock_us),
        "told": [{"at": clock(at_us), "text": text} for at_us, text in list(reversed(log.told))[:MOST_TOLD]],
        "line": draw(log, world.clock_us),
        **form(world),
    }


def form(world: World) -> dict[str, Any]:
    """What the form about the replicas says before it is changed: what holds now, else the configuration's values."""
    now = world.election.configured
    given = (world.configured.configuration if world.configured else {}).get("leaderElection") or {}
    lasting = {
        "lease_duration": given.get("leaseDuration", "15s"),
        "renew_deadline": given.get("renewDeadline", "10s"),
        "retry_period": given.get("retryPeriod", "2s"),
    }
    if now is None or not now.leader_elect:
        lock = now.lock if now else "leases"
        return {"form": {"count": 3, "leader_elect": True, "lock": lock or "leases", "release": True, **lasting}}
    return {
        "form": {
            "count": len(now.replicas),
            "leader_elect": True,
            "lock": now.lock,
            "release": now.release_on_cancel,
            "lease_duration": duration(now.lease_duration_us),
            "renew_deadline": duration(now.renew_deadline_us),
            "retry_period": duration(now.retry_period_us),
        }
    }


def _summary(log: ElectionLog) -> str:
    told = log.configured
    if told is None or not told.leader_elect:
        return "leader election is off: every replica schedules"
    lease, renew, retry = (
        duration(us) for us in (told.lease_duration_us, told.renew_deadline_us, told.retry_period_us)
    )
    return f"leaseDuration {lease}, renewDeadline {renew}, retryPeriod {retry}"


def alarm(log: ElectionLog, clock_us: int) -> str:
    """More than one schedules: what that means; "" otherwise."""
    having = {name: one for name, one in log.replicas.items() if one.now.schedules}
    if len(having) < 2:
        return ""
    working = [name for name, one in having.items() if not one.now.paused]
    still = [name for name, one in having.items() if one.now.paused]
    if not log.elects:
        return f"{listed(working)} all schedule, as nobody elects a leader: they take the same pods, and binds collide."
    if len(working) > 1:
        both = "both schedule" if len(working) == 2 else "all schedule"
        return f"{listed(working)} {both}: leases do not fence. The second bind of a pod is refused by the API server."
    if working:
        return (
            f"{listed(still)} stands still and does not know that {working[0]} leads: "
            "when it goes on, it schedules until its renew deadline."
        )
    return ""


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
        return "stopped"
    if not log.elects:
        return "schedules"
    if not now.schedules:
        return "waits for the lock"
    return "believes it leads" if _overtaken(log, now.replica) else "leads"


def _overtaken(log: ElectionLog, name: str) -> bool:
    """The lock names somebody else."""
    return log.elects and log.lock is not None and bool(log.lock.holder) and log.lock.holder != name


def _belief(log: ElectionLog, name: str, replica: Replica, clock_us: int) -> str:
    if not log.elects:
        return "nobody has to lead"
    tried = replica.tried
    if tried is None or not tried.holder:
        return "nobody leads"
    own = tried.holder == name
    leads = "leads itself" if own else f"{tried.holder} leads"
    if tried.valid_until_us is None:
        return leads
    left = tried.valid_until_us - clock_us
    if left <= 0:
        return "its own lease has ended" if own else f"the lease of {tried.holder} has ended"
    return f"{leads}, lease for {seconds(left)} more"


TRIED = {
    "created": "created the lock",
    "acquired": "took the lock",
    "renewed": "renewed",
    "released": "released the lock",
    "held": "found it held",
    "failed": "failed",
}


STEPS = {
    ("fast path", "done"): "Fast path: it leads and its lease is valid, so it writes without reading first.",
    ("fast path", "failed"): "Fast path: it leads and its lease is valid, so it writes without reading. That fails.",
    ("create", "done"): "1. Get or create the record: there is none, so it creates one that names itself.",
    ("create", "failed"): "1. Get or create the record: there is none, and creating it fails.",
    ("get", "done"): "1. Get or create the record: it reads the one that there is.",
    ("get", "failed"): "1. Get or create the record: reading it fails.",
    (
        "judge",
        "held",
    ): "2. Check identity and time: somebody else holds it, and by this replica's clock that lease is valid.",
    ("judge", "ended"): "2. Check identity and time: the holder's lease has ended by this replica's clock.",
    ("judge", "free"): "2. Check identity and time: nobody holds it.",
    ("judge", "own"): "2. Check identity and time: it holds the lock itself.",
    ("update", "done"): "3. Update the record: it now names this replica.",
    ("update", "failed"): "3. Update the record: the write fails.",
    ("release", "done"): "It writes a record without a holder, for one second.",
    ("release", "failed"): "The write that gives the lock up fails.",
}
"""What a step of a try was and how it went, in 003's three steps; the fast path has come since."""


def _tried(replica: Replica) -> dict[str, Any]:
    tried = replica.tried
    if tried is None:
        return {"text": ""}
    return {
        "text": TRIED.get(tried.outcome, tried.outcome),
        "at": clock(replica.tried_us),
        "message": tried.message,
        "outcome": tried.outcome,
        "steps": [STEPS[step] for step in tried.steps],
    }


def _clock(replica: Replica, clock_us: int) -> dict[str, Any]:
    shows = replica.shows_us(clock_us)
    off, rate = shows - clock_us, Fraction(replica.now.rate)
    return {
        "clock": signed_clock(shows),
        "off": _off(off),
        "rate": "" if rate == 1 else f"runs ×{float(rate):g}",
        "rate_value": f"{float(rate):g}",
    }


def signed_clock(us: int) -> str:
    """``00:12.4``; a clock that was set back may show less than nothing."""
    return f"−{clock(-us)}" if us < 0 else clock(us)


def _off(us: int) -> str:
    """How far a clock is off: ``10 min fast``, ``2.5 s slow``; "" when it is right to a tenth of a second."""
    size = abs(us)
    if size < SECOND // 10:
        return ""
    minutes, rest = divmod(size, 60 * SECOND)
    if minutes:
        amount = f"{minutes} min" if rest < SECOND // 10 else f"{short_clock(size)} min"
    else:
        amount = seconds(size)
    return f"{amount} {'fast' if us > 0 else 'slow'}"


# --- the lock --------------------------------------------------------------------------------------------------------


def _lock(log: ElectionLog, clock_us: int) -> dict[str, Any] | None:
    told, record = log.configured, log.lock
    if told is None or not told.leader_elect:
        return None
    kind = KINDS[told.lock]
    rows: list[dict[str, str]] = []
    if record is not None:
        times = [
            (name, "none" if us is None else signed_clock(us), "")
            for name, us in (("acquireTime", record.acquire_time_us), ("renewTime", record.renew_time_us))
        ]
        rows = [
            {"name": name, "value": value, "note": note}
            for name, value, note in (
                ("holderIdentity", record.holder or '""', "" if record.holder else "released: nobody holds it"),
                ("leaseDurationSeconds", str(record.lease_duration_seconds), ""),
                *times,
                ("leaderTransitions", str(record.leader_transitions), ""),
            )
        ]
    return {
        "kind": kind,
        "old": told.lock != "leases",
        "key": told.lock_key,
        "rows": rows,
        "writer": record.writer if record else "",
        "age": seconds(max(0, clock_us - log.lock_us)),
    }
