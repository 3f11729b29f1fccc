"""An owner that wants more pods than a sandbox may hold is refused when it is written, and accepted in a replay."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.commands import Command, from_json, to_json
from scheduler_engine.controllers.sizes import MOST_WANTED
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import make_log, replay, trace_digest
from scheduler_engine.simulation import Simulation
from tests.engine import controllers as world

Manifest = dict[str, Any]
HUGE = 2**31 - 1
REPLICAS, PARALLELISM = "spec.replicas", "spec.parallelism"


def controller(replicas: int) -> Manifest:
    template = world.template("old")
    return world.workload("ReplicationController", "old", template, "v1", replicas=replicas, selector={"app": "old"})


def applied(manifest: Manifest) -> Command:
    return commands.Apply((manifest,))


def replaced(manifest: Manifest) -> Command:
    return commands.Replace("Deployment", "default/web", manifest)


def patched(replicas: int) -> Command:
    return commands.Patch("Deployment", "default/web", {"spec": {"replicas": replicas}})


TOO_LARGE = [
    pytest.param(applied(world.job("new", parallelism=HUGE)), PARALLELISM, HUGE, id="a Job without completions"),
    pytest.param(applied(world.job("new", parallelism=HUGE, completions=HUGE)), PARALLELISM, HUGE, id="a Job"),
    pytest.param(
        applied(world.job("new", parallelism=HUGE, completions=30_000)), PARALLELISM, 30_000, id="a Job of completions"
    ),
    pytest.param(applied(world.replica_set("new", HUGE)), REPLICAS, HUGE, id="a ReplicaSet"),
    pytest.param(applied(controller(HUGE)), REPLICAS, HUGE, id="a ReplicationController"),
    pytest.param(applied(world.deployment("new", HUGE)), REPLICAS, HUGE, id="a Deployment"),
    pytest.param(
        applied(world.stateful_set("new", HUGE, podManagementPolicy="Parallel")), REPLICAS, HUGE, id="a StatefulSet"
    ),
    pytest.param(applied(world.replica_set("new", 20_001)), REPLICAS, 20_001, id="one pod more than the limit"),
    pytest.param(applied(world.deployment("web", HUGE)), REPLICAS, HUGE, id="a Deployment that exists"),
    pytest.param(replaced(world.deployment("web", HUGE)), REPLICAS, HUGE, id="a Deployment that is replaced"),
    pytest.param(patched(HUGE), REPLICAS, HUGE, id="a patch"),
    pytest.param(
        commands.Patch("Job", "default/batch", {"spec": {"parallelism": HUGE}}), PARALLELISM, HUGE, id="a Job's patch"
    ),
]
ACCEPTED = [
    pytest.param(applied(world.replica_set("new", MOST_WANTED)), id="as many pods as a sandbox may hold"),
    pytest.param(applied(world.job("new", parallelism=3, completions=HUGE)), id="few at once of many"),
    pytest.param(applied(world.job("new", parallelism=HUGE, completions=3)), id="few, as many at once as may be"),
    pytest.param(applied(world.job("new", parallelism=HUGE, suspend=True)), id="none before it is resumed"),
    pytest.param(applied(world.deployment("new", 25_000, paused=True)), id="none before its rollout begins"),
    pytest.param(
        applied(world.deployment("new", 2, strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": HUGE}})),
        id="a surge without limit",
    ),
    pytest.param(commands.RolloutRestart("Deployment", "default/web"), id="a restart"),
]


@pytest.fixture(autouse=True)
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few pods are enough for owners that are accepted."""
    monkeypatch.setattr("scheduler_engine.controllers.workload.MAX_PODS", 10)


def small_cluster() -> Simulation:
    unlimited = world.job("batch", parallelism=2)
    return world.cluster(world.deployment("web", 2), unlimited, nodes=2)


@pytest.mark.parametrize(("command", "path", "wanted"), TOO_LARGE)
def test_an_owner_that_is_too_large_is_refused_before_its_first_pod(command: Command, path: str, wanted: int) -> None:
    simulation = small_cluster()
    before = trace_digest(simulation)
    with pytest.raises(Rejected) as caught:
        simulation.execute(command, is_new=True)
    (error,) = caught.value.errors
    assert error.path == path
    assert error.message.endswith(f"wants {wanted:,} pods at once; a sandbox may hold at most 20,000")
    assert trace_digest(simulation) == before
    simulation.execute(commands.Advance(1), is_new=True)


@pytest.mark.parametrize(("command", "path", "wanted"), TOO_LARGE)
def test_a_log_with_an_owner_that_is_too_large_replays(command: Command, path: str, wanted: int) -> None:
    simulation = small_cluster()
    simulation.execute(command)
    assert simulation.history is not None
    log = make_log(42, None, simulation.history.commands)
    assert trace_digest(replay(log)) == trace_digest(simulation)


