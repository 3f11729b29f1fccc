"""Claims are bound to volumes, or get new ones; volumes are retained or deleted after their claim."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.replay import trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import HOSTNAME, ZONE, make_node, make_pod
from scheduler_engine.trace.events import EventRecorded
from tests.engine.plugins.volumes import DRIVER, NO_PROVISIONER, claim, storage_class, volume

SELECTED_NODE = "volume.kubernetes.io/selected-node"
MODES = ["ReadWriteOnce", "ReadOnlyMany"]
MINE = {"claimRef": {"namespace": "default", "name": "c"}}
FOREIGN = {"claimRef": {"namespace": "default", "name": "other"}}


def simulation_of(*items: KubeObject | dict[str, Any]) -> Simulation:
    simulation = Simulation()
    apply(simulation, *items)
    return simulation


def apply(simulation: Simulation, *items: KubeObject | dict[str, Any]) -> None:
    manifests = [item.manifest if isinstance(item, KubeObject) else item for item in items]
    simulation.execute(commands.Apply(tuple(manifests)))


def delete(simulation: Simulation, kind: str, key: str) -> None:
    simulation.execute(commands.Delete(kind, key))


def claim_in(simulation: Simulation, name: str = "c") -> KubeObject:
    stored = simulation.api.get("PersistentVolumeClaim", f"default/{name}")
    assert stored is not None
    return stored


def volume_in(simulation: Simulation, name: str) -> KubeObject:
    stored = simulation.api.get("PersistentVolume", name)
    assert stored is not None
    return stored


def bound(simulation: Simulation, name: str = "c") -> str:
    """Return the volume that the claim is bound to. Both sides must agree."""
    claim = claim_in(simulation, name)
    if claim.status["phase"] != "Bound":
        assert "pv.kubernetes.io/bind-completed" not in claim.annotations
        return ""
    held = volume_in(simulation, claim.spec["volumeName"])
    assert held.status["phase"] == "Bound"
    assert held.spec["claimRef"]["uid"] == claim.uid
    return held.name


def event_reasons(simulation: Simulation, regarding: str = "default/c") -> list[str]:
    events = [entry.event for entry in simulation.recorder.entries]
    return [event.reason for event in events if isinstance(event, EventRecorded) and event.regarding == regarding]


def node_name(simulation: Simulation, pod: str) -> str:
    stored = simulation.api.pod(f"default/{pod}")
    assert stored is not None
    return stored.node_name


# --- which volume ---

CHOICES: dict[str, tuple[KubeObject, list[KubeObject], str]] = {
    "the smallest that is large enough": (
        claim("c", gib=2),
        [volume("v5", gib=5), volume("v1"), volume("v3", gib=3)],
        "v3",
    ),
    "the first by name among equals": (claim("c"), [volume("v2"), volume("v1")], "v1"),
    "none when all are too small": (claim("c", gib=2), [volume("v1")], ""),
    "none of another class": (claim("c"), [volume("v1", storage_class="other")], ""),
    "without a class only one without a class": (
        claim("c", storage_class=""),
        [volume("v1"), volume("v2", gib=9, storage_class="")],
        "v2",
    ),
    "none that lacks an access mode": (claim("c", accessModes=MODES), [volume("v1")], ""),
    "one with fewer access modes before a smaller one": (
        claim("c"),
        [volume("v1", accessModes=MODES), volume("v2", gib=2)],
        "v2",
    ),
    "one with fewer access modes, whatever they are called": (
        claim("c", accessModes=["ReadOnlyMany"]),
        [volume("v1", accessModes=MODES), volume("v2", gib=2, accessModes=["ReadOnlyMany"])],
        "v2",
    ),
    "none of another volume mode": (claim("c", volumeMode="Block"), [volume("v1")], ""),
    "only one that the selector matches": (
        claim("c", selector={"matchLabels": {"tier": "fast"}}),
        [volume("v1"), volume("v2", gib=2, labels={"tier": "fast"})],
        "v2",
    ),
    "the one reserved for it, though it is larger": (claim("c"), [volume("v1"), volume("v9", gib=9, **MINE)], "v9"),
    "none reserved for another": (claim("c"), [volume("v1", **FOREIGN)], ""),
    "the one it names, though a smaller one would do": (
        claim("c", volumeName="v9"),
        [volume("v1"), volume("v9", gib=9)],
        "v9",
    ),
    "nothing when the one it names is too small": (
        claim("c", gib=2, volumeName="v1"),
        [volume("v1"), volume("v2", gib=2)],
        "",
    ),
    "nothing when the one it names is reserved for another": (
        claim("c", volumeName="v1"),
        [volume("v1", **FOREIGN), volume("v2")],
        "",
    ),
    "nothing when the one it names does not exist": (claim("c", volumeName="v9"), [volume("v1")], ""),
    "one that no node reaches, because there is no pod to ask": (claim("c"), [volume("v1", zone="mars")], "v1"),
}


@pytest.mark.parametrize("claim_first", [True, False], ids=["claim first", "volumes first"])
@pytest.mark.parametrize("words", CHOICES)
def test_an_immediate_claim_gets(words: str, claim_first: bool) -> None:
    wanted, volumes, expected = CHOICES[words]
    by_hand = storage_class("wait", "Immediate", NO_PROVISIONER)
    simulation = simulation_of(by_hand, *([wanted, *volumes] if claim_first else [*volumes, wanted]))
    assert bound(simulation) == expected
    assert simulation.now_us == 0
    taken = {expected, *(item.name for item in volumes if item.spec.get("claimRef"))}
    for item in volumes:
        if item.name not in taken:
            assert volume_in(simulation, item.name).status["phase"] == "Available"


def test_binding_is_written_on_both_sides() -> None:
    simulation = simulation_of(claim("c", storage_class=""), volume("v1", gib=3, storage_class=""))
    bound_claim, held = claim_in(simulation), volume_in(simulation, "v1")
    assert bound_claim.annotations == {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
    }
    assert bound_claim.status == {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "3Gi"}}
    assert held.annotations == {"pv.kubernetes.io/bound-by-controller": "yes"}
    assert held.spec["claimRef"]["name"] == "c"


def test_a_persons_choice_of_volume_is_not_marked_as_the_controllers() -> None:
    simulation = simulation_of(claim("c", storage_class="", volumeName="v1"), volume("v1", storage_class="", **MINE))
    assert claim_in(simulation).annotations == {"pv.kubernetes.io/bind-completed": "yes"}
    assert volume_in(simulation, "v1").annotations == {}


def test_a_second_claim_waits_for_the_next_volume() -> None:
    simulation = simulation_of(
        claim("c", storage_class=""), claim("d", storage_class=""), volume("v1", storage_class="")
    )
    assert (bound(simulation, "c"), bound(simulation, "d")) == ("v1", "")
    assert event_reasons(simulation, "default/d") == ["FailedBinding"]
    apply(simulation, volume("v2", storage_class=""))
    assert bound(simulation, "d") == "v2"


@pytest.mark.parametrize("chosen_by", ["the controller", "a person"])
def test_a_volume_whose_claim_is_bound_elsewhere_is_released(chosen_by: str) -> None:
    by_controller = {"annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}}
    reference = {"claimRef": {"namespace": "default", "name": "c", "uid": "uid-c"}}
    held = volume("v2", storage_class="", metadata=by_controller if chosen_by == "the controller" else {}, **reference)
    simulation = simulation_of(volume("v1", storage_class=""), claim("c", storage_class="", volumeName="v1"), held)
    assert bound(simulation) == "v1"
    free = volume_in(simulation, "v2")
    assert free.status["phase"] == "Available"
    assert free.spec.get("claimRef") == (None if chosen_by == "the controller" else MINE["claimRef"])


@pytest.mark.parametrize(("policy", "left"), [("Retain", "Available"), ("Delete", "")])
def test_a_volume_provisioned_for_a_claim_bound_elsewhere_is_released_or_deleted(policy: str, left: str) -> None:
    reference = {"claimRef": {"namespace": "default", "name": "c", "uid": "uid-c"}}
    metadata = {"annotations": {"pv.kubernetes.io/provisioned-by": DRIVER}}
    unwanted = volume("v2", storage_class="", metadata=metadata, persistentVolumeReclaimPolicy=policy, **reference)
    simulation = simulation_of(volume("v1", storage_class=""), claim("c", storage_class="", volumeName="v1"))
    apply(simulation, unwanted)
    assert bound(simulation) == "v1"
    stored = simulation.api.get("PersistentVolume", "v2")
    assert (stored.status["phase"] if stored else "") == left


def test_a_claim_without_a_class_gets_the_newest_default_class() -> None:
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    classes = [storage_class("a", "Immediate"), storage_class("b", "Immediate"), storage_class("c", "Immediate")]
    old, new = (item.evolve({"metadata": {"annotations": default}}) for item in classes[:2])
    wanted = claim("c").evolve({"spec": {"storageClassName": None}})
    simulation = simulation_of(old, classes[2], claim("none", storage_class=""))
    simulation.execute(commands.Advance(1))
    apply(simulation, new, wanted)
    assert claim_in(simulation).spec["storageClassName"] == "b"
    assert claim_in(simulation, "none").spec["storageClassName"] == ""


# --- provisioning ---


def test_an_immediate_claim_is_provisioned_after_a_second() -> None:
    simulation = simulation_of(storage_class("now", "Immediate"), claim("c", gib=7, storage_class="now"))
    simulation.execute(commands.Advance(0.9))
    assert bound(simulation) == ""
    simulation.execute(commands.Advance(0.1))
    volume = volume_in(simulation, bound(simulation))
    assert volume.name == "pvc-uid-c"
    assert volume.annotations["pv.kubernetes.io/provisioned-by"] == DRIVER
    assert volume.spec["csi"] == {"driver": DRIVER, "volumeHandle": "pvc-uid-c"}
    assert (volume.spec["capacity"], volume.spec["accessModes"]) == ({"storage": "7Gi"}, ["ReadWriteOnce"])
    assert (volume.spec["persistentVolumeReclaimPolicy"], volume.spec["storageClassName"]) == ("Delete", "now")
    assert "nodeAffinity" not in volume.spec
    assert event_reasons(simulation) == ["ExternalProvisioning", "ProvisioningSucceeded"]


def test_an_immediate_claim_ends_up_in_the_first_allowed_topology() -> None:
    terms = [{"matchLabelExpressions": [{"key": ZONE, "values": ["b", "a"]}]}]
    simulation = simulation_of(
        storage_class("now", "Immediate", allowedTopologies=terms),
        make_node("n1").zone("a").obj(),
        make_node("n2").zone("b").obj(),
        claim("c", storage_class="now"),
        make_pod("p").claim("c").obj(),
    )
    simulation.execute(commands.Run())
    assert node_name(simulation, "p") == "n2"


DRIVERS = {
    "a CSI driver": (DRIVER, DRIVER, "csi"),
    "an in-tree plugin is its CSI driver": ("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "csi"),
    "any other provisioner": ("rancher.io/local-path", "rancher.io/local-path", "hostPath"),
}


@pytest.mark.parametrize("words", DRIVERS)
def test_the_provisioner_makes_its_kind_of_volume(words: str) -> None:
    provisioner, by, source = DRIVERS[words]
    simulation = simulation_of(storage_class("now", "Immediate", provisioner), claim("c", storage_class="now"))
    simulation.execute(commands.Run())
    volume = volume_in(simulation, bound(simulation))
    assert volume.annotations["pv.kubernetes.io/provisioned-by"] == by
    assert source in volume.spec
    apply(simulation, volume.manifest)


NOT_PROVISIONED: dict[str, tuple[list[KubeObject], str]] = {
    "a class that does not exist": ([claim("c", storage_class="nowhere")], "ProvisioningFailed"),
    "a class without a provisioner": (
        [storage_class("wait", "Immediate", NO_PROVISIONER), claim("c")],
        "ProvisioningFailed",
    ),
    "no class at all": ([claim("c", storage_class="")], "FailedBinding"),
    "a class that waits for the first consumer": ([storage_class("wait"), claim("c")], "WaitForFirstConsumer"),
}


@pytest.mark.parametrize("words", NOT_PROVISIONED)
def test_no_volume_is_provisioned_with(words: str) -> None:
    items, reason = NOT_PROVISIONED[words]
    simulation = simulation_of(*items)
    simulation.execute(commands.Advance(60))
    assert bound(simulation) == ""
    assert event_reasons(simulation) == [reason]
    assert list(simulation.api.list("PersistentVolume")) == []


def test_a_class_may_come_after_its_claims() -> None:
    default = {"metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}}
    classless = claim("d").evolve({"spec": {"storageClassName": None}})
    simulation = simulation_of(claim("c", storage_class="now"), classless)
    apply(simulation, storage_class("now", "Immediate").evolve(default))
    simulation.execute(commands.Run())
    assert (bound(simulation, "c"), bound(simulation, "d")) == ("pvc-uid-c", "pvc-uid-d")


def test_a_claim_that_took_the_name_of_another_waits_for_its_own_volume() -> None:
    wanted = claim("c", storage_class="now")
    simulation = simulation_of(storage_class("now", "Immediate"), wanted)
    simulation.execute(commands.Advance(0.5))
    delete(simulation, "PersistentVolumeClaim", "default/c")
    apply(simulation, wanted.evolve({"metadata": {"uid": "uid-new"}}))
    simulation.execute(commands.Advance(0.5))
    assert bound(simulation) == ""
    simulation.execute(commands.Advance(0.5))
    assert bound(simulation) == "pvc-uid-new"
    assert event_reasons(simulation).count("ExternalProvisioning") == 2


def test_a_claim_changed_meanwhile_gets_one_volume() -> None:
    wanted = claim("c", storage_class="now")
    simulation = simulation_of(storage_class("now", "Immediate"), wanted)
    simulation.execute(commands.Advance(0.5))
    apply(simulation, wanted.evolve({"metadata": {"labels": {"app": "db"}}}))
    simulation.execute(commands.Run())
    assert bound(simulation) == "pvc-uid-c"
    assert event_reasons(simulation).count("ProvisioningSucceeded") == 1


def test_a_taken_name_is_left_alone() -> None:
    simulation = simulation_of(storage_class("now", "Immediate"), volume("pvc-uid-c", storage_class="other"))
    apply(simulation, claim("c", storage_class="now"))
    simulation.execute(commands.Run())
    assert bound(simulation) == ""
    assert volume_in(simulation, "pvc-uid-c").spec["storageClassName"] == "other"


def test_a_claim_deleted_meanwhile_gets_no_volume() -> None:
    simulation = simulation_of(storage_class("now", "Immediate"), claim("c", storage_class="now"))
    delete(simulation, "PersistentVolumeClaim", "default/c")
    simulation.execute(commands.Run())
    assert list(simulation.api.list("PersistentVolume")) == []


# --- waiting for the first consumer ---


def test_a_waiting_claim_gets_no_volume_unless_one_is_reserved() -> None:
    simulation = simulation_of(storage_class("wait"), volume("v1"), claim("c"))
    assert bound(simulation) == ""
    apply(simulation, volume("v2", **MINE))
    assert bound(simulation) == "v2"


def test_the_scheduler_chooses_an_existing_volume_and_the_controller_completes_the_bond() -> None:
    simulation = simulation_of(
        storage_class("wait", provisioner=NO_PROVISIONER),
        make_node("n1").zone("a").obj(),
        make_node("n2").zone("b").obj(),
        volume("v1", zone="b"),
        claim("c"),
        make_pod("p").claim("c").obj(),
    )
    simulation.execute(commands.Run())
    assert (node_name(simulation, "p"), bound(simulation)) == ("n2", "v1")
    assert simulation.now_us == 1_000_000


LABELS: dict[str, tuple[dict[str, str], list[dict[str, Any]] | None]] = {
    "the node's zone": ({ZONE: "a", HOSTNAME: "n1"}, [{"key": ZONE, "operator": "In", "values": ["a"]}]),
    "the node itself when it has no zone": ({HOSTNAME: "n1"}, [{"key": HOSTNAME, "operator": "In", "values": ["n1"]}]),
    "anywhere when it has neither": ({}, None),
}


@pytest.mark.parametrize("words", LABELS)
def test_a_volume_provisioned_for_a_node_is_tied_to(words: str) -> None:
    labels, expressions = LABELS[words]
    node = make_node("n1").metadata(labels=labels).obj()
    simulation = simulation_of(storage_class("wait"), node, claim("c"), make_pod("p").claim("c").obj())
    simulation.execute(commands.Settle())
    assert claim_in(simulation).annotations[SELECTED_NODE] == "n1"
    assert (bound(simulation), node_name(simulation, "p")) == ("", "")
    simulation.execute(commands.Run())
    volume = volume_in(simulation, bound(simulation))
    wanted = None if expressions is None else {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}
    assert volume.spec.get("nodeAffinity") == wanted
    assert node_name(simulation, "p") == "n1"
    assert simulation.now_us == 2_000_000


def test_when_the_selected_node_goes_away_the_pod_and_its_volume_go_elsewhere() -> None:
    pod = make_pod("p").claim("c").node_affinity(ZONE, ["a"], weight=100).obj()
    nodes = [make_node("n1").zone("a").obj(), make_node("n2").zone("b").obj()]
    simulation = simulation_of(storage_class("wait"), *nodes, claim("c"), pod)
    simulation.execute(commands.Settle())
    assert claim_in(simulation).annotations[SELECTED_NODE] == "n1"
    delete(simulation, "Node", "n1")
    simulation.execute(commands.Advance(60))
    assert node_name(simulation, "p") == "n2"
    assert claim_in(simulation).annotations[SELECTED_NODE] == "n2"
    affinity = volume_in(simulation, bound(simulation)).spec["nodeAffinity"]
    assert affinity["required"]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"] == ["b"]


def test_a_pod_that_waits_for_an_immediate_claim_is_scheduled_when_it_is_bound() -> None:
    simulation = simulation_of(make_node("n1").obj(), claim("c", storage_class=""), make_pod("p").claim("c").obj())
    simulation.execute(commands.Run())
    assert node_name(simulation, "p") == ""
    apply(simulation, volume("v1", storage_class=""))
    simulation.execute(commands.Run())
    assert node_name(simulation, "p") == "n1"


# --- after the claim is deleted ---


@pytest.mark.parametrize(("policy", "left"), [("Retain", "Released"), ("Delete", "")])
def test_after_its_claim_a_volume_is_retained_or_deleted(policy: str, left: str) -> None:
    held = volume("v1", storage_class="", persistentVolumeReclaimPolicy=policy)
    simulation = simulation_of(claim("c", storage_class=""), held)
    delete(simulation, "PersistentVolumeClaim", "default/c")
    stored = simulation.api.get("PersistentVolume", "v1")
    assert (stored.status["phase"] if stored else "") == left
    again = claim("c", storage_class="").evolve({"metadata": {"uid": "uid-new"}})
    apply(simulation, again)
    assert bound(simulation) == ""


def test_a_claim_with_a_deleted_volume_is_lost_until_the_volume_is_back() -> None:
    simulation = simulation_of(claim("c", storage_class=""), volume("v1", storage_class=""))
    delete(simulation, "PersistentVolume", "v1")
    assert claim_in(simulation).status["phase"] == "Lost"
    assert event_reasons(simulation) == ["ClaimLost"]
    apply(simulation, volume("v1", storage_class=""))
    assert bound(simulation) == "v1"


def test_a_claim_that_declares_itself_bound_to_another_claims_volume_is_lost() -> None:
    simulation = simulation_of(claim("c", storage_class=""), volume("v1", storage_class=""))
    apply(simulation, claim("d", storage_class="", bound_to="v1"))
    assert (bound(simulation), claim_in(simulation, "d").status["phase"]) == ("v1", "Lost")
    assert event_reasons(simulation, "default/d") == ["ClaimMisbound"]


def test_applying_the_manifests_again_leaves_the_bond_alone() -> None:
    items = [claim("c", storage_class=""), volume("v1", storage_class="")]
    simulation = simulation_of(*items)
    before = [item.manifest for item in (claim_in(simulation), volume_in(simulation, "v1"))]
    apply(simulation, *items)
    assert [item.manifest for item in (claim_in(simulation), volume_in(simulation, "v1"))] == before


def test_a_copy_during_provisioning_continues_identically() -> None:
    original = simulation_of(
        storage_class("wait"), make_node("n1").zone("a").obj(), claim("c"), make_pod("p").claim("c").obj()
    )
    original.execute(commands.Settle())
    copies = [copy.deepcopy(original), pickle.loads(pickle.dumps(original))]
    original.execute(commands.Run())
    assert bound(original) == "pvc-uid-c"
    for other in copies:
        assert bound(other) == ""
        other.execute(commands.Run())
        assert trace_digest(other) == trace_digest(original)


@pytest.mark.parametrize("mode", ["Immediate", "WaitForFirstConsumer"])
def test_a_class_that_is_gone_while_a_volume_is_made_is_used_when_it_is_back(mode: str) -> None:
    fast, consumer = storage_class("fast", mode), make_pod("p").claim("c").obj()
    simulation = simulation_of(fast, make_node("n1").obj(), claim("c", storage_class="fast"), consumer)
    simulation.execute(commands.Settle())
    delete(simulation, "StorageClass", "fast")
    simulation.execute(commands.Advance(3))
    assert not bound(simulation)
    apply(simulation, fast)
    simulation.execute(commands.Advance(3))
    assert bound(simulation) == f"pvc-{claim_in(simulation).uid}"
