"""Volume plugins explain their verdicts by what they saw, whatever has happened to claims and volumes since."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from sandbox.panels.explain import Explanation, explain_filter
from sandbox.panels.model.world import World
from scheduler_engine import commands
from scheduler_engine.commands import Command
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import ZONE, make_node, make_pod
from tests.engine.random_clusters import STORAGE, claim_of, csi_node, storage_class, volume_of
from tests.sandbox.witnessing import witnessed

Data = dict[str, Any]
SETTLE = commands.Settle()


def ran(*manifests: Data, then: tuple[Command, ...] = (SETTLE,), configuration: Data | None = None) -> Simulation:
    simulation = Simulation(configuration=configuration)
    simulation.execute(commands.Apply(tuple(manifests)))
    for command in then:
        simulation.execute(command)
    return simulation


def explained(world: World, pod: str, node: str, plugin: str) -> Explanation:
    """Explain the verdict in the pod's first attempt."""
    return explain_filter(world, world.attempts[f"default/{pod}"][0], node, plugin)


def lines(said: Explanation) -> list[str]:
    """Return lines as ``label: formula (note)``."""
    return [f"{line.label}: {line.formula}" + (f" ({line.note})" if line.note else "") for line in said.lines]


def one_zone(name: str = "n1", zone: str = "a") -> Data:
    return make_node(name).zone(zone).obj()


def pod_with(*volumes: Data, name: str = "web-1") -> Data:
    return make_pod(name).spec(volumes=[{"name": f"v{number}", **item} for number, item in enumerate(volumes)]).obj()


# --- in-tree disks ---

AZURE_DISKS = "/subscriptions/s/resourcegroups/g/providers/microsoft.compute/disks/"
EBS = {"awsElasticBlockStore": {"volumeID": "vol-2"}}
AZURE = {"azureDisk": {"diskName": "d", "diskURI": f"{AZURE_DISKS}2", "kind": "Managed"}}
GCE = {"gcePersistentDisk": {"pdName": "disk-2"}}
CINDER = {"cinder": {"volumeID": "vol-2"}}
IN_TREE: dict[str, tuple[str, Data]] = {
    "an EBS volume": ("ebs.csi.aws.com", EBS),
    "an AzureDisk": ("disk.csi.azure.com", AZURE),
    "a GCE persistent disk": ("pd.csi.storage.gke.io", GCE),
    "a Cinder volume": ("cinder.csi.openstack.org", CINDER),
}


@pytest.mark.parametrize("named", ["in the pod", "behind a claim"])
@pytest.mark.parametrize(("driver", "source"), IN_TREE.values(), ids=IN_TREE)
def test_in_tree_disks_count_where_the_node_announces_no_migration(driver: str, source: Data, named: str) -> None:
    volume = volume_of("pv-2", csi=None, **source)
    behind = {"persistentVolumeClaim": {"claimName": "bound"}}
    pod = pod_with(source if named == "in the pod" else behind)
    storage = volume, claim_of("bound", {"volumeName": "pv-2"}), storage_class("wait", "csi.example.com")
    simulation = ran(one_zone(), csi_node("n1", {driver: 0}), *storage, pod)
    said = explained(witnessed(simulation), "web-1", "n1", "NodeVolumeLimits")
    assert said.sentence == (
        f"n1 cannot attach the volume of {driver} that web-1 adds: with 0 in use, that is more than its limit of 0."
    )
    assert lines(said) == [f"{driver}: 0 in use + 1 new = 1 > 0 (limit of the CSINode)"]
    assert (said.brief, said.reasons) == ("1 > 0 volumes", ("node(s) exceed max volume count",))


def test_a_pod_may_add_more_volumes_than_a_free_node_can_attach() -> None:
    driver = "ebs.csi.aws.com"
    disks = [{"awsElasticBlockStore": {"volumeID": f"vol-{number}"}} for number in range(3)]
    simulation = ran(one_zone(), csi_node("n1", {driver: 2}), pod_with(*disks))
    said = explained(witnessed(simulation), "web-1", "n1", "NodeVolumeLimits")
    assert said.sentence == (
        f"n1 cannot attach the 3 volumes of {driver} that web-1 adds: with 0 in use, that is more than its limit of 2."
    )
    assert lines(said) == [f"{driver}: 0 in use + 3 new = 3 > 2 (limit of the CSINode)"]


