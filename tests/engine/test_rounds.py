"""Owners whose pods end at once: a round takes a second, and rounds never all happen in one instant."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from scheduler_engine import commands, effort, time_commands
from scheduler_engine.api.simulated import DURATION, START_DELAY
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace.events import EvictionAnswered, ObjectAdded
from tests.engine import controllers as world

Manifest = dict[str, Any]
Maker = Callable[..., Manifest]


def replication_controller(name: str, replicas: int, **fields: Any) -> Manifest:
    owner = world.replica_set(name, replicas, **fields)
    spec = {**owner["spec"], "selector": owner["spec"]["selector"]["matchLabels"]}
    return {**owner, "apiVersion": "v1", "kind": "ReplicationController", "spec": spec}


def parallel_set(name: str, replicas: int, **fields: Any) -> Manifest:
    return world.stateful_set(name, replicas, podManagementPolicy="Parallel", **fields)


def daemon_set(name: str, replicas: int, **fields: Any) -> Manifest:
    return world.daemon_set(name, **fields)


OWNERS: dict[str, tuple[Maker, int]] = {
    "a ReplicaSet": (world.replica_set, 3),
    "a ReplicationController": (replication_controller, 3),
    "a Deployment": (world.deployment, 3),
    "a StatefulSet": (world.stateful_set, 1),
    "a StatefulSet whose pods come together": (parallel_set, 3),
    "a DaemonSet": (daemon_set, 1),
}
"""Owner → (its manifest, how many pods it creates in a round)."""
AT_ONCE = {"key": "heat", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}
PODS: dict[str, Manifest] = {
    "pods that tolerate for 0 s and end at once": {"tolerations": [AT_ONCE], "terminationGracePeriodSeconds": 0},
    "pods that tolerate for 0 s and end slowly": {"tolerations": [AT_ONCE], "terminationGracePeriodSeconds": 60},
    "pods bound by name that tolerate for 0 s": {
        "nodeName": "hot",
        "tolerations": [AT_ONCE],
        "terminationGracePeriodSeconds": 0,
    },
    "pods bound by name that end at once": {"nodeName": "hot", "terminationGracePeriodSeconds": 0},
    "pods bound by name that end slowly": {"nodeName": "hot", "terminationGracePeriodSeconds": 60},
}


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the bound, so that a loop within one instant is detected soon."""
    monkeypatch.setattr(effort, "MOST_STEPS", 20_000)
    monkeypatch.setattr(effort, "MOST_PODS", 20)


def hot_node() -> Simulation:
    simulation = Simulation()
    world.apply(simulation, make_node("hot").taint("heat", effect="NoExecute").obj())
    return simulation


