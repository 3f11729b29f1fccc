"""NodePorts: host ports."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Hint, PluginError
from scheduler_engine.framework.status import SKIP, unschedulable
from scheduler_engine.plugins.node_ports import NodePorts
from scheduler_engine.testing import PodBuilder, make_node, make_pod
from tests.engine.plugins.world import World, events_of, hint_of, node_info, pod_of

PLUGIN = NodePorts({}, World().handle)


def pod(port: int, protocol: str = "TCP", host_ip: str = "") -> PodBuilder:
    return make_pod("p").host_port(port, protocol, host_ip)


def sidecar(port: int, restart_policy: str | None) -> PodBuilder:
    container = {"name": "init", "image": "i", "ports": [{"containerPort": port, "hostPort": port}]}
    return make_pod("p").spec(initContainers=[{**container, "restartPolicy": restart_policy}])


@pytest.mark.parametrize(
    ("running", "wanted", "passes"),
    [
        pytest.param(pod(80), pod(81), True, id="another port is free"),
        pytest.param(pod(80), pod(80), False, id="the same port is taken"),
        pytest.param(pod(80), pod(80, "UDP"), True, id="another protocol is free"),
        pytest.param(pod(80, host_ip="10.0.0.1"), pod(80, host_ip="10.0.0.2"), True, id="another address is free"),
        pytest.param(pod(80, host_ip="10.0.0.1"), pod(80, host_ip="10.0.0.1"), False, id="the same address is taken"),
        pytest.param(pod(80, host_ip="10.0.0.1"), pod(80), False, id="all addresses include a taken one"),
        pytest.param(pod(80), pod(80, host_ip="10.0.0.1"), False, id="one address is in use by all addresses"),
        pytest.param(sidecar(80, "Always"), pod(80), False, id="a sidecar holds its ports"),
        pytest.param(sidecar(80, None), pod(80), True, id="an init container does not"),
    ],
)
def test_filter(running: PodBuilder, wanted: PodBuilder, passes: bool) -> None:
    state, asking = CycleState(), pod_of(wanted)
    assert PLUGIN.pre_filter(state, asking, []) == (None, None)
    status = PLUGIN.filter(state, asking, node_info(make_node("n"), running))
    assert status == (None if passes else unschedulable("node(s) didn't have free ports for the requested pod ports"))


def test_a_pod_without_host_ports_is_skipped() -> None:
    assert PLUGIN.pre_filter(CycleState(), pod_of(make_pod("p")), []) == (None, SKIP)


@pytest.mark.parametrize("asked", [PLUGIN.filter, PLUGIN.explain_filter])
def test_filtering_without_pre_filter_is_an_error(asked: Callable[..., object]) -> None:
    with pytest.raises(PluginError, match='reading "PreFilterNodePorts" from cycleState: not found'):
        asked(CycleState(), pod_of(pod(80)), node_info(make_node("n")))


@pytest.mark.parametrize(
    ("deleted", "verdict"),
    [
        pytest.param(pod(80).node("n"), Hint.QUEUE, id="a pod with the wanted port left a node"),
        pytest.param(pod(80).nominated("n"), Hint.QUEUE, id="a nominated pod counts as well"),
        pytest.param(pod(81).node("n"), Hint.SKIP, id="a pod with another port does not help"),
        pytest.param(pod(80), Hint.SKIP, id="a deleted pod without a node does not help"),
        pytest.param(make_pod("p").node("n"), Hint.SKIP, id="a pod without host ports does not help"),
    ],
)
def test_pod_events(deleted: PodBuilder, verdict: Hint) -> None:
    assert events_of(PLUGIN) == {"Pod/DELETE": True, "Node/ADD": False}
    assert hint_of(PLUGIN, "Pod", pod_of(pod(80)), pod_of(deleted), None) is verdict
