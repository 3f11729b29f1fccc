"""What must hold of a simulation after every command. Each check raises AssertionError.

Most checks are about one scheduler and what it sees of the API server: ``seen_by`` gives all that schedule.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from sandbox.panels.model.state import by_expiry, by_priority
from sandbox.panels.model.world import World
from scheduler_engine.api.objects import Pod
from scheduler_engine.api.pod_resources import Resource
from scheduler_engine.apiserver.connection import Connection
from scheduler_engine.cache.snapshot import Snapshot
from scheduler_engine.conformance.cache import node_info
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
class Seen:
    """A simulation as one of its schedulers sees it; ``late``: it gets no watch events now."""

    replica: str
    scheduler: Scheduler
    api: Connection

    @property
    def late(self) -> bool:
        return self.api.known is not None or bool(self.scheduler.unheard)


def seen_by(simulation: Simulation) -> list[Seen]:
    """By each scheduler that works or stands still."""
    members = simulation.replicas.leaders()
    return [Seen(item.name, item.scheduler, item.connection) for item in members if item.scheduler is not None]


def several_have_scheduled_at_once(simulation: Simulation) -> bool:
    """Whether two replicas ever did, be it within one command."""
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
    """What a refused command must leave as it was."""
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
        len(simulation.api.events) + simulation.api.events_before,
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
    """The aggregates of a NodeInfo, whatever the order of its pods. Amounts of zero are as good as none."""
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


def pods(seen: Seen) -> list[Pod]:
    return [pod for pod in seen.api.list("Pod") if isinstance(pod, Pod)]


def under_way(seen: Seen) -> list[str]:
    scheduler = seen.scheduler
    return [cycle.pod.uid for cycle in (scheduler.cycle, *scheduler.bindings) if cycle is not None]


def is_there(seen: Seen, pod: Pod) -> bool:
    """Neither deleted nor finished, as one that is still being bound may be."""
    stored = seen.api.pod(pod.key)
    return stored is not None and stored.uid == pod.uid and not stored.finished


def parts_are_sound(seen: Seen) -> None:
    seen.scheduler.queue.check()
    seen.scheduler.cache.check()


def everybody_has_seen_everything(simulation: Simulation) -> None:
    api = simulation.api
    late = [seen.scheduler.watch for seen in seen_by(simulation) if seen.late]
    for watch in api.watches:
        if not any(watch is item for item in late):
            assert watch.position == api.events_before + len(api.events)


def unfinished_pods_are_indexed(simulation: Simulation) -> None:
    """The API server's index says what a look at every pod says."""
    api, index = simulation.api, simulation.api.pod_index
    unfinished = [pod for pod in api.pods() if not pod.finished]
    namespaces = dict.fromkeys(pod.namespace for pod in unfinished)
    assert index.in_namespace.keys() == namespaces.keys()
    for namespace in namespaces:
        assert api.unfinished(namespace) == [pod for pod in api.pods(namespace) if not pod.finished]
    nodes = {pod.node_name for pod in unfinished if pod.node_name}
    assert index.on_node.keys() == nodes
    for node in nodes:
        assert api.unfinished_on(node) == [pod for pod in api.pods_on(node) if not pod.finished]


def every_pod_to_be_scheduled_is_in_one_place(seen: Seen) -> None:
    queue = seen.scheduler.queue
    queued = [info.pod.uid for infos in queue.lanes().values() for info in infos]
    cycles = under_way(seen)
    stored = {pod.uid for pod in pods(seen)}
    # Of a pod whose name another one has taken meanwhile, upstream forgets that it is in flight.
    over = set(queue.active_q.in_flight.pods) - set(cycles)
    assert not over & stored, "an attempt that is over is still in flight"
    profiles = seen.scheduler.profiles
    wanted = [
        pod.uid
        for pod in pods(seen)
        if not pod.node_name and not pod.finished and not pod.terminating and pod.scheduler_name in profiles
    ]
    assert sorted(queued) == sorted(uid for uid in wanted if uid not in cycles)
    assert len(cycles) == len(set(cycles))


def queue_holds_what_the_api_server_holds(seen: Seen) -> None:
    stored = {pod.uid: pod for pod in pods(seen)}
    for infos in seen.scheduler.queue.lanes().values():
        for info in infos:
            assert info.pod is stored[info.pod.uid]


