"""A scheduling queue with test plugins: no real plugin decides what the queue does here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from scheduler_engine.api.objects import KubeObject, Node, Pod
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.events_registry import queueing_hint_map
from scheduler_engine.framework.interface import EventRegistration, Hint, PluginError, QueuedPodInfo
from scheduler_engine.framework.status import Status, unresolvable
from scheduler_engine.queue.scheduling_queue import SchedulingQueue
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace.events import Event, PodMoved, Recorder

SECOND_US = 1_000_000
NODE_ADD = ClusterEvent("Node", ActionType.ADD)
NODE_LABEL = ClusterEvent("Node", ActionType.UPDATE_NODE_LABEL)
NODE_TAINT = ClusterEvent("Node", ActionType.UPDATE_NODE_TAINT)
CLAIM_ADD = ClusterEvent("PersistentVolumeClaim", ActionType.ADD)


class Sort:
    """Sort by priority descending, then timestamp."""

    name = "Sort"

    def less(self, left: QueuedPodInfo, right: QueuedPodInfo) -> bool:
        return (-left.pod.priority, left.timestamp_us) < (-right.pod.priority, right.timestamp_us)


class Picky:
    """Reject pods until a node with the name they ask for is added, or a taint is removed."""

    name = "Picky"

    def filter(self) -> None: ...

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        return (EventRegistration(NODE_ADD, self.is_wanted), EventRegistration(NODE_TAINT, self.breaks))

    def is_wanted(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        wanted = pod.labels.get("wants")
        if new is None or wanted not in (None, new.name):
            return Hint.SKIP, f"{wanted} is wanted"
        return Hint.QUEUE, "the node is wanted"

    def breaks(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        raise PluginError("no idea")


class Patient:
    """Answer Pending. Any new claim helps (no hint: always)."""

    name = "Patient"

    def reserve(self) -> None: ...

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        return (EventRegistration(CLAIM_ADD), EventRegistration(NODE_ADD))


class Gate:
    """Hold back pods with scheduling gates. Register for the removal of the last gate."""

    name = "Gate"

    def pre_enqueue(self, pod: Pod) -> Status | None:
        return unresolvable("gated") if pod.scheduling_gates else None

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        event = ClusterEvent("Pod", ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return (EventRegistration(event, self.has_none),)

    def has_none(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> tuple[Hint, str]:
        return Hint.QUEUE, "no gate is left"


@dataclass(slots=True)
class Store:
    """Implement ``ObjectReader``."""

    pods: dict[str, Pod] = field(default_factory=dict)

    def list(self, kind: str, namespace: str | None = None) -> Iterator[KubeObject]:
        return iter(self.pods.values() if kind == "Pod" else ())

    def get(self, kind: str, key: str) -> KubeObject | None:
        return self.pods.get(key) if kind == "Pod" else None


class World:
    """A queue, its recorder and the store. ``pods`` have short names in the namespace default."""

    def __init__(self, queue_class: Callable[..., SchedulingQueue] = SchedulingQueue, full: bool = True) -> None:
        self.recorder = Recorder(full=full)
        self.store = Store()
        gate = Gate()
        self.queue = queue_class(
            Sort().less,
            self.recorder,
            queueing_hints={"default-scheduler": queueing_hint_map((Picky(), Patient(), gate))},
            pre_enqueue_plugins={"default-scheduler": (gate,)},
            objects=self.store,
        )

    def at(self, seconds: float) -> World:
        self.recorder.now_us = round(seconds * SECOND_US)
        return self

    def add(self, *pods: Pod) -> World:
        for pod in pods:
            self.store.pods[pod.key] = pod
            self.queue.add(pod)
        return self

    def update(self, new: Pod) -> World:
        old = self.store.pods[new.key]
        self.store.pods[new.key] = new
        self.queue.update(old, new)
        return self

    def pop(self) -> QueuedPodInfo:
        info = self.queue.pop()
        assert info is not None
        return info

    def fail(self, info: QueuedPodInfo, *plugins: str, pending: Iterable[str] = ()) -> World:
        """End the attempt: rejected by ``plugins`` and ``pending``, or by an error if there is none."""
        info.unschedulable_plugins = dict.fromkeys(plugins)
        info.pending_plugins = dict.fromkeys(pending)
        self.queue.add_unschedulable_if_not_present(info, self.queue.scheduling_cycle)
        return self

    def happens(self, event: ClusterEvent, new: KubeObject | None = None, old: KubeObject | None = None) -> World:
        self.queue.move_all_to_active_or_backoff_queue(event, old, new)
        return self

    def lanes(self) -> dict[str, list[str]]:
        """Return the names of the pods in every lane that is not empty."""
        lanes = {lane: [info.pod.name for info in infos] for lane, infos in self.queue.lanes().items()}
        lanes["inFlight"] = [key.split("/")[1] for key in self.queue.active_q.in_flight.pod_keys()]
        return {lane: names for lane, names in lanes.items() if names}

    def events(self) -> list[Event]:
        return [entry.event for entry in self.recorder.entries]

    def moves(self) -> list[tuple[str, str, str, str]]:
        """Return (pod, from, to, cause) of every move."""
        moved = [event for event in self.events() if isinstance(event, PodMoved)]
        return [(event.pod.split("/")[1], event.source, event.target, event.cause) for event in moved]


def pod(name: str, priority: int = 0, uid: str = "", gates: tuple[str, ...] = (), **labels: str) -> Pod:
    builder = make_pod(name).metadata(uid=uid or name).priority(priority).labels(labels)
    for gate in gates:
        builder.gate(gate)
    return Pod(builder.obj())


def node(name: str) -> Node:
    return Node(make_node(name).obj())
