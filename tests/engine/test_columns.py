"""Kept results and results for many nodes at once: the fast path and the plain path decide the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_engine import commands
from scheduler_engine.api.objects import Pod
from scheduler_engine.commands import Command
from scheduler_engine.config.build import takes_part
from scheduler_engine.framework import columns as columns_module
from scheduler_engine.framework.columns import Columns
from scheduler_engine.framework.faults import TOGETHER
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Slots
from scheduler_engine.plugins.node_name import NodeName
from scheduler_engine.plugins.node_resources_fit import NodeResourcesFit
from scheduler_engine.plugins.registry import REGISTRY
from scheduler_engine.replay import trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_pod
from scheduler_engine.trace.events import CycleFinished, PostFilterRan
from tests.engine.cluster import COMMANDS, node, pod
from tests.engine.histories import some
from tests.engine.paths import History, differs, plainly, played, together
from tests.engine.random_clusters import cluster, configuration, crowded, run
from tests.engine.restless_clusters import restless
from tests.engine.test_simulation import obeyed
from tests.engine.volume_histories import volumes


@pytest.mark.parametrize("full", [True, False], ids=["with a full trace", "with a lean trace"])
@given(wanted=st.lists(COMMANDS, max_size=30))
@settings(max_examples=40, deadline=None)
def test_kept_results_change_nothing(full: bool, wanted: list[Command]) -> None:
    kept = Simulation(seed=5, full=full)
    obeyed(kept, wanted)
    with plainly():
        plain = Simulation(seed=5, full=full)
        obeyed(plain, wanted)
    assert trace_digest(kept) == trace_digest(plain)


@pytest.mark.parametrize("tens", some(range(12), 5))
def test_random_clusters_are_scheduled_the_same(tens: int) -> None:
    wrong = [seed for seed in range(10 * tens, 10 * tens + 10) if differs(seed, full=tens % 4 == 0)[0]]
    assert wrong == []


@pytest.mark.parametrize("tens", some(range(4), 2))
def test_preemption_in_random_clusters_is_the_same(tens: int) -> None:
    seeds = range(10 * tens, 10 * tens + 10)
    assert [seed for seed in seeds if differs(seed, full=False, history=crowded)[0]] == []


@pytest.mark.parametrize("tens", some(range(4), 2))
def test_pods_that_change_in_mid_cycle_are_scheduled_the_same(tens: int) -> None:
    seeds = range(10 * tens, 10 * tens + 10)
    assert [seed for seed in seeds if differs(seed, full=tens == 0, history=restless)[0]] == []


@pytest.mark.parametrize("history", [cluster, crowded, volumes])
@pytest.mark.parametrize(
    ("point", "plugin"),
    [
        (point, name)
        for point in ("preFilter", "filter", "preScore", "score")
        for name, plugin in REGISTRY.items()
        if takes_part(plugin, point)
    ],
)
def test_a_plugin_that_is_left_out_at_one_point_is_missed_the_same(point: str, plugin: str, history: History) -> None:
    left_out = configuration()
    left_out["profiles"][0]["plugins"] = {point: {"disabled": [{"name": plugin}]}}
    assert [seed for seed in some((1, 2, 3), 1) if differs(seed, False, history, (left_out,))[0]] == []


def test_what_a_pod_frees_is_kept_for_the_requests_that_the_cycle_began_with() -> None:
    """A pod is resized between Filter and PostFilter, then another pod asks for the same as the resized one."""
    simulation = Simulation(full=False)
    nodes = [node(name, cpu="2") for name in ("n1", "n2")]
    low = [make_pod(f"low-{name}").cpu("2").node(name).obj() for name in ("n1", "n2")]
    first = make_pod("first").cpu("2").priority(5).obj()
    simulation.execute(commands.Apply((*nodes, *low, first)))
    for _ in range(4):
        simulation.execute(commands.Stage())
    name = first["spec"]["containers"][0]["name"]
    resized = {"spec": {"containers": [{"name": name, "resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}]}}
    simulation.execute(commands.Patch("Pod", "default/first", resized, "resize"))
    simulation.execute(commands.PodCycle())
    second = make_pod("second").cpu("2").memory("1Gi").priority(5).obj()
    simulation.execute(commands.Apply((second,)))
    simulation.execute(commands.Run(5))
    places = [simulation.api.pod(f"default/{pod}") for pod in ("first", "second")]
    assert sorted(pod.node_name for pod in places if pod is not None) == ["n1", "n2"]


def test_a_pod_that_was_denied_in_pre_filter_preempts_without_its_state() -> None:
    """The dry runs then fail as in the plain path, because NodeResourcesFit has computed nothing."""
    simulation = Simulation(full=False)
    low = [make_pod(f"low-{name}").cpu("2").node(name).obj() for name in ("n1", "n2")]
    nodes = [node(name, cpu="2") for name in ("n1", "n2")]
    simulation.execute(commands.Apply((*nodes, *low, make_pod("high").cpu("2").priority(5).obj())))
    simulation.execute(commands.Fault("NodeResourcesFit", "preFilter", "deny"))
    simulation.execute(commands.PodCycle())
    (ran,) = [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, PostFilterRan)]
    assert ran.verdicts[-1] == (
        "DefaultPreemption",
        "Error",
        (
            'preemption: running "NodeResourcesFit" filter plugin: error reading "PreFilterNodeResourcesFit" from '
            "cycleState: not found",
        ),
    )


@pytest.mark.parametrize("scores", [("InterPodAffinity", "TaintToleration"), ("TaintToleration", "InterPodAffinity")])
def test_if_several_scores_fail_the_error_is_that_of_the_first_in_the_profile(scores: tuple[str, ...]) -> None:
    without_state = configuration()
    enabled = [{"name": name} for name in scores]
    without_state["profiles"][0]["plugins"] = {
        "preScore": {"disabled": [{"name": "*"}]},
        "score": {"disabled": [{"name": "*"}], "enabled": enabled},
    }
    simulation = Simulation(configuration=without_state, full=False)
    simulation.execute(commands.Apply((node("n1"), node("n2"), pod("web-1"))))
    simulation.execute(commands.PodCycle())
    (ended,) = [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, CycleFinished)]
    assert ended.message.startswith(f'running Score plugins: plugin "{scores[0]}" failed with: ')


def test_every_way_of_judging_together_is_tried() -> None:
    with together() as used:
        for seed in range(20):
            played(seed, full=False)
        for seed in range(6):
            played(seed, full=False, history=volumes)
    ways = {f"{plugin.name} {way}" for plugin in REGISTRY.values() for way in TOGETHER if hasattr(plugin, way)}
    assert {*used} == ways


def test_the_least_recently_used_columns_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "MOST_CELLS", 3 * 20)
    slots, columns = slots_of(20), Columns()
    first = columns.verdicts(NodeName, "a", slots)
    for sign in "bcad":
        columns.verdicts(NodeName, sign, slots)
    assert [sign for _, _, sign in columns.columns] == ["c", "a", "d"]
    assert columns.verdicts(NodeName, "a", slots) is first


def test_columns_that_are_computed_at_once_do_not_drive_out_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "MOST_CELLS", 3 * 20)
    slots, columns = slots_of(20), Columns()
    verdicts = columns.verdicts(NodeName, "a", slots)
    scores = columns.raw_scores(NodeName, "a", slots)
    for sign in range(9):
        columns.verdicts(NodeResourcesFit, sign, slots)
        columns.raw_scores(NodeResourcesFit, sign, slots)
    assert len(columns.cheap) == 3
    assert columns.verdicts(NodeName, "a", slots) is verdicts
    assert columns.raw_scores(NodeName, "a", slots) is scores


def slots_of(count: int) -> Slots:
    slots = Slots()
    for number in range(count):
        info = NodeInfo(name=f"n{number}")
        slots.put(info)
        slots.note_change(info, replaced=True)
    return slots


def test_a_column_forgets_what_has_changed_and_only_that() -> None:
    slots, columns = slots_of(10), Columns()
    for plugin in (NodeName, NodeResourcesFit):
        columns.verdicts(plugin, "", slots).keep(np.arange(10), None)
    slots.note_change(slots.infos[3], replaced=False)
    slots.note_change(slots.infos[7], replaced=True)
    assert np.flatnonzero(columns.verdicts(NodeName, "", slots).codes == 0).tolist() == [7]
    assert np.flatnonzero(columns.verdicts(NodeResourcesFit, "", slots).codes == 0).tolist() == [3, 7]


def test_a_column_that_is_too_far_behind_starts_anew() -> None:
    slots, columns = slots_of(2), Columns()
    columns.verdicts(NodeName, "", slots).keep(np.arange(2), None)
    for _ in range(500):
        slots.note_change(slots.infos[0], replaced=True)
    assert len(slots.replacements.slots) < 100
    assert columns.verdicts(NodeName, "", slots).codes.tolist() == [0, 0]


def test_a_slot_is_used_again_and_its_column_does_not_remember() -> None:
    slots, columns = slots_of(3), Columns()
    columns.verdicts(NodeName, "", slots).keep(np.arange(3), None)
    before = slots.infos
    slots.drop(slots.infos[1])
    new = NodeInfo(name="new")
    slots.put(new)
    slots.note_change(new, replaced=True)
    assert (new.slot, before[1].name, slots.infos[1].name) == (1, "n1", "new")
    assert columns.verdicts(NodeName, "", slots).codes.tolist() == [1, 0, 1]


@contextmanager
def asked_by(plugin: Any, without: str) -> Iterator[list[str]]:
    """Take a method from a filter plugin, and return the list of the nodes that it is then asked about."""
    asked: list[str] = []
    original = plugin.filter
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(plugin, without)
        patch.setattr(
            plugin, "filter", lambda self, state, pod, info: asked.append(info.name) or original(self, state, pod, info)
        )
        yield asked


def test_only_the_node_that_changed_is_asked_again() -> None:
    simulation = Simulation(full=False)
    nodes = tuple(node(f"n{number}") for number in range(20))
    simulation.execute(commands.Apply((*nodes, pod("web-1"), pod("web-2"))))
    with asked_by(NodeResourcesFit, without="filter_all") as asked:
        simulation.execute(commands.PodCycle())
        assert len(asked) == 20
        asked.clear()
        simulation.execute(commands.PodCycle())
    first = simulation.api.pod("default/web-1")
    assert first is not None
    assert asked == [first.node_name]


def test_a_plugin_without_a_sign_is_always_asked() -> None:
    simulation = Simulation(full=False)
    simulation.execute(commands.Apply((node("n1"), node("n2"), pod("web-1"), pod("web-2"))))
    with asked_by(NodeName, without="sign") as asked:
        simulation.execute(commands.Run(2))
    assert sorted(asked) == ["n1", "n1", "n2", "n2"]


@pytest.mark.parametrize("resource", ["cpu", "memory", "ephemeral-storage"])
def test_amounts_that_are_too_large_for_arrays_are_compared_one_by_one(resource: str) -> None:
    huge = 2**60
    nodes = [node(name) for name in ("n1", "n2", "n3", "n4", "n5")]
    for number, manifest in enumerate(nodes):
        manifest["status"]["allocatable"][resource] = str(huge + number)
    wanted = pod("web-1")
    wanted["spec"]["containers"][0]["resources"]["requests"][resource] = str(huge + 4)
    simulation = Simulation()
    run(simulation, [commands.Apply((*nodes, wanted)), commands.Run(3)])
    placed = simulation.api.pod("default/web-1")
    assert placed is not None
    assert placed.node_name == "n5"


@pytest.mark.parametrize("containers", [1, 2])
@pytest.mark.parametrize("strategy", ["LeastAllocated", "MostAllocated"])
def test_a_pod_that_asks_for_too_much_for_arrays_is_scored_one_by_one(containers: int, strategy: str) -> None:
    """What the status says is counted in scores, but Filter checks only the spec."""
    most = str(2**63 - 1)
    scoring = {"type": strategy, "resources": [{"name": "memory", "weight": 1}]}
    args = {"name": "NodeResourcesFit", "args": {"scoringStrategy": scoring, "ignoredResources": ["example.com/gpu"]}}
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    scored = {**head, "profiles": [{"pluginConfig": [args]}]}
    asking = make_pod("web")
    for number in range(containers):
        asking = (asking.container(f"c{number}") if number else asking).limit({"example.com/gpu": most})
    manifest = asking.obj()
    manifest["status"] = {
        "containerStatuses": [
            {"name": item["name"], "image": "x", "imageID": "", "ready": False, "restartCount": 0}
            | {"resources": {"requests": {"memory": most}}}
            for item in manifest["spec"]["containers"]
        ]
    }

    def decided() -> Simulation:
        simulation = Simulation(configuration=scored)
        nodes = (node(f"n{number}") for number in range(6))
        there = (make_pod(f"r{number}").node(f"n{number}").request(memory="100Mi").obj() for number in range(6))
        simulation.execute(commands.Apply((*nodes, *there, manifest)))
        simulation.execute(commands.PodCycle())
        return simulation

    fast = decided()
    with plainly():
        plain = decided()
    assert trace_digest(fast) == trace_digest(plain)
    assert fast.api.existing("Pod", "default/web").node_name


def test_replicas_have_the_same_sign_and_pods_that_ask_for_more_another() -> None:
    one, other = Pod(pod("web-1", "1")), Pod(pod("web-2", "1"))
    larger = Pod(pod("web-3", "2"))
    assert one.requests_text == other.requests_text != larger.requests_text


@pytest.mark.parametrize("point", ["filter", "score", "normalizeScore"])
def test_a_fault_strikes_also_where_nodes_are_judged_together(point: str) -> None:
    plugin = "TaintToleration" if point == "normalizeScore" else "NodeResourcesFit"
    simulation = Simulation(full=False)
    nodes = tuple(node(f"n{number}") for number in range(20))
    simulation.execute(commands.Apply((*nodes, pod("web-1"))))
    simulation.execute(commands.Fault(plugin, point, "error"))
    simulation.execute(commands.Run(1))
    placed = simulation.api.pod("default/web-1")
    assert placed is not None
    assert placed.node_name == ""
