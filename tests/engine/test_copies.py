"""Copies of a simulation: they share what has not changed, and neither sees what the other one does."""

from __future__ import annotations

import copy
import pickle
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_engine import commands
from scheduler_engine.commands import Command
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import trace_digest
from scheduler_engine.sharing import Groups, Rows, Table
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.engine import histories
from tests.engine.paths import HISTORIES
from tests.engine.random_clusters import CONFIGURATIONS, cluster
from tests.engine.soundness import check, scheduler_views, unfinished_pods_are_indexed
from tests.engine.test_cache_machine import content

MOST_LINES = 5
COMMANDS: st.SearchStrategy[Command] = st.one_of(
    histories.NEW_PODS,
    histories.VIPS,
    histories.WRITES,
    histories.TROUBLE,
    histories.AROUND,
    histories.STEPS,
    histories.STEPS,
    histories.LONGER,
    histories.faults(),
    histories.REPLICAS,
    histories.MISHAPS,
)


@dataclass
class Line:
    """A simulation and its commands since its start, refused ones included; the first ones may be another one's."""

    simulation: Simulation
    log: list[Command] = field(default_factory=list)

    def execute(self, command: Command) -> None:
        self.log.append(command)
        with suppress(Rejected):
            self.simulation.execute(command)

    def branch(self, pickled: bool) -> Line:
        copied = pickle.loads(pickle.dumps(self.simulation)) if pickled else copy.deepcopy(self.simulation)
        return Line(copied, [*self.log])


def agrees(line: Line, seed: int, configuration: Any, full: bool) -> None:
    """Compare a simulation with one that was never copied."""
    alone = Line(Simulation(seed, configuration, full))
    for command in line.log:
        alone.execute(command)
    assert trace_digest(line.simulation) == trace_digest(alone.simulation)
    assert parts(line.simulation) == parts(alone.simulation)
    unfinished_pods_are_indexed(line.simulation)
    for view in scheduler_views(line.simulation):
        check(view)


def parts(simulation: Simulation) -> list[Any]:
    """Return what copies share: the objects and each scheduler's cache and snapshot, as plain data."""
    api = simulation.api
    objects = {kind: {key: item.manifest for key, item in held.items()} for kind, held in api.objects.items()}
    index = api.pod_index
    on_node = [{node: list(held) for node, held in groups.items()} for groups in (index.on_node, index.unfinished_on)]
    listed: list[Any] = [objects, on_node, dict(index.created), list(api.applied), api.written]
    for view in scheduler_views(simulation):
        cache, snapshot = view.scheduler.cache, view.scheduler.snapshot
        listed += [content(cache), [seen(info) for info in snapshot.list()], snapshot.order.tolist()]
        listed += [[seen(info) for info in snapshot.slots.infos], snapshot.slots.amounts.table.tolist()]
        listed += [[info.name for info in snapshot.have_pods_with_affinity()], list(snapshot.used_pvc_set)]
    return listed


def seen(info: Any) -> tuple[Any, ...]:
    images = {name: (image.size, image.num_nodes) for name, image in info.image_states.items()}
    return info.name, info.slot, info.generation, [pod.pod.key for pod in info.pods], images


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("seed", histories.some(range(8), 3))
def test_each_copy_continues_as_if_it_were_alone(seed: int, history: Any) -> None:
    pick, full = Random(f"copies {seed}"), seed % 4 == 0
    configuration = CONFIGURATIONS[seed % len(CONFIGURATIONS)]
    lines = [Line(Simulation(seed, configuration, full))]
    for command in history(seed):
        if pick.random() < 0.2 and len(lines) < MOST_LINES:
            lines.append(pick.choice(lines).branch(pickled=pick.random() < 0.2))
        for line in lines:
            if pick.random() < 0.8:
                line.execute(command)
            if pick.random() < 0.3:
                line.execute(commands.Stage())
    for line in lines:
        agrees(line, seed, configuration, full)


