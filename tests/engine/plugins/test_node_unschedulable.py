"""NodeUnschedulable: cordoned nodes."""

from __future__ import annotations

import pytest

from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Hint
from scheduler_engine.framework.status import unresolvable
from scheduler_engine.plugins.node_unschedulable import NodeUnschedulable
from scheduler_engine.testing import NodeBuilder, PodBuilder, make_node, make_pod
from tests.engine.plugins.world import World, events_of, hint_of, node_info, node_of, pod_of

PLUGIN = NodeUnschedulable({}, World().handle)
TOLERANT = make_pod("p").toleration("node.kubernetes.io/unschedulable")


@pytest.mark.parametrize(
    ("pod", "node", "passes"),
    [
        pytest.param(make_pod("p"), make_node("n"), True, id="an ordinary node takes every pod"),
        pytest.param(make_pod("p"), make_node("n").cordoned(), False, id="a cordoned node refuses a pod"),
        pytest.param(TOLERANT, make_node("n").cordoned(), True, id="a pod that tolerates it may go to a cordoned node"),
        pytest.param(
            make_pod("p").toleration("node.kubernetes.io/unschedulable", effect="NoExecute"),
            make_node("n").cordoned(),
            False,
            id="tolerating another effect does not help",
        ),
    ],
)
def test_filter(pod: PodBuilder, node: NodeBuilder, passes: bool) -> None:
    status = PLUGIN.filter(CycleState(), pod_of(pod), node_info(node))
    assert status == (None if passes else unresolvable("node(s) were unschedulable"))


READY, CORDONED = node_of(make_node("n")), node_of(make_node("n").cordoned())


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        pytest.param(None, READY, Hint.QUEUE, id="a new node helps"),
        pytest.param(None, CORDONED, Hint.SKIP, id="a new cordoned node does not help"),
        pytest.param(CORDONED, READY, Hint.QUEUE, id="uncordoning helps"),
        pytest.param(READY, READY, Hint.SKIP, id="a node that was ready before does not help"),
        pytest.param(READY, CORDONED, Hint.SKIP, id="cordoning does not help"),
    ],
)
def test_node_events(old: object, new: object, verdict: Hint) -> None:
    assert hint_of(PLUGIN, "Node", pod_of(make_pod("p")), old, new) is verdict


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        pytest.param(TOLERANT, Hint.QUEUE, id="the right toleration on the pod itself helps"),
        pytest.param(make_pod("p").toleration("gpu"), Hint.SKIP, id="another toleration does not help"),
        pytest.param(
            make_pod("q").toleration("node.kubernetes.io/unschedulable"),
            Hint.SKIP,
            id="the toleration of another pod does not help",
        ),
    ],
)
def test_pod_events(new: PodBuilder, verdict: Hint) -> None:
    pod = pod_of(make_pod("p"))
    assert hint_of(PLUGIN, "Pod", pod, pod, pod_of(new)) is verdict


def test_registered_events() -> None:
    assert events_of(PLUGIN) == {"Node/ADD, UPDATE_NODE_TAINT": True, "Pod/UPDATE_POD_TOLERATION": True}
