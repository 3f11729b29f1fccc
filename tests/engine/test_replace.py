"""``replace``: an object is deleted and created again with changes, in one step or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_pod
from scheduler_engine.trace import events as ev
from tests.engine.cluster import node, pod
from tests.engine.test_patch import cluster

Manifest = dict[str, Any]


def replaced(simulation: Simulation, manifest: Manifest, kind: str = "Pod", key: str = "default/web") -> None:
    simulation.execute(commands.Replace(kind, key, manifest))


def test_a_pending_pod_gets_fields_that_kubernetes_never_changes() -> None:
    simulation = cluster(node("n1"), pod("web", cpu="64"))
    old = simulation.api.pod("default/web")
    assert old is not None
    start = len(simulation.recorder.entries)
    replaced(simulation, make_pod("web").cpu("1").node_selector({"disk": "ssd"}).obj())
    new = simulation.api.pod("default/web")
    assert new is not None
    assert (new.spec["nodeSelector"], new.uid == old.uid, new.conditions) == ({"disk": "ssd"}, False, [])
    kinds = [type(entry.event) for entry in simulation.recorder.entries[start:]]
    assert kinds.index(ev.ObjectDeleted) < kinds.index(ev.ObjectAdded)
    assert simulation.scheduler.queue.lane_of("default/web") == "activeQ"


def test_a_pod_on_a_node_goes_without_its_grace_period() -> None:
    simulation = cluster(node("n1"), pod("web"))
    assert simulation.api.pod("default/web").node_name == "n1"  # type: ignore[union-attr]
    replaced(simulation, pod("web", cpu="2"))
    new = simulation.api.pod("default/web")
    assert new is not None
    assert (new.node_name, new.terminating) == ("", False)
    assert simulation.scheduler.cache.nodes["n1"].requested.milli_cpu == 0


def test_a_node_comes_back_without_its_taints_and_cordon() -> None:
    simulation = cluster(node("n1"))
    simulation.execute(commands.Cordon("n1"))
    replaced(simulation, node("n1"), "Node", "n1")
    assert not simulation.api.get("Node", "n1").spec.get("unschedulable")  # type: ignore[union-attr]


def test_a_pod_of_a_replicaset_is_adopted_or_replaced_by_its_owner() -> None:
    """Without the owner's reference it is a surplus matching pod, which the owner adopts in place of a new one."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("x")["spec"]}
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }
    simulation = cluster(owner)
    (created,) = simulation.api.pods()
    replaced(simulation, make_pod(created.name).label("app", "web").cpu("3").obj(), key=created.key)
    simulation.execute(commands.Settle())
    (new,) = simulation.api.pods()
    assert (new.name, new.metadata["ownerReferences"][0]["name"]) == (created.name, "web")
    assert new.spec["containers"][0]["resources"]["requests"]["cpu"] == "3"


REFUSED: dict[str, tuple[str, str, Manifest, str]] = {
    "a missing object": ("Pod", "default/db", pod("db"), 'pods "db" not found'),
    "another name": (
        "Pod",
        "default/web",
        pod("db"),
        "the name of the object (db) does not match the name on the URL (web)",
    ),
    "another namespace": (
        "Pod",
        "default/web",
        make_pod("web", "other").obj(),
        "the namespace of the object (other) does not match the namespace on the request (default)",
    ),
    "another kind": ("Pod", "default/web", node("web"), 'Node in version "v1" cannot be handled as a Pod'),
    "an invalid object": (
        "Pod",
        "default/web",
        {**pod("web"), "spec": {"containers": []}},
        "spec.containers: Required value",
    ),
    "an object that admission refuses": (
        "Pod",
        "default/web",
        make_pod("web").priority_class("missing").obj(),
        "no PriorityClass with name missing was found",
    ),
}


@pytest.mark.parametrize(("kind", "key", "manifest", "words"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_changes_nothing(kind: str, key: str, manifest: Manifest, words: str) -> None:
    simulation = cluster(node("n1"), pod("web", cpu="64"))
    before = trace_digest(simulation)
    with pytest.raises(Rejected, match=r".*") as refusal:
        replaced(simulation, manifest, kind, key)
    assert words in str(refusal.value)
    assert trace_digest(simulation) == before
    assert simulation.scheduler.queue.lane_of("default/web") == "unschedulablePods"


def test_a_terminating_object_cannot_be_replaced() -> None:
    held = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"}}
    held["spec"] = {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod("x")["spec"]},
    }
    simulation = cluster(node("n1"), held)
    simulation.execute(commands.Delete("ReplicaSet", "default/web", "Foreground"))
    before = trace_digest(simulation)
    with pytest.raises(Rejected, match=r'object is being deleted: replicasets\.apps "web" already exists'):
        replaced(simulation, held, "ReplicaSet")
    assert trace_digest(simulation) == before
