"""Random histories of a whole simulation keep all invariants."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sandbox.panels.model.world import World
from scheduler_engine import commands
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.api.scheme import KINDS
from scheduler_engine.commands import Command
from scheduler_engine.effort import Effort
from scheduler_engine.errors import OverBudget, Rejected
from scheduler_engine.replay import entry_json, make_log, replay, trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.versions import DEFAULT
from tests.engine import histories
from tests.engine.histories import EXAMPLES, Version
from tests.engine.soundness import (
    check,
    described,
    everybody_is_up_to_date,
    scheduler_views,
    several_have_scheduled_at_once,
    under_way,
    unfinished_pods_are_indexed,
    world_agrees_on_cache,
    world_agrees_on_events_in_flight,
    world_agrees_on_lanes,
    world_agrees_on_placement,
    world_agrees_on_queue,
)

RULES = st.sampled_from(["v1.34", "design-doc"])


def refused(simulation: Simulation, command: Command) -> Rejected | None:
    """Execute ``command`` and return its refusal, if any. Any other exception is a bug."""
    try:
        simulation.execute(command)
    except Rejected as refusal:
        return refusal
    return None


def spent(simulation: Simulation, command: Command, number: int) -> bool:
    """Execute ``command`` on a budget of ``number`` entries. Return True if that is too little."""
    whole = Effort.count_entry

    def count(effort: Effort) -> None:
        nonlocal number
        number -= 1
        if number < 0:
            Effort.count_entry = whole  # type: ignore[method-assign]
            raise OverBudget("too much")
        whole(effort)

    copied = copy.deepcopy(simulation)
    Effort.count_entry = count  # type: ignore[method-assign]
    try:
        copied.execute(command)
    except OverBudget:
        simulation.__dict__ = copied.__dict__
        return True
    except Rejected:
        return False
    finally:
        Effort.count_entry = whole  # type: ignore[method-assign]
    return False


class Machine(RuleBasedStateMachine):
    """A random history of one simulation.

    ``twin``: an earlier copy of the simulation that executes the same commands since. ``excused``: nodes that may
    exceed their allocatable, because a person placed a pod there or resized them. ``contested``: several replicas have
    scheduled at once, so any node may. ``replayed``: the log's length at its last replay. The log is replayed when it
    has doubled, so that replays cost no more than the checks.
    """

    def __init__(self) -> None:
        super().__init__()
        self.simulation = Simulation()
        self.start: tuple[int, dict[str, Any] | None, bool, str] = (42, None, True, "v1.34")
        self.version: Version = (DEFAULT, {})
        self.twin: Simulation | None = None
        self.log: list[Command] = []
        self.world = World()
        self.excused: dict[str, None] = {}
        self.sizes: dict[str, Any] = {}
        self.contested = False
        self.replayed = 10

    @initialize(
        seed=st.integers(0, 3),
        rules=RULES,
        configuration=histories.CONFIGURATIONS,
        full=st.booleans(),
        first=histories.NEW_PODS,
        replicas=st.one_of(st.none(), histories.REPLICAS),
        version=histories.KUBERNETES,
    )
    def begin(
        self,
        seed: int,
        rules: str,
        configuration: dict[str, Any] | None,
        full: bool,
        first: Command,
        replicas: Command | None,
        version: Version,
    ) -> None:
        self.start, self.version = (seed, configuration, full, rules), version
        kubernetes, gates = version
        self.simulation = Simulation(seed, configuration, full, rules, kubernetes=kubernetes, feature_gates=gates)
        self.execute(histories.START)
        if replicas is not None:
            self.execute(replicas)
        self.execute(first)
        self.execute(commands.Run())

    # --- rules -------------------------------------------------------------------------------------------------------

    def execute(self, command: Command) -> None:
        before = described(self.simulation)
        there = {item.uid for item in self.simulation.api.list("Pod")}
        refusal = refused(self.simulation, command)
        if refusal is not None:
            assert refusal.errors
            assert all(str(error) for error in refusal.errors)
            assert described(self.simulation) == before, "a refused command changed something"
            return
        self.log.append(command)
        self.excuse(command, there)
        if self.twin is not None:
            self.twin.execute(command)

    def excuse(self, command: Command, there: set[str]) -> None:
        """Excuse nodes that a person overfills. ``there``: uids of the pods before the command."""
        for manifest in command.manifests if isinstance(command, commands.Apply) else ():
            if manifest["kind"] == "Node":
                name, size = manifest["metadata"]["name"], manifest["status"]["capacity"]
                if self.sizes.setdefault(name, size) != size:
                    self.excused[name] = None
            elif manifest["kind"] == "Pod" and manifest["spec"].get("nodeName"):
                stored = self.simulation.api.pod(f"default/{manifest['metadata']['name']}")
                if stored is not None and stored.uid not in there:
                    self.excused[stored.node_name] = None

    @rule(command=histories.NEW_PODS, steps=st.integers(0, 9))
    def add_pods(self, command: Command, steps: int) -> None:
        self.execute(command)
        self.step(commands.Stage(), steps)

    @rule(command=histories.VIPS, steps=st.integers(0, 9))
    def add_a_vip(self, command: Command, steps: int) -> None:
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
        pods = self.objects("Pod")
        if pods:
            manifest = pods[index % len(pods)].manifest
            self.execute(commands.Apply((histories.CHANGES[change](manifest),)))

    @rule(
        index=st.integers(0, 9), kind=st.sampled_from(["Pod"] * 6 + ["Node"] * 2 + sorted(KINDS)), again=st.booleans()
    )
    def delete(self, index: int, kind: str, again: bool) -> None:
        """Delete an object. ``again``: create another one with the same name."""
        objects = self.objects(kind)
        if not objects:
            self.execute(commands.Delete(kind, "default/nobody"))
            return
        chosen = objects[index % len(objects)]
        self.execute(commands.Delete(kind, chosen.key))
        if again:
            spec = {name: value for name, value in chosen.spec.items() if name != "nodeName"}
            self.execute(commands.Apply(({**chosen.manifest, "spec": spec},)))

    def objects(self, kind: str) -> list[KubeObject]:
        """Return the objects, those of a current cycle first."""
        first = [uid for view in scheduler_views(self.simulation) for uid in under_way(view)]
        return sorted(self.simulation.api.list(kind), key=lambda item: item.uid not in first)

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

    @rule(command=histories.REPLICAS, first=histories.NEW_PODS, steps=st.integers(0, 40))
    def replicate(self, command: Command, first: Command, steps: int) -> None:
        self.execute(command)
        self.execute(first)
        self.step(commands.Stage(), steps)

    @rule(
        command=histories.MISHAPS,
        then=histories.NEW_PODS,
        steps=st.integers(0, 19),
        seconds=st.sampled_from([0, 1, 5, 20]),
    )
    def hurt_a_replica(self, command: Command, then: Command, steps: int, seconds: int) -> None:
        self.execute(command)
        self.execute(then)
        self.step(commands.Stage(), steps)
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
        assert len(self.log) == number, "the command should have been refused"

    @rule(command=histories.UPGRADES)
    def upgrade_or_downgrade(self, command: Command) -> None:
        self.execute(command)

    @rule(
        command=st.one_of(
            histories.NEW_PODS, histories.VIPS, histories.AROUND, histories.TROUBLE, histories.STEPS, histories.LONGER
        ),
        number=st.integers(1, 40),
    )
    def run_out_of_budget(self, command: Command, number: int) -> None:
        """Exceed the budget at the nth entry: the command is undone, and the history continues as if without it."""
        before, (now_us, *_) = trace_digest(self.simulation), described(self.simulation)
        if spent(self.simulation, command, number):
            assert trace_digest(self.simulation) == before
            assert described(self.simulation)[0] == now_us
            self.world, entries = World(), self.simulation.recorder.entries
            for entry in entries:
                self.world.apply(entry)
        self.execute(command)

    @rule(pickled=st.booleans(), original_goes_on=st.booleans())
    def copy_it(self, pickled: bool, original_goes_on: bool) -> None:
        """Continue with a copy as twin, or with the copy while the original becomes the twin."""
        self.twin_agrees()
        copied = pickle.loads(pickle.dumps(self.simulation)) if pickled else copy.deepcopy(self.simulation)
        self.simulation, self.twin = (self.simulation, copied) if original_goes_on else (copied, self.simulation)

    @precondition(lambda self: len(self.log) >= 2 * self.replayed)
    @rule()
    def replay_the_log(self) -> None:
        self.replayed = len(self.log)
        (seed, configuration, full, rules), (kubernetes, gates) = self.start, self.version
        made = make_log(seed, configuration, self.log, rules, kubernetes=kubernetes, feature_gates=gates)
        log = json.loads(json.dumps(made))
        assert trace_digest(replay(log, full)) == trace_digest(self.simulation)

    def twin_agrees(self) -> None:
        if self.twin is not None:
            assert trace_digest(self.twin) == trace_digest(self.simulation)

    def teardown(self) -> None:
        self.twin_agrees()

    # --- invariants --------------------------------------------------------------------------------------------------

    @invariant()
    def simulation_is_sound(self) -> None:
        everybody_is_up_to_date(self.simulation)
        unfinished_pods_are_indexed(self.simulation)
        for view in scheduler_views(self.simulation):
            check(view)

    @invariant()
    def no_node_is_over_its_allocatable(self) -> None:
        self.contested = self.contested or several_have_scheduled_at_once(self.simulation)
        if self.contested:
            return
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
    def trace_is_dense_and_tells_everything(self) -> None:
        entries, view = self.simulation.recorder.entries, len(self.world.entries)
        last = entries[view - 1] if view else None
        for number, entry in enumerate(entries[view:], start=view + 1):
            assert entry.n == number
            assert last is None or (last.at_us, last.command) <= (entry.at_us, entry.command)
            json.dumps(entry_json(entry), allow_nan=False, default=tuple)
            self.world.apply(entry)
            last = entry
        for view in scheduler_views(self.simulation):
            self.world.look_at(view.replica)
            world_agrees_on_queue(view, self.world)
            world_agrees_on_lanes(view, self.world)
            world_agrees_on_cache(view, self.world)
            if not view.late:
                world_agrees_on_events_in_flight(view, self.world)
                world_agrees_on_placement(view, self.world)


Machine.TestCase.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=40, suppress_health_check=[HealthCheck.too_slow]
)
TestInvariants = Machine.TestCase
