"""One line of plain text for every trace event, shared by the command line, logs and the workbench."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_engine.trace import events as ev
from scheduler_engine.wording import hint

MOST_NAMES = 5


def _names(names: tuple[str, ...], none: str = "none") -> str:
    shown = ", ".join(names[:MOST_NAMES])
    return f"{shown} and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else shown or none


def _count(number: int, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def _verdicts(verdicts: tuple[ev.Verdict, ...]) -> str:
    said = (f"{plugin} {code}" + (f" ({'; '.join(reasons)})" if reasons else "") for plugin, code, reasons in verdicts)
    return ", ".join(said) or "no plugin"


def _moved(event: ev.PodMoved) -> str:
    hint = f", {event.plugin} answered {event.hint}" if event.plugin and event.hint else ""
    return f"{event.pod}: {event.source or 'outside'} → {event.target or 'outside'} ({event.cause}{hint})"


def _requested(event: ev.MoveRequested) -> str:
    return (
        f"{event.cluster_event} {event.object_key}: moved {_names(event.moved)}; "
        f"noted by {_names(event.in_flight, 'nobody')} in flight"
    )


def _noted(event: ev.EventNoted) -> str:
    return f"{event.cluster_event} {event.object_key}: noted by {_names(event.in_flight)} in flight"


def _snapshot(event: ev.SnapshotTaken) -> str:
    stop = f", stopped at {event.stopped_at}" if event.stopped_at else ""
    return (
        f"Snapshot {event.generation} for cycle {event.cycle}: cloned {_names(event.cloned)}{stop}; "
        f"rebuilt {_names(event.rebuilt, 'no list')}"
    )


def _filter(event: ev.FilterRan) -> str:
    return (
        f"Filter: {len(event.feasible)} of {_count(event.all_nodes, 'node')} fit, {len(event.looked_at)} looked at "
        f"from index {event.start_index}; the next search starts at {event.next_start_index}"
    )


def _tried(event: ev.PreemptionNodeTried) -> str:
    if event.rejected:
        return f"Preemption on {event.node}: no candidate, {event.rejected}"
    pdb = f", {_count(event.pdb_violations, 'PDB violation')}" if event.pdb_violations else ""
    return f"Preemption on {event.node}: would evict {_names(event.victims)}{pdb}"


def _post_filter(event: ev.PostFilterRan) -> str:
    if event.nominated_node:
        spared = dict(event.not_deleted)
        evicted = tuple(victim for victim in event.victims if victim not in spared)
        others = "".join(f"; {victim} {why}" for victim, why in event.not_deleted)
        return f"PostFilter: nominated to {event.nominated_node}, evicting {_names(evicted, 'nobody')}{others}"
    return f"PostFilter: {_verdicts(event.verdicts)}"


def _selected(event: ev.HostSelected) -> str:
    how = {
        "highest": f"highest total {event.total}",
        "draw": f"drawn among {_names(event.ties)} with {event.total}",
        "only": "without a score",
    }
    return f"{event.pod}: {event.node} selected, {how.get(event.how, event.how)}"


def _waits(event: ev.PermitWait) -> str:
    if event.rejected:
        return f"{event.pod} is {event.rejected} while it waits on Permit"
    if not event.waits:
        return f"{event.pod} need not wait on Permit any more"
    until = ", ".join(f"{plugin} until {at_us / 1_000_000:g} s" for plugin, at_us in event.waits)
    return f"{event.pod} waits on Permit: {until}"


def _fault_set(event: ev.FaultSet) -> str:
    length = f" {event.duration_us / 1_000_000:g} s" if event.answer == "wait" else ""
    return f"Fault {event.number} set: the next call of {event.plugin} at {event.point} answers {event.answer}{length}"


def _fault_struck(event: ev.FaultStruck) -> str:
    if event.until_us is None:
        return f"Fault {event.number} happened to {event.pod} and is over"
    return f"Fault {event.number} delays {event.pod} until {event.until_us / 1_000_000:g} s"


def _pressure(event: ev.PressureObserved) -> str:
    asked = [signal for _, signal, _, _, _ in event.thresholds]
    signals = ", ".join(f"{name} {left} of {capacity}" for name, left, capacity in event.signals if name in asked)
    conditions = ", ".join(name for name, _ in event.conditions) or "no pressure"
    states = "".join(f"; {text} {state}" for text, _, _, _, state in event.thresholds if state != "quiet")
    return f"Kubelet on {event.node}: {conditions}; {signals or 'no thresholds'}{states}"


def _answered(event: ev.EvictionAnswered) -> str:
    message = f": {event.message}" if event.message else ""
    cause = f" {event.cause}" if event.cause else ""
    return f"Eviction of {event.pod} answered {event.code}{message}{cause}"


def _drain(event: ev.DrainChanged) -> str:
    pods = f": {_names(event.pods)}" if event.pods else ""
    kept = f"; stay: {_names(event.kept)}" if event.kept else ""
    later = "" if event.next_us is None else f", asked again at {event.next_us / 1_000_000:g} s"
    message = f"; {event.message}" if event.message else ""
    return f"Drain of {event.node} {event.what}{pods}{later}{kept}{message}"


def _taint_eviction(event: ev.TaintEvictionPlanned) -> str:
    if event.at_us is None:
        return f"{event.pod} may stay on {event.node}"
    return f"{event.pod} must leave {event.node} at {event.at_us / 1_000_000:g} s"


def _replicas(event: ev.ReplicasConfigured) -> str:
    how = f"compete for {event.lock} {event.lock_key}" if event.leader_elect else "all schedule"
    return f"Replicas: {_names(event.replicas)} {how}"


def _replica(event: ev.ReplicaChanged) -> str:
    still = ", stands still" if event.paused else ""
    cut = "" if event.reachable else ", cut off"
    return f"Replica {event.replica} {event.state}{still}{cut}: {event.why}"


def _elector_tried(event: ev.ElectorTried) -> str:
    until = "" if event.valid_until_us is None else f" until {event.valid_until_us / 1_000_000:g} s"
    believes = f"believes in {event.holder}{until}" if event.holder else "believes that nobody leads"
    return f"{event.replica}: lock {event.outcome}{f' ({event.message})' if event.message else ''}, {believes}"


def _lock(event: ev.LockChanged) -> str:
    holder = f"held by {event.holder} for {event.lease_duration_seconds} s" if event.holder else "held by nobody"
    return f"Lock written by {event.writer}: {holder}, {_count(event.leader_transitions, 'transition')}"


def _finished(event: ev.CycleFinished) -> str:
    where = f" on {event.node}" if event.node else ""
    message = f": {event.message}" if event.message else ""
    return f"Cycle {event.cycle} of {event.pod}: {event.outcome}{where}{message}"


LINES: dict[type[ev.Event], Callable[[Any], str]] = {
    ev.CommandGiven: lambda e: f"Command {e.number}: {e.summary}",
    ev.Configured: lambda e: "Configured: " + ", ".join(name for name, _ in e.profiles),
    ev.ObjectAdded: lambda e: f"{e.kind} {e.key} added",
    ev.ObjectApplied: lambda e: f"Applied: {e.kind} {e.key}",
    ev.ObjectModified: lambda e: f"{e.kind} {e.key} changed",
    ev.ObjectDeleted: lambda e: f"{e.kind} {e.key} deleted",
    ev.EventRecorded: lambda e: f"{e.type} {e.reason} for {e.regarding_kind} {e.regarding}: {e.message}",
    ev.PodMoved: _moved,
    ev.MoveRequested: _requested,
    ev.EventNoted: _noted,
    ev.HintAnswered: lambda e: (
        f"{e.plugin} answered {e.verdict} to {e.cluster_event} for {e.pod}" + (f": {why}" if (why := hint(e)) else "")
    ),
    ev.NominationChanged: lambda e: f"{e.pod} nominated to {e.node}" if e.node else f"{e.pod} no longer nominated",
    ev.NodeTreeChanged: lambda e: (
        f"nodeTree: {_count(len(e.order), 'node')} in {_count(len(e.zones), 'zone')}, order {_names(e.order)}"
    ),
    ev.AdmissionSwitched: lambda e: f"Admission plugin {e.plugin} switched {'on' if e.enabled else 'off'}",
    ev.AssumedPodsExpire: lambda e: (
        f"Assumed pods expire {e.ttl_us / 1_000_000:g} s after their binding"
        if e.ttl_us
        else "Assumed pods never expire"
    ),
    ev.CachePodChanged: lambda e: f"Cache: {e.pod} {e.what} on {e.node}",
    ev.CacheNodeChanged: lambda e: f"Cache: {e.node} {e.what}, generation {e.generation}",
    ev.SnapshotTaken: _snapshot,
    ev.CycleStarted: lambda e: (
        f"Cycle {e.cycle}: {e.pod} popped, attempt {e.attempt}"
        + (f", nominated to {e.nominated_node}" if e.nominated_node else "")
    ),
    ev.StageFinished: lambda e: f"{e.stage} done for {e.pod}" + (f": {e.note}" if e.note else ""),
    ev.PreFilterRan: lambda e: f"PreFilter: {_verdicts(e.verdicts)}",
    ev.FilterRan: _filter,
    ev.PodUnschedulable: lambda e: f"{e.pod} fits nowhere: {e.message}",
    ev.PreemptionNodeTried: _tried,
    ev.PreemptionLimited: lambda e: (
        f"Preemption tried {e.tried} of {_count(e.nodes, 'node')} from {e.first} on, "
        f"for {_count(e.candidates_to_find, 'candidate')}"
    ),
    ev.PreemptionCriterionApplied: lambda e: (
        f"Preemption, {e.criterion}: {_names(e.survivors)} stay, {_names(e.fallen)} fall"
    ),
    ev.PostFilterRan: _post_filter,
    ev.CycleStateWritten: lambda e: (
        f"CycleState after {e.extension_point}: {_names(tuple(key for key, _ in e.values))}"
    ),
    ev.PreScoreRan: lambda e: f"PreScore: {_verdicts(e.verdicts)}",
    ev.ScoreRan: lambda e: f"Score: {_names(tuple(plugin for plugin, _ in e.weights))}",
    ev.NormalizeRan: lambda e: "Totals: " + _names(tuple(f"{node} {total}" for node, total in e.totals)),
    ev.HostSelected: _selected,
    ev.PluginsRan: lambda e: f"{e.extension_point} on {e.node}: {_verdicts(e.verdicts)}",
    ev.PermitWait: _waits,
    ev.FaultSet: _fault_set,
    ev.FaultStruck: _fault_struck,
    ev.CycleFinished: _finished,
    ev.TaintEvictionPlanned: _taint_eviction,
    ev.PressureObserved: _pressure,
    ev.NodeResourcesReclaimed: lambda e: f"{e.node}: {_names(e.names)} freed {e.freed} bytes ({e.what})",
    ev.EvictionRanked: lambda e: (
        f"{e.node} must reclaim {e.resource} ({e.threshold}): {_names(tuple(row[0] for row in e.rows), 'no pods')}"
    ),
    ev.PodRejected: lambda e: f"{e.node} does not take {e.pod}: {e.reason}: {e.message.rstrip()}",
    ev.PodEvicted: lambda e: f"{e.node} evicts {e.pod} within {e.grace_seconds} s: {e.message}",
    ev.EvictionAnswered: _answered,
    ev.DrainChanged: _drain,
    ev.ReplicasConfigured: _replicas,
    ev.ReplicaChanged: _replica,
    ev.ElectorTried: _elector_tried,
    ev.LockChanged: _lock,
}


def line(event: ev.Event) -> str:
    """Return one line about ``event``. Raises KeyError for an event that has no line yet."""
    return LINES[type(event)](event)
