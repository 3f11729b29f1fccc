"""Run recorded scheduling-queue scenarios: every queue, counter and nomination after every operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from random import Random
from typing import Any

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.apiserver.change_log import Unlogged
from scheduler_engine.cache.snapshot import Snapshot
from scheduler_engine.config import load_configuration
from scheduler_engine.conformance.compare import differences
from scheduler_engine.conformance.versions import rules_of
from scheduler_engine.framework.events import (
    ACTION_NAMES,
    ClusterEvent,
    node_scheduling_properties_change,
    pod_scheduling_properties_change,
)
from scheduler_engine.framework.events_registry import queueing_hint_map
from scheduler_engine.framework.interface import Handle, QueuedPodInfo
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.plugins.registry import registry_for
from scheduler_engine.queue.in_flight import InFlightEvent
from scheduler_engine.queue.nominator import Nominator
from scheduler_engine.queue.scheduling_queue import QueueError, SchedulingQueue
from scheduler_engine.trace.events import Recorder
from scheduler_engine.versions import DEFAULT_RULES, Rules

PROFILE = "default-scheduler"
SECOND_US = 1_000_000
ACTIONS = {name: action for action, name in ACTION_NAMES.items()}
VIEWS: dict[str, type[KubeObject]] = {"Pod": Pod, "Node": Node}

Op = dict[str, Any]


def run(case: dict[str, Any]) -> list[str]:
    """Return differences of one recorded scenario, [] if it passes."""
    played = Run(case.get("objects") or [], rules_of(case))
    lines: list[str] = []
    for index, (op, expected) in enumerate(zip(case["ops"], case["results"], strict=True)):
        if expected.get("popped"):
            played.let_lead(expected["popped"])
        actual = played.step(op)
        lines += [f"op {index} {op['op']}: {line}" for line in differences(expected, actual)]
    return lines


@dataclass(slots=True)
class Store(Unlogged):
    """The API objects: kind → key → object."""

    objects: dict[str, dict[str, KubeObject]] = field(default_factory=dict)

    def list(self, kind: str, namespace: str | None = None) -> Iterator[KubeObject]:
        objects = self.objects.get(kind, {}).values()
        return (item for item in objects if namespace is None or item.namespace == namespace)

    def get(self, kind: str, key: str) -> KubeObject | None:
        return self.objects.get(kind, {}).get(key)

    def pod(self, key: str) -> Pod | None:
        item = self.get("Pod", key)
        return item if isinstance(item, Pod) else None

    def put(self, manifest: dict[str, Any]) -> KubeObject:
        item = view(manifest)
        self.objects.setdefault(item.kind, {})[item.key] = item
        return item

    def drop(self, item: KubeObject) -> None:
        self.objects.get(item.kind, {}).pop(item.key, None)


class NoWrites:
    """A stub that refuses writes: hints and PreEnqueue change nothing."""

    def bind(self, pod_key: str, uid: str, node_name: str) -> None:
        raise AssertionError("a queue scenario binds nothing")

    def delete_pod(self, pod_key: str, reason: str, message: str) -> None:
        raise AssertionError("a queue scenario deletes nothing")

    def patch(self, kind: str, key: str, changes: Any) -> None:
        raise AssertionError("a queue scenario patches nothing")


@dataclass(frozen=True, slots=True)
class AtMost:
    """The preCheck of a recorded event."""

    priority: int

    def __call__(self, pod: Pod) -> bool:
        return pod.priority <= self.priority


def view(manifest: dict[str, Any]) -> KubeObject:
    return VIEWS.get(manifest.get("kind", ""), KubeObject)(manifest)


def default_queue(store: Store, recorder: Recorder, rules: Rules = DEFAULT_RULES) -> SchedulingQueue:
    """Return a queue with the plugins of the default profile."""
    profile = load_configuration(None, rules).profiles[0]
    names = dict.fromkeys(name for enabled in profile.plugins.values() for name, _ in enabled)
    handle = Handle(Snapshot(), store, NoWrites(), Nominator(recorder, store, ()), recorder, Random(0), rules=rules)
    registry = registry_for(rules)
    plugins = {name: registry[name](profile.args.get(name, {}), handle) for name in names}
    queue_sort: Any = plugins[profile.plugins["queueSort"][0][0]]
    pre_enqueue: list[Any] = [plugins[name] for name, _ in profile.plugins["preEnqueue"]]
    return SchedulingQueue(
        queue_sort.less,
        recorder,
        queueing_hints={profile.scheduler_name: queueing_hint_map(plugins.values())},
        pre_enqueue_plugins={profile.scheduler_name: pre_enqueue},
        objects=store,
        rules=rules,
    )


class Run:
    """A queue, its store, and the pods popped and not yet back."""

    def __init__(self, objects: list[dict[str, Any]], rules: Rules = DEFAULT_RULES) -> None:
        self.store, self.rules = Store(), rules
        self.store.put({"kind": "Namespace", "metadata": {"name": "default"}})
        for manifest in objects:
            self.store.put(manifest)
        self.recorder = Recorder(full=False)
        self.queue = default_queue(self.store, self.recorder, rules)
        self.popped: dict[str, QueuedPodInfo] = {}
        self.operations: dict[str, Callable[[Op], dict[str, Any] | None]] = {
            "add": self.add,
            "pop": self.pop,
            "unschedulable": self.attempt_failed,
            "error": self.attempt_failed,
            "done": self.done,
            "event": self.event,
            "nodeUpdate": self.node_update,
            "assignedPodUpdate": self.assigned_pod_update,
            "update": self.update,
            "delete": self.delete,
            "bound": self.bound,
            "activate": self.activate,
            "advance": lambda op: None,
            "flushBackoff": lambda op: self.queue.flush_backoff_q_completed(),
            "flushUnschedulable": lambda op: self.queue.flush_unschedulable_pods_leftover(),
            "nominate": self.nominate,
            "denominate": self.denominate,
        }

    def step(self, op: Op) -> dict[str, Any]:
        """Do ``op`` and return the visible state in the form of the recordings."""
        self.recorder.now_us = round(op["t"] * SECOND_US)
        before = dict(self.queue.incoming_pods)
        try:
            result = self.operations[op["op"]](op) or {}
        except QueueError as error:
            result = {"error": str(error)}
        incoming = {
            f"{queue},{event}": count - before.get((queue, event), 0)
            for (queue, event), count in self.queue.incoming_pods.items()
            if count != before.get((queue, event), 0)
        }
        if incoming:
            result["incoming"] = incoming
        self.queue.check()
        return result | {"state": describe(self.queue)}

    def let_lead(self, key: str) -> None:
        """Let ``key`` go first among pods of equal order: the real heap's choice is an accident."""
        item = self.queue.active_q.items.get(key)
        if item is not None:
            item.serial = 0
            self.queue.active_q.add_or_update(item.info)

    def add(self, op: Op) -> None:
        self.store.put(op["pod"])
        self.queue.add(Pod(op["pod"]))

    def pop(self, op: Op) -> dict[str, Any]:
        info = self.queue.pop()
        if info is None:
            return {"popped": None}
        self.popped[info.pod.key] = info
        return {"popped": info.pod.key, "attempts": info.attempts}

    def attempt_failed(self, op: Op) -> dict[str, Any] | None:
        info = self.popped.pop(op["pod"], None)
        if info is None:
            return {"skipped": "not popped"}
        info.unschedulable_plugins = dict.fromkeys(op.get("plugins") or ())
        info.pending_plugins = dict.fromkeys(op.get("pending") or ())
        stored = self.store.pod(op["pod"])
        if stored is None or stored.node_name:
            self.queue.done(info.pod.uid)
            return {"skipped": "pod gone or assigned; Done only"}
        info.pod_info = PodInfo(stored)
        try:
            self.queue.add_unschedulable_if_not_present(info, self.queue.scheduling_cycle)
        finally:
            if "nominate" in op:
                self.queue.nominator.add_nominated_pod(stored, op["nominate"])
        return None

    def done(self, op: Op) -> dict[str, Any] | None:
        info = self.popped.pop(op["pod"], None)
        if info is None:
            return {"skipped": "not popped"}
        self.queue.done(info.pod.uid)
        return None

    def event(self, op: Op) -> dict[str, Any]:
        old, new = (view(op[side]) if op.get(side) else None for side in ("old", "new"))
        if not op.get("noStore"):
            if new is not None:
                self.store.put(new.manifest)
            elif old is not None:
                self.store.drop(old)
        event = ClusterEvent(op["resource"], ACTIONS[op["action"]])
        pre_check = AtMost(op["maxPriority"]) if "maxPriority" in op else None
        self.queue.move_all_to_active_or_backoff_queue(event, old, new, pre_check)
        return {"events": [str(event)]}

    def node_update(self, op: Op) -> dict[str, Any]:
        self.store.put(op["new"])
        old, new = Node(op["old"]), Node(op["new"])
        events = node_scheduling_properties_change(new, old, self.rules)
        for event in events:
            self.queue.move_all_to_active_or_backoff_queue(event, old, new)
        return {"events": [str(event) for event in events]}

    def assigned_pod_update(self, op: Op) -> dict[str, Any]:
        self.store.put(op["new"])
        old, new = Pod(op["old"]), Pod(op["new"])
        events = pod_scheduling_properties_change(new, old)
        for event in events:
            self.queue.assigned_pod_updated(old, new, event)
        return {"events": [str(event) for event in events]}

    def update(self, op: Op) -> dict[str, Any]:
        self.store.put(op["new"])
        old, new = Pod(op["old"]), Pod(op["new"])
        self.queue.update(old, new)
        return {"events": [str(event) for event in pod_scheduling_properties_change(new, old)]}

    def delete(self, op: Op) -> dict[str, Any] | None:
        stored = self.store.pod(op["pod"])
        if stored is None:
            return {"skipped": "unknown pod"}
        self.store.drop(stored)
        self.queue.delete(stored)
        return None

    def bound(self, op: Op) -> dict[str, Any] | None:
        stored = self.store.pod(op["pod"])
        if stored is None:
            return {"skipped": "unknown pod"}
        info = self.popped.pop(op["pod"], None)
        if info is not None:
            self.queue.done(info.pod.uid)
        bound = stored.evolve({"spec": {"nodeName": op["node"]}})
        self.store.put(bound.manifest)
        self.queue.assigned_pod_added(bound)
        self.queue.delete(bound)
        return None

    def activate(self, op: Op) -> None:
        self.queue.activate([self.store.pod(key) or _bare_pod(key) for key in op["pods"]])

    def nominate(self, op: Op) -> dict[str, Any] | None:
        stored = self.store.pod(op["pod"])
        if stored is None:
            return {"skipped": "unknown pod"}
        self.queue.nominator.add_nominated_pod(stored, op.get("node"))
        return None

    def denominate(self, op: Op) -> dict[str, Any] | None:
        stored = self.store.pod(op["pod"])
        if stored is None:
            return {"skipped": "unknown pod"}
        self.queue.nominator.delete_nominated_pod_if_exists(stored)
        return None


