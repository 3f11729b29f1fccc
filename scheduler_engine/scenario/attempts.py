"""The attempts of a run, read from its trace: the result of each stage, for each pod."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from scheduler_engine.framework.extender import extender_scores
from scheduler_engine.queue.lanes import IN_FLIGHT
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev
from scheduler_engine.versions import DEFAULT_RULES, Rules, rules_for
from scheduler_engine.words import say

FAILED = ("unschedulable", "nominated", "error")
"""Outcomes of attempts that bind nothing, although their pod wanted a node."""
PASSED = ("Success", "Skip")


@dataclass
class Attempt:
    """One attempt for a pod, from its events; None or empty: it has not come that far.

    ``number`` counts the pod's own attempts, ``nominated_node`` is its earlier nomination, ``last_table`` is the
    number of the entry with its last table. ``ran``: stage → the entry with its last ``PluginsRan``. ``abandoned``: why
    it never ends, if its scheduler stopped. ``uid`` is its pod's: another pod may have the name now. ``replica`` is the
    scheduler that made it. ``configured``: the configuration that it began with. Use it only when all its events are
    there.
    """

    cycle: int
    pod: str
    number: int
    nominated_node: str = ""
    pre_filter: ev.PreFilterRan | None = None
    filter: ev.FilterRan | None = None
    asked: list[ev.ExtenderAsked] = field(default_factory=list)
    tried: list[ev.PreemptionNodeTried] = field(default_factory=list)
    rungs: list[ev.PreemptionCriterionApplied] = field(default_factory=list)
    post_filter: ev.PostFilterRan | None = None
    score: ev.ScoreRan | None = None
    normalize: ev.NormalizeRan | None = None
    selected: ev.HostSelected | None = None
    finished: ev.CycleFinished | None = None
    ran: dict[str, ev.Entry] = field(default_factory=dict)
    last_table: int = 0
    abandoned: str = ""
    uid: str = ""
    replica: str = ""
    configured: ev.Configured | None = None

    @property
    def rules(self) -> Rules:
        """Return the rules of the version of Kubernetes that it followed."""
        if self.configured is None:
            return DEFAULT_RULES
        return rules_for(self.configured.kubernetes, dict(self.configured.feature_gates))

    @property
    def outcome(self) -> str:
        """Return the outcome as in ``CycleFinished``; "" while it runs, or if it never ends."""
        return self.finished.outcome if self.finished else ""

    @property
    def is_lean(self) -> bool:
        """Return True if the trace has no rows for the nodes that Filter checked."""
        return self.filter is not None and not self.filter.rows and self.filter.searched > 0

    @property
    def is_ineligible(self) -> bool:
        """Return True if its pod may not preempt others, so that no node was tried."""
        return self.post_filter is not None and bool(self.post_filter.ineligible)

    @property
    def failed(self) -> bool:
        return self.outcome in FAILED

    def verdict(self, node: str) -> ev.Verdict | None:
        """Return the first refusal of the node; ("", "Success", ()) if there is none; None: it was not visited."""
        if self.filter is None and self.pre_filter is not None:
            return next((verdict for verdict in self.pre_filter.verdicts if verdict[1] not in PASSED), None)
        return self._verdicts.get(node)

    @cached_property
    def _verdicts(self) -> dict[str, ev.Verdict]:
        rows = self.filter.looked_at if self.filter else ()
        return {node: (plugin, code, reasons) for node, plugin, code, reasons, _ in rows}

    def scores(self, node: str) -> dict[str, dict[str, int]]:
        """Return plugin → ``raw``, ``normalized`` and ``weighted`` of the node, as far as the attempt has come."""
        return self._scores.get(node, {})

    @cached_property
    def _scores(self) -> dict[str, dict[str, dict[str, int]]]:
        raw, normalized = extender_scores(self.asked)
        tables = {
            "raw": (*(self.score.raw if self.score else ()), *raw),
            "normalized": (*(self.normalize.normalized if self.normalize else ()), *normalized),
            "weighted": self.normalize.weighted if self.normalize else (),
        }
        by_node: dict[str, dict[str, dict[str, int]]] = {}
        for column, table in tables.items():
            for plugin, values in table:
                for node, value in values:
                    by_node.setdefault(node, {}).setdefault(plugin, {})[column] = value
        return by_node

    @cached_property
    def totals(self) -> dict[str, int]:
        """Return node → total."""
        return dict(self.normalize.totals) if self.normalize else {}

    @property
    def ranked(self) -> list[str]:
        """Return the nodes that Filter checked: the highest totals first, then the others as they were checked."""
        scored = sorted(self.totals, key=lambda node: -self.totals[node])
        looked = (row[0] for row in self.filter.looked_at) if self.filter else ()
        return [*scored, *(node for node in looked if node not in self.totals)]

    @property
    def margin(self) -> int | None:
        """Return the chosen node's lead over the next one; None if there was nothing to compare."""
        if self.selected is None or self.selected.node not in self.totals or len(self.totals) < 2:
            return None
        others = [total for node, total in self.totals.items() if node != self.selected.node]
        return self.totals[self.selected.node] - max(others)

    @property
    def rung(self) -> str:
        """Return the preemption criterion that left one candidate; "" if there was only one, or none."""
        deciding = [rung.criterion for rung in self.rungs if rung.fallen]
        return deciding[-1] if deciding else ""


