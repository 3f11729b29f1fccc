"""Fold entries about replicas, their tries and the lock into the election log."""

from __future__ import annotations

from sandbox.panels.model.base import Appliers, Models
from sandbox.panels.model.election import ElectionLog, Lease, Replica, Span, lock_name
from sandbox.panels.model.folding import eviction_log
from sandbox.words.say import say
from scheduler_engine.trace import events as ev

HOLDS = ("created", "acquired", "renewed")
"""Outcomes of a try after which the replica holds the lock."""


def _record(world: Models, entry: ev.Entry, text: str) -> None:
    world.election.sentences.append((entry.at_us, text))
    eviction_log.record(world, entry, "election", text)


def configured(world: Models, entry: ev.Entry, event: ev.ReplicasConfigured) -> None:
    """Replace the replicas: all schedulers so far stop."""
    for replica in list(world.schedulers):
        world.stop(replica, say("election.replaced"), entry.at_us)
    old = world.election
    same = old.configured is not None and (old.configured.lock, old.configured.lock_key) == (event.lock, event.lock_key)
    world.election = ElectionLog(event, lock=old.lock if same else None, lock_us=old.lock_us)
    rule = "election.started-with-election" if event.leader_elect else "election.started"
    _record(world, entry, say(rule, count=len(event.replicas), lock=lock_name(event)))


SAYS = {
    "killed": "election.killed",
    "asked to stop": "election.asked-to-end",
    "Leaderelection lost": "election.leaderelection-lost",
    "restarted": "election.restarted",
    "paused": "election.stands-still",
    "resumed": "election.goes-on",
    "cut off from the API server": "election.cut-off",
    "reaches the API server again": "election.reached-again",
}
"""What happened to a replica, in the words of the trace → key of the sentence."""
ENDS = {
    "killed": "election.was-killed",
    "asked to stop": "election.was-asked-to-stop",
    "Leaderelection lost": "election.lost-its-lease",
}
"""Why a replica stopped, in the words of the trace → key of the sentence without its name."""


def changed(world: Models, entry: ev.Entry, event: ev.ReplicaChanged) -> None:
    """Record a replica's new state. A change of the leader gets no sentence here: the change of the lock has one."""
    log, name = world.election, event.replica
    replica = log.replicas.get(name)
    before = replica.now if replica is not None else None
    if replica is None:
        replica = log.replicas[name] = Replica(event, entry.at_us)
    replica.now, replica.at_us = event, entry.at_us
    _span(replica, event, entry.at_us)
    if not event.schedules:
        world.stop(name, say("election.stopped", replica=name, why=_end(event)), entry.at_us)
    elif name not in world.schedulers:
        world.begin(name)
        world.acting = name if log.elects else world.acting
    ends = before is not None and event.state == "stopped" != before.state
    if ends:
        replica.ended = _end(event)
    if before is not None and not (log.elects and event.state == "leading" != before.state):
        text = say(SAYS.get(event.why, "election.anything-else"), replica=name, why=event.why)
        idle = log.idle() if ends else say("election.nobody-now") if event.paused and log.idle() else ""
        _record(world, entry, f"{text} {idle}" if idle else text)


def _end(event: ev.ReplicaChanged) -> str:
    return say(ENDS[event.why]) if event.why in ENDS else event.why


def _span(replica: Replica, event: ev.ReplicaChanged, at_us: int) -> None:
    last = replica.spans[-1] if replica.spans else None
    state = (event.state, event.schedules, event.paused, event.reachable)
    if last is not None and state == (last.state, last.schedules, last.paused, last.reachable):
        return
    if last is not None:
        last.end_us = at_us
    replica.spans.append(Span(at_us, *state))


def tried(world: Models, entry: ev.Entry, event: ev.ElectorTried) -> None:
    log = world.election
    replica = log.replicas.get(event.replica)
    if replica is None:
        return
    previous = replica.tried
    replica.tried, replica.tried_us = event, entry.at_us
    replica.tries.append((entry.at_us, event.outcome))
    if event.outcome in HOLDS and event.valid_until_us is not None:
        last = replica.leases[-1] if replica.leases else None
        if event.outcome == "renewed" and last is not None:
            last.end_us = event.valid_until_us
        else:
            replica.leases.append(Lease(entry.at_us, event.valid_until_us))
    elif event.outcome == "released" and replica.leases:
        replica.leases[-1].end_us = entry.at_us
    if event.outcome == "failed" and (previous is None or previous.outcome != "failed"):
        _record(world, entry, say("election.fails", replica=event.replica, message=event.message))


def lock_changed(world: Models, entry: ev.Entry, event: ev.LockChanged) -> None:
    log, before = world.election, world.election.lock
    log.lock, log.lock_us = event, entry.at_us
    if before is not None and before.holder == event.holder:
        return
    if event.holder:
        log.takeovers.append((entry.at_us, event.holder, event.leader_transitions))
    _record(world, entry, _takeover(before, event))


def _takeover(before: ev.LockChanged | None, event: ev.LockChanged) -> str:
    """Return the sentence that says how the holder of the lock changed."""
    number = event.leader_transitions
    if not event.holder:
        return say("election.releases", replica=event.writer)
    if before is None or not before.holder:
        key = "election.creates" if before is None else "election.finds-free"
        return say(key, replica=event.holder, number=number)
    duration = before.lease_duration_seconds
    return say("election.takes-over", replica=event.holder, holder=before.holder, seconds=duration, number=number)


APPLIERS: Appliers = {
    ev.ReplicasConfigured: configured,
    ev.ReplicaChanged: changed,
    ev.ElectorTried: tried,
    ev.LockChanged: lock_changed,
}
