"""Deployments: one replica set per template, rolling updates within their limits, and the status."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.controllers.deployment_revisions import REVISION, REVISION_HISTORY, renumbered
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from tests.engine import controllers as world

OLD, NEW, NEWER = (f"registry.example/app:{number}" for number in (1, 2, 3))


def sets(simulation: Simulation, size: bool = True) -> list[KubeObject]:
    """Return replica sets. ``size``: only those that want pods."""
    return [item for item in simulation.api.list("ReplicaSet") if item.spec["replicas"] or not size]


def rolling(surge: int | str, unavailable: int | str) -> dict[str, Any]:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def sizes_on_the_way(simulation: Simulation) -> list[tuple[int, int]]:
    """Return (pods wanted, pods available) after each step of a rollout."""
    observed: list[tuple[int, int]] = []
    for _ in range(400):
        wanted = sum(item.spec["replicas"] for item in sets(simulation))
        running = [pod for pod in world.pods(simulation) if pod.phase == "Running"]
        observed.append((wanted, len(running)))
        if not simulation.step():
            break
    return observed


def conditions(simulation: Simulation, name: str = "web") -> dict[str, tuple[str, str]]:
    held = world.find(simulation, "Deployment", name).status["conditions"]
    return {item["type"]: (item["status"], item["reason"]) for item in held}


def test_it_makes_a_replica_set_whose_pods_carry_the_hash() -> None:
    simulation = world.cluster(world.deployment("web", 3))
    (only,) = sets(simulation)
    value = only.labels["pod-template-hash"]
    assert only.name == f"web-{value}"
    assert only.spec["selector"]["matchLabels"] == {"app": "web", "pod-template-hash": value}
    assert [pod.labels for pod in world.pods(simulation)] == [{"app": "web", "pod-template-hash": value}] * 3
    assert all(pod.name.startswith(f"{only.name}-") for pod in world.pods(simulation))
    assert only.annotations == {
        "deployment.kubernetes.io/desired-replicas": "3",
        "deployment.kubernetes.io/max-replicas": "4",
        "deployment.kubernetes.io/revision": "1",
    }
    assert world.events(simulation, "Deployment", "web") == [
        f"ScalingReplicaSet: Scaled up replica set {only.name} from 0 to 3"
    ]
    assert conditions(simulation) == {
        "Progressing": ("True", "ReplicaSetUpdated"),
        "Available": ("False", "MinimumReplicasUnavailable"),
    }
    world.run(simulation)
    assert conditions(simulation) == {
        "Progressing": ("True", "NewReplicaSetAvailable"),
        "Available": ("True", "MinimumReplicasAvailable"),
    }
    status = world.find(simulation, "Deployment", "web").status
    counts = {name: number for name, number in status.items() if name != "conditions"}
    assert counts.pop("observedGeneration") == 1
    assert counts == {"replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3}


LIMITS = {
    "the default quarter": (4, rolling("25%", "25%"), 5, 3),
    "one more, none missing": (3, rolling(1, 0), 4, 3),
    "none more, two missing": (4, rolling(0, 2), 4, 2),
    "twice as many": (3, rolling("100%", 0), 6, 3),
    "nothing allowed counts as one missing": (3, rolling("0%", "20%"), 3, 2),
}


@pytest.mark.parametrize("words", LIMITS)
def test_a_rolling_update_stays_within_its_limits(words: str) -> None:
    replicas, strategy, most, least = LIMITS[words]
    simulation = world.cluster(world.deployment("web", replicas, image=OLD, strategy=strategy))
    world.run(simulation)
    world.advance(simulation, 60)
    world.apply(simulation, world.deployment("web", replicas, image=NEW, strategy=strategy))
    observed: list[tuple[int, int]] = []
    for _ in range(40):
        observed += sizes_on_the_way(simulation)
        world.advance(simulation, 5)
    assert max(wanted for wanted, _ in observed) == most
    assert min(running for _, running in observed) == least
    assert [(item.spec["replicas"], item.status["availableReplicas"]) for item in sets(simulation)] == [
        (replicas, replicas)
    ]
    assert {pod.containers[0]["image"] for pod in world.pods(simulation)} == {NEW}


def test_pods_that_do_not_become_available_stop_the_rollout() -> None:
    simulation = world.cluster(world.deployment("web", 4, image=OLD))
    world.run(simulation)
    world.apply(simulation, world.deployment("web", 4, image=NEW, cpu="64"))
    world.run(simulation)
    world.advance(simulation, 60)
    old, new = sets(simulation)
    assert (old.spec["replicas"], new.spec["replicas"]) == (3, 2)
    assert conditions(simulation)["Available"] == ("True", "MinimumReplicasAvailable")
    world.advance(simulation, 600)
    assert conditions(simulation)["Progressing"] == ("False", "ProgressDeadlineExceeded")
    world.apply(simulation, world.deployment("web", 4, image=OLD))
    world.run(simulation)
    assert [item.spec["replicas"] for item in sets(simulation)] == [4]
    assert conditions(simulation)["Progressing"] == ("True", "NewReplicaSetAvailable")


def test_going_back_reuses_the_old_replica_set_as_the_newest_revision() -> None:
    simulation = world.cluster(world.deployment("web", 2, image=OLD))
    world.run(simulation)
    (first,) = sets(simulation)
    for image in (NEW, OLD):
        world.apply(simulation, world.deployment("web", 2, image=image))
        world.run(simulation)
        world.advance(simulation, 60)
    assert [item.uid for item in sets(simulation)] == [first.uid]
    assert len(sets(simulation, size=False)) == 2
    assert world.find(simulation, "ReplicaSet", first.name).annotations["deployment.kubernetes.io/revision"] == "3"
    assert world.find(simulation, "Deployment", "web").annotations["deployment.kubernetes.io/revision"] == "3"
    history = world.find(simulation, "ReplicaSet", first.name).annotations["deployment.kubernetes.io/revision-history"]
    assert history == "1"


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet", "StatefulSet"])
def test_empty_resources_are_no_new_template(kind: str) -> None:
    plain = world.workload(kind, "web", world.template("web"), selector={"matchLabels": {"app": "web"}})
    del plain["spec"]["template"]["spec"]["containers"][0]["resources"]
    empty = copy.deepcopy(plain)
    empty["spec"]["template"]["spec"]["containers"][0]["resources"] = {}
    simulation = world.cluster(plain)
    world.run(simulation)
    before = [pod.uid for pod in world.pods(simulation)]
    world.apply(simulation, empty)
    world.advance(simulation, 60)
    assert before
    assert [pod.uid for pod in world.pods(simulation)] == before
    assert world.find(simulation, kind, "web").manifest["metadata"]["generation"] == 1
    assert len(sets(simulation, size=False)) == (kind == "Deployment")


@pytest.mark.parametrize("more", [{}, {"paused": True}, {"strategy": {"type": "Recreate"}}], ids=str)
def test_the_newest_replica_set_takes_later_annotations(more: dict[str, Any]) -> None:
    simulation = world.cluster(world.deployment("web", 1))
    manifest = world.deployment("web", 1, **more)
    manifest["metadata"]["annotations"] = {
        "kubernetes.io/change-cause": "first",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "deployment.kubernetes.io/revision-history": "7",
    }
    world.apply(simulation, manifest)
    (only,) = sets(simulation)
    assert only.annotations == {
        "deployment.kubernetes.io/desired-replicas": "1",
        "deployment.kubernetes.io/max-replicas": "1" if more.get("strategy") else "2",
        "deployment.kubernetes.io/revision": "1",
        "kubernetes.io/change-cause": "first",
    }


def test_the_history_of_revisions_is_not_endless() -> None:
    earlier = ",".join(map(str, range(10_000, 10_334)))
    annotations = {REVISION: "1", REVISION_HISTORY: earlier}
    held = KubeObject({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"annotations": annotations}})
    history = renumbered(held, 2)[REVISION_HISTORY]
    assert history == earlier.removeprefix("10000,") + ",1"


def test_recreate_waits_until_the_last_old_pod_is_gone() -> None:
    recreate = {"type": "Recreate"}
    simulation = world.cluster(world.deployment("web", 2, image=OLD, strategy=recreate))
    world.run(simulation)
    world.apply(simulation, world.deployment("web", 2, image=NEW, strategy=recreate))
    simulation.settle()
    assert world.pods(simulation) == []
    assert len(world.pods(simulation, gone=True)) == 2
    world.advance(simulation, 29)
    assert world.pods(simulation) == []
    world.advance(simulation, 60)
    assert [pod.containers[0]["image"] for pod in world.pods(simulation)] == [NEW, NEW]


def test_history_is_cut_to_its_limit() -> None:
    simulation = world.cluster()
    for image in (OLD, NEW, NEWER):
        world.apply(simulation, world.deployment("web", 1, image=image, revisionHistoryLimit=1))
        world.run(simulation)
        world.advance(simulation, 60)
    images = [item.spec["template"]["spec"]["containers"][0]["image"] for item in sets(simulation, size=False)]
    assert images == [NEW, NEWER]


def test_scaling_does_not_start_a_rollout() -> None:
    simulation = world.cluster(world.deployment("web", 2))
    world.run(simulation)
    world.scale(simulation, "Deployment", "web", 5)
    (only,) = sets(simulation, size=False)
    assert only.spec["replicas"] == 5
    assert only.annotations["deployment.kubernetes.io/desired-replicas"] == "5"
    world.scale(simulation, "Deployment", "web", 0)
    assert world.pods(simulation) == []
    assert world.events(simulation, "Deployment", "web") == [
        f"ScalingReplicaSet: Scaled up replica set {only.name} from 0 to 2",
        f"ScalingReplicaSet: Scaled up replica set {only.name} from 2 to 5",
        f"ScalingReplicaSet: Scaled down replica set {only.name} from 5 to 0",
    ]


def test_a_replica_set_scaled_by_hand_is_scaled_back() -> None:
    simulation = world.cluster(world.deployment("web", 2))
    (only,) = sets(simulation)
    world.scale(simulation, "ReplicaSet", only.name, 6)
    assert world.find(simulation, "ReplicaSet", only.name).spec["replicas"] == 2


def test_scaling_in_mid_rollout_gives_every_replica_set_its_share() -> None:
    strategy = rolling(3, 2)
    simulation = world.cluster(world.deployment("web", 10, image=OLD, strategy=strategy))
    world.run(simulation)
    stuck = world.deployment("web", 10, image=NEW, cpu="64", strategy=strategy)
    world.apply(simulation, stuck)
    world.run(simulation)
    assert [item.spec["replicas"] for item in sets(simulation)] == [8, 5]
    world.scale(simulation, "Deployment", "web", 15)
    assert [item.spec["replicas"] for item in sets(simulation)] == [11, 7]


def test_a_paused_deployment_scales_but_does_not_roll() -> None:
    simulation = world.cluster(world.deployment("web", 2, image=OLD))
    world.run(simulation)
    world.apply(simulation, world.deployment("web", 3, image=NEW, paused=True))
    world.run(simulation)
    assert {pod.containers[0]["image"] for pod in world.pods(simulation)} == {OLD}
    assert len(world.pods(simulation)) == 3
    assert conditions(simulation)["Progressing"] == ("Unknown", "DeploymentPaused")
    world.apply(simulation, world.deployment("web", 3, image=NEW))
    world.run(simulation)
    world.advance(simulation, 60)
    assert {pod.containers[0]["image"] for pod in world.pods(simulation)} == {NEW}


def test_deleting_it_takes_its_replica_sets_and_pods_along() -> None:
    simulation = world.cluster(world.deployment("web", 2, image=OLD), world.deployment("other", 1))
    world.run(simulation)
    world.delete(simulation, "Deployment", "default/web")
    assert [item.labels["app"] for item in sets(simulation)] == ["other"]
    assert [pod.labels["app"] for pod in world.pods(simulation)] == ["other"]
    assert all(pod.terminating for pod in world.pods(simulation, "web", gone=True))
    world.advance(simulation, 60)
    assert len(world.pods(simulation, gone=True)) == 1


REFUSED = {
    "a kind without a scale": (("DaemonSet", "default/agent", 2), "a DaemonSet cannot be scaled"),
    "a workload that does not exist": (("Deployment", "default/nobody", 2), 'deployments.apps "nobody" not found'),
    "a negative number": (
        ("Deployment", "default/web", -1),
        "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
    ),
    "too many": (("Deployment", "default/web", 1001), "replicas: must be from 0 to 1000"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_scaling_is_refused(words: str) -> None:
    simulation = world.cluster(world.deployment("web", 1), world.daemon_set("agent"))
    entries = len(simulation.recorder.entries)
    (kind, key, replicas), text = REFUSED[words]
    with pytest.raises(Rejected, match=text):
        simulation.execute(commands.Scale(kind, key, replicas))
    assert len(simulation.recorder.entries) == entries


def test_scaling_survives_json() -> None:
    command = commands.Scale("Deployment", "default/web", 3)
    assert commands.from_json(commands.to_json(command)) == command
    assert command.summary == "scale Deployment default/web to 3"


# --- restarts ---------------------------------------------------------------------------------------------------------


def restart(simulation: Simulation, kind: str = "Deployment", name: str = "web") -> None:
    simulation.execute(commands.RolloutRestart(kind, f"default/{name}"))


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        pytest.param("Deployment", lambda: world.deployment("web", 2), id="a Deployment"),
        pytest.param("StatefulSet", lambda: world.stateful_set("web", 2), id="a StatefulSet"),
        pytest.param("DaemonSet", lambda: world.daemon_set("web"), id="a DaemonSet"),
    ],
)
def test_a_restart_replaces_the_pods_one_after_the_other(kind: str, make: Callable[[], world.Manifest]) -> None:
    simulation = world.cluster(make(), nodes=2)
    world.run(simulation)
    before = {pod.uid for pod in world.pods(simulation)}
    world.advance(simulation, 5)
    restart(simulation, kind)
    world.advance(simulation, 120)
    after = world.pods(simulation)
    assert len(after) == 2
    assert not before & {pod.uid for pod in after}
    assert {pod.annotations["kubectl.kubernetes.io/restartedAt"] for pod in after} == {"2026-01-01T00:00:05Z"}


def test_a_restart_does_not_count_as_an_apply() -> None:
    simulation = world.cluster(world.deployment("web", 1))
    world.scale(simulation, "Deployment", "web", 2)
    restart(simulation)
    world.run(simulation)
    hashes = [item.name for item in sets(simulation)]
    world.apply(simulation, world.deployment("web", 1))
    world.run(simulation)
    assert [item.name for item in sets(simulation)] == hashes
    assert world.find(simulation, "Deployment", "web").spec["replicas"] == 1


@pytest.mark.parametrize(
    ("fields", "kind", "name", "words"),
    [
        pytest.param({"paused": True}, "Deployment", "web", "can't restart paused deployment", id="paused"),
        pytest.param({}, "Deployment", "gone", 'deployments.apps "gone" not found', id="unknown"),
        pytest.param({}, "ReplicaSet", "web", "restarting is not supported for a ReplicaSet", id="no rollout"),
    ],
)
def test_a_restart_of_other_kinds_is_refused(fields: dict[str, Any], kind: str, name: str, words: str) -> None:
    simulation = world.cluster(world.deployment("web", 1, **fields))
    with pytest.raises(Rejected, match=words):
        restart(simulation, kind, name)


def test_a_second_restart_in_the_same_second_is_refused() -> None:
    simulation = world.cluster(world.deployment("web", 1))
    restart(simulation)
    with pytest.raises(Rejected, match="let time pass"):
        restart(simulation)
    world.advance(simulation, 1)
    restart(simulation)


@pytest.mark.parametrize("field", ["reason", "message", "lastUpdateTime", "lastTransitionTime", "status", "type"])
def test_a_condition_may_lack_optional_fields(field: str) -> None:
    deployment = world.deployment("web", 1)
    condition = {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated", "message": "it is progressing"}
    times = dict.fromkeys(("lastUpdateTime", "lastTransitionTime"), "2025-01-01T00:00:00Z")
    kept = {name: value for name, value in (condition | times).items() if name != field}
    simulation = world.cluster({**deployment, "status": {"conditions": [kept]}})
    simulation.execute(commands.Advance(700))
    held = world.find(simulation, "Deployment", "web").status["conditions"]
    assert [item["status"] for item in held if item.get("type") == "Available"] == ["True"]


@pytest.mark.parametrize(("replicas", "expected"), [(6, [5, 1]), (2, [1, 1])])
def test_a_share_of_a_half_is_rounded_up(replicas: int, expected: list[int]) -> None:
    strategy = rolling(0, 1)
    simulation = world.cluster(world.deployment("web", 4, image=OLD, strategy=strategy))
    world.run(simulation)
    world.apply(simulation, world.deployment("web", 4, image=NEW, cpu="64", strategy=strategy))
    world.run(simulation)
    assert [item.spec["replicas"] for item in sets(simulation)] == [3, 1]
    world.scale(simulation, "Deployment", "web", replicas)
    assert [item.spec["replicas"] for item in sets(simulation)] == expected
