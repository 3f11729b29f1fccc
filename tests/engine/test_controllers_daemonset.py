"""Daemon sets: one pod per node that it fits, bound there by name, with the default tolerations."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.objects import Pod
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import NodeBuilder, make_node
from tests.engine import controllers as world

OLD, NEW = "registry.example/app:1", "registry.example/app:2"


def nodes_of(simulation: Simulation, gone: bool = False) -> list[str]:
    return sorted(pod.node_name for pod in world.pods(simulation, "agent", gone))


def counts(simulation: Simulation) -> dict[str, int]:
    return world.find(simulation, "DaemonSet", "agent").status


def test_its_pods_name_their_node_and_tolerate_what_daemons_tolerate() -> None:
    preferred = [{"weight": 1, "preference": {"matchExpressions": [{"key": "x", "operator": "Exists"}]}}]
    spec = {
        "tolerations": [{"key": "mine", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}},
    }
    simulation = world.cluster(world.daemon_set("agent", pod=spec), nodes=1)
    (pod,) = world.pods(simulation)
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    assert pod.affinity["nodeAffinity"] == {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
        "preferredDuringSchedulingIgnoredDuringExecution": preferred,
    }
    assert [(item.key, item.effect, item.seconds) for item in pod.tolerations] == [
        ("mine", "", None),
        ("node.kubernetes.io/not-ready", "NoExecute", None),
        ("node.kubernetes.io/unreachable", "NoExecute", None),
        ("node.kubernetes.io/disk-pressure", "NoSchedule", None),
        ("node.kubernetes.io/memory-pressure", "NoSchedule", None),
        ("node.kubernetes.io/pid-pressure", "NoSchedule", None),
        ("node.kubernetes.io/unschedulable", "NoSchedule", None),
    ]
    world.run(simulation)
    assert nodes_of(simulation) == ["n1"]
    assert counts(simulation) == {
        "observedGeneration": 1,
        "currentNumberScheduled": 1,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 1,
        "numberReady": 1,
        "updatedNumberScheduled": 1,
        "numberAvailable": 1,
    }


def test_on_the_host_network_the_missing_network_is_tolerated_too() -> None:
    simulation = world.cluster(world.daemon_set("agent", pod={"hostNetwork": True}), nodes=1)
    (pod,) = world.pods(simulation)
    assert ("node.kubernetes.io/network-unavailable", "NoSchedule") in [
        (item.key, item.effect) for item in pod.tolerations
    ]


NODES: dict[str, tuple[NodeBuilder, bool]] = {
    "a plain node": (make_node("x"), True),
    "a cordoned node": (make_node("x").cordoned().taint("node.kubernetes.io/unschedulable"), True),
    "a node under pressure": (make_node("x").taint("node.kubernetes.io/disk-pressure"), True),
    "a node with a not-ready NoExecute taint": (
        make_node("x").taint("node.kubernetes.io/not-ready", effect="NoExecute"),
        True,
    ),
    "a node with a custom taint": (make_node("x").taint("dedicated", "a"), False),
    "a node with a PreferNoSchedule taint": (make_node("x").taint("dedicated", "a", "PreferNoSchedule"), True),
    "a node without a network": (make_node("x").taint("node.kubernetes.io/network-unavailable"), False),
    "a node excluded by the selector": (make_node("x").label("kind", "other"), False),
}


@pytest.mark.parametrize("words", NODES)
def test_which_nodes_get_a_pod(words: str) -> None:
    node, expected = NODES[words]
    term = {"matchExpressions": [{"key": "kind", "operator": "DoesNotExist"}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    simulation = world.cluster(
        node.obj(), world.daemon_set("agent", pod={"affinity": {"nodeAffinity": required}}), nodes=0
    )
    world.run(simulation)
    assert nodes_of(simulation) == (["x"] if expected else [])


def test_nodes_that_come_get_a_pod_and_pods_that_wait_for_one_that_went_are_deleted() -> None:
    simulation = world.cluster(world.daemon_set("agent", cpu="3"), nodes=1)
    world.apply(simulation, make_node("n2").obj(), make_node("n3").capacity(cpu="1").obj())
    world.run(simulation)
    assert nodes_of(simulation) == ["", "n1", "n2"]
    world.delete(simulation, "Node", "n3")
    assert nodes_of(simulation) == ["n1", "n2"]


def test_a_taint_that_only_keeps_new_pods_out_leaves_its_pod_in_peace() -> None:
    simulation = world.cluster(world.daemon_set("agent"), nodes=2)
    world.run(simulation)
    world.apply(simulation, make_node("n1").taint("dedicated").obj())
    assert nodes_of(simulation) == ["n1", "n2"]
    assert counts(simulation)["numberMisscheduled"] == 1
    assert counts(simulation)["desiredNumberScheduled"] == 1
    world.apply(simulation, make_node("n1").taint("dedicated", effect="NoExecute").obj())
    assert nodes_of(simulation) == ["n2"]


def test_a_not_ready_node_keeps_its_daemon_pod() -> None:
    simulation = world.cluster(world.daemon_set("agent"), nodes=2)
    world.run(simulation)
    sick = (
        make_node("n1").taint("node.kubernetes.io/not-ready").taint("node.kubernetes.io/not-ready", effect="NoExecute")
    )
    world.apply(simulation, sick.obj())
    world.advance(simulation, 900)
    assert nodes_of(simulation) == ["n1", "n2"]


def test_a_failed_pod_is_replaced_more_slowly_each_time() -> None:
    simulation = world.cluster(world.daemon_set("agent"), nodes=1)
    times: list[int] = []
    for _ in range(5):
        world.run(simulation)
        (pod,) = world.pods(simulation)
        world.end(simulation, pod, "Failed")
        while simulation.api.pod(pod.key) is not None:
            world.advance(simulation, 1)
        times.append(simulation.now_us // 1_000_000)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert gaps == sorted(gaps)
    assert gaps[-1] >= 4
    text = world.events(simulation, "DaemonSet", "agent")[1]
    assert text.startswith("FailedDaemonPod: Found failed daemon pod default/agent-")
    assert text.endswith(" on node n1, will try to kill it")


def rolled(simulation: Simulation, strategy: dict[str, Any]) -> None:
    world.apply(simulation, world.daemon_set("agent", image=NEW, updateStrategy=strategy))


def images(pods: list[Pod]) -> list[str]:
    return sorted(pod.containers[0]["image"] for pod in pods)


def test_a_rolling_update_takes_one_node_after_the_other() -> None:
    simulation = world.cluster(world.daemon_set("agent", image=OLD))
    world.run(simulation)
    rolled(simulation, {"type": "RollingUpdate"})
    assert len(nodes_of(simulation)) == 2
    world.advance(simulation, 29)
    assert len(nodes_of(simulation)) == 2
    world.advance(simulation, 200)
    assert images(world.pods(simulation)) == [NEW] * 3
    assert nodes_of(simulation) == ["n1", "n2", "n3"]


def test_with_surge_a_pod_that_is_leaving_has_a_successor_at_once() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    patient = {"terminationGracePeriodSeconds": 60}
    for surges, expected in ((True, [False, True]), (False, [True])):
        fields = {"updateStrategy": strategy} if surges else {}
        simulation = world.cluster(world.daemon_set("agent", pod=patient, **fields), nodes=1)
        simulation.execute(commands.Settle())
        (pod,) = world.pods(simulation)
        simulation.execute(commands.Delete("Pod", pod.key))
        world.advance(simulation, 5)
        assert sorted(stored.terminating for stored in simulation.api.pods()) == expected


def test_with_surge_the_new_pod_comes_before_the_old_one_goes() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    simulation = world.cluster(world.daemon_set("agent", image=OLD))
    world.run(simulation)
    rolled(simulation, strategy)
    assert images(world.pods(simulation)) == [OLD, OLD, OLD, NEW]
    world.run(simulation)
    world.advance(simulation, 200)
    assert images(world.pods(simulation)) == [NEW] * 3
    assert nodes_of(simulation, gone=True) == ["n1", "n2", "n3"]


def test_on_delete_leaves_the_old_pods() -> None:
    simulation = world.cluster(world.daemon_set("agent", image=OLD))
    world.run(simulation)
    rolled(simulation, {"type": "OnDelete"})
    world.advance(simulation, 100)
    assert images(world.pods(simulation)) == [OLD] * 3
    world.delete(simulation, "Pod", world.pods(simulation)[0].key)
    world.advance(simulation, 100)
    assert images(world.pods(simulation)) == [OLD, OLD, NEW]