def cache_holds_what_the_api_server_holds(seen: Seen) -> None:
    scheduler, cache = seen.scheduler, seen.scheduler.cache
    stored = {pod.uid: pod for pod in pods(seen) if pod.node_name and not pod.finished}
    known = {uid: state.pod for uid, state in cache.pod_states.items() if uid not in cache.assumed_pods}
    assert known == stored
    assert all(known[uid] is stored[uid] for uid in known)
    assert set(cache.assumed_pods) <= set(under_way(seen))
    if not scheduler.bindings and scheduler.cycle is None:
        assert not cache.assumed_pods
    nodes = {node.name: node for node in seen.api.list("Node")}
    assert {name: info.node for name, info in cache.nodes.items() if info.node is not None} == nodes
    for name, info in cache.nodes.items():
        assert info.node is nodes.get(name)


def aggregates_are_sums_over_the_pods(seen: Seen) -> None:
    for info in seen.scheduler.cache.nodes.values():
        fresh = NodeInfo()
        for item in info.pods:
            fresh.add_pod(item.pod)
        assert amounts(info) == amounts(fresh)
        ports = [port for item in info.pods for port in item.pod.host_ports]
        if len(ports) == len(set(ports)):
            assert info.used_ports.keys() == set(ports)


def snapshot_equals_a_fresh_one(seen: Seen) -> None:
    cache, snapshot = copy.deepcopy((seen.scheduler.cache, seen.scheduler.snapshot))
    cache.recorder = None
    cache.update_snapshot(snapshot)
    fresh = Snapshot()
    cache.update_snapshot(fresh)
    # A node that changed its zone keeps its old place in the list, as upstream.
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


def api_server_was_not_told(seen: Seen, pod: Pod) -> bool:
    """Whether the nominator rightly holds something else than the pod's status, as upstream: what the last attempt
    decided. Either its write was lost, or it decided for what the pod had when it was popped and so wrote nothing,
    while somebody else had changed the nomination. The next update of the pod that the scheduler sees ends the latter.
    """
    told = [entry for entry in seen.scheduler.recorder.entries if concerns(entry, seen.replica, pod.key)][::-1]
    decided = next((entry.event for entry in told if isinstance(entry.event, CycleFinished)), None)
    popped = next((entry.event for entry in told if isinstance(entry.event, CycleStarted)), None)
    if decided is None or popped is None or decided.node != seen.scheduler.queue.nominator.nodes.get(pod.uid, ""):
        return False
    if LOST in decided.message:
        return True
    wrote_nothing = [type(entry.event) for entry in told[:2]] == [CycleFinished, EventRecorded]
    return decided.node == popped.nominated_node and (seen.late or wrote_nothing)


def concerns(entry: Entry, replica: str, key: str) -> bool:
    """Whether it tells what this replica decided about the pod, or what anybody wrote into it."""
    match entry.event:
        case CycleStarted(pod=pod) | CycleFinished(pod=pod):
            return pod == key and entry.replica == replica
        case EventRecorded(regarding_kind="Pod", regarding=regarding, reason="FailedScheduling"):
            return regarding == key and entry.replica == replica
        case ObjectAdded(kind="Pod", key=name) | ObjectModified(kind="Pod", key=name):
            return name == key
    return False


def nominations_are_of_pods_that_wait(seen: Seen) -> None:
    queue = seen.scheduler.queue
    stored = {pod.uid: pod for pod in pods(seen)}
    for uid in queue.nominator.nodes:
        assert uid in stored
        assert not stored[uid].node_name
        assert not stored[uid].finished
    for lane, infos in queue.lanes().items():
        for info in infos if lane != "gated" else ():
            if queue.nominator.nodes.get(info.pod.uid, "") != info.pod.nominated_node_name:
                assert api_server_was_not_told(seen, info.pod)


def world_agrees_on_queue(seen: Seen, world: World) -> None:
    queue = seen.scheduler.queue
    told = {key: place.lane for key, place in world.queue.items()}
    known = {info.pod.key: lane for lane, infos in queue.lanes().items() for info in infos}
    stored = {pod.uid: pod for pod in pods(seen)}
    for uid in queue.active_q.in_flight.pods:
        if uid in stored:
            known[stored[uid].key] = "inFlight"
    deleted = [key for key in queue.active_q.in_flight.pod_keys() if key not in known]
    assert {key: lane for key, lane in told.items() if key not in deleted} == known
    if not seen.late:
        nominated = {ref.key: node for node, refs in queue.nominator.nominated_pods.items() if node for ref in refs}
        assert world.nominations == nominated


