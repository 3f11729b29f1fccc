"""SchedulingGates: gated pods stay outside the queues."""

from __future__ import annotations

from scheduler_engine.framework.interface import Hint
from scheduler_engine.framework.status import unresolvable
from scheduler_engine.plugins.scheduling_gates import SchedulingGates
from scheduler_engine.testing import make_pod
from tests.engine.plugins.world import World, events_of, hint_of, pod_of

PLUGIN = SchedulingGates({}, World().handle)
GATED = pod_of(make_pod("p").gate("example.com/foo").gate("example.com/bar"))


def test_a_gated_pods_message_names_all_its_gates() -> None:
    assert PLUGIN.pre_enqueue(GATED) == unresolvable("waiting for scheduling gates: [example.com/foo example.com/bar]")


def test_a_pod_without_gates_may_enter() -> None:
    assert PLUGIN.pre_enqueue(pod_of(make_pod("p"))) is None


def test_only_the_loss_of_the_pods_own_gates_matters() -> None:
    assert events_of(PLUGIN) == {"Pod/UPDATE_POD_SCHEDULING_GATES_ELIMINATED": True}
    assert hint_of(PLUGIN, "Pod", GATED, GATED, pod_of(make_pod("p"))) is Hint.QUEUE
    assert hint_of(PLUGIN, "Pod", GATED, GATED, pod_of(make_pod("other"))) is Hint.SKIP
