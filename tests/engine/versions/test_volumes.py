"""Rules about volumes: the same input under each version, and its outcomes."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.scheduler.explaining import filter_facts
from scheduler_engine.testing import Builder, make_node, make_pod
from scheduler_engine.testing.cluster import Cluster
from scheduler_engine.versions import VERSIONS
from scheduler_engine.wording import Line, lines, sentence
from tests.engine.cells import watching
from tests.engine.plugins.volumes import DRIVER, claim, csi_node, volume
from tests.engine.versions.test_plugins import message_of

OLD, MIDDLE, NEW = VERSIONS
GATES = {"VolumeLimitScaling": True}
MISSING = f"1 {DRIVER} CSI driver is not installed on the node"


def driver(name: str = DRIVER, needed: bool | None = None) -> dict[str, Any]:
    spec = {} if needed is None else {"preventPodSchedulingIfMissing": needed}
    return Builder("storage.k8s.io/v1", "CSIDriver", name).spec(attachRequired=True, **spec).obj()


def cluster_with(kubernetes: str, gates: dict[str, bool], *objects: Any) -> Cluster:
    """Return a cluster in which ``p`` has tried to get onto n1 with a volume of the driver."""
    cluster = Cluster(kubernetes=kubernetes, feature_gates=gates).apply(make_node("n1"))
    held = [dict(item.manifest) for item in (claim("c", bound_to="v"), volume("v", phase="Bound", claimRef=CLAIM))]
    return cluster.apply(*objects, *held, make_pod("p").claim("c")).settle()


CLAIM = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "c", "uid": "uid-c"}


@pytest.mark.parametrize(
    ("kubernetes", "gates", "objects", "message"),
    [
        pytest.param(OLD, {}, [driver()], "", id="v1.34 has no such gate"),
        pytest.param(MIDDLE, {}, [driver()], "", id="the gate is off"),
        pytest.param(MIDDLE, GATES, [driver()], MISSING, id="v1.35: there is no CSINode"),
        pytest.param(
            MIDDLE, GATES, [driver(), csi_node("n1", {"other": 5})], MISSING, id="v1.35: the CSINode lists another"
        ),
        pytest.param(MIDDLE, GATES, [driver(), csi_node("n1", {DRIVER: None})], "", id="the CSINode lists the driver"),
        pytest.param(MIDDLE, GATES, [driver("other")], "", id="no CSIDriver object of that name"),
        pytest.param(NEW, GATES, [driver()], "", id="v1.36: the CSIDriver does not ask for it"),
        pytest.param(NEW, GATES, [driver(needed=False)], "", id="v1.36: the CSIDriver says no"),
        pytest.param(NEW, GATES, [driver(needed=True)], MISSING, id="v1.36: the CSIDriver asks for it"),
        pytest.param(NEW, {}, [driver(needed=True)], "", id="v1.36: the gate is off"),
    ],
)
def test_a_node_must_have_the_driver_of_a_volume(
    kubernetes: str, gates: dict[str, bool], objects: list[Any], message: str
) -> None:
    cluster = cluster_with(kubernetes, gates, *(getattr(item, "manifest", item) for item in objects))
    assert (cluster.node_of("p"), message in message_of(cluster, "p")) == ("" if message else "n1", True)


def test_a_pod_without_volumes_needs_no_driver() -> None:
    cluster = Cluster(kubernetes=MIDDLE, feature_gates=GATES).apply(driver(), make_node("n1"), make_pod("p")).settle()
    assert cluster.node_of("p") == "n1"


def test_a_victim_does_not_help_but_preemption_tries() -> None:
    """The verdict is Unschedulable, not UnschedulableAndUnresolvable."""
    cluster = cluster_with(MIDDLE, GATES, driver())
    assert "preemption: 0/1 nodes are available: 1 No preemption victims found" in message_of(cluster, "p")


def test_the_facts_about_drivers_lead_to_the_verdict() -> None:
    with watching(late=False) as cells:
        cluster = cluster_with(MIDDLE, GATES, driver())
        facts = filter_facts(cluster.simulation.scheduler, 1, "n1", "NodeVolumeLimits")
        here = cluster_with(MIDDLE, GATES, driver(), csi_node("n1", {DRIVER: 3}).manifest)
    assert (cells.wrong, dict(cells.silent)) == ([], {})
    assert facts is not None
    assert sentence(facts) == f"n1 does not have the CSI driver {DRIVER} that the volumes of p need."
    assert lines(facts) == (Line(DRIVER, "not installed", "no CSINode lists it for n1"),)
    facts = filter_facts(here.simulation.scheduler, 1, "n1", "NodeVolumeLimits")
    assert facts is not None
    assert lines(facts)[0] == Line(DRIVER, "installed", "on n1, according to its CSINode")


@pytest.mark.parametrize(
    ("before", "limit", "attempts"),
    [
        pytest.param(None, None, 2, id="a new CSINode helps"),
        pytest.param({"other": 1}, 5, 2, id="a driver with a limit helps"),
        pytest.param({"other": 1}, None, 1, id="a driver without a limit is not noticed"),
    ],
)
def test_a_pod_is_queued_again_when_its_driver_is_installed(
    before: dict[str, int | None] | None, limit: int | None, attempts: int
) -> None:
    there = [] if before is None else [csi_node("n1", before).manifest]
    cluster = cluster_with(MIDDLE, GATES, driver(), *there).advance(20)
    cluster.simulation.execute(commands.Apply((dict(csi_node("n1", {**(before or {}), DRIVER: limit}).manifest),)))
    assert len(cluster.settle().attempts("p")) == attempts


def test_only_v1_36_knows_the_field_of_the_driver() -> None:
    for kubernetes in (OLD, MIDDLE):
        with pytest.raises(Rejected, match=r"unknown field .spec\.preventPodSchedulingIfMissing"):
            Cluster(kubernetes=kubernetes).apply(driver(needed=True))


def test_the_field_of_the_driver_follows_the_gate() -> None:
    def held(cluster: Cluster) -> Any:
        found = cluster.simulation.api.get("CSIDriver", DRIVER)
        return found and found.spec.get("preventPodSchedulingIfMissing")

    assert held(Cluster(kubernetes=NEW).apply(driver(needed=True))) is None
    cluster = Cluster(kubernetes=NEW, feature_gates=GATES).apply(driver())
    assert held(cluster) is False
    assert held(cluster.apply(driver(needed=True))) is True
    cluster.execute({"kind": "kubernetes", "version": NEW, "feature_gates": {}})
    assert held(cluster.apply(driver(needed=False))) is False


@pytest.mark.parametrize(("kubernetes", "node"), [(OLD, "n1"), (MIDDLE, "n1"), (NEW, "")])
@pytest.mark.parametrize("crowded", [False, True], ids=["one node", "all nodes at once"])
def test_portworx_volumes_count_on_every_node_in_v1_36(kubernetes: str, node: str, crowded: bool) -> None:
    """Before, a CSINode had to announce that they had moved to the CSI driver."""
    names = ["n1", *(f"x{number}" for number in range(120))] if crowded else ["n1"]
    cluster = Cluster(kubernetes=kubernetes).apply(csi_node("n1", {"pxd.portworx.com": 0}).manifest)
    cluster.apply(*(make_node(name).capacity(cpu="1" if name == "n1" else "0", pods="9") for name in names))
    disk = {"name": "d", "portworxVolume": {"volumeID": "vol-1"}}
    assert cluster.apply(make_pod("p").cpu("1").spec(volumes=[disk])).settle().node_of("p") == node
    assert node or "exceed max volume count" in message_of(cluster, "p")
