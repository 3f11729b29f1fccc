"""The rules of the design document (seed 000) beside those of v1.34."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.events import ActionType, ClusterEvent
from scheduler_engine.queue.design_doc import QUEUES, DesignDocQueue
from scheduler_engine.queue.scheduling_queue import SchedulingQueue
from scheduler_engine.testing import make_pod
from tests.engine.queue_world import NODE_ADD, NODE_LABEL, World, node, pod


def both() -> tuple[World, World]:
    return World(SchedulingQueue), World(DesignDocQueue)


def test_both_rule_sets_are_known_by_name() -> None:
    assert {"v1.34": SchedulingQueue, "design-doc": DesignDocQueue} == QUEUES


@pytest.mark.parametrize(
    ("attempts", "ends_s"),
    [
        pytest.param(1, 2, id="One failed attempt: two seconds"),
        pytest.param(3, 8, id="Three failed attempts: eight seconds, as the document says"),
        pytest.param(5, 10, id="Five would be 32 seconds: the maximum is 10"),
    ],
)
def test_backoff_grows_with_the_attempts(attempts: int, ends_s: int) -> None:
    world = World(DesignDocQueue).add(pod("p"))
    info = world.pop()
    info.attempts = attempts
    world.fail(info, "Picky")
    assert world.queue.backoff_q.expiration_us(info) == ends_s * 1_000_000


def test_move_request_moves_every_pod_where_hints_would_keep_some() -> None:
    for world, lanes in zip(both(), ({"unschedulablePods": ["p"]}, {"backoffQ": ["p"]}), strict=True):
        world.add(pod("p", wants="n1"))
        world.fail(world.pop(), "Picky").happens(NODE_ADD, node("other"))
        assert world.lanes() == lanes


def test_move_request_during_the_attempt_sends_the_failed_pod_to_backoff_q() -> None:
    for world, lanes in zip(both(), ({"unschedulablePods": ["p"]}, {"backoffQ": ["p"]}), strict=True):
        world.add(pod("p", wants="n1"))
        info = world.pop()
        world.happens(NODE_LABEL, node("other")).fail(info, "Picky")
        assert world.lanes() == lanes


def test_move_request_of_an_earlier_cycle_does_not_count() -> None:
    world = World(DesignDocQueue).add(pod("p"), pod("q"))
    world.happens(NODE_ADD, node("n1"))
    world.fail(world.pop(), "Picky")
    assert world.lanes() == {"activeQ": ["q"], "unschedulablePods": ["p"]}


def test_pod_that_failed_by_an_error_is_unschedulable_too() -> None:
    world = World(DesignDocQueue).add(pod("p"))
    world.fail(world.pop())
    assert world.lanes() == {"unschedulablePods": ["p"]}


def test_backoff_q_is_not_popped_and_is_flushed_to_the_microsecond() -> None:
    world = World(DesignDocQueue).add(pod("p")).at(0.25)
    world.fail(world.pop(), "Picky").happens(NODE_ADD, node("n1"))
    assert world.queue.pop() is None
    world.at(2.249999).queue.flush_backoff_q_completed()
    assert world.lanes() == {"backoffQ": ["p"]}
    world.at(2.25).queue.flush_backoff_q_completed()
    assert world.lanes() == {"activeQ": ["p"]}


@pytest.mark.parametrize(
    ("age_s", "lane"),
    [
        pytest.param(29, "unschedulablePods", id="Before 30 seconds it stays"),
        pytest.param(30, "activeQ", id="After at least 30 seconds it is tried again"),
    ],
)
def test_leftover_waits_at_least_thirty_seconds(age_s: int, lane: str) -> None:
    world = World(DesignDocQueue).add(pod("p"))
    world.fail(world.pop(), "Picky").at(age_s).queue.flush_unschedulable_pods_leftover()
    assert world.lanes() == {lane: ["p"]}


@pytest.mark.parametrize(
    ("resource", "moved"),
    [
        pytest.param("Service", True, id="Services count"),
        pytest.param("storage.k8s.io/CSINode", True, id="CSI nodes count"),
        pytest.param("storage.k8s.io/CSIDriver", False, id="The document does not name CSI drivers"),
    ],
)
def test_changes_that_the_document_names_are_move_requests(resource: str, moved: bool) -> None:
    world = World(DesignDocQueue).add(pod("p"))
    world.fail(world.pop(), "Picky").happens(ClusterEvent(resource, ActionType.UPDATE), node("x"))
    assert ("backoffQ" in world.lanes()) is moved


def test_scheduled_pod_moves_those_with_matching_affinity() -> None:
    term: dict[str, Any] = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    world = World(DesignDocQueue)
    world.add(Pod(make_pod("drawn").metadata(uid="drawn").spec(affinity=affinity).obj()), pod("other"))
    world.fail(world.pop(), "Picky").fail(world.pop(), "Picky")
    world.queue.assigned_pod_added(pod("db", app="db"))
    assert world.lanes() == {"backoffQ": ["drawn"], "unschedulablePods": ["other"]}


def test_an_update_with_its_own_failure_does_not_requeue_a_pod_but_a_change_of_spec_does() -> None:
    world = World(DesignDocQueue).add(pod("p"))
    world.fail(world.pop(), "Picky")
    world.update(pod("p").evolve({"status": {"conditions": [{"type": "PodScheduled"}]}}))
    assert world.lanes() == {"unschedulablePods": ["p"]}
    world.update(pod("p", 5))
    assert world.lanes() == {"backoffQ": ["p"]}


def test_gate_holds_under_both_rule_sets() -> None:
    for world in both():
        world.add(pod("p", gates=("a",))).happens(NODE_ADD, node("n1"))
        assert world.lanes() == {"gated": ["p"]}
        world.update(pod("p"))
        assert world.lanes() == {"activeQ": ["p"]}
