"""NodeName: ``spec.nodeName`` of a pod."""

from __future__ import annotations

import pytest

from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.status import unresolvable
from scheduler_engine.plugins.node_name import NodeName
from scheduler_engine.testing import PodBuilder, make_node, make_pod
from tests.engine.plugins.world import World, events_of, node_info, pod_of

PLUGIN = NodeName({}, World().handle)


@pytest.mark.parametrize(
    ("pod", "passes"),
    [
        pytest.param(make_pod("p"), True, id="a pod without a node name may go anywhere"),
        pytest.param(make_pod("p").node("n1"), True, id="the named node is right"),
        pytest.param(make_pod("p").node("n2"), False, id="any other node is wrong"),
    ],
)
def test_filter(pod: PodBuilder, passes: bool) -> None:
    status = PLUGIN.filter(CycleState(), pod_of(pod), node_info(make_node("n1")))
    assert status == (None if passes else unresolvable("node(s) didn't match the requested node name"))


def test_every_new_node_is_worth_a_try() -> None:
    assert events_of(PLUGIN) == {"Node/ADD": False}
