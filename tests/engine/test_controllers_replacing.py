"""Whether controllers replace a pod that is being deleted, before and after it is gone."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.simulation import Simulation
from tests.engine import controllers as world

SURGING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
TAINTED = [{"key": "gpu", "effect": "NoSchedule"}]


def scaled(kind: str, replicas: int) -> commands.Command:
    return commands.Scale(kind, "default/web", replicas)


@pytest.mark.parametrize(
    ("owner", "then", "expected"),
    [
        pytest.param(world.stateful_set("web", 3), None, True, id="a StatefulSet waits for the name"),
        pytest.param(world.stateful_set("web", 3), scaled("StatefulSet", 2), False, id="unless it was scaled down"),
        pytest.param(world.replica_set("web", 3), None, False, id="a ReplicaSet replaces at once"),
        pytest.param(world.replica_set("web", 3), scaled("ReplicaSet", 2), False, id="or never"),
        pytest.param(world.daemon_set("web"), None, True, id="a DaemonSet waits"),
        pytest.param(world.daemon_set("web", updateStrategy=SURGING), None, False, id="unless it may surge"),
        pytest.param(
            world.daemon_set("web"),
            commands.Patch("Node", "n3", {"spec": {"taints": TAINTED}}),
            False,
            id="and not on a node where it may no longer run",
        ),
        pytest.param(world.job("web", parallelism=3, completions=5), None, False, id="a Job does not wait"),
    ],
)
def test_a_controller_does_what_it_says_about_a_leaving_pod(
    owner: dict[str, Any], then: commands.Command | None, expected: bool
) -> None:
    simulation = world.cluster(owner)
    world.run(simulation)
    last = sorted(simulation.api.pods(), key=lambda pod: (pod.node_name, pod.name))[-1]
    if owner["kind"] == "StatefulSet":
        last = sorted(simulation.api.pods(), key=lambda pod: pod.name)[-1]
    world.delete(simulation, "Pod", last.key)
    if then is not None:
        simulation.execute(then)
    assert simulation.is_replaced_later(last.key) is expected
    before = uids(simulation)
    world.advance(simulation, 31)
    assert last.uid not in uids(simulation)
    created = [uid for uid in uids(simulation) if uid not in before]
    assert bool(created) is expected


def uids(simulation: Simulation) -> list[str]:
    return [pod.uid for pod in simulation.api.pods()]


def test_a_pod_that_stays_is_not_replaced() -> None:
    simulation = world.cluster(world.stateful_set("web", 1))
    world.run(simulation)
    assert not simulation.is_replaced_later("default/web-0")
    assert not simulation.is_replaced_later("default/nobody")
