"""DefaultBinder: the binding subresource."""

from __future__ import annotations

from scheduler_engine.apiserver.errors import conflict
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.status import error
from scheduler_engine.plugins.default_binder import DefaultBinder
from scheduler_engine.testing import make_pod
from tests.engine.plugins.world import World, pod_of


def test_the_api_server_gets_pod_and_node() -> None:
    world = World()
    assert DefaultBinder({}, world.handle).bind(CycleState(), pod_of(make_pod("p")), "n1") is None
    assert world.calls == [("bind", "default/p", "uid-p", "n1")]


def test_a_refusal_becomes_an_error() -> None:
    world = World()
    world.refusal = conflict("pods/binding", "p", 'pod p is already assigned to node "n2"')
    assert DefaultBinder({}, world.handle).bind(CycleState(), pod_of(make_pod("p")), "n1") == error(
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n2"'
    )
