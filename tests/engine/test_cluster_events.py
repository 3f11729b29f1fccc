"""Cluster events: labels, registrations, and the events an update causes."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.events import (
    FORCE_ACTIVATE,
    UNSCHEDULABLE_TIMEOUT,
    ActionType,
    ClusterEvent,
    matches,
    node_scheduling_properties_change,
    pod_scheduling_properties_change,
)
from scheduler_engine.framework.events_registry import NODE_TAINT_UPDATED, always_queue, queueing_hint_map
from scheduler_engine.framework.interface import EventRegistration, Plugin
from scheduler_engine.testing import make_node, make_pod

ADD_OR_LABEL = ActionType.ADD | ActionType.UPDATE_NODE_LABEL


@pytest.mark.parametrize(
    ("registered", "incoming", "matching"),
    [
        pytest.param(("Node", ADD_OR_LABEL), ("Node", ActionType.ADD), True, id="One of several actions"),
        pytest.param(("Node", ADD_OR_LABEL), ("Node", ActionType.UPDATE_NODE_TAINT), False, id="Another action"),
        pytest.param(("Node", ActionType.UPDATE), ("Node", ActionType.UPDATE_NODE_LABEL), True, id="A special update"),
        pytest.param(
            ("Pod", ActionType.UPDATE_POD_LABEL),
            ("Pod", ActionType.UPDATE),
            False,
            id="A general update is not special",
        ),
        pytest.param(("Pod", ActionType.ADD), ("AssignedPod", ActionType.ADD), True, id="Pod means assigned pods"),
        pytest.param(("Pod", ActionType.ADD), ("UnschedulablePod", ActionType.ADD), True, id="And unscheduled ones"),
        pytest.param(("AssignedPod", ActionType.ADD), ("Pod", ActionType.ADD), False, id="But not the reverse"),
        pytest.param(("*", ActionType.ALL), ("Node", ActionType.DELETE), True, id="The wildcard matches everything"),
        pytest.param(("*", ActionType.ADD), ("Node", ActionType.ADD), True, id="Any resource, one action"),
        pytest.param(
            ("Node", ActionType.ALL), ("*", ActionType.ALL), False, id="Only the wildcard matches the wildcard"
        ),
    ],
)
def test_registered_event_matches_incoming_one(
    registered: tuple[str, ActionType], incoming: tuple[str, ActionType], matching: bool
) -> None:
    assert matches(ClusterEvent(*registered), ClusterEvent(*incoming)) is matching


@pytest.mark.parametrize(
    ("event", "label"),
    [
        pytest.param(ClusterEvent("Node", ActionType.ADD), "NodeAdd", id="Resource and action"),
        pytest.param(
            ClusterEvent("storage.k8s.io/CSINode", ActionType.UPDATE), "storage.k8s.io/CSINodeUpdate", id="With group"
        ),
        pytest.param(ClusterEvent("*", ActionType.ALL), "*All", id="The wildcard"),
        pytest.param(UNSCHEDULABLE_TIMEOUT, "UnschedulableTimeout", id="The timeout has its own label"),
        pytest.param(FORCE_ACTIVATE, "ForceActivate", id="So has activation"),
    ],
)
def test_label_of_an_event(event: ClusterEvent, label: str) -> None:
    assert str(event) == label


TAINT = {"key": "k", "effect": "NoSchedule"}
READY = {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}
NODE_UPDATES: list[Any] = [
    pytest.param({}, {"metadata": {"resourceVersion": "2"}}, [], id="An irrelevant update gives no event"),
    pytest.param({"spec": {"unschedulable": True}}, {}, ["UpdateNodeTaint"], id="An uncordon counts as a taint"),
    pytest.param({}, {"spec": {"unschedulable": True}}, [], id="A cordon by flag alone gives no event"),
    pytest.param({}, {"status": {"allocatable": {"cpu": "8"}}}, ["UpdateNodeAllocatable"], id="More capacity"),
    pytest.param(
        {"status": {"allocatable": {"cpu": "1"}}},
        {"status": {"allocatable": {"cpu": "1000m"}}},
        [],
        id="The same amount in another form is no change",
    ),
    pytest.param({}, {"spec": {"taints": [TAINT]}}, ["UpdateNodeTaint"], id="A new taint"),
    pytest.param(
        {"spec": {"taints": [TAINT]}},
        {"spec": {"taints": [{**TAINT, "timeAdded": "2026-01-01T00:00:00Z"}]}},
        ["UpdateNodeTaint"],
        id="The time of a taint counts",
    ),
    pytest.param({}, {"status": {"conditions": [READY]}}, ["UpdateNodeCondition"], id="A new condition"),
    pytest.param(
        {"status": {"conditions": [READY]}},
        {"status": {"conditions": [{**READY, "lastHeartbeatTime": "2026-01-01T00:00:10Z"}]}},
        [],
        id="A heartbeat alone gives no event",
    ),
    pytest.param(
        {"spec": {"unschedulable": True}},
        {
            "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
            "spec": {"taints": [TAINT]},
            "status": {"allocatable": {"cpu": "8"}, "conditions": [READY]},
        },
        [
            "UpdateNodeTaint",
            "UpdateNodeAllocatable",
            "UpdateNodeLabel",
            "UpdateNodeTaint",
            "UpdateNodeCondition",
            "UpdateNodeAnnotation",
        ],
        id="Everything at once comes in Kubernetes' order",
    ),
]


@pytest.mark.parametrize(("old", "new", "actions"), NODE_UPDATES)
def test_node_update_is_split_into_events(old: dict[str, Any], new: dict[str, Any], actions: list[str]) -> None:
    base = Node(make_node("n").obj())
    events = node_scheduling_properties_change(base.evolve(new), base.evolve(old))
    assert [str(event) for event in events] == [f"Node{action}" for action in actions]


def asking(cpu: str) -> list[dict[str, Any]]:
    return [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]


POD_UPDATES: list[Any] = [
    pytest.param(
        {}, {"status": {"phase": "Pending"}}, ["UnschedulablePodUpdate"], id="Any other update gives the general event"
    ),
    pytest.param({}, {"metadata": {"labels": {"a": "b"}}}, ["UnschedulablePodUpdatePodLabel"], id="A label"),
    pytest.param(
        {"spec": {"containers": asking("2")}},
        {"spec": {"containers": asking("1")}},
        ["UnschedulablePodUpdatePodScaleDown"],
        id="A smaller request",
    ),
    pytest.param(
        {"spec": {"containers": asking("1")}},
        {"spec": {"containers": asking("2")}},
        ["UnschedulablePodUpdate"],
        id="A larger request gives the general event",
    ),
    pytest.param(
        {"spec": {"containers": asking("2")}},
        {"spec": {"containers": [{"name": "main"}]}},
        ["UnschedulablePodUpdatePodScaleDown"],
        id="A removed request",
    ),
    pytest.param(
        {"spec": {"schedulingGates": [{"name": "a"}, {"name": "b"}]}},
        {"spec": {"schedulingGates": [{"name": "b"}]}},
        ["UnschedulablePodUpdate"],
        id="One gate of two gives the general event",
    ),
    pytest.param(
        {"spec": {"schedulingGates": [{"name": "a"}]}},
        {"spec": {"tolerations": [{"operator": "Exists"}]}},
        ["UnschedulablePodUpdatePodSchedulingGatesEliminated", "UnschedulablePodUpdatePodToleration"],
        id="The last gate and a toleration",
    ),
    pytest.param(
        {},
        {"status": {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "gpu-1"}]}},
        ["UnschedulablePodUpdatePodGeneratedResourceClaim"],
        id="A generated claim",
    ),
    pytest.param(
        {"spec": {"nodeName": "n"}},
        {"spec": {"nodeName": "n"}, "metadata": {"labels": {"a": "b"}}},
        ["AssignedPodUpdatePodLabel"],
        id="A pod with a node is an assigned pod",
    ),
]


@pytest.mark.parametrize(("old", "new", "labels"), POD_UPDATES)
def test_pod_update_is_split_into_events(old: dict[str, Any], new: dict[str, Any], labels: list[str]) -> None:
    base = Pod(make_pod("p").obj())
    events = pod_scheduling_properties_change(base.evolve(new), base.evolve(old))
    assert [str(event) for event in events] == labels


class Registering(Plugin):
    name = "Registering"

    def __init__(self, *events: ClusterEvent) -> None:
        self.events = events

    def filter(self) -> None: ...

    def events_to_register(self) -> tuple[EventRegistration, ...]:
        return tuple(EventRegistration(event) for event in self.events)


class Silent(Plugin):
    name = "Silent"

    def __init__(self) -> None: ...

    def filter(self) -> None: ...


class Scoring(Plugin):
    name = "Scoring"

    def __init__(self) -> None: ...

    def score(self) -> None: ...


@pytest.mark.parametrize(
    ("events", "hears"),
    [
        pytest.param([("Node", ActionType.ADD)], True, id="New nodes alone: taints are added"),
        pytest.param([("Node", ActionType.DELETE)], False, id="No new nodes: nothing is added"),
        pytest.param([("Pod", ActionType.ADD)], False, id="New pods: nothing is added"),
    ],
)
def test_plugin_that_hears_of_new_nodes_hears_of_taints_too(events: list[Any], hears: bool) -> None:
    hints = queueing_hint_map([Registering(*(ClusterEvent(*event) for event in events))])
    assert (NODE_TAINT_UPDATED in hints) is hears


def test_plugin_that_registered_for_taints_is_not_added_twice() -> None:
    both = ClusterEvent("Node", ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
    assert list(queueing_hint_map([Registering(both)])) == [both]


def test_rejecting_plugin_that_says_nothing_hears_of_everything() -> None:
    hints = queueing_hint_map([Silent()])
    assert len(hints) == 10
    assert {hint.function for functions in hints.values() for hint in functions} == {always_queue}


def test_plugin_that_cannot_reject_hears_of_nothing() -> None:
    assert queueing_hint_map([Scoring()]) == {}
