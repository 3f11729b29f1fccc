"""Owners whose pods keep ending: many ended pods cost as much as few, and change nothing."""

from __future__ import annotations

import pytest

from scheduler_engine import commands
from tests.engine.controllers import Manifest, apply, cluster, deployment, find, replica_set
from tests.engine.counting import calls
from tests.engine.soundness import unfinished_pods_are_indexed

REFUSED = {"cpu": "900", "pod": {"nodeName": "n1"}}
"""A pod that no kubelet admits."""


@pytest.mark.parametrize("owner", [replica_set("web", 1, **REFUSED), deployment("web", 1, **REFUSED)], ids=["set", "d"])
def test_a_second_costs_the_same_with_many_ended_pods(owner: Manifest) -> None:
    simulation = cluster(owner, nodes=1)
    simulation.execute(commands.Advance(60))
    first = calls(lambda: simulation.execute(commands.Advance(20)))
    simulation.execute(commands.Advance(300))
    later = calls(lambda: simulation.execute(commands.Advance(20)))
    phases = [pod.phase for pod in simulation.api.pods()]
    assert len(phases) == 401
    assert set(phases) == {"Failed"}
    assert later < 1.1 * first


def test_an_ended_pod_keeps_its_owner_when_it_is_no_longer_selected() -> None:
    """Upstream drops inactive pods before it claims and releases."""
    simulation = cluster(replica_set("web", 1, **REFUSED), nodes=1)
    simulation.execute(commands.Advance(3))
    first = simulation.api.pods()[0]
    simulation.execute(commands.Patch("Pod", first.key, {"metadata": {"labels": {"app": "other"}}}))
    simulation.execute(commands.Advance(1))
    assert all(pod.controller_ref is not None for pod in simulation.api.pods())
    simulation.execute(commands.Delete("ReplicaSet", "default/web"))
    simulation.execute(commands.Advance(1))
    assert simulation.api.pods() == []


def test_a_restarted_pod_takes_its_place_again() -> None:
    simulation = cluster(replica_set("web", 3), nodes=3)
    simulation.execute(commands.Run())
    keys = [pod.key for pod in simulation.api.unfinished("default")]
    for phase in ("Failed", "Running"):
        simulation.api.patch("Pod", keys[0], {"status": {"phase": phase}})
        unfinished_pods_are_indexed(simulation)
    assert [pod.key for pod in simulation.api.unfinished("default")] == keys
    assert find(simulation, "ReplicaSet", "web").status["replicas"] == 3


def test_a_refused_command_does_not_change_the_index() -> None:
    simulation = cluster(replica_set("web", 2, **REFUSED), nodes=1)
    simulation.execute(commands.Advance(3))
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n9"}}
    wrong = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}
    checkpoint = simulation.api.checkpoint()
    apply(simulation, node)
    simulation.api.restore(checkpoint)
    unfinished_pods_are_indexed(simulation)
    with pytest.raises(Exception, match="containers"):
        apply(simulation, wrong)
    unfinished_pods_are_indexed(simulation)
