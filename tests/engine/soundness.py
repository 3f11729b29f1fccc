"""Invariants of a simulation after every command. Each check raises AssertionError.

Most checks concern one scheduler and its view of the API server: ``scheduler_views`` returns all that schedule.
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass
from typing import Any

from sandbox.panels.model.state import by_error_expiry, by_expiry, by_priority
from sandbox.panels.model.world import World
from scheduler_engine.api.conditions import is_ready
from scheduler_engine.api.objects import Pod
from scheduler_engine.api.pod_resources import Resource
from scheduler_engine.apiserver.connection import Connection
from scheduler_engine.apiserver.pod_index import JOB_INDEX, REVISION_LABEL, restarts
from scheduler_engine.cache.snapshot import Snapshot
from scheduler_engine.conformance.cache import node_info
from scheduler_engine.controllers.pod_state import is_active
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.scheduler.scheduler import Scheduler
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import (
    CycleFinished,
    CycleStarted,
    Entry,
    EventRecorded,
    ObjectAdded,
    ObjectModified,
    ReplicaChanged,
    ReplicasConfigured,
)


@dataclass(frozen=True)
class SchedulerView:
    """A simulation as one of its schedulers sees it. ``late``: it receives no watch events now."""

    replica: str
    scheduler: Scheduler
    api: Connection

    @property
    def late(self) -> bool:
        return self.api.known is not None or bool(self.scheduler.unheard)


def scheduler_views(simulation: Simulation) -> list[SchedulerView]:
    """Return the view of each scheduler that is working or paused."""
    members = simulation.replicas.leaders()
    return [SchedulerView(item.name, item.scheduler, item.connection) for item in members if item.scheduler is not None]


def several_have_scheduled_at_once(simulation: Simulation) -> bool:
    """Return True if two replicas ever did, even within one command."""
    at_work: dict[str, bool] = {}
    for entry in simulation.recorder.entries:
        match entry.event:
            case ReplicasConfigured():
                at_work = {}
            case ReplicaChanged(replica=name, schedules=schedules):
                at_work[name] = schedules
                if sum(at_work.values()) > 1:
                    return True
    return False


def described(simulation: Simulation) -> tuple[Any, ...]:
    """Return the state that a refused command must not change."""
    scheduler = simulation.scheduler
    lanes = {lane: [info.pod.key for info in infos] for lane, infos in scheduler.queue.lanes().items()}
    cycles = [(cycle.number, cycle.stage, cycle.note) for cycle in (scheduler.cycle, *scheduler.bindings) if cycle]
    return (
        simulation.now_us,
        len(simulation.recorder.entries),
        simulation.recorder.command,
        (simulation.played_us, simulation.room_us),
        simulation.recorder.effort.copy(),
        simulation.timeline.serial,
        simulation.api.resource_version,
        simulation.api.uid_count,
        simulation.api.written,
        {kind: dict(held) for kind, held in simulation.api.objects.items() if held},
        lanes,
        scheduler.queue.active_q.in_flight.pod_keys(),
        scheduler.queue.nominator.nodes,
        cycles,
        scheduler.random.getstate(),
        scheduler.cache.generation,
        [{point: list(items) for point, items in item.points.items()} for item in scheduler.profiles.values()],
        [(item.name, item.state, item.reachable, item.timers.paused) for item in simulation.replicas.members],
        [(item.clock.now_us(), item.random.getstate(), item.jitter.getstate()) for item in simulation.replicas.members],
    )


def amounts(info: NodeInfo) -> tuple[Any, ...]:
    """Return the aggregates of a NodeInfo, in any order of its pods. Zero amounts count as absent."""
    return (
        sorted(item.pod.uid for item in info.pods),
        sorted(item.pod.uid for item in info.pods_with_affinity),
        sorted(item.pod.uid for item in info.pods_with_required_anti_affinity),
        _resource(info.requested),
        (info.non_zero_requested.milli_cpu, info.non_zero_requested.memory),
        info.pvc_ref_counts,
    )


def _resource(resource: Resource) -> tuple[Any, ...]:
    scalar = {name: amount for name, amount in resource.scalar.items() if amount}
    return resource.milli_cpu, resource.memory, resource.ephemeral_storage, scalar


def names(infos: Any) -> list[str]:
    return sorted(info.name for info in infos)


def pods(view: SchedulerView) -> list[Pod]:
    return [pod for pod in view.api.list("Pod") if isinstance(pod, Pod)]


def under_way(view: SchedulerView) -> list[str]:
    scheduler = view.scheduler
    return [cycle.pod.uid for cycle in (scheduler.cycle, *scheduler.bindings) if cycle is not None]


def is_there(view: SchedulerView, pod: Pod) -> bool:
    """Return True if the pod is neither deleted nor finished, unlike one whose binding continues."""
    stored = view.api.pod(pod.key)
    return stored is not None and stored.uid == pod.uid and not stored.finished


def parts_are_sound(view: SchedulerView) -> None:
    view.scheduler.queue.check()
    view.scheduler.cache.check()


def everybody_is_up_to_date(simulation: Simulation) -> None:
    api = simulation.api
    late = [view.scheduler.watch for view in scheduler_views(simulation) if view.late]
    for watch in api.watches.listed:
        if not any(watch is item for item in late):
            assert not watch.unread


def unfinished_pods_are_indexed(simulation: Simulation) -> None:
    """Assert that the API server's index agrees with a scan of every pod."""
    api, index = simulation.api, simulation.api.pod_index
    unfinished = [pod for pod in api.pods() if not pod.finished]
    namespaces = dict.fromkeys(pod.namespace for pod in unfinished)
    assert index.unfinished.keys() == namespaces.keys()
    for namespace in namespaces:
        assert api.unfinished(namespace) == [pod for pod in api.pods(namespace) if not pod.finished]
    nodes = {pod.node_name for pod in unfinished if pod.node_name}
    assert index.unfinished_on.keys() == nodes
    for node in nodes:
        assert api.unfinished_on(node) == [pod for pod in api.pods_on(node) if not pod.finished]
    pods_of_owners_are_indexed(simulation)


