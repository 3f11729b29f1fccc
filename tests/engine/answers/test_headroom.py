"""Headroom is that of each workload alone; the scarcest resource comes first."""

from __future__ import annotations

from scheduler_engine import commands
from scheduler_engine.answers.headroom import headroom, scarcest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import HOSTNAME, make_node, make_pod
from tests.engine.answers.test_leaving import deployment, running
from tests.engine.controllers import find, job, stateful_set
from tests.engine.random_clusters import claim_of, storage_class, volume_of


def test_each_workload_has_its_room_alone() -> None:
    nodes = [make_node(name).capacity(cpu="4", memory="8Gi", pods="20").obj() for name in ("n1", "n2", "n3")]
    apart = make_pod("p").cpu("1").anti_affinity(HOSTNAME, {"app": "apart"})
    small = {**deployment("small", 0, make_pod("p").cpu("500m").memory("2Gi")), "kind": "Deployment"}
    simulation = running(*nodes, deployment("apart", 1, apart), deployment("web", 2, make_pod("p").cpu("2")), small)
    found = {row.key: (row.kind, row.room.total) for row in headroom(simulation) if row.room is not None}
    assert found == {
        "default/small": ("Deployment", 12),
        "default/apart": ("ReplicaSet", 2),
        "default/web": ("ReplicaSet", 3),
    }
    assert {row.key: row.room.total for row in headroom(simulation, 1) if row.room} == dict.fromkeys(found, 1)


def test_a_workload_that_nobody_schedules_does_not_hide_the_others() -> None:
    node = make_node("n").capacity(cpu="4", memory="8Gi", pods="20").obj()
    odd, web = make_pod("p").cpu("1").scheduler("other"), make_pod("p").cpu("1")
    simulation = running(node, deployment("odd", 1, odd), deployment("web", 1, web))
    rows = {row.key: row for row in headroom(simulation)}
    assert rows["default/odd"].room is None
    assert "other" in rows["default/odd"].problem
    assert rows["default/web"].room is not None
    assert rows["default/web"].room.total == 3


def test_the_scarcest_resource_comes_first() -> None:
    node = make_node("n").capacity({"example.com/gpu": "2"}, cpu="4", memory="8Gi", pods="20").obj()
    pod = make_pod("p").cpu("1").memory("6Gi").request({"example.com/gpu": "1"}).limit({"example.com/gpu": "1"})
    rows = scarcest(running(node, pod.obj()))
    assert [(row.resource, row.whole.requested, row.whole.allocatable) for row in rows] == [
        ("memory", 6 << 30, 8 << 30),
        ("example.com/gpu", 1, 2),
        ("cpu", 1000, 4000),
        ("pods", 1, 20),
    ]
    assert [row.whole.share for row in rows] == [0.75, 0.5, 0.25, 0.05]
    assert scarcest(Simulation()) == []


def test_each_replica_of_a_stateful_set_gets_its_own_claims() -> None:
    container = {"name": "main", "image": "db", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    claim = claim_of("data", {"storageClassName": "local"})
    templates = [{"metadata": {"name": "data"}, "spec": claim["spec"]}]
    db = stateful_set("db", 2, pod={"containers": [container]}, volumeClaimTemplates=templates)
    volumes = [volume_of(f"pv-{number}", storageClassName="local") for number in range(5)]
    node = make_node("n").capacity(cpu="4", memory="8Gi", pods="20").obj()
    simulation = running(node, storage_class("local", "kubernetes.io/no-provisioner"), *volumes, db)
    (row,) = headroom(simulation)
    assert row.room is not None
    assert (row.room.total, row.problem) == (3, "")
    assert row.room.stopped is not None
    assert "didn't find available persistent volumes to bind" in row.room.stopped.message
    simulation.execute(commands.Scale("StatefulSet", "default/db", 6))
    simulation.execute(commands.Run())
    assert sum(bool(pod.node_name) for pod in simulation.api.pods()) == 5


def test_a_job_that_has_ended_cannot_grow() -> None:
    node = make_node("n").capacity(cpu="4", memory="8Gi", pods="20").obj()
    simulation = Simulation(full=False)
    simulation.execute(commands.Apply((node, job("once", completions=1, parallelism=1))))
    assert [row.key for row in headroom(simulation)] == ["default/once"]
    simulation.execute(commands.Run())
    assert find(simulation, "Job", "once").condition_status("Complete") == "True"
    assert [*headroom(simulation)] == []
