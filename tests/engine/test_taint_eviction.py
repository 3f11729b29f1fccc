"""NoExecute taints evict pods: at once, after tolerationSeconds, or never."""

from __future__ import annotations

import re
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import PodBuilder, make_node, make_pod
from scheduler_engine.trace.events import EventRecorded, TaintEvictionPlanned

NODE = make_node("n1").obj()
TAINTED = make_node("n1").taint("broken", "yes", "NoExecute").obj()
TWICE = make_node("n1").taint("broken", "yes", "NoExecute").taint("slow", "", "NoExecute").obj()
KEY = "default/p"


def pod() -> PodBuilder:
    return make_pod("p").node("n1").grace_period(10)


def broken(seconds: int | None) -> PodBuilder:
    return pod().toleration("broken", "yes", "NoExecute", seconds)


def cluster(*manifests: dict[str, Any]) -> Simulation:
    simulation = Simulation()
    simulation.execute(commands.Apply(manifests))
    simulation.execute(commands.Settle())
    return simulation


def lifetime(simulation: Simulation, most: int = 200) -> int | None:
    """Return the seconds until the pod is marked for deletion; None if it never is."""
    for second in range(most):
        pod = simulation.api.pod(KEY)
        if pod is None or pod.terminating:
            return second
        simulation.execute(commands.Advance(1))
    return None


@pytest.mark.parametrize(
    ("builder", "node", "expected"),
    [
        (pod(), NODE, None),
        (pod(), TAINTED, 0),
        (broken(None), TAINTED, None),
        (broken(0), TAINTED, 0),
        (broken(-5), TAINTED, 0),
        (broken(60), TAINTED, 60),
        (broken(60), TWICE, 0),
        (broken(60).toleration("slow", None, "NoExecute", 20), TWICE, 20),
        (broken(60).toleration("slow", None, "NoExecute"), TWICE, 60),
        (broken(60).toleration("broken", None, "NoExecute", 5), TAINTED, 60),
        (pod().toleration("", None), TAINTED, None),
        (pod().toleration("broken", "no", "NoExecute"), TAINTED, 0),
        (pod().toleration("broken", "yes", "NoSchedule"), TAINTED, 0),
    ],
    ids=[
        "a node without a taint keeps its pods",
        "an untolerated taint evicts at once",
        "a toleration without a limit keeps the pod",
        "0 seconds is at once",
        "a negative number is at once",
        "tolerationSeconds counts from the taint on",
        "one untolerated taint of two is enough",
        "of two limits the shorter one counts",
        "a limit counts beside a toleration without one",
        "only the first toleration of a taint counts",
        "all taints are tolerated",
        "another value is not tolerated",
        "another effect is not tolerated",
    ],
)
def test_how_long_a_pod_stays(builder: PodBuilder, node: dict[str, Any], expected: int | None) -> None:
    simulation = cluster(NODE, builder.obj())
    simulation.execute(commands.Apply((node,)))
    assert lifetime(simulation) == expected


def test_the_pod_is_marked_deleted_gracefully_and_gone() -> None:
    simulation = cluster(NODE, broken(60).obj())
    simulation.execute(commands.Apply((TAINTED,)))
    simulation.execute(commands.Advance(61))
    leaving = simulation.api.pod(KEY)
    assert leaving is not None
    assert leaving.terminating
    condition = next(item for item in leaving.conditions if item["type"] == "DisruptionTarget")
    assert (condition["status"], condition["reason"]) == ("True", "DeletionByTaintManager")
    assert condition["message"] == "Taint manager: deleting due to NoExecute taint"
    simulation.execute(commands.Advance(10))
    assert simulation.api.pod(KEY) is None


def test_an_eviction_is_cancelled_when_the_taint_goes_in_time() -> None:
    simulation = cluster(NODE, broken(60).obj())
    simulation.execute(commands.Apply((TAINTED,)))
    simulation.execute(commands.Advance(59))
    simulation.execute(commands.Apply((NODE,)))
    assert not simulation.timeline.has_work()
    simulation.execute(commands.Apply((TAINTED,)))
    assert lifetime(simulation) == 60
    events = [entry.event for entry in simulation.recorder.entries]
    planned = [event.at_us for event in events if isinstance(event, TaintEvictionPlanned)]
    assert planned == [60_000_000, None, 119_000_000]
    messages = [event.message for event in events if isinstance(event, EventRecorded)]
    assert f"Cancelling deletion of Pod {KEY}" in messages


CANCELLED, MARKED = f"Cancelling deletion of Pod {KEY}", f"Marking for deletion Pod {KEY}"


