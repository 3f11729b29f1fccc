"""One line of plain text for every trace event: the same words in the command line, in logs and in the workbench."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_engine.trace import events as ev

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


def _snapshot(event: ev.SnapshotTaken) -> str:
    stop = f", stopped at {event.stopped_at}" if event.stopped_at else ""
    return (
        f"Snapshot {event.generation} for cycle {event.cycle}: cloned {_names(event.cloned)}{stop}; "
        f"rebuilt {_names(event.rebuilt, 'no list')}"
    )


def _filter(event: ev.FilterRan) -> str:
    return (
        f"Filter: {len(event.feasible)} of {_count(event.all_nodes, 'node')} fit, {event.searched} looked at "
        f"from index {event.start_index}; the next search starts at {event.next_start_index}"
    )


def _tried(event: ev.PreemptionNodeTried) -> str:
    if event.rejected:
        return f"Preemption on {event.node}: no candidate, {event.rejected}"
    pdb = f", {_count(event.pdb_violations, 'PDB violation')}" if event.pdb_violations else ""
    return f"Preemption on {event.node}: would evict {_names(event.victims)}{pdb}"


def _post_filter(event: ev.PostFilterRan) -> str:
    if event.nominated_node:
        return f"PostFilter: nominated to {event.nominated_node}, evicting {_names(event.victims, 'nobody')}"
    return f"PostFilter: {_verdicts(event.verdicts)}"


def _selected(event: ev.HostSelected) -> str:
    how = {
        "highest": f"highest total {event.total}",
        "draw": f"drawn among {_names(event.ties)} with {event.total}",
        "only": "the only node that fits",
    }
    return f"{event.pod}: {event.node} selected, {how.get(event.how, event.how)}"


def _finished(event: ev.CycleFinished) -> str:
    where = f" on {event.node}" if event.node else ""
    message = f": {event.message}" if event.message else ""
    return f"Cycle {event.cycle} of {event.pod}: {event.outcome}{where}{message}"


LINES: dict[type[ev.Event], Callable[[Any], str]] = {
    ev.CommandGiven: lambda e: f"Command {e.number}: {e.summary}",
    ev.Configured: lambda e: "Configured: " + ", ".join(name for name, _ in e.profiles),
    ev.ObjectAdded: lambda e: f"{e.kind} {e.key} added",
    ev.ObjectModified: lambda e: f"{e.kind} {e.key} changed",
    ev.ObjectDeleted: lambda e: f"{e.kind} {e.key} deleted",
    ev.EventRecorded: lambda e: f"{e.type} {e.reason} for {e.regarding_kind} {e.regarding}: {e.message}",
    ev.PodMoved: _moved,
    ev.MoveRequested: _requested,
    ev.HintAnswered: lambda e: (
        f"{e.plugin} answered {e.verdict} to {e.cluster_event} for {e.pod}" + (f": {e.why}" if e.why else "")
    ),
    ev.NominationChanged: lambda e: f"{e.pod} nominated to {e.node}" if e.node else f"{e.pod} no longer nominated",
    ev.NodeTreeChanged: lambda e: (
        f"nodeTree: {_count(len(e.order), 'node')} in {_count(len(e.zones), 'zone')}, order {_names(e.order)}"
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
    ev.PreemptionCriterionApplied: lambda e: (
        f"Preemption, {e.criterion}: {_names(e.survivors)} stay, {_names(e.fallen)} fall"
    ),
    ev.PostFilterRan: _post_filter,
    ev.PreScoreRan: lambda e: f"PreScore: {_verdicts(e.verdicts)}",
    ev.ScoreRan: lambda e: f"Score: {_names(tuple(plugin for plugin, _ in e.weights))}",
    ev.NormalizeRan: lambda e: "Totals: " + _names(tuple(f"{node} {total}" for node, total in e.totals)),
    ev.HostSelected: _selected,
    ev.PluginsRan: lambda e: f"{e.extension_point} on {e.node}: {_verdicts(e.verdicts)}",
    ev.CycleFinished: _finished,
}


def line(event: ev.Event) -> str:
    """One line about ``event``. Raises KeyError for an event that has no line yet."""
    return LINES[type(event)](event)
