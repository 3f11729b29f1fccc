"""Random histories of a whole simulation: whatever is commanded, nothing that must hold is broken."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from sandbox.panels.world import World
from scheduler_engine import commands
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.api.pod_resources import Resource
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.cache.snapshot import Snapshot
from scheduler_engine.commands import Command
from scheduler_engine.errors import Rejected
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.replay import entry_json, make_log, replay, trace_digest
from scheduler_engine.simulation import Simulation
from tests.engine import histories

RULES = st.sampled_from(["v1.34", "design-doc"])


def described(simulation: Simulation) -> tuple[Any, ...]:
    """What a refused command must leave as it was."""
    scheduler = simulation.scheduler
    lanes = {lane: [info.pod.key for info in infos] for lane, infos in scheduler.queue.lanes().items()}
    cycles = [(cycle.number, cycle.stage, cycle.note) for cycle in (scheduler.cycle, *scheduler.bindings) if cycle]
    return (
        simulation.now_us,
        len(simulation.recorder.entries),
        simulation.recorder.command,
        simulation.last_was_play,
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


class Machine(RuleBasedStateMachine):
    """``twin``: a copy of the simulation made on the way, that is given the same commands since; ``excused``: nodes that
    may be over their allocatable, as a person placed a pod there or shrank them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.simulation = Simulation()
        self.start: tuple[int, dict[str, Any] | None, bool, str] = (42, None, True, "v1.34")
        self.twin: Simulation | None = None
        self.log: list[Command] = []
        self.world = World()
        self.excused: dict[str, None] = {}
        self.sizes: dict[str, Any] = {}

    @initialize(
        seed=st.integers(0, 3),
        rules=RULES,
        configuration=histories.CONFIGURATIONS,
        full=st.booleans(),
        first=histories.NEW_PODS,
    )
    def begin(self, seed: int, rules: str, configuration: dict[str, Any] | None, full: bool, first: Command) -> None:
        self.start = (seed, configuration, full, rules)
        self.simulation = Simulation(seed, configuration, full, rules)
        self.execute(histories.START)
        self.execute(first)
        self.execute(commands.Run())

    # --- what happens ------------------------------------------------------------------------------------------------

    def execute(self, command: Command) -> None:
        before = described(self.simulation)
        try:
            self.simulation.execute(command)
        except Rejected as refusal:
            assert refusal.errors
            assert all(str(error) for error in refusal.errors)
            assert described(self.simulation) == before, "a refused command changed something"
            return
        self.log.append(command)
        if isinstance(command, commands.Apply):
            self.excuse(command)
        if self.twin is not None:
            self.twin.execute(command)

    def excuse(self, command: commands.Apply) -> None:
        for manifest in command.manifests:
            if manifest["kind"] == "Pod" and manifest["spec"].get("nodeName"):
                self.excused[manifest["spec"]["nodeName"]] = None
            elif manifest["kind"] == "Node":
                name, size = manifest["metadata"]["name"], manifest["status"]
                if self.sizes.setdefault(name, size) != size:
                    self.excused[name] = None

    @rule(command=histories.NEW_PODS, steps=st.integers(0, 9))
    def add_pods(self, command: Command, steps: int) -> None:
        self.execute(command)
        self.step(commands.Stage(), steps)

    @rule(command=histories.WRITES)
    def write(self, command: Command) -> None:
        self.execute(command)

    @rule(command=histories.AROUND)
    def let_others_act(self, command: Command) -> None:
        self.execute(command)

    @rule(index=st.integers(0, 9), change=st.sampled_from(sorted(histories.CHANGES)))
    def change_a_pod(self, index: int, change: str) -> None:
        found = self.objects("Pod")
        if found:
            manifest = found[index % len(found)].manifest
            self.execute(commands.Apply((histories.CHANGES[change](manifest),)))

    @rule(
        index=st.integers(0, 9), kind=st.sampled_from(["Pod"] * 6 + ["Node"] * 2 + sorted(KINDS)), again=st.booleans()
    )
    def delete(self, index: int, kind: str, again: bool) -> None:
        """``again``: something of the same name takes its place."""
        found = self.objects(kind)
        if not found:
            self.execute(commands.Delete(kind, "default/nobody"))
            return
        chosen = found[index % len(found)]
        self.execute(commands.Delete(kind, chosen.key))
        if again:
            spec = {name: value for name, value in chosen.spec.items() if name != "nodeName"}
            self.execute(commands.Apply(({**chosen.manifest, "spec": spec},)))

    def objects(self, kind: str) -> list[KubeObject]:
        """Those that a cycle is about first."""
        under_way = self.under_way()
        return sorted(self.simulation.api.list(kind), key=lambda item: item.uid not in under_way)

    @rule(command=histories.STEPS, times=st.integers(1, 6))
    def step(self, command: Command, times: int) -> None:
        for _ in range(times):
            self.execute(command)

    @rule(command=histories.LONGER)
    def go_on(self, command: Command) -> None:
        self.execute(command)

    @rule(command=histories.faults(), steps=st.integers(0, 9))
    def break_something(self, command: Command, steps: int) -> None:
        self.execute(command)
        self.step(commands.Stage(), steps)

    @rule(command=histories.TROUBLE, seconds=st.sampled_from([0, 0, 1, 12, 35]))
    def make_trouble(self, command: Command, seconds: int) -> None:
        self.execute(command)
        if seconds:
            self.execute(commands.Advance(seconds))

    @rule(index=st.integers(0, 3))
    def allow(self, index: int) -> None:
        waiting = [binding.pod.key for binding in self.simulation.scheduler.bindings]
        self.execute(commands.Allow(waiting[index % len(waiting)] if waiting else "default/nobody"))

    @rule(configuration=histories.CONFIGURATIONS, mistake=histories.MISTAKES, really=st.booleans())
    def configure_or_make_a_mistake(self, configuration: dict[str, Any] | None, mistake: Command, really: bool) -> None:
        if really:
            self.execute(commands.Configure(configuration))
            return
        number = len(self.log)
        self.execute(mistake)
        assert len(self.log) == number, "this should have been refused"

    @rule(pickled=st.booleans(), original_goes_on=st.booleans())
    def copy_it(self, pickled: bool, original_goes_on: bool) -> None:
        """From here on a copy is given the same commands, or takes over while the original becomes the twin."""
        self.twin_agrees()
        copied = pickle.loads(pickle.dumps(self.simulation)) if pickled else copy.deepcopy(self.simulation)
        self.simulation, self.twin = (self.simulation, copied) if original_goes_on else (copied, self.simulation)

    @rule()
    def replay_the_log(self) -> None:
        seed, configuration, full, rules = self.start
        log = json.loads(json.dumps(make_log(seed, configuration, self.log, rules)))
        assert trace_digest(replay(log, full)) == trace_digest(self.simulation)

    def twin_agrees(self) -> None:
        if self.twin is not None:
            assert trace_digest(self.twin) == trace_digest(self.simulation)

    def teardown(self) -> None:
        self.twin_agrees()

    # --- what must hold ----------------------------------------------------------------------------------------------

    def pods(self) -> list[Pod]:
        return [pod for pod in self.simulation.api.list("Pod") if isinstance(pod, Pod)]

    def under_way(self) -> list[str]:
        scheduler = self.simulation.scheduler
        return [cycle.pod.uid for cycle in (scheduler.cycle, *scheduler.bindings) if cycle is not None]

    def is_there(self, pod: Pod) -> bool:
        """Neither deleted nor finished, as one that is still being bound may be."""
        stored = self.simulation.api.pod(pod.key)
        return stored is not None and stored.uid == pod.uid and not stored.finished

    @invariant()
    def parts_are_sound(self) -> None:
        self.simulation.scheduler.queue.check()
        self.simulation.scheduler.cache.check()

    @invariant()
    def everybody_has_seen_everything(self) -> None:
        api = self.simulation.api
        assert all(watch.position == api.events_before + len(api.events) for watch in api.watches)

    @invariant()
    def every_pod_to_be_scheduled_is_in_one_place(self) -> None:
        queue = self.simulation.scheduler.queue
        queued = [info.pod.uid for infos in queue.lanes().values() for info in infos]
        under_way = self.under_way()
        assert set(queue.active_q.in_flight.pods) <= set(under_way), "an attempt that is over is still in flight"
        profiles = self.simulation.scheduler.profiles
        wanted = [
            pod.uid
            for pod in self.pods()
            if not pod.node_name and not pod.finished and not pod.terminating and pod.scheduler_name in profiles
        ]
        assert sorted(queued) == sorted(uid for uid in wanted if uid not in under_way)
        assert len(under_way) == len(set(under_way))

    @invariant()
    def queue_holds_what_the_api_server_holds(self) -> None:
        stored = {pod.uid: pod for pod in self.pods()}
        for infos in self.simulation.scheduler.queue.lanes().values():
            for info in infos:
                assert info.pod is stored[info.pod.uid]

    @invariant()
    def cache_holds_what_the_api_server_holds(self) -> None:
        scheduler, cache = self.simulation.scheduler, self.simulation.scheduler.cache
        stored = {pod.uid: pod for pod in self.pods() if pod.node_name and not pod.finished}
        known = {uid: state.pod for uid, state in cache.pod_states.items() if uid not in cache.assumed_pods}
        assert known == stored
        assert all(known[uid] is stored[uid] for uid in known)
        assert set(cache.assumed_pods) <= set(self.under_way())
        if not scheduler.bindings and scheduler.cycle is None:
            assert not cache.assumed_pods
        nodes = {node.name: node for node in self.simulation.api.list("Node")}
        assert {name: info.node for name, info in cache.nodes.items() if info.node is not None} == nodes
        for name, info in cache.nodes.items():
            assert info.node is nodes.get(name)

    @invariant()
    def aggregates_are_sums_over_the_pods(self) -> None:
        for info in self.simulation.scheduler.cache.nodes.values():
            fresh = NodeInfo()
            for item in info.pods:
                fresh.add_pod(item.pod)
            assert amounts(info) == amounts(fresh)
            ports = [port for item in info.pods for port in item.pod.host_ports]
            if len(ports) == len(set(ports)):
                assert info.used_ports.keys() == set(ports)

    @invariant()
    def no_node_is_over_its_allocatable(self) -> None:
        for name, info in self.simulation.scheduler.cache.nodes.items():
            if info.node is None or name in self.excused:
                continue
            requested, allocatable = info.requested, info.allocatable
            assert len(info.pods) <= allocatable.allowed_pod_number
            assert requested.milli_cpu <= allocatable.milli_cpu
            assert requested.memory <= allocatable.memory
            for resource, amount in requested.scalar.items():
                assert amount <= allocatable.scalar.get(resource, 0)

    @invariant()
    def snapshot_equals_a_fresh_one(self) -> None:
        cache, snapshot = copy.deepcopy((self.simulation.scheduler.cache, self.simulation.scheduler.snapshot))
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

    @invariant()
    def nominations_are_of_pods_that_wait(self) -> None:
        queue = self.simulation.scheduler.queue
        stored = {pod.uid: pod for pod in self.pods()}
        for uid in queue.nominator.nodes:
            assert uid in stored
            assert not stored[uid].node_name
            assert not stored[uid].finished
        for lane, infos in queue.lanes().items():
            for info in infos if lane != "gated" else ():
                assert queue.nominator.nodes.get(info.pod.uid, "") == info.pod.nominated_node_name

    @invariant()
    def trace_is_dense_and_tells_everything(self) -> None:
        entries, seen = self.simulation.recorder.entries, len(self.world.entries)
        last = entries[seen - 1] if seen else None
        for number, entry in enumerate(entries[seen:], start=seen + 1):
            assert entry.n == number
            assert last is None or (last.at_us, last.command) <= (entry.at_us, entry.command)
            json.dumps(entry_json(entry), allow_nan=False)
            self.world.apply(entry)
            last = entry
        self.world_agrees_on_queue()
        self.world_agrees_on_placement()

    def world_agrees_on_queue(self) -> None:
        queue = self.simulation.scheduler.queue
        told = {key: place.lane for key, place in self.world.queue.items()}
        known = {info.pod.key: lane for lane, infos in queue.lanes().items() for info in infos}
        stored = {pod.uid: pod for pod in self.pods()}
        for uid in queue.active_q.in_flight.pods:
            if uid in stored:
                known[stored[uid].key] = "inFlight"
        deleted = [key for key in queue.active_q.in_flight.pod_keys() if key not in known]
        assert {key: lane for key, lane in told.items() if key not in deleted} == known
        nominated = {ref.key: node for node, refs in queue.nominator.nominated_pods.items() if node for ref in refs}
        assert self.world.nominations == nominated

    def world_agrees_on_placement(self) -> None:
        cache = self.simulation.scheduler.cache
        stored = {pod.key: pod for pod in self.pods()}
        assert self.world.pods.keys() == stored.keys()
        assumed = {
            cache.pod_states[uid].pod.key: cache.pod_states[uid].pod.node_name
            for uid in cache.assumed_pods
            if any(pod.uid == uid for pod in stored.values())
        }
        for key, state in self.world.pods.items():
            assert state.pod.manifest == stored[key].manifest
            assert state.assumed_on == assumed.get(key, "")
        known = {
            name: {item.pod.key for item in info.pods if self.is_there(item.pod)} for name, info in cache.nodes.items()
        }
        told = {name: set(keys) for name, keys in self.world.pods_on.items()}
        assert {name: keys for name, keys in told.items() if keys} == {
            name: keys for name, keys in known.items() if keys
        }
        assert {name for name, node in self.world.nodes.items() if not node.ghost} == {
            node.name for node in self.simulation.api.list("Node")
        }
        if self.simulation.recorder.full:
            assert self.world.order == tuple(cache.node_tree.list())
        assert self.world.clock_us <= self.simulation.now_us


def names(infos: Any) -> list[str]:
    return sorted(info.name for info in infos)


EXAMPLES = settings().max_examples if settings.get_current_profile_name() == "thorough" else 25
Machine.TestCase.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestInvariants = Machine.TestCase