def creation_seconds(simulation: Simulation) -> list[int]:
    """Return the second in which each pod was created."""
    events = [(entry.at_us, entry.event) for entry in simulation.recorder.entries]
    return [at_us // 10**6 for at_us, event in events if isinstance(event, ObjectAdded) and event.kind == "Pod"]


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("pods", PODS)
def test_a_round_takes_a_second(owner: str, pods: str) -> None:
    if owner == "a DaemonSet" and "tolerations" not in PODS[pods]:
        return  # It creates no pods for a node whose taint would evict them.
    simulation = hot_node()
    maker, together = OWNERS[owner]
    world.apply(simulation, maker("web", 3, pod=PODS[pods]))
    simulation.execute(commands.Settle())
    world.advance(simulation, 4)
    times = creation_seconds(simulation)
    by_name = owner.startswith("a StatefulSet") or owner == "a DaemonSet"
    failed = "tolerations" not in PODS[pods]  # The kubelet does not admit them.
    if "slowly" in pods and by_name and not failed:
        assert times == [0] * together, "the pod of the same name still exists"
    else:
        assert [times.count(second) for second in range(1, 5)] == [together] * 4
        assert times.count(0) <= 2 * together


@pytest.mark.parametrize("pods", PODS)
def test_a_job_waits_ten_seconds_and_then_twice_as_long(pods: str) -> None:
    simulation = hot_node()
    world.apply(simulation, world.job("web", pod=PODS[pods], backoffLimit=2_000_000_000))
    world.advance(simulation, 75)
    assert creation_seconds(simulation) == [0, 10, 30, 70]


@pytest.mark.parametrize("grace", [0, 60], ids=["at once", "slowly"])
@pytest.mark.parametrize("owner", OWNERS)
def test_a_drain_of_a_node_whose_pods_come_back_lets_the_new_ones_stay(owner: str, grace: int) -> None:
    simulation = Simulation()
    spec = {"nodeName": "n1", "terminationGracePeriodSeconds": grace}
    world.apply(simulation, make_node("n1").obj(), OWNERS[owner][0]("web", 3, pod=spec))
    first = [pod.key for pod in world.pods(simulation)]
    simulation.execute(commands.Drain("n1", ignore_daemonsets=True))
    world.advance(simulation, 70)
    events = [entry.event for entry in simulation.recorder.entries]
    evicted = [event.pod for event in events if isinstance(event, EvictionAnswered)]
    assert sorted(evicted) == ([] if owner == "a DaemonSet" else sorted(first))
    assert len(world.pods(simulation, gone=True)) == len(first), "new pods run there, bound by name, and stay"


def test_the_owner_says_why_it_waits() -> None:
    simulation = hot_node()
    world.apply(simulation, world.replica_set("web", 1, pod=PODS["pods bound by name that end at once"]))
    events = world.events(simulation, "ReplicaSet", "web")
    assert events[-1] == ("BackOff: Pods end within a second of being created: the next ones wait until it has passed")


def test_a_run_does_not_wait_for_the_next_round() -> None:
    simulation = hot_node()
    world.apply(simulation, world.replica_set("web", 1, pod=PODS["pods bound by name that end at once"]))
    world.run(simulation)
    assert simulation.now_us == 0


@pytest.mark.parametrize("grace", [1, 30])
@pytest.mark.parametrize("kind", ["a ReplicaSet", "a Deployment", "a StatefulSet", "a DaemonSet"])
def test_a_run_ends_although_pods_come_and_go_slowly_forever(
    kind: str, grace: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_commands, "MOST_ROUNDS", 20)
    monkeypatch.setattr(time_commands, "STEPS_PER_TIMER", 0)
    simulation = hot_node()
    make, _ = OWNERS[kind]
    pod = {"nodeName": "hot", "tolerations": [AT_ONCE], "terminationGracePeriodSeconds": grace}
    world.apply(simulation, make("web", 1, pod=pod))
    world.run(simulation)
    assert 0 < simulation.now_us <= 21 * grace * 10**6
    assert world.pods(simulation, gone=True)


def test_a_run_waits_for_many_pods_that_end_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_commands, "MOST_ROUNDS", 0)
    number = 15
    pods = [
        make_pod(f"p{place}").node("n1").metadata(annotations={DURATION: f"{place + 1}", START_DELAY: "1"}).obj()
        for place in range(number)
    ]
    for pod in pods:
        pod["spec"]["restartPolicy"] = "Never"
    simulation = world.cluster(*pods)
    world.run(simulation)
    assert [pod.phase for pod in world.pods(simulation)] == ["Succeeded"] * number


@pytest.mark.parametrize("duration", ["0", "0.000001", "1n", "0.4"])
def test_pods_of_a_job_that_end_at_once_are_created_second_by_second(duration: str) -> None:
    simulation = world.cluster(make_node("n1").obj())
    job = world.job("batch", completions=2147483647)
    job["spec"]["template"]["metadata"].setdefault("annotations", {})[DURATION] = duration
    world.apply(simulation, job)
    world.advance(simulation, 5)
    # Another command created the first one, so it is no part of a round.
    first, *others = creation_seconds(simulation)
    assert first == 0
    assert len(others) >= 5
    assert all(later - earlier == 1 for earlier, later in pairwise(others))


def test_rounds_end_with_the_taint() -> None:
    simulation = hot_node()
    world.apply(simulation, world.replica_set("web", 2, pod=PODS["pods bound by name that end at once"]))
    simulation.execute(commands.Taint("hot", "heat", "NoExecute", on=False))
    world.advance(simulation, 1)
    assert [pod.phase for pod in world.pods(simulation, "web")] == ["Running"] * 2
    world.advance(simulation, 10)
    assert set(creation_seconds(simulation)) == {0, 1}


@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_pod_deleted_by_hand_comes_back_at_once(times: int) -> None:
    simulation = world.cluster(world.replica_set("web", 2))
    for _ in range(times):
        for pod in world.pods(simulation, "web"):
            world.delete(simulation, "Pod", pod.key)
    assert len(world.pods(simulation, "web")) == 2
    assert simulation.now_us == 0