def test_an_in_tree_volume_that_is_not_provisioned_yet_counts_too() -> None:
    objects = storage_class("gp2", "kubernetes.io/aws-ebs"), claim_of("waits", {"storageClassName": "gp2"})
    node = csi_node("n1", {"ebs.csi.aws.com": 0})
    simulation = ran(one_zone(), node, *objects, make_pod("web-1").claim("waits").obj())
    said = explained(witnessed(simulation), "web-1", "n1", "NodeVolumeLimits")
    assert lines(said) == ["ebs.csi.aws.com: 0 in use + 1 new = 1 > 0 (limit of the CSINode)"]


def test_volumes_that_do_not_count_show_no_sum() -> None:
    simulation = ran(one_zone(), pod_with(EBS))
    said = explained(witnessed(simulation), "web-1", "n1", "NodeVolumeLimits")
    assert (said.sentence, said.lines) == ("web-1 adds no volume that counts on n1.", ())
    simulation = ran(one_zone(), *STORAGE, csi_node("n1", {}), make_pod("web-1").claim("bound-a").obj())
    said = explained(witnessed(simulation), "web-1", "n1", "NodeVolumeLimits")
    assert lines(said) == ["csi.example.com: 1 new (no CSINode sets a limit for n1)"]


# --- the cluster changes afterwards ---


def room(gib: int) -> Data:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": {"name": "room-a", "namespace": "default"},
        "storageClassName": "wait",
        "nodeTopology": {"matchLabels": {ZONE: "a"}},
        "capacity": f"{gib}Gi",
    }


LATER: dict[str, tuple[str, list[str], list[Command], str]] = {
    "a claim is deleted": (
        "VolumeBinding",
        ["waits-local"],
        [commands.Delete("PersistentVolumeClaim", "default/waits-local")],
        "b",
    ),
    "the volume is deleted": ("VolumeBinding", ["bound-a"], [commands.Delete("PersistentVolume", "pv-a")], "b"),
    "the volume's labels change": (
        "VolumeZone",
        ["bound-labelled"],
        [commands.Patch("PersistentVolume", "pv-labelled", {"metadata": {"labels": {ZONE: "c"}}})],
        "c",
    ),
    "there is room now": ("VolumeBinding", ["waits-large"], [commands.Apply((room(90),))], "a"),
    "a suitable volume is created": (
        "VolumeBinding",
        ["waits-local-large"],
        [commands.Apply((volume_of("pv-new", storageClassName="local"),))],
        "b",
    ),
    "a volume is bound to another claim": (
        "VolumeBinding",
        ["waits-local"],
        [
            commands.Patch(
                "PersistentVolume", "pv-local-tiny", {"spec": {"claimRef": {"namespace": "default", "name": "other"}}}
            )
        ],
        "b",
    ),
    "the class may provision elsewhere": (
        "VolumeBinding",
        ["waits-here"],
        [commands.Delete("StorageClass", "zoned")],
        "a",
    ),
    "the node's volume limit rises": (
        "NodeVolumeLimits",
        ["bound-a"],
        [commands.Delete("CSINode", "n1"), commands.Apply((csi_node("n1", {"csi.example.com": 9}),))],
        "a",
    ),
    "the claim on the node is deleted": (
        "NodeVolumeLimits",
        ["bound-a"],
        [commands.Delete("PersistentVolume", "pv-attached"), commands.Delete("PersistentVolumeClaim", "default/held")],
        "a",
    ),
}


