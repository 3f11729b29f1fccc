"""NodeResourcesBalancedAllocation: equal fractions of all resources."""

from __future__ import annotations

import pytest

from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.status import SKIP
from scheduler_engine.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from scheduler_engine.testing import PodBuilder, make_node, make_pod
from tests.engine.plugins.world import World, node_info, pod_of

GPU = "nvidia.com/gpu"
NODE = make_node("n").capacity({GPU: "4"}, cpu="4", memory="8Gi")


def plugin(*names: str) -> NodeResourcesBalancedAllocation:
    resources = [{"name": name, "weight": 1} for name in names or ("cpu", "memory")]
    return NodeResourcesBalancedAllocation({"resources": resources}, World().handle)


@pytest.mark.parametrize(
    ("pod", "running", "expected"),
    [
        pytest.param(make_pod("p").cpu("2").memory("4Gi"), [], 100, id="equal fractions score 100"),
        pytest.param(make_pod("p").cpu("2"), [], 75, id="half the difference of the two is subtracted"),
        pytest.param(make_pod("p").cpu("4"), [], 50, id="all of one and none of the other scores 50"),
        pytest.param(make_pod("p").cpu("9"), [], 50, id="more than the capacity counts as all of it"),
        pytest.param(make_pod("p").cpu("1"), [make_pod("r").memory("2Gi")], 100, id="running pods count as well"),
        pytest.param(make_pod("p").cpu("1"), [make_pod("r")], 87, id="without the defaults for missing requests"),
        pytest.param(make_pod("p").spec(resources={"requests": {"cpu": "4"}}), [], 50, id="pod-level resources count"),
    ],
)
def test_score_of_cpu_and_memory(pod: PodBuilder, running: list[PodBuilder], expected: int) -> None:
    info, wanted, state, asked = node_info(NODE, *running), pod_of(pod), CycleState(), plugin()
    assert asked.pre_score(state, wanted, [info]) is None
    assert asked.score(state, wanted, info) == expected
    assert asked.score(CycleState(), wanted, info) == expected


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(
            make_pod("p").request({GPU: "4"}), 52, id="three resources are judged by their standard deviation"
        ),
        pytest.param(make_pod("p").cpu("2"), 75, id="an extended resource without a request is ignored"),
    ],
)
def test_score_with_an_extended_resource(pod: PodBuilder, expected: int) -> None:
    asked, info = plugin("cpu", "memory", GPU), node_info(NODE)
    assert asked.score(CycleState(), pod_of(pod), info) == expected


def test_one_resource_alone_is_always_balanced() -> None:
    assert plugin("cpu").score(CycleState(), pod_of(make_pod("p").cpu("1")), node_info(NODE)) == 100


def test_a_pod_without_requests_is_skipped() -> None:
    wanted = pod_of(make_pod("p"))
    assert plugin().pre_score(CycleState(), wanted, []) is SKIP
    assert plugin().score(CycleState(), wanted, node_info(NODE)) == 0
