"""VolumeRestrictions: disks that cannot be shared, claims with one user."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Hint
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import Code, Status
from scheduler_engine.plugins.volume_restrictions import VolumeRestrictions
from scheduler_engine.testing import PodBuilder, make_node, make_pod
from scheduler_engine.wording import Line, lines
from tests.engine.plugins.volumes import claim
from tests.engine.plugins.world import World, events_of, hint_of, node_info, pod_of

DISK = "node(s) had no available disk"
IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
ONE_POD: dict[str, Any] = {"accessModes": ["ReadWriteOncePod"]}


def with_disk(name: str, **source: Any) -> PodBuilder:
    return make_pod(name).spec(volumes=[{"name": "disk", **source}])


def gce(name: str, disk: str = "d", read_only: bool = False) -> PodBuilder:
    return with_disk(name, gcePersistentDisk={"pdName": disk, "readOnly": read_only})


def iscsi(name: str, iqn: str = "q", read_only: bool = False) -> PodBuilder:
    return with_disk(name, iscsi={"iqn": iqn, "readOnly": read_only, "targetPortal": name, "lun": 0})


def rbd(name: str, monitors: list[str], image: str = "i", read_only: bool = False, **more: Any) -> PodBuilder:
    return with_disk(name, rbd={"monitors": monitors, "image": image, "readOnly": read_only, **more})


def aws(name: str, volume: str = "v", read_only: bool = False) -> PodBuilder:
    return with_disk(name, awsElasticBlockStore={"volumeID": volume, "readOnly": read_only})


DISKS: dict[str, tuple[PodBuilder, PodBuilder, bool]] = {
    "The same GCE disk cannot be mounted twice": (gce("new"), gce("old"), True),
    "Two readers of a GCE disk can": (gce("new", read_only=True), gce("old", read_only=True), False),
    "A reader and a writer of a GCE disk cannot": (gce("new", read_only=True), gce("old"), True),
    "Different GCE disks can": (gce("new", "e"), gce("old"), False),
    "The same AWS volume cannot be mounted twice even by readers": (
        aws("new", read_only=True),
        aws("old", "v", True),
        True,
    ),
    "Different AWS volumes can": (aws("new", "w"), aws("old"), False),
    "The same iSCSI name cannot be mounted twice": (iscsi("new"), iscsi("old"), True),
    "Two iSCSI readers can": (iscsi("new", read_only=True), iscsi("old", read_only=True), False),
    "Different iSCSI names can": (iscsi("new", "r"), iscsi("old"), False),
    "An RBD image behind a common monitor cannot be mounted twice": (
        rbd("new", ["a", "b"]),
        rbd("old", ["b", "c"]),
        True,
    ),
    "The default RBD pool is rbd": (rbd("new", ["a"], pool="rbd"), rbd("old", ["a"]), True),
    "RBD images without a common monitor are different": (rbd("new", ["a"]), rbd("old", ["c"]), False),
    "RBD images of different pools are different": (rbd("new", ["a"], pool="p"), rbd("old", ["a"]), False),
    "Different RBD images can": (rbd("new", ["a"], "j"), rbd("old", ["a"]), False),
    "Two RBD readers can": (rbd("new", ["a"], read_only=True), rbd("old", ["a"], read_only=True), False),
    "Disks of different kinds have nothing to do with each other": (gce("new", "v"), aws("old"), False),
}


def verdict(pod: PodBuilder, info: NodeInfo, *claims: KubeObject) -> Status | None:
    """Return PreFilter's status if it fails, else Filter's on the node; Skip passes."""
    world = World(info)
    world.add(*claims)
    plugin, state = VolumeRestrictions({}, world.handle), CycleState()
    _, status = plugin.pre_filter(state, pod_of(pod), [info])
    if status is not None:
        return None if status.is_skip else status
    return plugin.filter(state, pod_of(pod), info)


@pytest.mark.parametrize(("pod", "running", "conflict"), DISKS.values(), ids=DISKS)
def test_disks(pod: PodBuilder, running: PodBuilder, conflict: bool) -> None:
    status = verdict(pod, node_info(make_node("n"), running))
    assert status == (Status(Code.UNSCHEDULABLE, (DISK,)) if conflict else None)


def user(name: str, namespace: str = "default") -> PodBuilder:
    return make_pod(name, namespace).claim("c")


def test_a_read_write_once_pod_claim_in_use_shuts_out_every_node() -> None:
    used, free = node_info(make_node("n"), user("old")), node_info(make_node("m"))
    world = World(used, free)
    world.add(claim("c", **ONE_POD))
    plugin, state, pod = VolumeRestrictions({}, world.handle), CycleState(), pod_of(user("new"))
    plugin.pre_filter(state, pod, [used, free])
    expected = Status(Code.UNSCHEDULABLE, (IN_USE,))
    assert [plugin.filter(state, pod, info) for info in (used, free)] == [expected, expected]


def test_removing_the_other_user_frees_the_claim_in_the_copy_only() -> None:
    used = node_info(make_node("n"), user("old"))
    world = World(used)
    world.add(claim("c", **ONE_POD))
    plugin, state, pod = VolumeRestrictions({}, world.handle), CycleState(), pod_of(user("new"))
    plugin.pre_filter(state, pod, [used])
    trial = state.clone()
    plugin.remove_pod(trial, pod, used.pods[0], used)
    assert plugin.filter(trial, pod, used) is None
    assert plugin.filter(state, pod, used) is not None
    plugin.add_pod(trial, pod, used.pods[0], used)
    assert plugin.filter(trial, pod, used) is not None


CLAIMS: dict[str, tuple[PodBuilder, PodBuilder, list[KubeObject], Status | None]] = {
    "A ReadWriteOnce claim may have several users": (user("new"), user("old"), [claim("c")], None),
    "A ReadWriteOncePod claim that nobody uses is free": (user("new"), make_pod("old"), [claim("c", **ONE_POD)], None),
    "A claim of the same name in another namespace is another claim": (
        user("new"),
        user("old", "team-a"),
        [claim("c", **ONE_POD)],
        None,
    ),
    "A claim that does not exist is beyond help": (
        user("new"),
        make_pod("old"),
        [],
        Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ('persistentvolumeclaim "c" not found',)),
    ),
}


@pytest.mark.parametrize(("pod", "running", "claims", "expected"), CLAIMS.values(), ids=CLAIMS)
def test_claims(pod: PodBuilder, running: PodBuilder, claims: list[KubeObject], expected: Status | None) -> None:
    assert verdict(pod, node_info(make_node("n"), running), *claims) == expected


def test_events() -> None:
    assert events_of(VolumeRestrictions({}, World().handle)) == {
        "Pod/DELETE": True,
        "Node/ADD": False,
        "PersistentVolumeClaim/ADD": True,
    }


POD_HINTS: dict[str, tuple[PodBuilder, PodBuilder, Hint]] = {
    "A pod with the same disk goes": (gce("new"), gce("old"), Hint.QUEUE),
    "A pod with another disk goes": (gce("new"), gce("old", "e"), Hint.SKIP),
    "A pod with the same claim goes": (user("new"), user("old"), Hint.QUEUE),
    "A pod of another namespace goes": (user("new"), user("old", "team-a"), Hint.SKIP),
    "A pod without volumes is deleted": (user("new"), make_pod("old"), Hint.SKIP),
}


@pytest.mark.parametrize(("pod", "deleted", "expected"), POD_HINTS.values(), ids=POD_HINTS)
def test_hints_for_deleted_pods(pod: PodBuilder, deleted: PodBuilder, expected: Hint) -> None:
    plugin = VolumeRestrictions({}, World().handle)
    assert hint_of(plugin, "Pod", pod_of(pod), pod_of(deleted), None) is expected


CLAIM_HINTS: dict[str, tuple[KubeObject, Hint]] = {
    "The pod's claim is created": (claim("c"), Hint.QUEUE),
    "Another claim is created": (claim("d"), Hint.SKIP),
    "A claim of that name is created in another namespace": (claim("c", namespace="team-a"), Hint.SKIP),
}


@pytest.mark.parametrize(("created", "expected"), CLAIM_HINTS.values(), ids=CLAIM_HINTS)
def test_hints_for_new_claims(created: KubeObject, expected: Hint) -> None:
    plugin = VolumeRestrictions({}, World().handle)
    assert hint_of(plugin, "PersistentVolumeClaim", pod_of(user("new")), None, created) is expected


def ebs(name: str) -> PodBuilder:
    return with_disk(name, awsElasticBlockStore={"volumeID": "v", "readOnly": True})


NOTES: dict[str, tuple[PodBuilder, PodBuilder, Line]] = {
    "A disk that somebody writes to": (
        gce("new"),
        gce("old"),
        Line("gcePersistentDisk d", "in use by old", "pods may share it only if all mount it read-only"),
    ),
    "A disk that both only read": (
        gce("new", read_only=True),
        gce("old", read_only=True),
        Line("gcePersistentDisk d", "free on this node"),
    ),
    "A disk at AWS that both only read": (
        ebs("new"),
        ebs("old"),
        Line("awsElasticBlockStore v", "in use by old", "pods on the same node can never share it"),
    ),
}


@pytest.mark.parametrize(("pod", "there", "expected"), NOTES.values(), ids=NOTES)
def test_facts_of_a_disk(pod: PodBuilder, there: PodBuilder, expected: Line) -> None:
    info = node_info(make_node("n"), there)
    plugin, state = VolumeRestrictions({}, World(info).handle), CycleState()
    assert plugin.pre_filter(state, pod_of(pod), [info]) == (None, None)
    facts = plugin.explain_filter(state, pod_of(pod), info)
    assert facts.status == plugin.filter(state, pod_of(pod), info)
    assert lines(facts) == (expected,)


def test_a_disk_in_use_is_explained_even_if_pre_filter_is_disabled() -> None:
    info = node_info(make_node("n1"), gce("old"))
    plugin, pod = VolumeRestrictions({}, World(info).handle), pod_of(gce("new"))
    facts = plugin.explain_filter(CycleState(), pod, info)
    assert (facts.says.key, facts.status) == ("volumes.disk-in-use", plugin.filter(CycleState(), pod, info))