@pytest.mark.parametrize("words", LATER)
@pytest.mark.parametrize("copied", [False, True], ids=["in place", "in a copy"])
def test_a_cell_says_the_same_after(words: str, copied: bool) -> None:
    plugin, claims, changes, zone = LATER[words]
    holder = make_pod("db-1").claim("held").node("n1").obj()
    pod = make_pod("web-1")
    for name in claims:
        pod.claim(name)
    simulation = ran(one_zone("n1", zone), *STORAGE, claim_of("held", {"volumeName": "pv-attached"}), holder, pod.obj())
    before = explained(witnessed(simulation), "web-1", "n1", plugin)
    if copied:
        simulation = deepcopy(simulation)
    for change in changes:
        simulation.execute(change)
    assert explained(witnessed(simulation), "web-1", "n1", plugin) == before
    assert before.lines
    assert not before.sentence.startswith("The scheduler")


def test_a_copy_that_continues_keeps_separate_notes() -> None:
    simulation = ran(one_zone(), *STORAGE, make_pod("web-1").claim("bound-a").obj())
    state = simulation.scheduler.latest.state  # type: ignore[union-attr]
    twin = deepcopy(simulation).scheduler.latest.state  # type: ignore[union-attr]
    assert twin.noted == state.noted
    twin.notes("NodeVolumeLimits").clear()
    assert state.noted["NodeVolumeLimits"]


def test_a_claim_that_gets_its_volume_waited_for_it_when_the_node_was_chosen() -> None:
    simulation = ran(one_zone(), *STORAGE, make_pod("web-1").claim("waits-local").obj(), then=(commands.PodCycle(),))
    simulation.execute(commands.Advance(20))
    world = witnessed(simulation)
    assert world.objects["PersistentVolumeClaim"]["default/waits-local"]["spec"]["volumeName"] == "pv-local-tiny"
    assert lines(explained(world, "web-1", "n1", "VolumeBinding")) == [
        "claim waits-local: takes pv-local-tiny (the smallest available volume that suits)"
    ]


def test_a_volume_assumed_by_another_pod_is_taken() -> None:
    """The first pod waits at Permit: it has reserved the volume, and the API server does not know it."""
    local = storage_class("local", "kubernetes.io/no-provisioner"), volume_of("pv-1", storageClassName="local")
    claims = [claim_of(name, {"storageClassName": "local"}) for name in ("first", "second")]
    simulation = ran(one_zone(), *local, *claims, then=(commands.Fault("NodeResourcesFit", "permit", "wait", 600),))
    for name in ("first", "second"):
        simulation.execute(commands.Apply((make_pod(name).claim(name).obj(),)))
        simulation.execute(SETTLE)
    said = explained(witnessed(simulation), "second", "n1", "VolumeBinding")
    assert said.sentence == ("n1 has no volume for claim second, and its class does not provision any.")
    assert lines(said) == [
        "claim second: no volume suits; one would have to be provisioned",
        "not suitable for second: pv-1 (set aside for another claim)",
        "new volume for second: none (its class local does not provision any)",
    ]


# --- several volumes, and what a class can provision ---


def test_every_volume_of_a_pod_has_its_line() -> None:
    disk = {"gcePersistentDisk": {"pdName": "shared"}}
    pod = make_pod("web-1").claim("bound-a").claim("waits-local").claim("waits-local-large").claim("waits-large")
    pod.manifest["spec"]["volumes"].append({"name": "disk", **disk})
    holder = pod_with(disk, name="db-1")
    holder["spec"]["nodeName"] = "n1"
    simulation = ran(one_zone(), *STORAGE, holder, pod.obj())
    world = witnessed(simulation)
    said = explained(world, "web-1", "n1", "VolumeBinding")
    assert said.sentence == (
        "n1 has no volume for claim waits-large, and none can be provisioned: no storage that it can "
        "access has enough room."
    )
    assert lines(said) == [
        "claim bound-a: bound to pv-a (the node can access it)",
        "claim waits-local: takes pv-local-tiny (the smallest available volume that suits)",
        "claim waits-local-large: takes pv-local (the smallest available volume that suits)",
        "claim waits-large: no volume suits; one would have to be provisioned",
        "not suitable for waits-large: pv-a, pv-alone, pv-attached, pv-free, pv-in-tree and pv-labelled "
        "(smaller than 20Gi)",
        "new volume for waits-large: none (no storage that the node can access has room for 20Gi)",
    ]
    said = explained(world, "web-1", "n1", "VolumeRestrictions")
    assert said.sentence == "A disk that web-1 mounts is in use on n1 by db-1 and cannot be shared."
    assert lines(said) == [
        "gcePersistentDisk shared: in use by db-1 (pods may share it only if all mount it read-only)"
    ]