def _bare_pod(key: str) -> Pod:
    """Return a pod unknown to the store: without a UID, it matches none in flight."""
    namespace, name = key.split("/")
    return Pod({"metadata": {"name": name, "namespace": namespace}})


# --- visible state ---------------------------------------------------------------------------------------------------


def describe(queue: SchedulingQueue) -> dict[str, Any]:
    """Return the state in the form of the recordings; pods of equal order are listed by name."""
    active, ties = _equals_by_name(queue.active_q.sorted())
    errors = sorted(
        queue.backoff_q.error_backoff_q.sorted(),
        key=lambda info: (queue.backoff_q.expiration_us(info) or 0, info.pod.key),
    )
    parked = sorted(queue.unschedulable_pods.infos.items())
    state: dict[str, Any] = {
        "activeQ": [pod_state(queue, info) for info in active],
        "backoffQ": [pod_state(queue, info) for info in queue.backoff_q.backoff_q.sorted()],
        "errorBackoffQ": [pod_state(queue, info) for info in errors],
        "unschedulablePods": [pod_state(queue, info) for _, info in parked],
        "schedulingCycle": queue.scheduling_cycle,
        "moveRequestCycle": queue.move_request_cycle,
    }
    nominated = {node: [ref.key for ref in refs.values()] for node, refs in queue.nominator.nominated_pods.items()}
    in_flight = [
        f"event:{entry.event}" if isinstance(entry, InFlightEvent) else f"pod:{entry.key}"
        for entry in queue.active_q.in_flight.entries.values()
    ]
    optional = {"activeTies": ties, "nominated": nominated, "inFlight": in_flight}
    return state | {key: value for key, value in optional.items() if value}


