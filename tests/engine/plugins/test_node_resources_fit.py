"""NodeResourcesFit: insufficient resources, the three strategies, and events that help."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Hint, PluginError
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import Status, unresolvable, unschedulable
from scheduler_engine.plugins.node_resources_fit import NodeResourcesFit
from scheduler_engine.plugins.resource_allocation import broken_line, requested_to_capacity_ratio
from scheduler_engine.testing import NodeBuilder, PodBuilder, make_node, make_pod
from tests.engine.plugins.world import World, events_of, hint_of, node_info, node_of, pod_of

FOO = "example.com/foo"
BASIC = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]


def plugin(
    strategy: str = "LeastAllocated", resources: list[dict[str, Any]] | None = None, **args: Any
) -> NodeResourcesFit:
    scoring: dict[str, Any] = {"type": strategy, "resources": BASIC if resources is None else resources}
    if "shape" in args:
        scoring["requestedToCapacityRatio"] = {"shape": args.pop("shape")}
    return NodeResourcesFit({"scoringStrategy": scoring, **args}, World().handle)


def verdict(pod: PodBuilder, info: NodeInfo, asked: NodeResourcesFit) -> Status | None:
    state, wanted = CycleState(), pod_of(pod)
    asked.pre_filter(state, wanted, [])
    return asked.filter(state, wanted, info)


NODE = make_node("n").capacity({FOO: "4", "ephemeral-storage": "10Gi"}, cpu="4", memory="8Gi", pods="2")
HALF = make_pod("half").request({FOO: "2", "ephemeral-storage": "5Gi"}, cpu="2", memory="4Gi")


@pytest.mark.parametrize(
    ("pod", "running", "status"),
    [
        pytest.param(HALF, [HALF], None, id="the free amount is exactly enough"),
        pytest.param(make_pod("p"), [HALF, HALF], unschedulable("Too many pods"), id="every pod counts as one pod"),
        pytest.param(make_pod("p").cpu("2001m"), [HALF], unschedulable("Insufficient cpu"), id="cpu is used up"),
        pytest.param(
            make_pod("p").cpu("4001m"), [HALF], unresolvable("Insufficient cpu"), id="more cpu than the capacity"
        ),
        pytest.param(
            make_pod("p").request({FOO: "3", "ephemeral-storage": "6Gi"}, cpu="3", memory="5Gi"),
            [HALF],
            unschedulable(
                "Insufficient cpu",
                "Insufficient memory",
                "Insufficient ephemeral-storage",
                "Insufficient example.com/foo",
            ),
            id="all insufficient resources are named",
        ),
        pytest.param(
            make_pod("p").cpu("3").memory("9Gi"),
            [HALF],
            unresolvable("Insufficient cpu", "Insufficient memory"),
            id="one resource beyond the node's capacity makes eviction useless",
        ),
        pytest.param(
            make_pod("p").request({"example.com/bar": "1", "a.example/z": "1"}),
            [],
            unresolvable("Insufficient a.example/z", "Insufficient example.com/bar"),
            id="extended resources are named in alphabetical order",
        ),
        pytest.param(make_pod("p").request({FOO: "0"}), [HALF], None, id="a request of 0 is no request"),
    ],
)
def test_filter(pod: PodBuilder, running: list[PodBuilder], status: Status | None) -> None:
    assert verdict(pod, node_info(NODE, *running), plugin()) == status


@pytest.mark.parametrize(
    ("args", "passes"),
    [
        pytest.param({"ignoredResources": ["example.com/bar"]}, True, id="an ignored resource is not checked"),
        pytest.param({"ignoredResourceGroups": ["example.com"]}, True, id="nor is a resource of an ignored group"),
        pytest.param({"ignoredResources": ["cpu", "example.com"]}, False, id="a name does not ignore a group"),
    ],
)
def test_ignored_resources(args: dict[str, Any], passes: bool) -> None:
    status = verdict(make_pod("p").request({"example.com/bar": "1"}), node_info(NODE), plugin(**args))
    assert (status is None) is passes


def test_filtering_without_pre_filter_is_an_error() -> None:
    with pytest.raises(PluginError, match='error reading "PreFilterNodeResourcesFit" from cycleState: not found'):
        plugin().filter(CycleState(), pod_of(make_pod("p")), node_info(NODE))


def score(asked: NodeResourcesFit, pod: PodBuilder, info: NodeInfo) -> int:
    state, wanted = CycleState(), pod_of(pod)
    assert asked.pre_score(state, wanted, [info]) is None
    assert asked.score(CycleState(), wanted, info) == asked.score(state, wanted, info)
    return asked.score(state, wanted, info)


LEAST, MOST = plugin(), plugin("MostAllocated")
PLAIN = make_node("n").capacity(cpu="4", memory="8Gi")


@pytest.mark.parametrize(
    ("pod", "running", "least", "most"),
    [
        pytest.param(make_pod("p").cpu("1").memory("4Gi"), [], 62, 37, id="75 and 50, 25 and 50, halves cut off"),
        pytest.param(
            make_pod("p").cpu("1").memory("2Gi"), [make_pod("r").cpu("1").memory("2Gi")], 50, 50, id="half used"
        ),
        pytest.param(make_pod("p"), [], 97, 2, id="a pod without requests counts as 100m and 200Mi"),
        pytest.param(make_pod("p").container("b"), [], 95, 4, id="so does each of its containers"),
        pytest.param(make_pod("p").cpu("0").memory("0"), [], 100, 0, id="a request of 0 is a request"),
        pytest.param(make_pod("p").cpu("5").memory("9Gi"), [], 0, 100, id="more than the capacity counts as all of it"),
    ],
)
def test_least_and_most_allocated(pod: PodBuilder, running: list[PodBuilder], least: int, most: int) -> None:
    info = node_info(PLAIN, *running)
    assert (score(LEAST, pod, info), score(MOST, pod, info)) == (least, most)


def test_pod_level_resources_and_resizes_of_the_incoming_pod_do_not_count_in_the_score() -> None:
    pod = make_pod("p").cpu("1").memory("2Gi").spec(resources={"requests": {"cpu": "4", "memory": "8Gi"}})
    assert score(LEAST, pod, node_info(PLAIN)) == 75


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(make_pod("p").request({FOO: "1"}, cpu="4"), 37, id="a requested extended resource counts"),
        pytest.param(make_pod("p").cpu("4"), 0, id="without a request it is ignored, with its weight"),
    ],
)
def test_weights(pod: PodBuilder, expected: int) -> None:
    asked = plugin(resources=[{"name": "cpu", "weight": 1}, {"name": FOO, "weight": 1}])
    assert score(asked, pod, node_info(make_node("n").capacity({FOO: "4"}, cpu="4"))) == expected


def test_a_resource_that_the_node_lacks_drops_out() -> None:
    asked = plugin(resources=[{"name": "cpu", "weight": 1}, {"name": FOO, "weight": 9}])
    assert score(asked, make_pod("p").request({FOO: "1"}, cpu="1"), node_info(PLAIN)) == 75


def test_a_strategy_without_resources_is_an_error() -> None:
    with pytest.raises(PluginError, match="resources not found"):
        plugin(resources=[]).score(CycleState(), pod_of(make_pod("p")), node_info(PLAIN))


GIB = 2**30
RISING = ((0, 0), (100, 10))
"""Utilization 0 scores 0, utilization 100 scores 10, as printed in seed 002 §8."""


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([(4, 3, 5), (GIB, GIB // 2, 1), (8000, 3000, 3)], 5, id="node 1 of the worked example scores 5"),
        pytest.param(
            [(8, 4, 5), (GIB, GIB * 3 // 4, 1), (8000, 8000, 3)], 7, id="node 2 of the worked example scores 7"
        ),
    ],
)
def test_worked_example_of_requested_to_capacity_ratio(rows: list[tuple[int, int, int]], expected: int) -> None:
    assert requested_to_capacity_ratio(rows, RISING) == expected


@pytest.mark.parametrize(
    ("node", "running", "expected"),
    [
        pytest.param(
            make_node("n1").capacity({"intel.com/foo": "4"}, cpu="8", memory="1Gi"),
            make_pod("r").request({"intel.com/foo": "1"}, cpu="1", memory="256Mi"),
            60,
            id="node 1 of the worked example, on the scheduler's scale of 0 to 100",
        ),
        pytest.param(
            make_node("n2").capacity({"intel.com/foo": "8"}, cpu="8", memory="1Gi"),
            make_pod("r").request({"intel.com/foo": "2"}, cpu="6", memory="512Mi"),
            69,
            id="node 2 of the worked example, on the scheduler's scale of 0 to 100",
        ),
    ],
)
def test_worked_example_with_the_plugin(node: NodeBuilder, running: PodBuilder, expected: int) -> None:
    resources = [
        {"name": "intel.com/foo", "weight": 5},
        {"name": "memory", "weight": 1},
        {"name": "cpu", "weight": 3},
    ]
    shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    asked = plugin("RequestedToCapacityRatio", resources, shape=shape)
    pod = make_pod("p").request({"intel.com/foo": "2"}, cpu="2", memory="256Mi")
    assert score(asked, pod, node_info(node, running)) == expected


FALLING = ((10, 100), (100, 0))


@pytest.mark.parametrize(
    ("utilization", "expected"),
    [
        pytest.param(0, 100, id="left of the first point the line is flat"),
        pytest.param(10, 100, id="a point is on the line"),
        pytest.param(40, 67, id="a falling slope is truncated towards zero, not rounded down"),
        pytest.param(100, 0, id="the last point ends it"),
    ],
)
def test_broken_line(utilization: int, expected: int) -> None:
    assert broken_line(FALLING, utilization)[0] == expected


def test_right_of_the_last_point_the_line_is_level() -> None:
    assert broken_line(((0, 0), (50, 80)), 51)[0] == 80


def test_resources_that_score_0_drop_out_of_the_ratio() -> None:
    falling = ((0, 100), (50, 0))
    assert requested_to_capacity_ratio([(4, 4, 9), (4, 1, 1)], falling) == 50


def test_the_ratio_is_rounded_half_up() -> None:
    level = ((50, 25), (100, 50))
    assert requested_to_capacity_ratio([(2, 1, 1), (2, 2, 1)], level) == 38


EMPTY, SMALL, LARGE = make_node("n"), make_node("n").capacity(cpu="1"), make_node("n").capacity(cpu="8")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, LARGE, Hint.QUEUE, id="a new node that is large enough helps"),
        pytest.param(None, SMALL, Hint.SKIP, id="a new node that is too small does not help"),
        pytest.param(EMPTY, LARGE, Hint.QUEUE, id="more of a requested resource helps"),
        pytest.param(LARGE, EMPTY, Hint.SKIP, id="less does not help"),
        pytest.param(
            LARGE, make_node("n").capacity(cpu="8", memory="99Gi"), Hint.SKIP, id="more of another resource does not"
        ),
        pytest.param(LARGE, make_node("n").capacity(cpu="8", pods="111"), Hint.QUEUE, id="room for more pods helps"),
    ],
)
def test_node_events(old: NodeBuilder | None, new: NodeBuilder, expected: Hint) -> None:
    pod = pod_of(make_pod("p").cpu("2"))
    assert hint_of(plugin(), "Node", pod, None if old is None else node_of(old), node_of(new)) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(make_pod("q").node("n"), None, Hint.QUEUE, id="a deleted pod on a node helps"),
        pytest.param(make_pod("q").nominated("n"), None, Hint.QUEUE, id="so does a deleted nominated pod"),
        pytest.param(make_pod("q"), None, Hint.SKIP, id="a deleted pod without a node does not help"),
        pytest.param(
            make_pod("q").node("n").cpu("2"),
            make_pod("q").node("n").cpu("1"),
            Hint.QUEUE,
            id="less cpu on a node helps",
        ),
        pytest.param(
            make_pod("q").cpu("2"), make_pod("q").cpu("1"), Hint.SKIP, id="less cpu of a waiting pod does not"
        ),
        pytest.param(
            make_pod("q").node("n").memory("2Gi"),
            make_pod("q").node("n").memory("1Gi"),
            Hint.SKIP,
            id="less of another resource does not help",
        ),
        pytest.param(make_pod("p").cpu("3"), make_pod("p").cpu("2"), Hint.QUEUE, id="the pod itself requests less"),
    ],
)
def test_pod_events(old: PodBuilder, new: PodBuilder | None, expected: Hint) -> None:
    pod = pod_of(make_pod("p").cpu("2"))
    assert hint_of(plugin(), "Pod", pod, pod_of(old), None if new is None else pod_of(new)) is expected


def test_registered_events() -> None:
    assert events_of(plugin()) == {
        "Pod/DELETE, UPDATE_POD_SCALE_DOWN": True,
        "Node/ADD, UPDATE_NODE_ALLOCATABLE": True,
    }