def test_two_claims_of_a_pod_do_not_take_the_same_volume() -> None:
    local = storage_class("local", "kubernetes.io/no-provisioner"), volume_of("pv-1", storageClassName="local")
    claims = [claim_of(name, {"storageClassName": "local", "gib": gib}) for name, gib in (("large", 2), ("small", 1))]
    simulation = ran(one_zone(), *local, *claims, make_pod("web-1").claim("large").claim("small").obj())
    assert lines(explained(witnessed(simulation), "web-1", "n1", "VolumeBinding"))[:3] == [
        "claim small: takes pv-1 (the smallest available volume that suits)",
        "claim large: no volume suits; one would have to be provisioned",
        "not suitable for large: pv-1 (taken by another claim of this pod)",
    ]


def test_a_class_that_makes_volumes_only_somewhere() -> None:
    both = [{"matchLabelExpressions": [{"key": ZONE, "values": [zone]}]} for zone in ("b", "c")]
    objects = (
        storage_class("zoned", "csi.example.com", allowedTopologies=both),
        claim_of("c", {"storageClassName": "zoned"}),
    )
    simulation = ran(one_zone(), one_zone("n2", "b"), *objects, make_pod("web-1").claim("c").obj())
    world = witnessed(simulation)
    said = explained(world, "web-1", "n1", "VolumeBinding")
    where = f"{ZONE} in (b) or {ZONE} in (c)"
    assert said.sentence == (f"n1 has no volume for claim c, and its class provisions volumes only where {where}.")
    assert lines(said)[1:] == [f"new volume for c: none (its class zoned provisions volumes only where {where})"]
    said = explained(world, "web-1", "n2", "VolumeBinding")
    assert lines(said)[1:] == ["new volume for c: 1Gi (its class zoned can provision one here)"]


def test_a_volume_being_provisioned_keeps_the_pod_on_that_node() -> None:
    claim = claim_of("c", {"storageClassName": "wait"})
    claim["metadata"]["annotations"] = {"volume.kubernetes.io/selected-node": "n2"}
    objects = storage_class("wait", "csi.example.com"), claim
    simulation = ran(one_zone(), one_zone("n2", "b"), *objects, make_pod("web-1").claim("c").obj())
    world = witnessed(simulation)
    said = explained(world, "web-1", "n1", "VolumeBinding")
    assert said.sentence == "The volume of claim c is being provisioned on n2, not on n1."
    assert lines(said) == ["claim c: a volume is being provisioned on n2 (so only that node will do)"]
    assert lines(explained(world, "web-1", "n2", "VolumeBinding")) == [
        "claim c: a volume is being provisioned on n2",
        "new volume for c: 1Gi (its class wait can provision one here)",
    ]


# --- one pod alone ---


def test_a_claim_for_one_pod_names_its_user_on_another_node() -> None:
    holder, pod = make_pod("db-1").claim("alone").node("n2").obj(), make_pod("web-1").claim("alone").obj()
    simulation = ran(one_zone(), one_zone("n2"), *STORAGE, holder, pod)
    simulation.execute(commands.Delete("Pod", "default/db-1"))
    said = explained(witnessed(simulation), "web-1", "n1", "VolumeRestrictions")
    assert said.sentence == "web-1 needs a claim for itself alone (ReadWriteOncePod), but db-1 uses it."
    assert lines(said) == ["claim alone: in use by db-1 (ReadWriteOncePod: one pod in the whole cluster)"]
    assert said.brief == "claim in use"