def pods_of_owners_are_indexed(simulation: Simulation) -> None:
    """Assert that the index of pods by controller, and its counts, agree with a scan of every pod."""
    api, index = simulation.api, simulation.api.pod_index
    owners: dict[tuple[str, str], list[Pod]] = {}
    for pod in api.pods():
        uid = "" if pod.controller_ref is None else pod.controller_ref["uid"]
        owners.setdefault((pod.namespace, uid), []).append(pod)
    assert index.of_owner.keys() == owners.keys()
    for owner, pods in owners.items():
        assert api.pods_of(*owner) == pods
    counted = {owner: pods for owner, pods in owners.items() if owner[1]}
    for owner, held in counted.items():
        revisions = [pod.labels.get(REVISION_LABEL) for pod in held]
        states = [(pod.finished, pod.terminating, is_ready(pod), restarts(pod)) for pod in held]
        counted_now = Counter((*state, revision) for state, revision in zip(states, revisions, strict=True))
        assert index.standings[owner] == counted_now
    assert index.standings.keys() == counted.keys()
    active = {owner: [pod for pod in pods if is_active(pod)] for owner, pods in counted.items()}
    labels = {owner: Counter(tuple(pod.labels.items()) for pod in pods) for owner, pods in active.items() if pods}
    assert index.labels == labels
    listed = {owner: [pod.annotations.get(JOB_INDEX, "") for pod in pods] for owner, pods in active.items()}
    indexes = {owner: Counter(filter(None, texts)) for owner, texts in listed.items()}
    assert index.indexes == {owner: number for owner, number in indexes.items() if number}


def every_pod_to_be_scheduled_is_in_one_place(view: SchedulerView) -> None:
    queue = view.scheduler.queue
    queued = [info.pod.uid for infos in queue.lanes().values() for info in infos]
    cycles = under_way(view)
    stored = {pod.uid for pod in pods(view)}
    # If another pod has taken the name meanwhile, upstream forgets that the first one is in flight.
    over = set(queue.active_q.in_flight.pods) - set(cycles)
    assert not over & stored, "a finished attempt is still in flight"
    profiles = view.scheduler.profiles
    wanted = [
        pod.uid
        for pod in pods(view)
        if not pod.node_name and not pod.finished and not pod.terminating and pod.scheduler_name in profiles
    ]
    assert sorted(queued) == sorted(uid for uid in wanted if uid not in cycles)
    assert len(cycles) == len(set(cycles))


def queue_holds_what_the_api_server_holds(view: SchedulerView) -> None:
    stored = {pod.uid: pod for pod in pods(view)}
    for infos in view.scheduler.queue.lanes().values():
        for info in infos:
            assert info.pod is stored[info.pod.uid]


def cache_holds_what_the_api_server_holds(view: SchedulerView) -> None:
    scheduler, cache = view.scheduler, view.scheduler.cache
    stored = {pod.uid: pod for pod in pods(view) if pod.node_name and not pod.finished}
    known = {uid: state.pod for uid, state in cache.pod_states.items() if uid not in cache.assumed_pods}
    assert known == stored
    assert all(known[uid] is stored[uid] for uid in known)
    assert set(cache.assumed_pods) <= set(under_way(view))
    if not scheduler.bindings and scheduler.cycle is None:
        assert not cache.assumed_pods
    nodes = {node.name: node for node in view.api.list("Node")}
    assert {name: info.node for name, info in cache.nodes.items() if info.node is not None} == nodes
    for name, info in cache.nodes.items():
        assert info.node is nodes.get(name)


