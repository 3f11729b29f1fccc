"""Check lessons' statements on order, events, scores and replacements against the engine."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.commands import (
    Advance,
    Apply,
    Command,
    Drain,
    NodeCondition,
    Patch,
    Replica,
    Replicas,
    Settle,
    Stage,
)
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace import events as ev

ZONE = "topology.kubernetes.io/zone"
LARGE = {"cpu": "8", "memory": "8Gi", "pods": "110"}


def world(*steps: Command) -> Simulation:
    simulation = Simulation(seed=42)
    for command in steps:
        simulation.execute(command)
    return simulation


def add(*builders: Any) -> Apply:
    return Apply(tuple(builder if isinstance(builder, dict) else builder.obj() for builder in builders))


def events_of(simulation: Simulation, kind: type[ev.Event]) -> list[Any]:
    return [entry.event for entry in simulation.recorder.entries if isinstance(entry.event, kind)]


def popped(simulation: Simulation) -> list[str]:
    return [event.pod.removeprefix("default/") for event in events_of(simulation, ev.CycleStarted)]


def asked(simulation: Simulation, cluster_event: str) -> set[tuple[str, str]]:
    """Return (pod, plugin) for every plugin asked about such an event."""
    answers = events_of(simulation, ev.HintAnswered)
    return {(answer.pod, answer.plugin) for answer in answers if answer.cluster_event == cluster_event}


def scores(simulation: Simulation, plugin: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return raw and normalized scores, by node, of the last cycle that scored."""
    raw, normalized = events_of(simulation, ev.ScoreRan)[-1].raw, events_of(simulation, ev.NormalizeRan)[-1].normalized
    return dict(dict(raw)[plugin]), dict(dict(normalized)[plugin])


def controlled(kind: str, name: str) -> dict[str, Any]:
    """Return a workload with one pod, which may run anywhere."""
    container = {"name": "main", "image": "registry.k8s.io/pause:3.10"}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


# --- the order in activeQ ---------------------------------------------------------------------------------------------


def test_a_pod_that_failed_before_another_one_came_is_popped_before_it() -> None:
    simulation = world(add(make_node("small").capacity(cpu="1"), make_pod("early").cpu("4")), Settle(), Advance(20))
    for command in (add(make_pod("late").cpu("100m")), add(make_node("large").capacity(LARGE)), Stage()):
        simulation.execute(command)
    assert popped(simulation) == ["early", "early"]


def test_a_pod_that_failed_again_is_popped_after_one_that_failed_in_between() -> None:
    early, late = make_pod("early").cpu("3"), make_pod("late").cpu("6")
    simulation = world(add(make_node("small").capacity(cpu="1"), early), Settle(), Advance(20), add(late), Advance(10))
    closed = make_node("closed").capacity(cpu="4").taint("shut")
    for command in (add(closed), Advance(20), add(make_node("large").capacity(LARGE)), Stage()):
        simulation.execute(command)
    assert popped(simulation) == ["early", "late", "early", "late"]


def test_a_gated_pod_keeps_the_time_of_its_arrival() -> None:
    simulation = world(
        add(make_node("n1"), make_pod("gated").gate("quota")), Settle(), Advance(20), add(make_pod("late"))
    )
    assert "default/gated" in simulation.scheduler.queue.unschedulable_pods
    simulation.execute(Patch("Pod", "default/gated", {"spec": {"schedulingGates": None}}))
    simulation.execute(Stage())
    assert popped(simulation) == ["gated"]


def test_a_new_leader_takes_the_pods_in_the_order_in_which_they_came() -> None:
    simulation = world(add(make_node("n1").capacity(cpu="1")), Replicas(2), Settle())
    names = ["c", "a", "d", "b"]
    for name in names:
        simulation.execute(add(make_pod(name).cpu("4")))
        simulation.execute(Advance(1))
    before = len(popped(simulation))
    for command in (Replica("kube-scheduler-1", "release"), Advance(5), Settle()):
        simulation.execute(command)
    assert popped(simulation)[before:] == names
    assert [event.attempt for event in events_of(simulation, ev.CycleStarted)][before:] == [1, 1, 1, 1]


