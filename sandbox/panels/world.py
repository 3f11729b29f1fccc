"""The World: everything the panels show, folded from trace entries. No Django, no engine.

Looking back is folding a prefix of the trace; ``apply`` takes one entry at a time, so a live World only sees what is
new.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from functools import partial
from typing import Any

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.extension_points import STAGES
from scheduler_engine.trace import events as ev

from . import queueing
from .state import Command, Cycle, Fault, KubeEvent, NodeState, PodState, Queued, StageMark

BINDING = frozenset(stage.name for stage in STAGES if stage.binding)
LANES = ("inFlight", "activeQ", "backoffQ", "errorBackoffQ", "unschedulablePods", "gated")
REPLICA = re.compile(r"(-[0-9a-f]{6,10})?-([0-9]+|[a-z0-9]{5})$")
COLOURS = 10


class World:
    """``clock_us``, ``head`` (commands in force), ``length`` (commands that exist), ``seed`` of the draws, ``who`` gave
    the last command and ``people`` (command → who gave it) may be set by the caller after folding.

    ``binding``: binding cycles under way, oldest first. ``stayed``: pod → the last QueueSkip since it came where it is.
    """

    def __init__(self) -> None:
        self.entries: list[ev.Entry] = []
        self.latest: dict[type[ev.Event], int] = {}
        self.clock_us = 0
        self.head = 0
        self.length = 0
        self.who = ""
        self.seed: int | None = None
        self.objects: dict[str, dict[str, dict[str, Any]]] = {}
        self.pods: dict[str, PodState] = {}
        self.nodes: dict[str, NodeState] = {}
        self.pods_on: dict[str, dict[str, None]] = {}
        self.apps: dict[str, int] = {}
        self.queue: dict[str, Queued] = {}
        self.hints: dict[str, list[ev.HintAnswered]] = {}
        self.stayed: dict[str, ev.HintAnswered] = {}
        self.moves: dict[str, list[Queued]] = {}
        self.noted: dict[str, list[tuple[str, str]]] = {}
        self.nominations: dict[str, str] = {}
        self.zones: tuple[tuple[str, tuple[str, ...]], ...] = ()
        self.order: tuple[str, ...] = ()
        self.snapshot: ev.SnapshotTaken | None = None
        self.snapshot_order: tuple[str, ...] = ()
        self.next_start = 0
        self.cycles: list[Cycle] = []
        self.by_number: dict[int, Cycle] = {}
        self.attempts: dict[str, list[Cycle]] = {}
        self.cycle: Cycle | None = None
        self.binding: dict[int, Cycle] = {}
        self.configured: ev.Configured | None = None
        self.faults: dict[int, Fault] = {}
        self.people: dict[int, str] = {}
        self.commands: list[Command] = []
        self.kube_events: list[KubeEvent] = []
        self._appliers: dict[type[ev.Event], Callable[[ev.Entry, Any], None]] = {
            ev.CommandGiven: self._command,
            ev.ObjectAdded: self._stored,
            ev.ObjectModified: self._stored,
            ev.ObjectDeleted: self._deleted,
            ev.EventRecorded: self._recorded,
            ev.NodeTreeChanged: self._tree,
            ev.CachePodChanged: self._cache_pod,
            ev.CacheNodeChanged: self._cache_node,
            ev.SnapshotTaken: self._snapshot_taken,
            ev.CycleStarted: self._cycle_started,
            ev.StageFinished: self._stage_finished,
            ev.PreFilterRan: self._table("pre_filter"),
            ev.FilterRan: self._filter,
            ev.PodUnschedulable: self._table("fit_error"),
            ev.PreemptionNodeTried: self._append("tried"),
            ev.PreemptionCriterionApplied: self._append("ladder"),
            ev.PostFilterRan: self._table("post_filter"),
            ev.PreScoreRan: self._table("pre_score"),
            ev.ScoreRan: self._table("score"),
            ev.NormalizeRan: self._table("normalized"),
            ev.HostSelected: self._table("selected"),
            ev.PluginsRan: self._plugins,
            ev.CycleFinished: self._cycle_finished,
            **{kind: partial(apply, self) for kind, apply in queueing.APPLIERS.items()},
        }

    @classmethod
    def fold(cls, entries: Iterable[ev.Entry]) -> World:
        world = cls()
        for entry in entries:
            world.apply(entry)
        return world

    def apply(self, entry: ev.Entry) -> None:
        self.entries.append(entry)
        self.latest[type(entry.event)] = len(self.entries)
        self.clock_us = max(self.clock_us, entry.at_us)
        applier = self._appliers.get(type(entry.event))
        if applier is not None:
            applier(entry, entry.event)

    # --- reading ---------------------------------------------------------------------------------------------------

    def cycle_in_view(self, number: int) -> Cycle | None:
        """The attempt that was asked for, or the one in focus."""
        return self.by_number.get(number) or self.cycle

    def latest_but(self, kinds: Container[type[ev.Event]]) -> int:
        """Number of the last entry that is of none of ``kinds``: while it stays, nothing else has happened."""
        return max((number for kind, number in self.latest.items() if kind not in kinds), default=0)

    def lane(self, name: str) -> list[Queued]:
        return [queued for queued in self.queue.values() if queued.lane == name]

    def pods_of(self, node: str) -> list[PodState]:
        return [self.pods[key] for key in self.pods_on.get(node, ()) if key in self.pods]

    def nominated_to(self, node: str) -> list[PodState]:
        return [
            self.pods[key]
            for key, where in self.nominations.items()
            if where == node and key in self.pods and not self.pods[key].node
        ]

    def used(self, node: str) -> dict[str, int]:
        """What the bound and assumed pods of a node ask for: resource → amount, ``pods`` included."""
        total: dict[str, int] = {"pods": 0}
        for pod in self.pods_of(node):
            total["pods"] += 1
            for name, number in pod.requests.items():
                total[name] = total.get(name, 0) + number
        return total

    # --- objects ---------------------------------------------------------------------------------------------------

    def _stored(self, entry: ev.Entry, event: ev.ObjectAdded | ev.ObjectModified) -> None:
        self.objects.setdefault(event.kind, {})[event.key] = event.manifest
        if event.kind == "Pod":
            self._pod_stored(entry, event.key, Pod(event.manifest))
        elif event.kind == "Node":
            old = self.nodes.get(event.key)
            generation, change = (old.generation, old.last_change) if old else (0, "")
            self.nodes[event.key] = NodeState(Node(event.manifest), generation, change)

    def _pod_stored(self, entry: ev.Entry, key: str, pod: Pod) -> None:
        old = self.pods.get(key)
        assumed = old.assumed_on if old else ""
        state = PodState(pod, self._app(pod), old.added_us if old else entry.at_us, "" if pod.node_name else assumed)
        if pod.terminating:
            known = old.terminating_since_us if old else None
            state.terminating_since_us = entry.at_us if known is None else known
        self.pods[key] = state
        self._place(key, old.node if old else "", "" if pod.finished else state.node)

    def _deleted(self, entry: ev.Entry, event: ev.ObjectDeleted) -> None:
        self.objects.get(event.kind, {}).pop(event.key, None)
        if event.kind == "Pod":
            gone = self.pods.pop(event.key, None)
            self.nominations.pop(event.key, None)
            if gone is not None:
                self._place(event.key, gone.node, "")
        elif event.kind == "Node" and event.key in self.nodes:
            node = self.nodes[event.key]
            if self.pods_on.get(event.key):
                node.ghost, node.left_us = True, entry.at_us
            else:
                del self.nodes[event.key]

    def _place(self, key: str, old: str, new: str) -> None:
        if old == new:
            return
        if old:
            self.pods_on.get(old, {}).pop(key, None)
            if not self.pods_on.get(old) and old in self.nodes and self.nodes[old].ghost:
                del self.nodes[old]
        if new:
            self.pods_on.setdefault(new, {})[key] = None

    def _app(self, pod: Pod) -> int:
        """Number of the colour of the pod's app (1–10), given out in order of first appearance."""
        name = app_name(pod)
        if name not in self.apps:
            self.apps[name] = len(self.apps) % COLOURS + 1
        return self.apps[name]

    def _recorded(self, entry: ev.Entry, event: ev.EventRecorded) -> None:
        last = self.kube_events[-1] if self.kube_events else None
        if last is not None and last.event == event:
            last.count, last.at_us = last.count + 1, entry.at_us
        else:
            self.kube_events.append(KubeEvent(entry.at_us, event))

    # --- cache ----------------------------------------------------------------------------------------

    def _tree(self, entry: ev.Entry, event: ev.NodeTreeChanged) -> None:
        self.zones, self.order = event.zones, event.order

    def _cache_pod(self, entry: ev.Entry, event: ev.CachePodChanged) -> None:
        pod = self.pods.get(event.pod)
        node = self.nodes.get(event.node)
        if node is not None:
            node.last_change = f"{event.pod.rpartition('/')[2]} {event.what}"
        if pod is None or event.uid not in ("", pod.pod.uid):
            return
        before = pod.node
        if event.what == "assumed":
            pod.assumed_on = event.node
        elif event.what in ("forgotten", "expired", "removed", "confirmed"):
            pod.assumed_on = ""
        if event.what == "forgotten" and event.pod in self.attempts:
            self.attempts[event.pod][-1].forgotten = event.node
        if not pod.pod.finished:
            self._place(event.pod, before, pod.node)

    def _cache_node(self, entry: ev.Entry, event: ev.CacheNodeChanged) -> None:
        node = self.nodes.get(event.node)
        if node is None:
            return
        node.generation, node.last_change = event.generation, f"node {event.what}"
        if event.what == "ghost":
            node.ghost, node.left_us = True, entry.at_us
        elif event.what == "removed":
            del self.nodes[event.node]

    # --- cycles ---------------------------------------------------------------------------------------------------

    def _command(self, entry: ev.Entry, event: ev.CommandGiven) -> None:
        self.head = self.length = event.number
        self.commands.append(Command(event.number, event.kind, event.summary, entry.at_us, len(self.cycles)))

    def _cycle_started(self, entry: ev.Entry, event: ev.CycleStarted) -> None:
        pod = self.pods.get(event.pod)
        cycle = Cycle(
            event.cycle,
            event.pod,
            event.attempt,
            event.nominated_node,
            event.profile,
            entry.at_us,
            entry.command,
            pod.pod.priority if pod else 0,
            configured=self.configured,
        )
        self.cycles.append(cycle)
        self.by_number[event.cycle] = self.cycle = cycle
        self.attempts.setdefault(event.pod, []).append(cycle)

    def _stage_finished(self, entry: ev.Entry, event: ev.StageFinished) -> None:
        cycle = self.by_number.get(event.cycle)
        if cycle is None:
            return
        cycle.stages.append(StageMark(event.stage, event.note, event.next_stage, entry.at_us, entry.command))
        self.cycle = cycle
        if event.stage == "WaitOnPermit":
            cycle.waits = ()
        if event.next_stage in BINDING:
            self.binding[cycle.number] = cycle
        else:
            self.binding.pop(cycle.number, None)

    def _snapshot_taken(self, entry: ev.Entry, event: ev.SnapshotTaken) -> None:
        self.snapshot = event
        if event.node_order is not None:
            self.snapshot_order = event.node_order
        for name, generation in event.recency:
            if name in self.nodes:
                self.nodes[name].generation = generation
        cycle = self.by_number.get(event.cycle)
        if cycle is not None:
            cycle.snapshot, cycle.order = event, self.snapshot_order
            self._snapshot_lists(cycle)

    def _snapshot_lists(self, cycle: Cycle) -> None:
        """The snapshot's lists, which the trace does not spell out, from the pods in the cache at that moment."""
        with_affinity, with_anti_affinity, claims = set(), set(), dict[str, None]()
        for pod in self.pods.values():
            if not pod.node:
                continue
            if pod.pod.has_pod_affinity:
                with_affinity.add(pod.node)
            if pod.pod.has_required_anti_affinity:
                with_anti_affinity.add(pod.node)
            claims.update(dict.fromkeys(f"{pod.pod.namespace}/{claim}" for claim in pod.pod.claim_names))
        cycle.with_affinity = tuple(node for node in cycle.order if node in with_affinity)
        cycle.with_anti_affinity = tuple(node for node in cycle.order if node in with_anti_affinity)
        cycle.claims = tuple(claims)

    def _filter(self, entry: ev.Entry, event: ev.FilterRan) -> None:
        self.next_start = event.next_start_index
        cycle = self.by_number.get(event.cycle)
        if cycle is not None:
            cycle.filter = event

    def _plugins(self, entry: ev.Entry, event: ev.PluginsRan) -> None:
        cycle = self.by_number.get(event.cycle)
        if cycle is not None:
            cycle.plugins[event.extension_point] = event

    def _table(self, name: str) -> Callable[[ev.Entry, Any], None]:
        def put(entry: ev.Entry, event: Any) -> None:
            cycle = self.by_number.get(event.cycle)
            if cycle is not None:
                setattr(cycle, name, event)

        return put

    def _append(self, name: str) -> Callable[[ev.Entry, Any], None]:
        def put(entry: ev.Entry, event: Any) -> None:
            cycle = self.by_number.get(event.cycle)
            if cycle is not None:
                getattr(cycle, name).append(event)

        return put

    def _cycle_finished(self, entry: ev.Entry, event: ev.CycleFinished) -> None:
        cycle = self.by_number.get(event.cycle)
        if cycle is not None:
            cycle.outcome, cycle.node, cycle.message = event.outcome, event.node, event.message
            cycle.ended_us = entry.at_us


def app_name(pod: Pod) -> str:
    """Label ``app``, else the recommended name label, else the pod's name without its replica's ending."""
    labels = pod.labels
    given = labels.get("app") or labels.get("app.kubernetes.io/name") or labels.get("k8s-app")
    return given or REPLICA.sub("", pod.name) or pod.name
