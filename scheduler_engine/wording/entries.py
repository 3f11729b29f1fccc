"""One line of plain text for every trace event, shared by the command line, logs and the workbench.

The words are in ``words/en/entries.yaml``. An event that only fills its fields into a row has the row of its name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace import events as ev
from scheduler_engine.wording import hint
from scheduler_engine.words import say

MOST_NAMES = 5


def _names(names: tuple[str, ...], none: str = "entries.none") -> str:
    """Return the first names and the number of others; ``none``: key of the word for no names."""
    shown = ", ".join(names[:MOST_NAMES])
    if len(names) > MOST_NAMES:
        return say("entries.more", names=shown, more=len(names) - MOST_NAMES)
    return shown or say(none)


def _verdicts(verdicts: tuple[ev.Verdict, ...]) -> str:
    said = (f"{plugin} {code}" + (f" ({'; '.join(reasons)})" if reasons else "") for plugin, code, reasons in verdicts)
    return ", ".join(said) or say("entries.no-plugin")


def _seconds(time_us: int) -> float:
    return time_us / SECOND_US


def _plain(event: ev.Event) -> str:
    return say(f"entries.{type(event).__name__}", event=event)


def _configured(event: ev.Configured) -> str:
    return say("entries.configured", profiles=", ".join(name for name, _ in event.profiles))


def _moved(event: ev.PodMoved) -> str:
    hinted = event.plugin and event.hint
    return say(
        "entries.moved",
        pod=event.pod,
        source=event.source or say("entries.outside"),
        target=event.target or say("entries.outside"),
        cause=event.cause,
        hint=say("entries.with-hint", plugin=event.plugin, hint=event.hint) if hinted else "",
    )


def _requested(event: ev.MoveRequested) -> str:
    in_flight = _names(event.in_flight, "entries.nobody")
    return say("entries.requested", event=event, moved=_names(event.moved), in_flight=in_flight)


def _noted(event: ev.EventNoted) -> str:
    return say("entries.noted", event=event, in_flight=_names(event.in_flight))


def _hint_answered(event: ev.HintAnswered) -> str:
    why = hint(event)
    return say("entries.hint", event=event, why=f": {why}" if why else "")


def _nominated(event: ev.NominationChanged) -> str:
    return say("entries.nominated" if event.node else "entries.no-longer-nominated", event=event)


def _node_tree(event: ev.NodeTreeChanged) -> str:
    nodes, zones = say("entries.nodes", count=len(event.order)), say("entries.zones", count=len(event.zones))
    return say("entries.node-tree", nodes=nodes, zones=zones, order=_names(event.order))


def _switched(event: ev.AdmissionSwitched) -> str:
    return say("entries.switched-on" if event.enabled else "entries.switched-off", plugin=event.plugin)


def _expire(event: ev.AssumedPodsExpire) -> str:
    if event.ttl_us:
        return say("entries.expire", seconds=_seconds(event.ttl_us))
    return say("entries.never-expire")


def _run_ended(event: ev.RunEnded) -> str:
    return say("entries.run-ended", count=event.pods)


def _snapshot(event: ev.SnapshotTaken) -> str:
    stop = say("entries.stopped-at", node=event.stopped_at) if event.stopped_at else ""
    rebuilt = _names(event.rebuilt, "entries.no-list")
    return say("entries.snapshot", event=event, cloned=_names(event.cloned), stop=stop, rebuilt=rebuilt)


def _started(event: ev.CycleStarted) -> str:
    nominated = say("entries.with-nomination", node=event.nominated_node) if event.nominated_node else ""
    return say("entries.started", event=event, nominated=nominated)


def _stage(event: ev.StageFinished) -> str:
    return say("entries.stage", event=event, note=f": {event.note}" if event.note else "")


def _filter(event: ev.FilterRan) -> str:
    return say(
        "entries.filter",
        event=event,
        feasible=len(event.feasible),
        nodes=say("entries.nodes", count=event.all_nodes),
        checked=len(event.looked_at),
    )


def _pre_filter(event: ev.PreFilterRan) -> str:
    return say("entries.pre-filter", verdicts=_verdicts(event.verdicts))


def _tried(event: ev.PreemptionNodeTried) -> str:
    if event.rejected:
        return say("entries.no-candidate", event=event)
    broken = say("entries.pdb-violations", count=event.pdb_violations) if event.pdb_violations else ""
    victims = _names(event.victims)
    return say("entries.candidate", event=event, victims=victims, budgets=f", {broken}" if broken else "")


def _limited(event: ev.PreemptionLimited) -> str:
    candidates = say("entries.candidates", count=event.candidates_to_find)
    return say("entries.limited", event=event, nodes=say("entries.nodes", count=event.nodes), candidates=candidates)


def _criterion(event: ev.PreemptionCriterionApplied) -> str:
    return say("entries.criterion", event=event, kept=_names(event.survivors), dropped=_names(event.fallen))


def _post_filter(event: ev.PostFilterRan) -> str:
    if event.nominated_node:
        spared = dict(event.not_deleted)
        evicted = tuple(victim for victim in event.victims if victim not in spared)
        others = "".join(f"; {victim} {why}" for victim, why in event.not_deleted)
        return say("entries.evicting", event=event, victims=_names(evicted, "entries.nobody"), others=others)
    return say("entries.post-filter", verdicts=_verdicts(event.verdicts))


def _state(event: ev.CycleStateWritten) -> str:
    return say("entries.cycle-state", event=event, keys=_names(tuple(key for key, _ in event.values)))


def _pre_score(event: ev.PreScoreRan) -> str:
    return say("entries.pre-score", verdicts=_verdicts(event.verdicts))


def _score(event: ev.ScoreRan) -> str:
    return say("entries.score", plugins=_names(tuple(plugin for plugin, _ in event.weights)))


def _totals(event: ev.NormalizeRan) -> str:
    return say("entries.totals", totals=_names(tuple(f"{node} {total}" for node, total in event.totals)))


def _extender(event: ev.ExtenderAsked) -> str:
    if event.error:
        how = "ignored" if event.ignored else "failed"
        return say(f"entries.extender-{how}", event=event)
    results = {
        "filter": _names(event.remaining),
        "prioritize": _names(tuple(f"{node} {score} (+{points})" for node, score, points in event.scores)),
        "preempt": _names(tuple(f"{node} ({_names(pods)})" for node, pods in event.victims)),
        "bind": _names(event.remaining),
    }
    failed = f"; {_names(tuple(f'{node}: {text}' for node, _, text in event.failed))}" if event.failed else ""
    return say(f"entries.extender-{event.call}", event=event, result=results[event.call], failed=failed)


def _selected(event: ev.HostSelected) -> str:
    ranked = event.how in ("highest", "draw", "first", "only")
    how = say(f"entries.{event.how}", ties=_names(event.ties), total=event.total) if ranked else event.how
    return say("entries.selected", event=event, how=how)


def _ranking(event: ev.RankingAsked) -> str:
    text = say(f"entries.ranking-{'used' if event.hint else 'not-used'}", event=event)
    return say("entries.ranking-by-older-version", text=text) if event.outdated else text


def _plugins(event: ev.PluginsRan) -> str:
    return say("entries.plugins", event=event, verdicts=_verdicts(event.verdicts))


def _counted(event: ev.PodGroupCounted) -> str:
    return say("entries.group-counted", event=event)


def _waits(event: ev.PermitWait) -> str:
    if event.rejected:
        return say("entries.rejected-while-waiting", pod=event.pod, rejected=event.rejected)
    if not event.waits:
        return say("entries.waits-no-more", pod=event.pod)
    waits = (say("entries.until", plugin=plugin, seconds=_seconds(at_us)) for plugin, at_us in event.waits)
    return say("entries.waits", pod=event.pod, waits=", ".join(waits))


def _fault_set(event: ev.FaultSet) -> str:
    length = say("entries.length", seconds=_seconds(event.duration_us)) if event.answer == "wait" else ""
    return say("entries.fault-set", event=event, length=f" {length}" if length else "")


def _fault_struck(event: ev.FaultStruck) -> str:
    if event.until_us is None:
        return say("entries.fault-over", event=event)
    return say("entries.fault-delays", event=event, seconds=_seconds(event.until_us))


def _finished(event: ev.CycleFinished) -> str:
    where = say("entries.on-node", node=event.node) if event.node else ""
    message = f": {event.message}" if event.message else ""
    return say("entries.finished", event=event, where=f" {where}" if where else "", message=message)


def _taint_eviction(event: ev.TaintEvictionPlanned) -> str:
    if event.at_us is None:
        return say("entries.may-stay", event=event)
    return say("entries.must-leave", event=event, seconds=_seconds(event.at_us))


def _pressure(event: ev.PressureObserved) -> str:
    asked = [signal for _, signal, _, _, _ in event.thresholds]
    signals = (
        say("entries.signal", signal=name, left=left, capacity=capacity)
        for name, left, capacity in event.signals
        if name in asked
    )
    return say(
        "entries.pressure",
        node=event.node,
        conditions=", ".join(name for name, _ in event.conditions) or say("entries.no-pressure"),
        signals=", ".join(signals) or say("entries.no-thresholds"),
        states="".join(f"; {text} {state}" for text, _, _, _, state in event.thresholds if state != "quiet"),
    )


def _reclaimed(event: ev.NodeResourcesReclaimed) -> str:
    return say("entries.reclaimed", event=event, names=_names(event.names))


def _ranked(event: ev.EvictionRanked) -> str:
    return say("entries.ranked", event=event, pods=_names(tuple(row[0] for row in event.rows), "entries.no-pods"))


def _rejected(event: ev.PodRejected) -> str:
    return say("entries.rejected", event=event, message=event.message.rstrip())


def _answered(event: ev.EvictionAnswered) -> str:
    message = f": {event.message}" if event.message else ""
    return say("entries.answered", event=event, message=message, cause=f" {event.cause}" if event.cause else "")


def _drain(event: ev.DrainChanged) -> str:
    return say(
        "entries.drain",
        event=event,
        pods=f": {_names(event.pods)}" if event.pods else "",
        later="" if event.next_us is None else say("entries.asked-again", seconds=_seconds(event.next_us)),
        kept=say("entries.stay", pods=_names(event.kept)) if event.kept else "",
        message=f"; {event.message}" if event.message else "",
    )


def _replicas(event: ev.ReplicasConfigured) -> str:
    key = "entries.replicas-compete" if event.leader_elect else "entries.replicas-all"
    return say(key, event=event, replicas=_names(event.replicas))


def _replica(event: ev.ReplicaChanged) -> str:
    still = say("entries.stands-still") if event.paused else ""
    return say("entries.replica", event=event, still=still, cut="" if event.reachable else say("entries.cut-off"))


def _elector_tried(event: ev.ElectorTried) -> str:
    until = event.valid_until_us
    if not event.holder:
        believes = say("entries.believes-in-nobody")
    elif until is None:
        believes = say("entries.believes-in", holder=event.holder)
    else:
        believes = say("entries.believes-until", holder=event.holder, seconds=_seconds(until))
    message = f" ({event.message})" if event.message else ""
    return say("entries.elector", event=event, message=message, believes=believes)


def _lock(event: ev.LockChanged) -> str:
    holder = say("entries.held-by", event=event) if event.holder else say("entries.held-by-nobody")
    transitions = say("entries.transitions", count=event.leader_transitions)
    return say("entries.lock", event=event, holder=holder, transitions=transitions)


LINES: dict[type[ev.Event], Callable[[Any], str]] = {
    ev.CommandGiven: _plain,
    ev.Configured: _configured,
    ev.ObjectAdded: _plain,
    ev.ObjectApplied: _plain,
    ev.ObjectModified: _plain,
    ev.ObjectDeleted: _plain,
    ev.EventRecorded: _plain,
    ev.PodMoved: _moved,
    ev.MoveRequested: _requested,
    ev.EventNoted: _noted,
    ev.HintAnswered: _hint_answered,
    ev.NominationChanged: _nominated,
    ev.NodeTreeChanged: _node_tree,
    ev.AdmissionSwitched: _switched,
    ev.AssumedPodsExpire: _expire,
    ev.RunEnded: _run_ended,
    ev.CachePodChanged: _plain,
    ev.CacheNodeChanged: _plain,
    ev.SnapshotTaken: _snapshot,
    ev.CycleStarted: _started,
    ev.StageFinished: _stage,
    ev.PreFilterRan: _pre_filter,
    ev.FilterRan: _filter,
    ev.PodUnschedulable: _plain,
    ev.PreemptionNodeTried: _tried,
    ev.PreemptionLimited: _limited,
    ev.PreemptionCriterionApplied: _criterion,
    ev.PostFilterRan: _post_filter,
    ev.CycleStateWritten: _state,
    ev.PreScoreRan: _pre_score,
    ev.ScoreRan: _score,
    ev.NormalizeRan: _totals,
    ev.ExtenderAsked: _extender,
    ev.RankingAsked: _ranking,
    ev.HostSelected: _selected,
    ev.PluginsRan: _plugins,
    ev.PodGroupCounted: _counted,
    ev.PermitWait: _waits,
    ev.FaultSet: _fault_set,
    ev.FaultStruck: _fault_struck,
    ev.CycleFinished: _finished,
    ev.TaintEvictionPlanned: _taint_eviction,
    ev.PressureObserved: _pressure,
    ev.NodeResourcesReclaimed: _reclaimed,
    ev.EvictionRanked: _ranked,
    ev.PodRejected: _rejected,
    ev.PodEvicted: _plain,
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
