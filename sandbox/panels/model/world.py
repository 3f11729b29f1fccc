"""The World: everything that panels show, folded from trace entries. No Django, no engine.

The past is a prefix of the trace, folded. ``apply`` takes one entry at a time, so a live World reads only what is new.
Cycles of all schedulers are in one history; queue, cache and snapshot are those of the scheduler in focus.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from sandbox.panels.model.base import Models
from sandbox.panels.model.folding import cycles, election, eviction_log, node_health, queueing
from sandbox.panels.model.state import Command, KubeEvent, NodeState, PodState
from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.trace import events as ev

REPLICA = re.compile(r"(-[0-9a-f]{6,10})?-([0-9]+|[a-z0-9]{5})$")
"""The ending that controllers append to the name of a pod."""
COLOURS = 10
BESIDE = (
    *("entries", "objects", "present", "rests", "people", "guide", "stuck"),
    *("boxes", "expected", "witness", "lesson", "_appliers"),
)
"""Fields that ``changing`` leaves out."""
FOLDS = (queueing, cycles, node_health, eviction_log, election)


class World(Models):
    """The models of a trace, up to the last applied entry."""

    def __init__(self) -> None:
        super().__init__()
        self._appliers = self._table()

    def _table(self) -> dict[type[ev.Event], list[Callable[[ev.Entry, Any], None]]]:
        """Return type of event → the functions that apply it, in this order."""
        table: dict[type[ev.Event], list[Callable[[ev.Entry, Any], None]]] = {
            ev.CommandGiven: [self._command],
            ev.ObjectAdded: [self._stored],
            ev.ObjectModified: [self._stored],
            ev.ObjectApplied: [self._applied],
            ev.ObjectDeleted: [self._deleted],
            ev.EventRecorded: [self._recorded],
            ev.CachePodChanged: [self._cache_pod],
            ev.CacheNodeChanged: [self._cache_node],
        }
        for module in FOLDS:
            for kind, apply in module.APPLIERS.items():
                table.setdefault(kind, []).append(partial(apply, self))
        return table

    @classmethod
    def fold(cls, entries: Iterable[ev.Entry]) -> World:
        world = cls()
        for entry in entries:
            world.apply(entry)
        world.look_at("")
        return world

    def changing(self) -> dict[str, Any]:
        """Return all fields but those that ``restore`` takes beside it (the trace, the objects) or creates again."""
        return {name: value for name, value in vars(self).items() if name not in BESIDE}

    @classmethod
    def restore(
        cls, changing: dict[str, Any], entries: list[ev.Entry], objects: dict[str, dict[str, dict[str, Any]]]
    ) -> World:
        """Return a World with the fields that ``changing`` returned."""
        world = cls.__new__(cls)
        vars(world).update(vars(cls()), **changing, entries=entries, objects=objects)
        world._appliers = world._table()
        return world

    def set_present(self, present: World) -> None:
        """Make this World the past of ``present``: share what is not in the trace."""
        self.present, self.seed, self.guide, self.people = present, present.seed, present.guide, present.people
        self.rests, self.length = present.rests, present.length
        self.who = self.people.get(self.head, "")
        here = len(self.entries)
        place = bisect_left(self.rests, (here, -1))
        if present.end_of(self.head) == here:
            self.clock_us = present.entries[here].at_us
        elif place < len(self.rests):
            self.clock_us = self.rests[place][1]
        self.look_at("")

    def apply(self, entry: ev.Entry) -> None:
        self.entries.append(entry)
        self.latest[type(entry.event)] = len(self.entries)
        if not self.instants or entry.at_us > self.instants[-1][1]:
            self.instants.append((entry.n, entry.at_us))
        self.clock_us = max(self.clock_us, entry.at_us)
        for applier in self._appliers.get(type(entry.event), ()):
            applier(entry, entry.event)

    # --- objects ---------------------------------------------------------------------------------------------------

    def _stored(self, entry: ev.Entry, event: ev.ObjectAdded | ev.ObjectModified) -> None:
        if self.last_apply is not None:
            self.last_apply.write(event, self.objects.get(event.kind, {}).get(event.key))
        self.objects.setdefault(event.kind, {})[event.key] = event.manifest
        self.object_changes += 1
        self.changed[event.kind] = len(self.entries)
        if event.kind == "Pod":
            self._pod_stored(entry, event.key, Pod(event.manifest))
        elif event.kind == "Node":
            self.nodes[event.key] = NodeState(Node(event.manifest))
            self.departed.pop(event.key, None)

    def _applied(self, entry: ev.Entry, event: ev.ObjectApplied) -> None:
        stored = self.objects[event.kind][event.key]
        self.applied.setdefault(event.kind, {})[event.key] = (entry, KubeObject(stored))
        if self.last_apply is not None:
            identity = event.kind, event.key
            self.last_apply.objects[identity] = self.last_apply.written.get(identity, "unchanged")

    def _pod_stored(self, entry: ev.Entry, key: str, pod: Pod) -> None:
        old = self.pods.get(key)
        assumed = old.assumed_on if old and not pod.node_name else ""
        state = PodState(pod, self._app(pod), old.added if old else entry.n, assumed)
        if pod.terminating:
            began = old.terminating_since_us if old else None
            state.terminating_since_us = entry.at_us if began is None else began
        self.pods[key] = state
        self._place(key, old.node if old else "", "" if pod.finished else state.node)

    def _deleted(self, entry: ev.Entry, event: ev.ObjectDeleted) -> None:
        self.objects.get(event.kind, {}).pop(event.key, None)
        self.object_changes += 1
        self.applied.get(event.kind, {}).pop(event.key, None)
        self.changed[event.kind] = len(self.entries)
        if event.kind == "Pod":
            deleted = self.pods.pop(event.key, None)
            for scheduler in self.schedulers.values():
                scheduler.nominations.pop(event.key, None)
            if deleted is not None:
                self.last_uids[event.key] = deleted.pod.uid
                self._place(event.key, deleted.node, "")
        elif event.kind == "Node" and event.key in self.nodes:
            node = self.departed[event.key] = self.nodes[event.key]
            node.ghost, node.left_us = True, entry.at_us
            if not self.pods_on.get(event.key):
                del self.nodes[event.key]

    def _app(self, pod: Pod) -> int:
        """Return the number of the colour of the pod's app (1–10), in order of first appearance."""
        name = app_name(pod)
        if name not in self.apps:
            self.apps[name] = len(self.apps) % COLOURS + 1
        return self.apps[name]

    def _recorded(self, entry: ev.Entry, event: ev.EventRecorded) -> None:
        last = self.kube_events[-1] if self.kube_events else None
        uid = self._regarded(event)
        if last is not None and (last.event, last.uid) == (event, uid):
            last.count, last.at_us, last.last = last.count + 1, entry.at_us, entry.n
        else:
            node = self.pods[event.regarding].pod.node_name if self._is_of_pod(event, uid) else ""
            self.kube_events.append(KubeEvent(entry.at_us, event, uid=uid, first=entry.n, last=entry.n, node=node))

    def _is_of_pod(self, event: ev.EventRecorded, uid: str) -> bool:
        """Return True if the pod that an event regards exists."""
        held = self.pods.get(event.regarding) if event.regarding_kind == "Pod" else None
        return held is not None and held.pod.uid == uid

    def _regarded(self, event: ev.EventRecorded) -> str:
        """Return the uid of the object that an event regards.

        A scheduler may still try a deleted pod whose name another one has. All others speak of the pod that has the
        name, or had it last.
        """
        if event.uid:
            return event.uid
        if event.regarding_kind != "Pod":
            held = self.objects.get(event.regarding_kind, {}).get(event.regarding, {})
            return str((held.get("metadata") or {}).get("uid", ""))
        pod = self.pods.get(event.regarding)
        return pod.pod.uid if pod is not None else self.last_uids.get(event.regarding, "")

    # --- cache -----------------------------------------------------------------------------------------------------

    def _cache_pod(self, entry: ev.Entry, event: ev.CachePodChanged) -> None:
        scheduler = self.of(entry)
        state = self.pods.get(event.pod)
        pod = state.pod if state is not None and state.pod.uid == event.uid else None
        attempt = self.attempt_of(event.pod, scheduler)
        popped = attempt.popped if attempt is not None and attempt.uid == event.uid else None
        scheduler.cache.pod_changed(event, pod or popped)
        if event.what == "forgotten" and pod is not None and attempt is not None:
            attempt.forgotten = event.node
        if event.what == "expired":
            eviction_log.record(self, entry, "expired", event)
        if scheduler is self.scheduler:
            self._assume(event.pod, event.uid, event.node if event.uid in scheduler.cache.assumed else "")

    def _cache_node(self, entry: ev.Entry, event: ev.CacheNodeChanged) -> None:
        """Apply a change of a node in a cache.

        It changes no ``nodes``: a scheduler may be late, and removes a ghost for a moment when it confirms its pod.
        """
        node = self.nodes.get(event.node)
        self.of(entry).cache.node_changed(event, node.node if node else None)

    def _command(self, entry: ev.Entry, event: ev.CommandGiven) -> None:
        self.head = self.length = event.number
        self.starts.append(len(self.entries) - 1)
        self.changes_before.append(self.object_changes)
        self.commands.append(Command(event.number, event.command, entry.at_us, len(self.cycles)))


def app_name(pod: Pod) -> str:
    """Return the label ``app``, else the recommended name label, else the pod's name without its replica's ending."""
    labels = pod.labels
    label = labels.get("app") or labels.get("app.kubernetes.io/name") or labels.get("k8s-app")
    return label or REPLICA.sub("", pod.name) or pod.name
