"""VolumeZone: zone and region labels of bound volumes."""

from __future__ import annotations

import pytest

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Hint
from scheduler_engine.framework.status import Code, Status
from scheduler_engine.plugins.volume_zone import VolumeZone
from scheduler_engine.testing import NodeBuilder, make_node, make_pod
from scheduler_engine.wording import Line, lines
from tests.engine.plugins.volumes import claim, storage_class, volume
from tests.engine.plugins.world import World, events_of, hint_of, node_info, pod_of

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
NO_ZONE = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) had no available volume zone",))
POD = pod_of(make_pod("p").claim("c"))

NODES: dict[str, tuple[dict[str, str], NodeBuilder, Status | None]] = {
    "A node in the volume's zone fits": ({ZONE: "a"}, make_node("n").zone("a"), None),
    "A node in another zone does not": ({ZONE: "a"}, make_node("n").zone("b"), NO_ZONE),
    "A node in one of the volume's zones fits": ({ZONE: "a__b"}, make_node("n").zone("b"), None),
    "Zone and region must both agree": ({ZONE: "a", REGION: "r"}, make_node("n").zone("a").region("s"), NO_ZONE),
    "A node with a region but no zone does not fit": ({ZONE: "a"}, make_node("n").region("r"), NO_ZONE),
    "A node without any zone or region fits": ({ZONE: "a"}, make_node("n"), None),
    "A volume with the old label fits a node with the new one": ({BETA_ZONE: "a"}, make_node("n").zone("a"), None),
    "The old label of the node wins": (
        {BETA_ZONE: "a"},
        make_node("n").zone("a").label(BETA_ZONE, "b"),
        NO_ZONE,
    ),
}


@pytest.mark.parametrize(("labels", "node", "expected"), NODES.values(), ids=NODES)
@pytest.mark.parametrize("prepared", [True, False], ids=["after PreFilter", "without PreFilter"])
def test_filter(labels: dict[str, str], node: NodeBuilder, expected: Status | None, prepared: bool) -> None:
    info = node_info(node)
    world = World(info)
    world.add(claim("c", bound_to="v"), volume("v", labels=labels))
    plugin, state = VolumeZone({}, world.handle), CycleState()
    if prepared:
        assert plugin.pre_filter(state, POD, [info]) == (None, None)
    assert plugin.filter(state, POD, info) == expected


def test_a_missing_claim_is_missed_on_a_node_without_labels_when_prefilter_is_switched_off() -> None:
    info = node_info(make_node("n"))
    status = VolumeZone({}, World(info).handle).filter(CycleState(), POD, info)
    assert status == wrong('persistentvolumeclaim "c" not found')


def wrong(text: str) -> Status:
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))


SKIP = Status(Code.SKIP)
PREFILTER: dict[str, tuple[list[KubeObject], Status]] = {
    "A volume without zone labels needs no check": ([claim("c", bound_to="v"), volume("v")], SKIP),
    "A label with an empty part does not count": ([claim("c", bound_to="v"), volume("v", labels={ZONE: "a__"})], SKIP),
    "A claim that waits for its first consumer needs no check": ([claim("c"), storage_class("wait")], SKIP),
    "A missing claim": ([], wrong('persistentvolumeclaim "c" not found')),
    "A missing volume": ([claim("c", bound_to="v")], wrong('persistentvolume "v" not found')),
    "A missing class": ([claim("c")], wrong('storageclass.storage.k8s.io "wait" not found')),
    "No class at all": (
        [claim("c", storage_class="")],
        wrong("PersistentVolumeClaim had no pv name and storageClass name"),
    ),
    "A claim that should be bound already": (
        [claim("c", storage_class="now"), storage_class("now", "Immediate")],
        wrong("PersistentVolume had no name"),
    ),
}


@pytest.mark.parametrize(("objects", "expected"), PREFILTER.values(), ids=PREFILTER)
def test_prefilter(objects: list[KubeObject], expected: Status) -> None:
    world = World()
    world.add(*objects)
    assert VolumeZone({}, world.handle).pre_filter(CycleState(), POD, []) == (None, expected)


def test_a_pod_without_claims_is_skipped() -> None:
    assert VolumeZone({}, World().handle).pre_filter(CycleState(), pod_of(make_pod("p")), []) == (None, SKIP)


def test_events() -> None:
    assert events_of(VolumeZone({}, World().handle)) == {
        "storage.k8s.io/StorageClass/ADD": True,
        "Node/ADD, UPDATE_NODE_LABEL": False,
        "PersistentVolumeClaim/ADD, UPDATE": True,
        "PersistentVolume/ADD, UPDATE": True,
    }


CLASS, CLAIM, VOLUME = "storage.k8s.io/StorageClass", "PersistentVolumeClaim", "PersistentVolume"
HINTS: dict[str, tuple[str, KubeObject | None, KubeObject, Hint]] = {
    "A class that waits for the first consumer is created": (CLASS, None, storage_class("s"), Hint.QUEUE),
    "A class that binds at once is created": (CLASS, None, storage_class("s", "Immediate"), Hint.SKIP),
    "The pod's claim is bound": (CLAIM, claim("c"), claim("c", bound_to="v"), Hint.QUEUE),
    "Another claim is created": (CLAIM, None, claim("d"), Hint.SKIP),
    "A claim of that name elsewhere is created": (CLAIM, None, claim("c", namespace="team-a"), Hint.SKIP),
    "A volume is created": (VOLUME, None, volume("v"), Hint.QUEUE),
    "A volume changes its zone": (VOLUME, volume("v"), volume("v", labels={ZONE: "a"}), Hint.QUEUE),
    "A volume names its zones in another order": (
        VOLUME,
        volume("v", labels={ZONE: "a__b"}),
        volume("v", labels={ZONE: "b__a"}),
        Hint.SKIP,
    ),
    "A volume changes something else": (VOLUME, volume("v"), volume("v", labels={"k": "v"}), Hint.SKIP),
}


@pytest.mark.parametrize(("resource", "old", "new", "expected"), HINTS.values(), ids=HINTS)
def test_hints(resource: str, old: KubeObject | None, new: KubeObject, expected: Hint) -> None:
    assert hint_of(VolumeZone({}, World().handle), resource, POD, old, new) is expected


def test_facts_without_prefilter_are_of_the_volume_that_filter_saw() -> None:
    info = node_info(make_node("n").zone("b"))
    world = World(info)
    world.add(claim("c", bound_to="v"), volume("v", labels={ZONE: "a"}))
    plugin, state = VolumeZone({}, world.handle), CycleState()
    status = plugin.filter(state, POD, info)
    world.add(volume("v", labels={ZONE: "b"}))
    facts = plugin.explain_filter(state, POD, info)
    assert status is not None
    assert facts.status == status
    assert lines(facts) == (Line("claim c", f"{ZONE} a, node has {ZONE}=b", "different zone"),)