def world_agrees_on_lanes(seen: Seen, world: World) -> None:
    """Their order, and what is known of each pod there: attempts, when it came and when it may go on."""
    for lane, infos in seen.scheduler.queue.lanes().items():
        told = world.lane(lane)
        if lane == "activeQ":
            told = sorted(told, key=by_priority)
        elif lane in ("backoffQ", "errorBackoffQ"):
            told = sorted(told, key=by_expiry)
        assert [queued.move.pod for queued in told] == [info.pod.key for info in infos]
        for queued, info in zip(told, infos, strict=True):
            move = queued.move
            assert (move.uid, move.attempts, move.timestamp_us) == (info.pod.uid, info.attempts, info.timestamp_us)
            assert (move.unschedulable_plugins, move.gating_plugin) == (
                tuple(info.unschedulable_plugins),
                info.gating_plugin,
            )


def world_agrees_on_events_in_flight(seen: Seen, world: World) -> None:
    in_flight = seen.scheduler.queue.active_q.in_flight
    stored = {pod.uid: pod.key for pod in pods(seen)}
    for uid in in_flight.pods:
        if uid in stored:
            noted = [str(event.event) for event in in_flight.events_since(uid) or ()]
            told = [name for name, _ in world.noted.get(stored[uid], ())]
            assert told == noted, (stored[uid], told, noted)


def world_agrees_on_cache(seen: Seen, world: World) -> None:
    """The live list apart from the snapshot, which is older."""
    cache, snapshot, told = seen.scheduler.cache, seen.scheduler.snapshot, world.cache
    assert [(info.name, info.generation, info.ghost) for info in told.recent()] == [
        (name, info.generation, info.node is None) for name, info in cache.nodes.items()
    ]
    assert {uid: (held.key, held.node) for uid, held in told.pods.items()} == {
        uid: (state.pod.key, state.pod.node_name) for uid, state in cache.pod_states.items()
    }
    assert told.assumed.keys() == cache.assumed_pods.keys()
    if seen.scheduler.recorder.full:
        assert told.zones == cache.node_tree.zones()
        assert told.order == tuple(cache.node_tree.list())
    assert told.copied == {name: info.generation for name, info in snapshot.node_info_map.items()}
    assert told.lists.nodes == tuple(info.name for info in snapshot.node_info_list)
    assert told.lists.with_affinity == tuple(info.name for info in snapshot.nodes_with_affinity)
    apart = tuple(info.name for info in snapshot.nodes_with_required_anti_affinity)
    assert told.lists.with_required_anti_affinity == apart
    assert set(told.lists.claims) == snapshot.used_pvc_set.keys()
    for name, info in cache.nodes.items() if not seen.late else ():
        copy = told.node_info(name)
        assert copy is not None
        assert node_info(copy) == node_info(info), (node_info(copy), node_info(info))


def world_agrees_on_placement(seen: Seen, world: World) -> None:
    cache = seen.scheduler.cache
    stored = {pod.key: pod for pod in pods(seen)}
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
        name: {item.pod.key for item in info.pods if is_there(seen, item.pod)} for name, info in cache.nodes.items()
    }
    told = {name: set(keys) for name, keys in world.pods_on.items()}
    assert {name: keys for name, keys in told.items() if keys} == {name: keys for name, keys in known.items() if keys}
    assert {name for name, node in world.nodes.items() if not node.ghost} == {
        node.name for node in seen.api.list("Node")
    }
    if seen.scheduler.recorder.full:
        assert world.cache.order == tuple(cache.node_tree.list())
    assert world.clock_us <= seen.scheduler.timeline.now_us


OF_ITSELF = (parts_are_sound, aggregates_are_sums_over_the_pods, snapshot_equals_a_fresh_one)
WITH_THE_API_SERVER = (
    every_pod_to_be_scheduled_is_in_one_place,
    queue_holds_what_the_api_server_holds,
    cache_holds_what_the_api_server_holds,
    nominations_are_of_pods_that_wait,
)
"""These do not hold while events of a pod come late; they do again once these have come."""


def check(seen: Seen) -> None:
    for holds in OF_ITSELF if seen.scheduler.unheard else (*OF_ITSELF, *WITH_THE_API_SERVER):
        holds(seen)