# --- which pods an event asks about ---------------------------------------------------------------------------------


def test_a_plugin_is_asked_only_about_events_that_it_registered_for() -> None:
    simulation = world(add(make_node("n1").capacity(cpu="2"), make_pod("big").cpu("4")), Settle())
    simulation.execute(add(make_pod("small").cpu("100m")))
    simulation.execute(Settle())
    assert "AssignedPodAdd" in {event.cluster_event for event in events_of(simulation, ev.MoveRequested)}
    assert asked(simulation, "AssignedPodAdd") == set()
    simulation.execute(add(make_node("n2").capacity(cpu="1")))
    assert asked(simulation, "NodeAdd") == {("default/big", "NodeResourcesFit")}


def test_a_claim_created_after_the_snapshot_is_visible_to_the_attempt() -> None:
    simulation = world(add(make_node("n1"), make_pod("web").claim("data")), Stage(), Stage())
    later = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "later"},
        "provisioner": "example.com/disks",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "later",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    for command in (add(later, claim, make_node("n2")), Stage(), Stage()):
        simulation.execute(command)
    assert events_of(simulation, ev.FilterRan)[-1].feasible == ("n1",)


# --- scores -----------------------------------------------------------------------------------------------------------


def test_normalizing_gives_no_100_where_a_plugin_has_no_normalize_score() -> None:
    simulation = world(
        add(make_node("n1").capacity(LARGE), make_node("n2").capacity(LARGE), make_pod("web").cpu("2").memory("2Gi")),
        Settle(),
    )
    raw, normalized = scores(simulation, "NodeResourcesFit")
    assert raw == normalized == {"n1": 75, "n2": 75}


def test_the_best_node_of_taint_toleration_has_less_than_100_where_all_are_tainted() -> None:
    worse = make_node("n1").taint("a", effect="PreferNoSchedule").taint("b", effect="PreferNoSchedule")
    simulation = world(add(worse, make_node("n2").taint("a", effect="PreferNoSchedule"), make_pod("web")), Settle())
    assert scores(simulation, "TaintToleration") == ({"n1": 2, "n2": 1}, {"n1": 0, "n2": 50})


def test_required_affinity_of_a_running_pod_refuses_no_node_and_adds_score() -> None:
    fan = make_pod("fan").node("n1").affinity(ZONE, {"app": "star"})
    nodes = make_node("n1").label(ZONE, "a"), make_node("n2").label(ZONE, "b")
    simulation = world(add(*nodes, fan), add(make_pod("star").label("app", "star")), Settle())
    assert scores(simulation, "InterPodAffinity") == ({"n1": 1, "n2": 0}, {"n1": 100, "n2": 0})


# --- replacements and drains ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "others"),
    [
        pytest.param("ReplicaSet", 1, id="A ReplicaSet makes another pod while the old one cannot end"),
        pytest.param("StatefulSet", 0, id="A StatefulSet waits until the old one is gone"),
    ],
)
def test_pods_on_a_silent_node(kind: str, others: int) -> None:
    simulation = world(add(make_node("n1")), add(controlled(kind, "web")), Settle(), add(make_node("n2")))
    for command in (NodeCondition("n1", "Ready", "Unknown"), Advance(600)):
        simulation.execute(command)
    assert sum(pod.terminating for pod in simulation.api.pods()) == 1
    assert sum(not pod.terminating for pod in simulation.api.pods()) == others


def test_a_drain_asks_for_all_pods_at_once() -> None:
    pods = (make_pod(name).node("n1") for name in "ab")
    simulation = world(add(make_node("n1"), *pods), Settle(), Drain("n1", force=True))
    asked_for = [
        (e.at_us, e.event.pod) for e in simulation.recorder.entries if isinstance(e.event, ev.EvictionAnswered)
    ]
    assert asked_for == [(0, "default/a"), (0, "default/b")]
