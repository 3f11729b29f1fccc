"""NodeVolumeLimits: how many volumes of a driver a node can attach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Hint, PluginError
from scheduler_engine.framework.status import Code, Status
from scheduler_engine.plugins.node_volume_limits import NodeVolumeLimits
from scheduler_engine.testing import Builder, PodBuilder, make_node, make_pod
from scheduler_engine.wording import Line, lines, sentence
from tests.engine.plugins.volumes import DRIVER, claim, csi_node, storage_class, volume
from tests.engine.plugins.world import World, events_of, hint_of, node_info, object_of, pod_of

FULL = Status(Code.UNSCHEDULABLE, ("node(s) exceed max volume count",))
EBS = "ebs.csi.aws.com"
NEW = make_pod("new").claim("c1")
ONE = csi_node("n", {DRIVER: 1})


def attachment(volume_name: str, node: str = "n") -> KubeObject:
    builder = Builder("storage.k8s.io/v1", "VolumeAttachment", f"attach-{volume_name}")
    return object_of(builder.spec(attacher=DRIVER, nodeName=node, source={"persistentVolumeName": volume_name}))


def bound(number: int) -> list[KubeObject]:
    """Return a claim and its volume."""
    return [claim(f"c{number}", bound_to=f"v{number}"), volume(f"v{number}")]


def inline(name: str, volume_id: str = "vol-1") -> PodBuilder:
    return make_pod(name).spec(volumes=[{"name": "d", "awsElasticBlockStore": {"volumeID": volume_id}}])


def in_tree(name: str, volume_id: str) -> KubeObject:
    return volume(name, csi=None, awsElasticBlockStore={"volumeID": volume_id})


def portworx(name: str, volume_id: str) -> PodBuilder:
    return make_pod(name).spec(volumes=[{"name": "d", "portworxVolume": {"volumeID": volume_id}}])


def ephemeral(name: str) -> PodBuilder:
    return make_pod(name).spec(volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}])


def owner(pod: str) -> dict[str, Any]:
    reference = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": f"uid-{pod}", "controller": True}
    return {"ownerReferences": [reference]}


LIMITS: dict[str, tuple[PodBuilder, list[PodBuilder], list[KubeObject], Status | None]] = {
    "A free slot is used": (NEW, [], [ONE, *bound(1)], None),
    "No slot is left": (NEW, [make_pod("old").claim("c2")], [ONE, *bound(1), *bound(2)], FULL),
    "A volume already on the node uses no further slot": (
        NEW,
        [make_pod("old").claim("c1")],
        [ONE, *bound(1)],
        None,
    ),
    "An attached volume uses a slot without a pod": (NEW, [], [ONE, *bound(1), volume("v9"), attachment("v9")], FULL),
    "A volume attached elsewhere does not": (NEW, [], [ONE, *bound(1), volume("v9"), attachment("v9", "m")], None),
    "A volume with pod and attachment uses one slot": (
        NEW,
        [make_pod("old").claim("c2")],
        [csi_node("n", {DRIVER: 2}), *bound(1), *bound(2), attachment("v2")],
        None,
    ),
    "A driver without a limit takes any number": (
        NEW,
        [make_pod("old").claim("c2")],
        [csi_node("n", {DRIVER: None}), *bound(1), *bound(2)],
        None,
    ),
    "A node without a CSINode takes any number": (NEW, [make_pod("old").claim("c2")], [*bound(1), *bound(2)], None),
    "A limit of 0 takes none": (NEW, [], [csi_node("n", {DRIVER: 0}), *bound(1)], FULL),
    "A volume still to be provisioned uses a slot": (
        NEW,
        [make_pod("old").claim("c2")],
        [ONE, claim("c1"), storage_class("wait"), *bound(2)],
        FULL,
    ),
    "A claim whose volume is missing counts by its class": (
        NEW,
        [],
        [csi_node("n", {DRIVER: 0}), claim("c1", bound_to="gone"), storage_class("wait")],
        FULL,
    ),
    "A claim without a class does not count": (
        NEW,
        [],
        [csi_node("n", {DRIVER: 0}), claim("c1", storage_class="")],
        None,
    ),
    "A running pod's missing claim is ignored": (NEW, [make_pod("old").claim("gone")], [ONE, *bound(1)], None),
    "A missing claim of the pod itself is unresolvable": (
        NEW,
        [],
        [ONE],
        Status(
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            ('looking up PVC default/c1: persistentvolumeclaim "c1" not found',),
        ),
    ),
    "An in-tree disk counts for its CSI driver": (
        inline("new"),
        [inline("old", "vol-2")],
        [csi_node("n", {EBS: 1}, "kubernetes.io/aws-ebs")],
        FULL,
    ),
    "An in-tree disk counts for its CSI driver even if the node does not announce the migration": (
        inline("new"),
        [inline("old", "vol-2")],
        [csi_node("n", {EBS: 1})],
        FULL,
    ),
    "An in-tree disk in another spelling uses no further slot": (
        inline("new"),
        [inline("old", "aws://us-east-1a/vol-1")],
        [csi_node("n", {EBS: 1})],
        None,
    ),
    "A volume with a broken in-tree disk does not count": (
        NEW,
        [],
        [csi_node("n", {EBS: 0}), claim("c1", bound_to="v1"), in_tree("v1", "aws://us-east-1a/disk-1")],
        None,
    ),
    "An in-tree disk of a driver migrated per node does not count on a node that did not announce it": (
        portworx("new", "vol-1"),
        [portworx("old", "vol-2")],
        [csi_node("n", {"pxd.portworx.com": 1})],
        None,
    ),
    "An in-tree disk of a driver migrated per node counts on a node that announced it": (
        portworx("new", "vol-1"),
        [portworx("old", "vol-2")],
        [csi_node("n", {"pxd.portworx.com": 1}, "kubernetes.io/portworx-volume")],
        FULL,
    ),
    "A class of an in-tree plugin counts for its CSI driver": (
        NEW,
        [],
        [
            csi_node("n", {EBS: 0}, "kubernetes.io/aws-ebs"),
            claim("c1"),
            storage_class("wait", provisioner="kubernetes.io/aws-ebs"),
        ],
        FULL,
    ),
    "An ephemeral volume counts by its own claim": (
        ephemeral("new"),
        [],
        [csi_node("n", {DRIVER: 0}), claim("new-scratch", metadata=owner("new")), storage_class("wait")],
        FULL,
    ),
}


@pytest.mark.parametrize(("pod", "running", "objects", "expected"), LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("prepared", [True, False], ids=["after PreFilter", "without PreFilter"])
def test_filter(
    pod: PodBuilder, running: list[PodBuilder], objects: list[KubeObject], expected: Status | None, prepared: bool
) -> None:
    info = node_info(make_node("n"), *running)
    world = World(info)
    world.add(*objects)
    plugin, state = NodeVolumeLimits({}, world.handle), CycleState()
    if prepared:
        assert plugin.pre_filter(state, pod_of(pod), [info]) == (None, None)
    assert plugin.filter(state, pod_of(pod), info) == expected


def test_somebody_elses_ephemeral_claim_is_an_error() -> None:
    info = node_info(make_node("n"))
    world = World(info)
    world.add(ONE, claim("new-scratch", metadata=owner("other")))
    with pytest.raises(PluginError, match=r"PVC default/new-scratch was not created for pod default/new"):
        NodeVolumeLimits({}, world.handle).filter(CycleState(), pod_of(ephemeral("new")), info)


def test_a_broken_disk_of_the_pod_is_an_error() -> None:
    info = node_info(make_node("n"))
    world = World(info)
    world.add(csi_node("n", {EBS: 1}))
    with pytest.raises(PluginError, match=r"^converting volume\(d\) from inline to csi: .*\(aws://za/disk-1\)$"):
        NodeVolumeLimits({}, world.handle).filter(CycleState(), pod_of(inline("new", "aws://za/disk-1")), info)


SKIPPED: dict[str, tuple[PodBuilder, bool]] = {
    "A pod without volumes": (make_pod("p"), True),
    "A pod with an emptyDir": (make_pod("p").spec(volumes=[{"name": "e", "emptyDir": {}}]), True),
    "A pod with a claim": (NEW, False),
    "A pod with an ephemeral volume": (ephemeral("p"), False),
    "A pod with an in-tree disk": (inline("p"), False),
}


@pytest.mark.parametrize(("pod", "skips"), SKIPPED.values(), ids=SKIPPED)
def test_prefilter_skips(pod: PodBuilder, skips: bool) -> None:
    _, status = NodeVolumeLimits({}, World().handle).pre_filter(CycleState(), pod_of(pod), [])
    assert (status is not None and status.is_skip) is skips


def test_events() -> None:
    assert events_of(NodeVolumeLimits({}, World().handle)) == {
        "storage.k8s.io/CSINode/ADD": False,
        "storage.k8s.io/CSINode/UPDATE": True,
        "Pod/DELETE": True,
        "PersistentVolumeClaim/ADD": True,
        "storage.k8s.io/VolumeAttachment/DELETE": True,
    }


NODE, ATTACHMENT, CLAIM = "storage.k8s.io/CSINode", "storage.k8s.io/VolumeAttachment", "PersistentVolumeClaim"
EBS_DETACHED = object_of(Builder("storage.k8s.io/v1", "VolumeAttachment", "a").spec(attacher=EBS, nodeName="n"))
HINTS: dict[str, tuple[PodBuilder, str, KubeObject | None, KubeObject | None, Hint]] = {
    "A limit rises": (NEW, NODE, ONE, csi_node("n", {DRIVER: 2}), Hint.QUEUE),
    "A limit falls": (NEW, NODE, csi_node("n", {DRIVER: 2}), ONE, Hint.SKIP),
    "A driver with a limit is added": (NEW, NODE, csi_node("n", {}), ONE, Hint.QUEUE),
    "A pod with a claim is deleted": (NEW, "Pod", pod_of(make_pod("x").claim("c").node("n")), None, Hint.QUEUE),
    "A nominated pod with a claim is deleted": (
        NEW,
        "Pod",
        pod_of(make_pod("x").claim("c").nominated("n")),
        None,
        Hint.QUEUE,
    ),
    "A waiting pod with a claim is deleted": (NEW, "Pod", pod_of(make_pod("x").claim("c")), None, Hint.SKIP),
    "A pod without volumes is deleted": (NEW, "Pod", pod_of(make_pod("x").node("n")), None, Hint.SKIP),
    "A pod with an in-tree disk is deleted": (NEW, "Pod", pod_of(inline("x").node("n")), None, Hint.QUEUE),
    "The pod's claim is created": (NEW, CLAIM, None, claim("c1"), Hint.QUEUE),
    "The pod's ephemeral claim is created": (ephemeral("new"), CLAIM, None, claim("new-scratch"), Hint.QUEUE),
    "Another claim is created": (NEW, CLAIM, None, claim("c2"), Hint.SKIP),
    "A claim of that name elsewhere is created": (NEW, CLAIM, None, claim("c1", namespace="team-a"), Hint.SKIP),
    "A volume is detached while the pod has a claim": (NEW, ATTACHMENT, attachment("v9"), None, Hint.QUEUE),
    "A volume of the disk's new driver is detached": (inline("new"), ATTACHMENT, EBS_DETACHED, None, Hint.QUEUE),
    "A volume of another driver is detached": (inline("new"), ATTACHMENT, attachment("v9"), None, Hint.SKIP),
}


@pytest.mark.parametrize(("pod", "resource", "old", "new", "expected"), HINTS.values(), ids=HINTS)
def test_hints(pod: PodBuilder, resource: str, old: KubeObject | None, new: KubeObject | None, expected: Hint) -> None:
    assert hint_of(NodeVolumeLimits({}, World().handle), resource, pod_of(pod), old, new) is expected


UNKNOWN_TO_THE_DRIVER: dict[str, tuple[dict[str, Any], str]] = {
    "An EBS volume with an invalid name": ({"awsElasticBlockStore": {"volumeID": "aws://za/disk"}}, "Invalid format"),
    "An Azure disk of a kind that was not migrated": (
        {"azureDisk": {"diskURI": "u", "kind": "Shared"}},
        "kind.Shared.",
    ),
}


@pytest.mark.parametrize(("source", "text"), UNKNOWN_TO_THE_DRIVER.values(), ids=UNKNOWN_TO_THE_DRIVER)
def test_the_hint_about_a_detached_volume_fails_over_a_disk_that_its_driver_cannot_know(
    source: dict[str, Any], text: str
) -> None:
    """The queue treats a failed hint as Queue."""
    pod = pod_of(make_pod("new").spec(volumes=[{"name": "d", **source}]))
    with pytest.raises(PluginError, match=rf"converting volume\(d\) from inline to csi: .*{text}"):
        hint_of(NodeVolumeLimits({}, World().handle), ATTACHMENT, pod, attachment("v9"), None)


def test_facts_of_a_claim_that_went_between_prefilter_and_filter() -> None:
    info = node_info(make_node("n"))
    world = World(info)
    plugin, state, pod = NodeVolumeLimits({}, world.handle), CycleState(), pod_of(make_pod("new").claim("c"))
    assert plugin.pre_filter(state, pod, [info]) == (None, None)
    status = plugin.filter(state, pod, info)
    world.add(claim("c"))
    facts = plugin.explain_filter(state, pod, info)
    assert status is not None
    assert facts.status == status
    assert sentence(facts) == "new uses the claim c, which does not exist."


def test_facts_without_prefilter_are_of_the_attachments_that_filter_saw() -> None:
    info = node_info(make_node("n"))
    world = World(info)
    world.add(csi_node("n", {DRIVER: 1}), attachment("v9"), volume("v9"), volume("v1"), claim("c", bound_to="v1"))
    plugin, state, pod = NodeVolumeLimits({}, world.handle), CycleState(), pod_of(make_pod("new").claim("c"))
    assert plugin.filter(state, pod, info) == FULL
    world.objects.clear()
    facts = plugin.explain_filter(state, pod, info)
    assert facts.status == FULL
    assert lines(facts) == (Line(DRIVER, "1 in use + 1 new = 2 > 1", "limit of the CSINode"),)


ATTACHED = "VolumeAttachment"
UNNEEDED: dict[str, tuple[PodBuilder, list[KubeObject]]] = {
    "A pod without volumes": (make_pod("new"), [ONE]),
    "A node without limits": (NEW, [csi_node("n", {DRIVER: None}), *bound(1)]),
    "A node without a CSINode": (NEW, bound(1)),
}


@pytest.mark.parametrize("words", UNNEEDED)
def test_without_prefilter_nobody_lists_attachments_that_do_not_matter(words: str) -> None:
    builder, objects = UNNEEDED[words]
    info = node_info(make_node("n"))
    world, state, pod = World(info), CycleState(), pod_of(builder)
    world.add(*objects, volume("v9"), attachment("v9"))
    plugin = NodeVolumeLimits({}, world.handle)
    listed = kinds_listed(world)
    assert plugin.filter(state, pod, info) is None
    assert plugin.explain_filter(state, pod, info).status is None
    assert ATTACHED not in listed


def test_without_prefilter_facts_do_not_list_attachments_again() -> None:
    info = node_info(make_node("n"))
    world, state, pod = World(info), CycleState(), pod_of(NEW)
    world.add(ONE, *bound(1), volume("v9"), attachment("v9"))
    plugin = NodeVolumeLimits({}, world.handle)
    listed = kinds_listed(world)
    assert plugin.filter(state, pod, info) == FULL
    assert plugin.explain_filter(state, pod, info).status == FULL
    assert listed.count(ATTACHED) == 1


def kinds_listed(world: World) -> list[str]:
    """Return a list that grows with each kind of objects that somebody lists."""
    objects, listed = world.handle.objects, list[str]()
    list_objects = objects.list

    def noting(kind: str, namespace: str | None = None) -> Iterator[KubeObject]:
        listed.append(kind)
        return iter([*list_objects(kind, namespace)])

    objects.list = noting  # type: ignore[method-assign]
    return listed
