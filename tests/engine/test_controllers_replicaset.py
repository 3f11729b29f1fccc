"""Replica sets have the pods they want, and delete the right ones."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.conditions import is_ready
from scheduler_engine.api.objects import Pod, timestamp
from scheduler_engine.controllers.naming import suffix, template_hash
from scheduler_engine.controllers.pod_state import deletion_order, is_available, removal_order
from scheduler_engine.controllers.workload import scaled
from scheduler_engine.replay import trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod, make_priority_class
from tests.engine import controllers as world

SECOND_US = 1_000_000
NOW_US = 3600 * SECOND_US


def pod_of(name: str, node: str = "n1", phase: str = "Running", ready_for: int = 100, **fields: Any) -> Pod:
    """Return a pod. ``ready_for``: seconds; ``cost``, ``restarts``, ``created_before``, ``ready``."""
    since = timestamp(NOW_US - ready_for * SECOND_US)
    created = timestamp(NOW_US - fields.get("created_before", 1000) * SECOND_US)
    status: dict[str, Any] = {
        "phase": phase,
        "startTime": since,
        "conditions": [
            {"type": "Ready", "status": "True" if fields.get("ready", True) else "False", "lastTransitionTime": since}
        ],
        "containerStatuses": [{"restartCount": fields.get("restarts", 0)}],
    }
    builder = make_pod(name).metadata(creationTimestamp=created).status(**status)
    if "cost" in fields:
        builder.annotation("controller.kubernetes.io/pod-deletion-cost", fields["cost"])
    return Pod(builder.spec(nodeName=node).obj())


PAIRS = {
    "a pod without a node before one that runs": (pod_of("a", node="", phase="Pending", ready=False), pod_of("b")),
    "a pending pod before a running one": (pod_of("a", phase="Pending"), pod_of("b")),
    "a pod that is not ready before one that is": (pod_of("a", ready=False), pod_of("b")),
    "a pod with a low deletion cost before one with a high cost": (
        pod_of("a", cost="-5", ready_for=900),
        pod_of("b", ready_for=1),
    ),
    "an invalid cost counts as none": (pod_of("a", cost="-1"), pod_of("b", cost="cheap")),
    "a cost with leading zeros counts as none": (pod_of("a", cost="007"), pod_of("b", cost="5")),
    "a pod that was ready for less long": (pod_of("a", ready_for=10), pod_of("b", ready_for=1000)),
    "a pod that restarted more often": (pod_of("a", restarts=3), pod_of("b", restarts=1)),
    "a younger pod": (pod_of("a", created_before=200), pod_of("b", created_before=3000)),
}


@pytest.mark.parametrize("words", PAIRS)
def test_the_order_of_giving_up(words: str) -> None:
    first, second = PAIRS[words]
    for pods in ([first, second], [second, first]):
        assert deletion_order(pods, [], NOW_US) == [first, second]


@pytest.mark.parametrize(("one", "other"), [(17, 18), (34, 35), (68, 69), (135, 138)])
def test_a_power_of_two_in_nanoseconds_between_two_ages_counts(one: int, other: int) -> None:
    for names in ("ab", "ba", "cd", "dc"):
        younger, older = pod_of(names[0], ready_for=one), pod_of(names[1], ready_for=other)
        assert deletion_order([older, younger], [], NOW_US) == [younger, older]


def test_within_a_magnitude_of_ages_neither_restarts_nor_creation_count() -> None:
    """A cluster compares the uid there."""
    pods = [pod_of(name, ready_for=100 + number) for number, name in enumerate("abcdef")]
    by_hash = [pod.name for pod in deletion_order(pods, [], NOW_US)]
    others = [pod_of(name, ready_for=100 + number, restarts=number) for number, name in enumerate("abcdef")]
    assert [pod.name for pod in deletion_order(others, [], NOW_US)] == by_hash


def test_pods_of_a_job_go_by_exact_times_and_without_costs() -> None:
    younger, older = pod_of("a", "n1", ready_for=20), pod_of("b", "n2", ready_for=30, cost="-5")
    for pods in ([older, younger], [younger, older]):
        assert removal_order(pods) == [younger, older]
    restarted, newer = pod_of("c", restarts=2), pod_of("d", created_before=10)
    assert removal_order([newer, restarted, pod_of("e")])[:2] == [restarted, newer]
    assert (
        removal_order([pod_of("f"), pod_of("g", ready=False), pod_of("h", phase="Pending", ready=False)])[0].name == "h"
    )


def test_pods_that_share_their_node_with_related_pods_go_first() -> None:
    alone, crowded, other = pod_of("a", "n1"), pod_of("b", "n2"), pod_of("c", "n2")
    assert deletion_order([alone, crowded], [alone, crowded, other], NOW_US) == [crowded, alone]
    assert deletion_order([alone, crowded], [alone, crowded, pod_of("d", "n1"), pod_of("e", "n1")], NOW_US)[0] is alone


def test_being_crowded_counts_for_less_than_the_deletion_cost() -> None:
    cheap, crowded = pod_of("a", "n1", cost="-1"), pod_of("b", "n2")
    assert deletion_order([crowded, cheap], [cheap, crowded, pod_of("c", "n2")], NOW_US) == [cheap, crowded]


@pytest.mark.parametrize(
    ("kind", "left"),
    [("ReplicaSet", {"n1": 2}), ("Deployment", {"n1": 1, "n2": 1})],
    ids=["without a controller nodes do not matter", "with a controller the pod on a shared node goes"],
)
def test_whether_pods_share_a_node_counts_for_sets_that_have_a_controller(kind: str, left: dict[str, int]) -> None:
    make = world.replica_set if kind == "ReplicaSet" else world.deployment
    simulation = world.cluster(make("web", 2), nodes=1)
    world.run(simulation)
    world.advance(simulation, 1000)
    simulation.execute(commands.Cordon("n1"))
    world.apply(simulation, make_node("n2").obj())
    world.scale(simulation, kind, "web", 3)
    world.run(simulation)
    world.advance(simulation, 10)
    world.scale(simulation, kind, "web", 2)
    assert Counter(pod.node_name for pod in world.pods(simulation)) == left


def running(**ready: str) -> Pod:
    conditions = [{"type": "Ready", **ready}] if ready else []
    return Pod(make_pod("p").status(phase="Running", startTime=timestamp(NOW_US), conditions=conditions).obj())


def test_a_pod_is_ready_when_its_condition_says_so() -> None:
    assert is_ready(running(status="True"))
    assert not is_ready(running(status="False"))
    assert not is_ready(running())
    assert not is_available(running(), 0, NOW_US + 5 * SECOND_US)


def test_a_ready_pod_is_available_when_it_has_been_ready_for_long_enough() -> None:
    assert not is_available(running(status="True"), 5, NOW_US + 4 * SECOND_US)
    assert is_available(running(status="True"), 5, NOW_US + 5 * SECOND_US)


def test_without_min_ready_seconds_a_ready_pod_is_available_whatever_its_clock() -> None:
    later = running(status="True", lastTransitionTime=timestamp(NOW_US + 9 * SECOND_US))
    assert is_available(later, 0, NOW_US)
    assert not is_available(later, 1, NOW_US)


def test_generated_names_look_like_those_of_kubernetes_and_are_the_same_every_time() -> None:
    assert len({suffix(str(number)) for number in range(500)}) == 500
    assert all(set(suffix(str(number))) <= set("bcdfghjklmnpqrstvwxz2456789") for number in range(50))
    assert suffix("x") == suffix("x")
    assert template_hash({"a": 1, "b": 2}) == template_hash({"b": 2, "a": 1}) != template_hash({"a": 1, "b": 3})


@pytest.mark.parametrize(
    ("length", "base"),
    [(57, "r" * 57 + "-"), (58, "r" * 58), (63, "r" * 58)],
    ids=["a name that leaves room for the dash", "a name that leaves none", "one that is itself too long"],
)
def test_a_generated_name_has_63_characters_at_most(length: int, base: str) -> None:
    simulation = Simulation()
    world.apply(simulation, world.replica_set("r" * length, 1))
    (pod,) = world.pods(simulation)
    assert pod.name[:-5] == base
    assert pod.metadata["generateName"] == "r" * length + "-"


@pytest.mark.parametrize(
    ("value", "up", "expected"),
    [(3, True, 3), ("25%", True, 3), ("25%", False, 2), ("0%", True, 0), ("100%", False, 10)],
    ids=["a number", "a percentage rounded up", "a percentage rounded down", "nothing", "everything"],
)
def test_numbers_and_percentages(value: int | str, up: bool, expected: int) -> None:
    assert scaled(value, 10, up) == expected


# --- in a cluster -----------------------------------------------------------------------------------------------------


def test_it_makes_its_pods_with_labels_owner_and_event() -> None:
    simulation = world.cluster(world.replica_set("web", 2))
    pods = world.pods(simulation, "web")
    owner = world.find(simulation, "ReplicaSet", "web")
    assert len(pods) == 2
    assert all(pod.name.startswith("web-") and len(pod.name) == len("web-") + 5 for pod in pods)
    assert all(
        pod.metadata["ownerReferences"]
        == [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "web",
                "uid": owner.uid,
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ]
        for pod in pods
    )
    assert world.events(simulation, "ReplicaSet", "web") == [
        f"SuccessfulCreate: Created pod: {pod.name}" for pod in pods
    ]
    world.run(simulation)
    status = world.find(simulation, "ReplicaSet", "web").status
    assert status == {
        "observedGeneration": 1,
        "replicas": 2,
        "fullyLabeledReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 2,
    }


def test_scaling_up_and_down() -> None:
    simulation = world.cluster(world.replica_set("web", 1))
    world.run(simulation)
    (first,) = world.pods(simulation)
    world.advance(simulation, 60)
    world.scale(simulation, "ReplicaSet", "web", 3)
    assert len(world.pods(simulation)) == 3
    world.run(simulation)
    world.advance(simulation, 1)
    world.scale(simulation, "ReplicaSet", "web", 1)
    assert world.pods(simulation) == [simulation.api.pod(first.key)], "the oldest stays"
    deleted = [text for text in world.events(simulation, "ReplicaSet", "web") if text.startswith("SuccessfulDelete")]
    assert len(deleted) == 2
    world.scale(simulation, "ReplicaSet", "web", 0)
    assert world.find(simulation, "ReplicaSet", "web").status == {"observedGeneration": 4, "replicas": 0}


def test_a_pod_that_is_deleted_or_finished_is_replaced_at_once() -> None:
    simulation = world.cluster(world.replica_set("web", 2))
    world.run(simulation)
    first, second = world.pods(simulation)
    world.delete(simulation, "Pod", first.key)
    assert len(world.pods(simulation)) == 2
    world.end(simulation, second, "Failed")
    assert len([pod for pod in world.pods(simulation) if not pod.finished]) == 2
    assert first.name not in [pod.name for pod in world.pods(simulation)]


def test_victims_of_preemption_come_back() -> None:
    simulation = world.cluster(world.replica_set("filler", 2, cpu="2"), nodes=1)
    world.run(simulation)
    before = [pod.name for pod in world.pods(simulation, "filler")]
    world.apply(simulation, make_pod("vip").cpu("2").priority(1000).obj())
    world.run(simulation)
    world.advance(simulation, 31)
    after = world.pods(simulation, "filler")
    assert world.pods(simulation)[1].name == "vip"
    assert len(after) == 2
    assert len({*before, *(pod.name for pod in after)}) == 3
    assert sorted(pod.node_name for pod in after) == ["", "n1"]


def test_it_adopts_matching_pods_and_releases_others() -> None:
    simulation = world.cluster(make_pod("mine").label("app", "web").obj(), make_pod("other").label("app", "db").obj())
    world.apply(simulation, world.replica_set("web", 2))
    owner = world.find(simulation, "ReplicaSet", "web")
    assert next(pod.name for pod in world.pods(simulation) if pod.controller_ref) == "mine"
    assert len(world.pods(simulation, "web")) == 2
    held = world.find(simulation, "Pod", "mine")
    assert (held.controller_ref or {})["uid"] == owner.uid
    labels = {**held.manifest, "metadata": {**held.metadata, "labels": {"app": "free"}}}
    world.apply(simulation, labels)
    assert world.find(simulation, "Pod", "mine").controller_ref is None
    assert len(world.pods(simulation, "web")) == 2


def test_a_refused_pod_is_reported_once_and_retried_when_it_may_work() -> None:
    simulation = world.cluster(world.replica_set("web", 2, pod={"priorityClassName": "high"}))
    text = 'pods "web-" is forbidden: no PriorityClass with name high was found'
    assert world.events(simulation, "ReplicaSet", "web") == [f"FailedCreate: Error creating: {text}"]
    (condition,) = world.find(simulation, "ReplicaSet", "web").status["conditions"]
    assert (condition["type"], condition["reason"], condition["message"]) == ("ReplicaFailure", "FailedCreate", text)
    world.apply(simulation, make_priority_class("high", 1000))
    assert [pod.priority for pod in world.pods(simulation, "web")] == [1000, 1000]
    assert "conditions" not in world.find(simulation, "ReplicaSet", "web").status


def test_a_sandbox_has_a_limit_of_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduler_engine.controllers.workload.MAX_PODS", 5)
    simulation = world.cluster(world.replica_set("web", 900))
    assert len(world.pods(simulation)) == 5
    (text,) = [item for item in world.events(simulation, "ReplicaSet", "web") if item.startswith("Failed")]
    assert "exceeded quota: sandbox, requested: pods=1, used: pods=5, limited: pods=5" in text


def test_min_ready_seconds_delay_availability() -> None:
    simulation = world.cluster(world.replica_set("web", 1, minReadySeconds=20))
    simulation.settle()
    world.advance(simulation, 10)
    assert "availableReplicas" not in world.find(simulation, "ReplicaSet", "web").status
    world.advance(simulation, 60)
    assert world.find(simulation, "ReplicaSet", "web").status["availableReplicas"] == 1


def test_a_replication_controller_works_the_same_way() -> None:
    inner = world.template("old")
    simulation = world.cluster(
        world.workload("ReplicationController", "old", inner, "v1", replicas=2, selector={"app": "old"})
    )
    assert len(world.pods(simulation, "old")) == 2
    world.scale(simulation, "ReplicationController", "old", 1)
    assert len(world.pods(simulation, "old")) == 1


def rollout(simulation: Simulation) -> str:
    world.apply(simulation, world.deployment("shop", 4, image="registry.example/app:2"))
    world.run(simulation)
    world.scale(simulation, "Deployment", "shop", 2)
    world.delete(simulation, "Deployment", "default/shop")
    world.advance(simulation, 60)
    return trace_digest(simulation)


def test_copies_in_mid_history_continue_identically() -> None:
    simulation = world.cluster(
        world.deployment("shop", 4),
        world.stateful_set("db", 2),
        world.daemon_set("agent"),
        world.job("j", completions=2),
    )
    copies = [copy.deepcopy(simulation), pickle.loads(pickle.dumps(simulation))]
    assert {rollout(item) for item in (simulation, *copies)} == {trace_digest(simulation)}


def test_a_later_node_gets_the_waiting_pods() -> None:
    simulation = world.cluster(world.replica_set("web", 3, cpu="3"), nodes=1)
    world.run(simulation)
    world.apply(simulation, make_node("n2").obj(), make_node("n3").obj())
    world.run(simulation)
    assert sorted(pod.node_name for pod in world.pods(simulation)) == ["n1", "n2", "n3"]