@pytest.mark.parametrize("command", ACCEPTED)
def test_an_owner_that_a_sandbox_can_hold_is_accepted(command: Command) -> None:
    simulation, other = small_cluster(), small_cluster()
    simulation.execute(command, is_new=True)
    other.execute(from_json(to_json(command)))
    assert trace_digest(simulation) == trace_digest(other)


def test_an_owner_that_is_too_large_already_can_change_otherwise_and_shrink() -> None:
    simulation = small_cluster()
    simulation.execute(patched(50_000))
    for change in ({"metadata": {"labels": {"team": "a"}}}, {"spec": {"replicas": 40_000}}):
        simulation.execute(commands.Patch("Deployment", "default/web", change), is_new=True)
    simulation.execute(commands.Replace("Deployment", "default/web", world.deployment("web", 40_000)), is_new=True)
    with pytest.raises(Rejected, match=r"spec\.replicas: the Deployment wants 50,000 pods"):
        simulation.execute(patched(50_000), is_new=True)


@pytest.mark.parametrize(
    "manifest",
    [
        pytest.param(world.deployment("big", 25_000), id="a Deployment"),
        pytest.param(world.deployment("big", 25_000, paused=True), id="a paused Deployment"),
        pytest.param(world.replica_set("big", 25_000), id="a ReplicaSet"),
        pytest.param(world.stateful_set("big", 25_000), id="a StatefulSet"),
        pytest.param(world.job("big", parallelism=25_000), id="a Job"),
        pytest.param(world.job("big", parallelism=25_000, suspend=True), id="a suspended Job"),
    ],
)
def test_an_owner_may_be_applied_patched_and_replaced_by_an_equal_one(manifest: Manifest) -> None:
    """It asks for no more than before, whether it makes pods or not."""
    simulation, kind = small_cluster(), manifest["kind"]
    simulation.execute(applied(manifest))
    for command in (
        applied(manifest),
        commands.Patch(kind, "default/big", {"metadata": {"labels": {"team": "a"}}}),
        commands.Replace(kind, "default/big", manifest),
        commands.Replace(kind, "default/big", manifest),
    ):
        simulation.execute(command, is_new=True)


@pytest.mark.parametrize(
    ("before", "command"),
    [
        pytest.param(
            world.deployment("big", 25_000, paused=True),
            commands.Patch("Deployment", "default/big", {"spec": {"paused": None}}),
            id="a Deployment that is resumed",
        ),
        pytest.param(
            world.deployment("big", 25_000, paused=True),
            commands.Replace("Deployment", "default/big", world.deployment("big", 25_000)),
            id="a paused Deployment that another one replaces",
        ),
        pytest.param(
            world.job("big", parallelism=25_000, suspend=True),
            commands.Patch("Job", "default/big", {"spec": {"suspend": False}}),
            id="a Job that is resumed",
        ),
        pytest.param(
            world.deployment("big", 2),
            commands.Patch("Deployment", "default/big", {"spec": {"paused": True, "replicas": 25_000}}),
            id="a paused Deployment that scales its replica set",
        ),
    ],
)
def test_pods_that_were_not_made_yet_are_refused_when_they_would_be(before: Manifest, command: Command) -> None:
    simulation = small_cluster()
    simulation.execute(applied(before), is_new=True)
    with pytest.raises(Rejected, match="wants 25,000 pods at once"):
        simulation.execute(command, is_new=True)


def test_a_paused_deployment_may_be_replaced_by_a_larger_one_without_replica_sets() -> None:
    simulation = small_cluster()
    larger = world.deployment("web", 25_000, paused=True)
    simulation.execute(commands.Replace("Deployment", "default/web", larger), is_new=True)
    simulation.execute(commands.Run(), is_new=True)
    assert world.pods(simulation, "web") == []


def test_a_paused_deployment_that_would_adopt_a_replica_set_is_refused() -> None:
    simulation = small_cluster()
    orphan = world.replica_set("new", 1)
    orphan["metadata"]["labels"] = {"app": "new"}
    simulation.execute(applied(orphan))
    with pytest.raises(Rejected, match="wants 25,000 pods at once"):
        simulation.execute(applied(world.deployment("new", 25_000, paused=True)), is_new=True)


def test_the_second_manifest_of_a_command_is_named() -> None:
    simulation = small_cluster()
    with pytest.raises(Rejected) as caught:
        simulation.execute(commands.Apply((world.deployment("a", 1), world.deployment("b", HUGE))), is_new=True)
    (error,) = caught.value.errors
    assert (error.document, error.object_name) == (1, "Deployment b")
    assert simulation.api.get("Deployment", "default/a") is None
