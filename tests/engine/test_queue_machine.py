"""Random histories of the queue: invariants, no pod lost or doubled, a complete trace, equal copies."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.framework.interface import QueuedPodInfo
from scheduler_engine.framework.node_info import PodInfo
from scheduler_engine.queue.design_doc import DesignDocQueue
from scheduler_engine.queue.heap import Heap
from scheduler_engine.queue.scheduling_queue import SchedulingQueue
from scheduler_engine.trace.events import PodMoved
from scheduler_engine.versions import VERSIONS, rules_for
from tests.engine.queue_world import CLAIM_ADD, NODE_ADD, NODE_LABEL, NODE_TAINT, Sort, World, node, pod

NAMES = st.sampled_from(["a", "b", "c", "d"])
NODES = st.sampled_from(["n1", "n2"])
EVENTS = st.sampled_from(
    [
        NODE_ADD,
        NODE_LABEL,
        NODE_TAINT,
        CLAIM_ADD,
        ClusterEvent("*", ActionType.ALL),
        ClusterEvent("Node", ActionType.DELETE),
    ]
)
REJECTORS = st.lists(st.sampled_from(["Picky", "Other"]), unique=True)
PENDING = st.sampled_from([(), (), ("Patient",)])


def described(world: World) -> tuple[Any, ...]:
    """Return all visible state of a queue, in order."""
    queue = world.queue
    infos = {lane: [_described(info) for info in infos] for lane, infos in queue.lanes().items()}
    in_flight = [
        entry.key if isinstance(entry, Pod) else str(entry.event) for entry in queue.active_q.in_flight.entries.values()
    ]
    nominated = {node: [*refs.values()] for node, refs in queue.nominator.nominated_pods.items()}
    return infos, in_flight, nominated, queue.incoming_pods, queue.move_request_cycle


def _described(info: QueuedPodInfo) -> tuple[Any, ...]:
    return (
        info.pod.manifest,
        info.timestamp_us,
        info.attempts,
        info.unschedulable_count,
        info.consecutive_errors_count,
        info.initial_attempt_us,
        info.backoff_expiration_us,
        list(info.unschedulable_plugins),
        list(info.pending_plugins),
        info.gating_plugin,
    )


class QueueMachine(RuleBasedStateMachine):
    """Act as a scheduler: every popped pod is done or returns, deleted ones do not."""

    queue_class: type[SchedulingQueue] = SchedulingQueue

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.queue_class)
        self.in_flight: list[QueuedPodInfo] = []
        self.serial = 0

    @initialize(kubernetes=st.sampled_from(VERSIONS))
    def follow(self, kubernetes: str) -> None:
        self.world = World(partial(self.queue_class, rules=rules_for(kubernetes)))

    @rule(
        name=NAMES, priority=st.integers(0, 2), gated=st.booleans(), wants=NODES, nominated=st.sampled_from(["", "n1"])
    )
    def pod_comes_or_changes(self, name: str, priority: int, gated: bool, wants: str, nominated: str) -> None:
        known = self.world.store.pods.get(f"default/{name}")
        self.serial += 1
        uid = known.uid if known is not None else f"{name}-{self.serial}"
        gates = ("g",) if gated and (known is None or known.scheduling_gates) else ()
        new = pod(name, priority, uid, gates, wants=wants).evolve({"status": {"nominatedNodeName": nominated}})
        if known is not None:
            self.world.update(new)
        else:
            self.world.add(new)

    @rule(name=NAMES)
    def pod_goes(self, name: str) -> None:
        gone = self.world.store.pods.pop(f"default/{name}", None)
        if gone is not None:
            self.world.queue.delete(gone)

    @rule()
    def pop(self) -> None:
        head = self.world.queue.lanes()["activeQ"]
        info = self.world.queue.pop()
        if info is not None:
            assert not head or head[0] is info
            self.in_flight.append(info)

    @rule(index=st.integers(0, 9), plugins=REJECTORS, pending=PENDING, nominate=st.sampled_from([None, "", "n2"]))
    def attempt_fails(self, index: int, plugins: list[str], pending: tuple[str, ...], nominate: str | None) -> None:
        if not self.in_flight:
            return
        info = self.in_flight.pop(index % len(self.in_flight))
        stored = self.world.store.pods.get(info.pod.key)
        if stored is None or stored.uid != info.pod.uid:
            self.world.queue.done(info.pod.uid, "Discarded")
            return
        info.pod_info = PodInfo(stored)
        self.world.fail(info, *plugins, pending=pending)
        self.world.queue.nominator.add_nominated_pod(stored, nominate)

    @rule(index=st.integers(0, 9))
    def attempt_succeeds(self, index: int) -> None:
        if not self.in_flight:
            return
        info = self.in_flight.pop(index % len(self.in_flight))
        self.world.queue.done(info.pod.uid)
        stored = self.world.store.pods.get(info.pod.key)
        if stored is not None and stored.uid == info.pod.uid:
            self.pod_goes(stored.name)

    @rule(event=EVENTS, name=NODES)
    def something_happens(self, event: ClusterEvent, name: str) -> None:
        self.world.happens(event, None if event.resource == "*" else node(name))

    @rule(names=st.lists(NAMES, unique=True))
    def activate(self, names: list[str]) -> None:
        pods = [self.world.store.pods.get(f"default/{name}") for name in names]
        self.world.queue.activate([pod for pod in pods if pod is not None])

    @rule(milliseconds=st.integers(1, 20_000))
    def time_passes(self, milliseconds: int) -> None:
        self.world.recorder.now_us += milliseconds * 1000
        self.world.queue.flush_backoff_q_completed()
        assert not any(
            self.world.queue.backoff_q.is_backing_off(info) is False for info in self.world.queue.lanes()["backoffQ"]
        )

    @rule()
    def leftovers_are_flushed(self) -> None:
        self.world.recorder.now_us += 301_000_000
        self.world.queue.flush_unschedulable_pods_leftover()
        assert not self.world.queue.lanes()["unschedulablePods"]

    @rule(pickled=st.booleans())
    def copy_takes_over(self, pickled: bool) -> None:
        """Continue the history with a copy, which must be equal. The original must not change with it."""
        pair = (self.world, self.in_flight)
        before = described(self.world)
        world, _ = pickle.loads(pickle.dumps(pair)) if pickled else copy.deepcopy(pair)
        assert described(world) == before
        while world.queue.pop() is not None:
            continue
        assert described(self.world) == before
        self.world, self.in_flight = pickle.loads(pickle.dumps(pair)) if pickled else copy.deepcopy(pair)

    @invariant()
    def queue_is_sound(self) -> None:
        self.world.queue.check()

    @invariant()
    def every_pod_waits_in_one_lane_or_is_in_flight(self) -> None:
        queued = sorted(info.pod.uid for infos in self.world.queue.lanes().values() for info in infos)
        in_flight = [info.pod.uid for info in self.in_flight]
        assert sorted(self.world.queue.active_q.in_flight.pods) == sorted(in_flight)
        expected = sorted(stored.uid for stored in self.world.store.pods.values() if stored.uid not in in_flight)
        assert queued == expected

    @invariant()
    def trace_alone_tells_who_is_where(self) -> None:
        lanes: dict[str, set[str]] = {}
        for event in self.world.events():
            if isinstance(event, PodMoved):
                if event.source:
                    lanes[event.source].remove(event.uid)
                lanes.setdefault(event.target, set()).add(event.uid)
        lanes.pop("", None)
        uids = {lane: {info.pod.uid for info in infos} for lane, infos in self.world.queue.lanes().items() if infos}
        if self.in_flight:
            uids["inFlight"] = {info.pod.uid for info in self.in_flight}
        assert {lane: keys for lane, keys in lanes.items() if keys} == uids


class DesignDocMachine(QueueMachine):
    queue_class = DesignDocQueue


QueueMachine.TestCase.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
DesignDocMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
TestQueueMachine = QueueMachine.TestCase
TestDesignDocMachine = DesignDocMachine.TestCase


class HeapMachine(RuleBasedStateMachine):
    """Compare the heap with a list that is sorted each time."""

    def __init__(self) -> None:
        super().__init__()
        self.heap = Heap(Sort().less)
        self.plain: dict[str, tuple[int, int]] = {}
        self.arrivals = 0

    @rule(name=st.sampled_from("abcdefghij"), priority=st.integers(0, 3))
    def add_or_update(self, name: str, priority: int) -> None:
        info = QueuedPodInfo(PodInfo(pod(name, priority)))
        if info.pod.key not in self.plain:
            self.arrivals += 1
        rank = self.plain.get(info.pod.key, (0, self.arrivals))[1]
        self.plain[info.pod.key] = (-priority, rank)
        self.heap.add_or_update(info)

    @rule(name=st.sampled_from("abcdefghij"))
    def delete(self, name: str) -> None:
        key = f"default/{name}"
        deleted = self.heap.delete(key)
        assert (deleted is not None) == (self.plain.pop(key, None) is not None)

    @rule()
    def pop(self) -> None:
        popped = self.heap.pop()
        if popped is None:
            assert not self.plain
        else:
            assert popped.pod.key == min(self.plain, key=lambda key: self.plain[key])
            del self.plain[popped.pod.key]

    @invariant()
    def order_is_that_of_the_plain_list(self) -> None:
        self.heap.check()
        assert [info.pod.key for info in self.heap.sorted()] == sorted(self.plain, key=lambda key: self.plain[key])


TestHeapMachine = HeapMachine.TestCase