def aggregates_are_sums_over_the_pods(view: SchedulerView) -> None:
    for info in view.scheduler.cache.nodes.values():
        fresh = NodeInfo()
        for item in info.pods:
            fresh.add_pod(item.pod)
        assert amounts(info) == amounts(fresh)
        ports = [port for item in info.pods for port in item.pod.host_ports]
        if len(ports) == len(set(ports)):
            assert info.used_ports.keys() == set(ports)


def snapshot_equals_a_fresh_one(view: SchedulerView) -> None:
    cache, snapshot = copy.deepcopy((view.scheduler.cache, view.scheduler.snapshot))
    cache.recorder = None
    cache.update_snapshot(snapshot)
    fresh = Snapshot()
    cache.update_snapshot(fresh)
    # A node whose zone changed keeps its old place in the list, as upstream.
    assert names(snapshot.list()) == names(fresh.list()) == sorted(cache.node_tree.list())
    assert names(snapshot.have_pods_with_affinity()) == names(fresh.have_pods_with_affinity())
    assert names(snapshot.have_pods_with_required_anti_affinity()) == names(
        fresh.have_pods_with_required_anti_affinity()
    )
    assert snapshot.used_pvc_set.keys() == fresh.used_pvc_set.keys()
    assert {name: (info.node, amounts(info)) for name, info in snapshot.node_info_map.items()} == {
        name: (info.node, amounts(info)) for name, info in fresh.node_info_map.items()
    }


LOST = "error updating the pod's status"


def api_server_does_not_know(view: SchedulerView, pod: Pod) -> bool:
    """Return True if the nominator may differ from the pod's status, as upstream.

    The nominator then holds the last attempt's decision. Either its write was lost, or the attempt compared with the
    nomination at its Pop and wrote nothing, while somebody else had changed the nomination. In the latter case the
    scheduler's next update of the pod ends the difference.
    """
    entries = [entry for entry in view.scheduler.recorder.entries if concerns(entry, view.replica, pod.key)][::-1]
    decided = next((entry.event for entry in entries if isinstance(entry.event, CycleFinished)), None)
    popped = next((entry.event for entry in entries if isinstance(entry.event, CycleStarted)), None)
    if decided is None or popped is None or decided.node != view.scheduler.queue.nominator.nodes.get(pod.uid, ""):
        return False
    if LOST in decided.message:
        return True
    wrote_nothing = [type(entry.event) for entry in entries[:2]] == [CycleFinished, EventRecorded]
    return decided.node == popped.nominated_node and (view.late or wrote_nothing)


def concerns(entry: Entry, replica: str, key: str) -> bool:
    """Return True for this replica's decisions about the pod, and for anybody's writes to it."""
    match entry.event:
        case CycleStarted(pod=pod) | CycleFinished(pod=pod):
            return pod == key and entry.replica == replica
        case EventRecorded(regarding_kind="Pod", regarding=regarding, reason="FailedScheduling"):
            return regarding == key and entry.replica == replica
        case ObjectAdded(kind="Pod", key=name) | ObjectModified(kind="Pod", key=name):
            return name == key
    return False


def nominations_are_of_pods_that_wait(view: SchedulerView) -> None:
    queue = view.scheduler.queue
    stored = {pod.uid: pod for pod in pods(view)}
    for uid in queue.nominator.nodes:
        assert uid in stored
        assert not stored[uid].node_name
        assert not stored[uid].finished
    for lane, infos in queue.lanes().items():
        for info in infos if lane != "gated" else ():
            if queue.nominator.nodes.get(info.pod.uid, "") != info.pod.nominated_node_name:
                assert api_server_does_not_know(view, info.pod)


def world_agrees_on_queue(view: SchedulerView, world: World) -> None:
    queue = view.scheduler.queue
    lanes = {key: place.lane for key, place in world.queue.items()}
    known = {info.pod.key: lane for lane, infos in queue.lanes().items() for info in infos}
    stored = {pod.uid: pod for pod in pods(view)}
    for uid in queue.active_q.in_flight.pods:
        if uid in stored:
            known[stored[uid].key] = "inFlight"
    deleted = [key for key in queue.active_q.in_flight.pod_keys() if key not in known]
    assert {key: lane for key, lane in lanes.items() if key not in deleted} == known
    if not view.late:
        listed = queue.nominator.nominated_pods
        nominated = {ref.key: node for node, refs in listed.items() if node for ref in refs.values()}
        assert world.nominations == nominated