def unchecked(attempt: Attempt, node: str) -> str:
    """Return that the attempt did not check a node, and the reason if PreFilter excluded it."""
    names = attempt.pre_filter.node_names if attempt.pre_filter is not None else None
    narrowed = names is not None and node not in names
    return say("decision.narrowed-away" if narrowed else "decision.unchecked")


def _append(name: str) -> Callable[[Attempt, Any], None]:
    return lambda attempt, event: getattr(attempt, name).append(event)


def _keep(name: str) -> Callable[[Attempt, Any], None]:
    return lambda attempt, event: setattr(attempt, name, event)


PARTS: dict[type[ev.Event], Callable[[Attempt, Any], None]] = {
    ev.PreFilterRan: _keep("pre_filter"),
    ev.FilterRan: _keep("filter"),
    ev.ExtenderAsked: _append("asked"),
    ev.PreemptionNodeTried: _append("tried"),
    ev.PreemptionCriterionApplied: _append("rungs"),
    ev.PostFilterRan: _keep("post_filter"),
    ev.ScoreRan: _keep("score"),
    ev.NormalizeRan: _keep("normalize"),
    ev.HostSelected: _keep("selected"),
    ev.CycleFinished: _keep("finished"),
}
"""Event → its field in the attempt."""
TABLES = (ev.PreFilterRan, ev.FilterRan, ev.PostFilterRan, ev.ScoreRan, ev.NormalizeRan)


def attempts_in(entries: Iterable[ev.Entry]) -> dict[str, list[Attempt]]:
    """Return pod → its attempts in order, those of all schedulers."""
    by_pod: dict[str, list[Attempt]] = {}
    by_cycle: dict[int, Attempt] = {}
    by_replica: dict[str, list[Attempt]] = {}
    popped: dict[str, str] = {}  # replica → uid of the pod that it popped last
    configured: ev.Configured | None = None
    for entry in entries:
        event: Any = entry.event
        if isinstance(event, ev.Configured):
            configured = event
        elif isinstance(event, ev.PodMoved):
            if event.target == IN_FLIGHT:
                popped[entry.replica] = event.uid
        elif isinstance(event, ev.CycleStarted):
            attempt = by_cycle[event.cycle] = Attempt(event.cycle, event.pod, event.attempt, event.nominated_node)
            attempt.uid, attempt.replica = popped.get(entry.replica, ""), entry.replica
            attempt.configured = configured
            by_pod.setdefault(event.pod, []).append(attempt)
            by_replica.setdefault(entry.replica, []).append(attempt)
        elif type(event) in PARTS and event.cycle in by_cycle:
            PARTS[type(event)](by_cycle[event.cycle], event)
            if isinstance(event, TABLES):
                by_cycle[event.cycle].last_table = entry.n
        elif isinstance(event, ev.PluginsRan) and event.cycle in by_cycle:
            by_cycle[event.cycle].ran[event.extension_point] = entry
        elif isinstance(event, ev.ReplicaChanged) and not event.schedules:
            _abandon(by_replica.pop(event.replica, ()), say("decision.stopped", replica=event.replica, why=event.why))
        elif isinstance(event, ev.ReplicasConfigured):
            for attempts in by_replica.values():
                _abandon(attempts, say("decision.replaced"))
            by_replica.clear()
    return by_pod


def _abandon(attempts: Iterable[Attempt], why: str) -> None:
    for attempt in attempts:
        if attempt.finished is None:
            attempt.abandoned = why


class RunView:
    """A run as expectations see it. Each part of its trace is read once."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation

    @cached_property
    def attempts(self) -> dict[str, list[Attempt]]:
        return attempts_in(self.simulation.recorder.entries)

    @cached_property
    def evictions(self) -> dict[str, list[ev.EvictionAnswered]]:
        """Return pod → the answers to requests to evict it."""
        by_pod: dict[str, list[ev.EvictionAnswered]] = {}
        for entry in self.simulation.recorder.entries:
            if isinstance(entry.event, ev.EvictionAnswered):
                by_pod.setdefault(entry.event.pod, []).append(entry.event)
        return by_pod

    def meant(self, pod: str, number: int | None = None, cycle: int | None = None) -> list[Attempt]:
        """Return the attempts with this number and in this cycle. By default, the last of ``own_attempts``.

        Several have the same number if two pods had the name, or if two schedulers tried the pod.
        """
        if number is None and cycle is None:
            return self.own_attempts(pod)[-1:]
        listed = self.attempts.get(pod, ())
        return [item for item in listed if number in (None, item.number) and cycle in (None, item.cycle)]

    def attempt(self, pod: str, number: int | None = None, cycle: int | None = None) -> Attempt | None:
        """Return the only one of the attempts that are meant; None if there are none, or several."""
        meant = self.meant(pod, number, cycle)
        return meant[0] if len(meant) == 1 else None

    def own_attempts(self, pod: str) -> list[Attempt]:
        """Return the attempts for the pod that has this name now; if no pod has it, for the last one that did.

        A scheduler that is behind may still try a deleted pod after another one has tried the new one.
        """
        existing, listed = self.simulation.api.pod(pod), self.attempts.get(pod, [])
        uids = [*dict.fromkeys(item.uid for item in listed)] if existing is None else [existing.uid]
        return [item for item in listed if item.uid == uids[-1]]

    def preempting(self, pod: str) -> Attempt | None:
        """Return the last of ``own_attempts`` that tried preemption."""
        return next((item for item in reversed(self.own_attempts(pod)) if item.post_filter is not None), None)