@pytest.mark.parametrize(
    ("builder", "then", "messages"),
    [
        (broken(60), [commands.Apply((TWICE,))], [CANCELLED, MARKED]),
        (broken(60).toleration("slow", None, "NoExecute", 20), [commands.Apply((TWICE,))], []),
        (broken(60).grace_period(0), [commands.Delete("Pod", KEY)], [CANCELLED]),
        (broken(60), [commands.Delete("Node", "n1")], []),
        (broken(60), [commands.Delete("Node", "n1"), commands.Apply((NODE,))], [CANCELLED]),
    ],
    ids=[
        "a second, untolerated taint ends the plan and evicts",
        "a second, tolerated taint does not change the plan",
        "a pod deleted before its time is reported",
        "deleting only the node changes nothing",
        "a new node of its name without taints ends the plan",
    ],
)
def test_events_of_a_planned_eviction(builder: PodBuilder, then: list[commands.Command], messages: list[str]) -> None:
    simulation = cluster(NODE, builder.obj())
    simulation.execute(commands.Apply((TAINTED,)))
    simulation.execute(commands.Advance(5))
    for command in (*then, commands.Settle()):
        simulation.execute(command)
    events = [entry.event for entry in simulation.recorder.entries]
    assert [event.message for event in events if isinstance(event, EventRecorded)] == messages


def test_a_planned_eviction_keeps_its_time_when_another_taint_comes() -> None:
    builder = broken(60).toleration("slow", None, "NoExecute", 20)
    simulation = cluster(NODE, builder.obj())
    simulation.execute(commands.Apply((TAINTED,)))
    simulation.execute(commands.Advance(50))
    simulation.execute(commands.Apply((TWICE,)))
    assert lifetime(simulation) == 10


def test_a_pod_that_is_bound_to_a_tainted_node_is_judged_then() -> None:
    simulation = cluster(TAINTED)
    simulation.execute(commands.Advance(50))
    simulation.execute(commands.Apply((broken(60).obj(),)))
    assert lifetime(simulation) == 60


def test_a_pod_that_goes_before_its_time_takes_its_eviction_along() -> None:
    simulation = cluster(NODE, broken(60).obj())
    simulation.execute(commands.Apply((TAINTED,)))
    simulation.execute(commands.Delete("Pod", KEY))
    simulation.execute(commands.Advance(11))
    simulation.execute(commands.Apply((broken(None).obj(),)))
    assert lifetime(simulation) is None


def test_a_node_that_is_not_ready_loses_its_pods_after_300_seconds() -> None:
    simulation = cluster(NODE, pod().obj())
    simulation.execute(commands.NodeCondition("n1", "Ready", "False"))
    assert lifetime(simulation, 400) == 300


def test_a_pods_own_toleration_seconds_decide_how_long_it_stays() -> None:
    builder = pod().toleration("node.kubernetes.io/unreachable", None, "NoExecute", 120)
    simulation = cluster(NODE, builder.obj())
    simulation.execute(commands.NodeCondition("n1", "Ready", "Unknown"))
    assert lifetime(simulation, 400) == 120


def taints(simulation: Simulation) -> list[dict[str, str]]:
    node = simulation.api.get("Node", "n1")
    assert node is not None
    return [dict(taint) for taint in node.spec.get("taints") or ()]


def test_a_taint_set_by_hand_starts_the_clock_and_its_removal_in_time_stops_it() -> None:
    simulation = cluster(NODE, broken(60).obj())
    simulation.execute(commands.Taint("n1", "broken", "NoExecute", "yes"))
    simulation.execute(commands.Advance(59))
    simulation.execute(commands.Taint("n1", "broken", "NoExecute", on=False))
    assert lifetime(simulation) is None


def test_a_taint_takes_the_place_of_one_with_its_key_and_effect_only() -> None:
    simulation = cluster(NODE)
    for effect, value in (("NoSchedule", "a"), ("PreferNoSchedule", ""), ("NoSchedule", "b")):
        simulation.execute(commands.Taint("n1", "zoo", effect, value))
    assert taints(simulation) == [
        {"key": "zoo", "effect": "PreferNoSchedule"},
        {"key": "zoo", "value": "b", "effect": "NoSchedule"},
    ]
    simulation.execute(commands.Taint("n1", "zoo", "PreferNoSchedule", on=False))
    assert [taint["effect"] for taint in taints(simulation)] == ["NoSchedule"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (commands.Taint("n9", "zoo", "NoSchedule"), 'nodes "n9" not found'),
        (commands.Taint("n1", "zoo", "NoSchedule", on=False), 'taint "zoo:NoSchedule" not found'),
        (commands.Taint("n1", "", "NoSchedule"), "name part must be non-empty"),
        (commands.Taint("n1", "zoo", "Never"), 'Unsupported value: "Never"'),
        (commands.Taint("n1", "zoo", ""), "effect: Required value"),
        (commands.Taint("n1", "zoo", "NoSchedule", "a b"), "a valid label must be an empty string or consist of"),
    ],
    ids=["an unknown node", "not there", "no key", "an unknown effect", "no effect", "a bad value"],
)
def test_an_impossible_taint_is_refused_and_changes_nothing(command: commands.Taint, words: str) -> None:
    simulation = cluster(NODE)
    entries = len(simulation.recorder.entries)
    with pytest.raises(Rejected, match=re.escape(words)):
        simulation.execute(command)
    assert len(simulation.recorder.entries) == entries
    assert taints(simulation) == []