def world_agrees_on_lanes(view: SchedulerView, world: World) -> None:
    """Assert the pods' order, attempts, times of arrival and expiry in each lane."""
    for lane, infos in view.scheduler.queue.lanes().items():
        queued_pods = world.lane(lane)
        if lane == "activeQ":
            queued_pods = sorted(queued_pods, key=by_priority)
        elif lane in ("backoffQ", "errorBackoffQ"):
            queued_pods = sorted(queued_pods, key=by_expiry if lane == "backoffQ" else by_error_expiry)
        assert [queued.move.pod for queued in queued_pods] == [info.pod.key for info in infos]
        for queued, info in zip(queued_pods, infos, strict=True):
            move = queued.move
            assert (move.uid, move.attempts, move.timestamp_us) == (info.pod.uid, info.attempts, info.timestamp_us)
            assert (move.unschedulable_plugins, move.gating_plugin) == (
                tuple(info.unschedulable_plugins),
                info.gating_plugin,
            )


def world_agrees_on_events_in_flight(view: SchedulerView, world: World) -> None:
    in_flight = view.scheduler.queue.active_q.in_flight
    stored = {pod.uid: pod.key for pod in pods(view)}
    for uid in in_flight.pods:
        if uid in stored:
            noted = [str(event.event) for event in in_flight.events_since(uid) or ()]
            events = [name for name, _ in world.noted.get(stored[uid], ())]
            assert events == noted, (stored[uid], events, noted)


def world_agrees_on_cache(view: SchedulerView, world: World) -> None:
    """Check the live list, then the snapshot, which is older."""
    cache, snapshot, folded = view.scheduler.cache, view.scheduler.snapshot, world.cache
    assert [(info.name, info.generation, info.ghost) for info in folded.recent()] == [
        (name, info.generation, info.node is None) for name, info in cache.nodes.items()
    ]
    assert {uid: (held.key, held.node) for uid, held in folded.pods.items()} == {
        uid: (state.pod.key, state.pod.node_name) for uid, state in cache.pod_states.items()
    }
    assert folded.assumed.keys() == cache.assumed_pods.keys()
    if view.scheduler.recorder.full:
        assert folded.zones == cache.node_tree.zones()
        assert folded.order == tuple(cache.node_tree.list())
    assert folded.copied == {name: info.generation for name, info in snapshot.node_info_map.items()}
    assert folded.lists.nodes == tuple(info.name for info in snapshot.node_info_list)
    assert folded.lists.with_affinity == tuple(info.name for info in snapshot.nodes_with_affinity)
    apart = tuple(info.name for info in snapshot.nodes_with_required_anti_affinity)
    assert folded.lists.with_required_anti_affinity == apart
    assert set(folded.lists.claims) == snapshot.used_pvc_set.keys()
    for name, info in cache.dump().nodes.items() if not view.late else ():
        copy = folded.node_info(name)
        assert copy is not None
        assert node_info(copy) == node_info(info), (node_info(copy), node_info(info))


def world_agrees_on_placement(view: SchedulerView, world: World) -> None:
    cache = view.scheduler.cache
    stored = {pod.key: pod for pod in pods(view)}
    assert world.pods.keys() == stored.keys()
    assumed = {
        cache.pod_states[uid].pod.key: cache.pod_states[uid].pod.node_name
        for uid in cache.assumed_pods
        if any(pod.uid == uid for pod in stored.values())
    }
    for key, state in world.pods.items():
        assert state.pod.manifest == stored[key].manifest
        assert state.assumed_on == assumed.get(key, "")
    known = {
        name: {item.pod.key for item in info.pods if is_there(view, item.pod)} for name, info in cache.nodes.items()
    }
    placed = {name: set(keys) for name, keys in world.pods_on.items()}
    assert {name: keys for name, keys in placed.items() if keys} == {name: keys for name, keys in known.items() if keys}
    assert {name for name, node in world.nodes.items() if not node.ghost} == {
        node.name for node in view.api.list("Node")
    }
    assert {name for name, node in world.nodes.items() if node.ghost} == {
        name for name, keys in placed.items() if keys
    } - {node.name for node in view.api.list("Node")}
    if view.scheduler.recorder.full:
        assert world.cache.order == tuple(cache.node_tree.list())
    assert world.clock_us <= view.scheduler.timeline.now_us


OF_ITSELF = (parts_are_sound, aggregates_are_sums_over_the_pods, snapshot_equals_a_fresh_one)
WITH_THE_API_SERVER = (
    every_pod_to_be_scheduled_is_in_one_place,
    queue_holds_what_the_api_server_holds,
    cache_holds_what_the_api_server_holds,
    nominations_are_of_pods_that_wait,
)
"""Invariants that may fail while a pod's events are delayed. They hold again once these have arrived."""


def check(view: SchedulerView) -> None:
    for holds in OF_ITSELF if view.scheduler.unheard else (*OF_ITSELF, *WITH_THE_API_SERVER):
        holds(view)