@settings(max_examples=histories.EXAMPLES)
@given(data=st.data(), full=st.booleans())
def test_anything_may_happen_in_one_copy_and_not_in_the_others(data: st.DataObject, full: bool) -> None:
    lines = [Line(Simulation(full=full))]
    lines[0].execute(histories.START)
    for _ in range(data.draw(st.integers(4, 25))):
        line = lines[data.draw(st.integers(0, len(lines) - 1))]
        if len(lines) < MOST_LINES and data.draw(st.booleans()):
            lines.append(line.branch(pickled=data.draw(st.sampled_from([False, False, False, True]))))
        line.execute(data.draw(COMMANDS))
    for line in lines:
        agrees(line, 42, None, full)


@pytest.mark.parametrize("which", ["the copy acts", "the original acts"])
@pytest.mark.parametrize("seed", range(4))
def test_what_one_does_changes_nothing_in_the_other(seed: int, which: str) -> None:
    first, rest = cluster(seed)[:14], cluster(seed)[14:]
    simulation = Simulation(seed, full=False)
    for command in (*first, commands.Stage(), commands.Stage(), commands.Stage()):
        Line(simulation).execute(command)
    copied = copy.deepcopy(simulation)
    acts, rests = (copied, simulation) if which == "the copy acts" else (simulation, copied)
    before, digest = parts(rests), trace_digest(rests)
    assert parts(acts) == before
    for command in (*rest, commands.Advance(60), commands.Delete("Node", "n1"), commands.Run(20)):
        Line(acts).execute(command)
    assert (parts(rests), trace_digest(rests)) == (before, digest)
    assert parts(acts) != before


def populated(nodes: int, pods: int) -> Simulation:
    """Return a simulation with bound pods, ten that it has scheduled, and one that it is scheduling."""
    simulation = Simulation(full=False)
    listed = [
        make_node(f"n{number}").zone(f"z{number % 3}").image("img:1", 500).capacity(cpu="32").obj()
        for number in range(nodes)
    ]
    bound = [make_pod(f"p{number}").node(f"n{number % nodes}").cpu("100m").obj() for number in range(pods)]
    waiting = [make_pod(f"q{number}").cpu("100m").obj() for number in range(11)]
    for manifests in (listed, bound, waiting):
        simulation.execute(commands.Apply(tuple(manifests)))
    simulation.execute(commands.Run(10))
    for _ in range(4):
        simulation.execute(commands.Stage())
    return simulation


def copied_one_by_one(simulation: Simulation) -> int:
    memo: dict[int, Any] = {}
    copy.deepcopy(simulation, memo)
    return len(memo)


def test_a_copy_takes_no_more_steps_if_there_are_more_nodes_and_pods() -> None:
    few, many = (copied_one_by_one(populated(nodes, 4 * nodes)) for nodes in (10, 120))
    assert many <= few


# --- the containers ---------------------------------------------------------------------------------------------------


def test_a_copy_of_a_table_or_of_rows_shares_the_values() -> None:
    table, rows = Table(a=["x"]), Rows([["x"]])
    copied, copied_rows = copy.deepcopy((table, rows))
    copied["b"], copied_rows[0] = ["y"], ["y"]
    assert (table, rows, copied["a"] is table["a"]) == ({"a": ["x"]}, [["x"]], True)
    assert (type(copied), type(copied_rows)) == (Table, Rows)


@pytest.mark.parametrize("which", [0, 1], ids=["the original", "the copy"])
def test_a_group_is_copied_when_it_is_changed(which: int) -> None:
    groups: Groups[str, str, int] = Groups()
    groups.change("a")["x"] = 1
    groups.change("b")["y"] = 2
    both = groups, copy.deepcopy(groups)
    both[which].change("a")["x"] = 3
    del both[which]["b"]
    both[which].change("b")["z"] = 4
    assert both[which] == {"a": {"x": 3}, "b": {"z": 4}}
    assert both[1 - which] == {"a": {"x": 1}, "b": {"y": 2}}


def test_a_changed_group_is_copied_only_once() -> None:
    groups: Groups[str, str, int] = Groups()
    groups.change("a")["x"] = 1
    copy.deepcopy(groups)
    own = groups.change("a")
    assert groups.change("a") is own
    restored = pickle.loads(pickle.dumps(groups))
    restored.change("a")["x"] = 2
    assert (groups, restored) == ({"a": {"x": 1}}, {"a": {"x": 2}})