def _equals_by_name(infos: list[QueuedPodInfo]) -> tuple[list[QueuedPodInfo], bool]:
    """Return (the list with neighbours of equal priority and timestamp sorted by name, are there any)."""
    groups = [list(group) for _, group in groupby(infos, lambda info: (info.pod.priority, info.timestamp_us))]
    listed = [info for group in groups for info in sorted(group, key=lambda info: info.pod.key)]
    return listed, any(len(group) > 1 for group in groups)


def pod_state(queue: SchedulingQueue, info: QueuedPodInfo) -> dict[str, Any]:
    """Return one queued pod; zero and empty fields are omitted."""
    expiration = queue.backoff_q.expiration_us(info)
    state: dict[str, Any] = {
        "pod": info.pod.key,
        "priority": info.pod.spec.get("priority"),
        "timestamp": seconds(info.timestamp_us),
        "attempts": info.attempts,
    }
    optional = {
        "unschedulableCount": info.unschedulable_count,
        "consecutiveErrors": info.consecutive_errors_count,
        "unschedulablePlugins": sorted(info.unschedulable_plugins),
        "pendingPlugins": sorted(info.pending_plugins),
        "gatingPlugin": info.gating_plugin,
    }
    state |= {key: value for key, value in optional.items() if value}
    if info.initial_attempt_us is not None:
        state["initialAttempt"] = seconds(info.initial_attempt_us)
    if expiration is not None:
        state |= {"backoffExpiration": seconds(expiration), "backingOff": queue.backoff_q.is_backing_off(info)}
    return state


def seconds(time_us: int) -> float:
    """Return whole seconds as an integer, as in JSON."""
    return time_us / SECOND_US if time_us % SECOND_US else time_us // SECOND_US