def test_a_nominated_pod_uses_its_claim_already() -> None:
    """vip-1 waits for n1, which low-1 leaves slowly; web-1 has a disk, and so is filtered on every node."""
    low = make_pod("low-1").cpu("3").node("n1").grace_period(30).obj()
    vip = make_pod("vip-1").cpu("3").priority(100).claim("alone").obj()
    disk = {"name": "disk", "gcePersistentDisk": {"pdName": "mine"}}
    late = make_pod("web-1").claim("alone").priority(5)
    late.manifest["spec"]["volumes"].append(disk)
    simulation = ran(
        one_zone(), *STORAGE, low, then=(commands.Apply((vip,)), SETTLE, commands.Apply((late.obj(),)), SETTLE)
    )
    said = explained(witnessed(simulation), "web-1", "n1", "VolumeRestrictions")
    assert said.sentence == "web-1 needs a claim for itself alone (ReadWriteOncePod), but vip-1 uses it."
    assert lines(said) == [
        "gcePersistentDisk mine: free on this node",
        "claim alone: in use by vip-1 (ReadWriteOncePod: one pod in the whole cluster)",
        "Nominated here: vip-1 (counted as if already running here)",
    ]


# --- refused before any node was checked ---

EARLY: dict[str, tuple[str, list[str], str, list[str]]] = {
    "a claim that does not exist": (
        "VolumeRestrictions",
        ["waits", "missing", "bound-a"],
        "web-1 uses the claim missing, which does not exist. So no node was visited.",
        ["claim waits: not bound, class wait", "claim missing: does not exist"],
    ),
    "a class that does not exist": (
        "VolumeBinding",
        ["bound-a", "classless"],
        "The claim classless of web-1 must be bound before a node can be chosen. So no node was visited.",
        ["claim classless: not bound, class nowhere (this class does not exist)", "claim bound-a: bound to pv-a"],
    ),
    "a volume that is lost": (
        "VolumeBinding",
        ["orphan"],
        "web-1 uses the claim orphan, whose volume pv-gone is lost. So no node was visited.",
        ["claim orphan: lost its volume pv-gone"],
    ),
    "a volume that does not exist, for a plugin that only reads its labels": (
        "VolumeZone",
        ["bound-labelled", "orphan"],
        "web-1 uses the claim orphan, whose volume pv-gone does not exist. So no node was visited.",
        ["claim bound-labelled: bound to pv-labelled", "claim orphan: lost its volume pv-gone"],
    ),
    "a class that does not exist, for a plugin that only reads labels of volumes": (
        "VolumeZone",
        ["classless", "waits"],
        "web-1 uses the claim classless, whose class nowhere does not exist. So no node was visited.",
        ["claim classless: not bound, class nowhere"],
    ),
}
ZONES_ALONE = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "plugins": {"multiPoint": {"disabled": [{"name": "VolumeBinding"}, {"name": "VolumeRestrictions"}]}},
        }
    ],
}


@pytest.mark.parametrize("words", EARLY)
def test_a_refusal_before_any_node_shows_the_state_of_the_claims(words: str) -> None:
    plugin, claims, sentence, expected = EARLY[words]
    pod = make_pod("web-1")
    for name in claims:
        pod.claim(name)
    configuration = ZONES_ALONE if plugin == "VolumeZone" else None
    simulation = ran(one_zone(), *STORAGE, pod.obj(), configuration=configuration)
    simulation.execute(commands.Apply((claim_of("missing", {}), storage_class("nowhere", "csi.example.com"))))
    simulation.execute(commands.Apply((volume_of("pv-gone"),)))
    said = explained(witnessed(simulation), "web-1", "n1", plugin)
    assert (said.sentence, lines(said)) == (sentence, expected)
    assert said.reasons


def test_an_injected_refusal_is_shown_as_recorded() -> None:
    fault = commands.Fault("VolumeBinding", "preFilter", "deny")
    simulation = ran(one_zone(), *STORAGE, make_pod("web-1").claim("waits").obj(), then=(fault, SETTLE))
    said = explained(witnessed(simulation), "web-1", "n1", "VolumeBinding")
    assert said.sentence == "VolumeBinding said no before any node was visited: injected denial."
