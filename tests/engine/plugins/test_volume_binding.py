"""VolumeBinding: the nodes a pod's claims allow, reservations there, and the binding."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.apiserver.errors import conflict
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Hint, PluginError
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.status import Code, Status
from scheduler_engine.plugins.volume_binding import VolumeBinding
from scheduler_engine.plugins.volume_binding.binder import SELECTED_NODE
from scheduler_engine.plugins.volume_binding.finding import (
    BIND_CONFLICT,
    NODE_CONFLICT,
    NOT_ENOUGH_SPACE,
    VOLUME_MISSING,
)
from scheduler_engine.testing import Builder, PodBuilder, make_node, make_pod
from scheduler_engine.versions import DEFAULT_RULES, VERSIONS, Rules, rules_for
from scheduler_engine.wording import Line, lines, sentence
from tests.engine.plugins.volumes import (
    NO_PROVISIONER,
    capacity,
    claim,
    csi_driver,
    csi_node,
    storage_class,
    volume,
)
from tests.engine.plugins.world import World, events_of, hint_of, node_info, object_of, pod_of

POD = make_pod("p").claim("c")
TWO = make_pod("p").claim("c").claim("d")
WAIT = storage_class("wait")
LOCAL = storage_class("local", provisioner=NO_PROVISIONER)


def nodes() -> list[NodeInfo]:
    return [node_info(make_node(name).zone(name)) for name in ("a", "b")]


class Cycle:
    """One pod's cycle in a world whose API executes patches."""

    def __init__(self, pod: PodBuilder, *objects: KubeObject, timeout: int = 600, rules: Rules = DEFAULT_RULES) -> None:
        infos = nodes()
        self.world = World(*infos)
        self.world.add(*objects, *(info.node for info in infos if info.node is not None))
        self.pod = pod_of(pod)
        self.world.add(self.pod)
        self.plugin = VolumeBinding({"bindTimeoutSeconds": timeout}, replace(self.world.handle, rules=rules))
        self.infos: Sequence[NodeInfo] = infos
        self.state = CycleState()

    def pre_filter(self) -> Status | None:
        return self.plugin.pre_filter(self.state, self.pod, self.infos)[1]

    def filter(self) -> dict[str, tuple[str, ...]]:
        """Return node → reasons."""
        assert self.pre_filter() is None
        statuses = {info.name: self.plugin.filter(self.state, self.pod, info) for info in self.infos}
        assert all(status is None or status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE for status in statuses.values())
        return {name: () if status is None else status.reasons for name, status in statuses.items()}

    def chosen(self, node: str) -> tuple[list[tuple[str, str]], list[str]]:
        """Return ([(claim, volume)], [claims to provision]) for a node that passed."""
        held = self.state.read("VolumeBinding").pod_volumes[node]
        return [(item.claim.name, item.volume.name) for item in held.static_bindings], [
            item.name for item in held.provisions
        ]

    def reserve(self, node: str = "a") -> None:
        self.filter()
        assert self.plugin.reserve(self.state, self.pod, node) is None

    def pre_bind(self, node: str = "a") -> Status | None:
        return self.plugin.pre_bind(self.state, self.pod, node)

    def apply_patches(self) -> None:
        """Apply the patches that the plugin sent to the API, each with a new resourceVersion."""
        for _, kind, key, changes in self.world.calls:
            stored = self.world.objects[kind, key]
            version = str(int(stored.resource_version or 0) + 1)
            self.world.add(stored.evolve(changes).evolve({"metadata": {"resourceVersion": version}}))
        self.world.calls.clear()


NO_HELP: dict[str, tuple[PodBuilder, list[KubeObject], str]] = {
    "A claim that does not exist": (POD, [], 'persistentvolumeclaim "c" not found'),
    "An ephemeral claim that is still to be made": (
        make_pod("p").spec(volumes=[{"name": "s", "ephemeral": {}}]),
        [],
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-s"',
    ),
    "An ephemeral claim of another pod": (
        make_pod("p").spec(volumes=[{"name": "s", "ephemeral": {}}]),
        [claim("p-s")],
        "PVC default/p-s was not created for pod default/p (pod is not owner)",
    ),
    "A claim that lost its volume": (
        POD,
        [claim("c", bound_to="v", phase="Lost")],
        'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
    ),
    "A claim that is being deleted": (
        POD,
        [claim("c", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})],
        'persistentvolumeclaim "c" is being deleted',
    ),
    "A claim of a class that binds at once": (
        POD,
        [claim("c", storage_class="now"), storage_class("now", "Immediate")],
        "pod has unbound immediate PersistentVolumeClaims",
    ),
    "A claim whose class does not exist": (POD, [claim("c")], "pod has unbound immediate PersistentVolumeClaims"),
    "A claim that names its volume but is not bound yet": (
        POD,
        [WAIT, claim("c", volumeName="v")],
        "pod has unbound immediate PersistentVolumeClaims",
    ),
}


@pytest.mark.parametrize(("pod", "objects", "reason"), NO_HELP.values(), ids=NO_HELP)
def test_prefilter_rejects(pod: PodBuilder, objects: list[KubeObject], reason: str) -> None:
    assert Cycle(pod, *objects).pre_filter() == Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (reason,))


def test_a_class_without_a_binding_mode_is_an_error() -> None:
    broken = WAIT.evolve({"volumeBindingMode": None})
    with pytest.raises(PluginError, match=r'^VolumeBindingMode not set for StorageClass "wait"$'):
        Cycle(POD, claim("c"), broken).pre_filter()


def test_a_pod_without_claims_is_skipped_and_has_nothing_to_bind() -> None:
    cycle = Cycle(make_pod("p"))
    assert cycle.pre_filter() == Status(Code.SKIP)
    assert cycle.plugin.reserve(cycle.state, cycle.pod, "a") is None
    assert cycle.pre_bind() is None
    assert cycle.plugin.pre_score(cycle.state, cycle.pod, cycle.infos) == Status(Code.SKIP)


UID_C = {"namespace": "default", "name": "c", "uid": "uid-c"}
FREE: tuple[str, ...] = ()
EBS: dict[str, Any] = {"csi": None, "awsElasticBlockStore": {"volumeID": "vol-1"}}
STATIC: dict[str, tuple[list[KubeObject], dict[str, tuple[str, ...]], dict[str, str]]] = {
    "A bound claim keeps the pod where its volume is": (
        [claim("c", bound_to="v"), volume("v", zone="a")],
        {"a": FREE, "b": (NODE_CONFLICT,)},
        {"a": ""},
    ),
    "An in-tree volume is looked for in its CSI driver's zone where the node announces the driver": (
        [claim("c", bound_to="v"), volume("v", zone="a", **EBS), csi_node("a", {}, "kubernetes.io/aws-ebs")],
        {"a": (NODE_CONFLICT,), "b": (NODE_CONFLICT,)},
        {},
    ),
    "An in-tree volume is looked for as written where the node does not announce the driver": (
        [claim("c", bound_to="v"), volume("v", zone="a", **EBS), csi_node("a", {}, "kubernetes.io/gce-pd")],
        {"a": FREE, "b": (NODE_CONFLICT,)},
        {"a": ""},
    ),
    "A bound claim whose volume is missing leaves no node": (
        [claim("c", bound_to="v")],
        {"a": (VOLUME_MISSING,), "b": (VOLUME_MISSING,)},
        {},
    ),
    "A local volume is found on its node only": (
        [LOCAL, claim("c", storage_class="local"), volume("v", zone="a", storage_class="local")],
        {"a": FREE, "b": (BIND_CONFLICT,)},
        {"a": "v"},
    ),
    "The smallest volume that is large enough is taken": (
        [
            LOCAL,
            claim("c", storage_class="local", gib=2),
            volume("large", gib=9, storage_class="local"),
            volume("small", gib=1, storage_class="local"),
            volume("middle", gib=3, storage_class="local"),
        ],
        {"a": FREE, "b": FREE},
        {"a": "middle", "b": "middle"},
    ),
    "Among equals the first by name is taken": (
        [
            LOCAL,
            claim("c", storage_class="local"),
            volume("y", storage_class="local"),
            volume("x", storage_class="local"),
        ],
        {"a": FREE, "b": FREE},
        {"a": "x", "b": "x"},
    ),
    "A volume of another class that is set aside for the claim is not looked at": (
        [
            LOCAL,
            claim("c", storage_class="local"),
            volume("small", storage_class="local"),
            volume("mine", gib=9, storage_class="other", claimRef=UID_C),
        ],
        {"a": FREE, "b": FREE},
        {"a": "small", "b": "small"},
    ),
    "A volume of the class that is set aside for the claim is taken first": (
        [
            LOCAL,
            claim("c", storage_class="local"),
            volume("small", storage_class="local"),
            volume("mine", gib=9, storage_class="local", claimRef=UID_C),
        ],
        {"a": FREE, "b": FREE},
        {"a": "mine", "b": "mine"},
    ),
    "Where the node cannot reach the volume set aside no other will do": (
        [
            LOCAL,
            claim("c", storage_class="local"),
            volume("mine", zone="b", storage_class="local", claimRef=UID_C),
            volume("other", storage_class="local"),
        ],
        {"a": (BIND_CONFLICT,), "b": FREE},
        {"b": "mine"},
    ),
}
UNSUITABLE: dict[str, KubeObject] = {
    "A volume of another claim": volume("v", storage_class="local", claimRef={**UID_C, "name": "d"}),
    "A volume of an older claim of that name": volume("v", storage_class="local", claimRef={**UID_C, "uid": "old"}),
    "A volume that is too small": volume("v", gib=1, storage_class="local"),
    "A volume of another class": volume("v", gib=2, storage_class="wait"),
    "A volume that is not available": volume("v", gib=2, storage_class="local", phase="Released"),
    "A volume that lacks the access mode": volume("v", gib=2, storage_class="local", accessModes=["ReadOnlyMany"]),
    "A raw block volume": volume("v", gib=2, storage_class="local", volumeMode="Block"),
    "A volume of another attributes class": volume("v", gib=2, storage_class="local", volumeAttributesClassName="g"),
    "A volume that the selector does not find": volume("v", gib=2, storage_class="local", labels={"tier": "slow"}),
    "A volume that is being deleted": volume(
        "v", gib=2, storage_class="local", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}
    ),
}


BROKEN: dict[str, tuple[str, dict[str, Any], str]] = {
    "An EBS volume with an invalid name": (
        "kubernetes.io/aws-ebs",
        {"awsElasticBlockStore": {"volumeID": "aws://za/disk-1"}},
        r".*\(aws://za/disk-1\)",
    ),
    "An Azure disk of a kind that was not migrated": (
        "kubernetes.io/azure-disk",
        {"azureDisk": {"diskURI": "u", "kind": "Dedicated"}},
        r"kind\(Dedicated\) is not supported in csi migration",
    ),
}


@pytest.mark.parametrize(("plugin", "source", "problem"), BROKEN.values(), ids=BROKEN)
def test_a_broken_in_tree_volume_is_an_error_where_its_driver_is_announced(
    plugin: str, source: dict[str, Any], problem: str
) -> None:
    broken = volume("v", csi=None, **source)
    cycle = Cycle(POD, claim("c", bound_to="v"), broken, csi_node("a", {}, plugin))
    with pytest.raises(PluginError, match=f"^could not translate pv: {problem}$"):
        cycle.filter()


@pytest.mark.parametrize(("objects", "reasons", "taken"), STATIC.values(), ids=STATIC)
def test_existing_volumes(
    objects: list[KubeObject], reasons: dict[str, tuple[str, ...]], taken: dict[str, str]
) -> None:
    cycle = Cycle(POD, *objects)
    assert cycle.filter() == reasons
    for node, name in taken.items():
        assert cycle.chosen(node) == ([("c", name)] if name else [], [])


@pytest.mark.parametrize("unsuitable", UNSUITABLE.values(), ids=UNSUITABLE)
def test_a_volume_that_does_not_suit_is_left_alone(unsuitable: KubeObject) -> None:
    selector = {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}
    wanted = claim("c", storage_class="local", gib=2, selector=selector)
    assert Cycle(POD, LOCAL, wanted, unsuitable).filter() == {"a": (BIND_CONFLICT,), "b": (BIND_CONFLICT,)}
    suitable = volume("v", gib=2, storage_class="local")
    assert Cycle(POD, LOCAL, wanted, suitable).filter() == {"a": (), "b": ()}


def test_two_claims_take_two_volumes_and_the_smaller_chooses_first() -> None:
    claims = [claim("c", storage_class="local", gib=5), claim("d", storage_class="local", gib=1)]
    volumes = [volume("v5", gib=5, storage_class="local"), volume("v6", gib=6, storage_class="local")]
    cycle = Cycle(TWO, LOCAL, *claims, *volumes)
    cycle.filter()
    assert cycle.chosen("a") == ([("d", "v5"), ("c", "v6")], [])


def test_an_unmatched_claim_is_provisioned() -> None:
    cycle = Cycle(TWO, WAIT, claim("c"), claim("d", gib=9), volume("v", zone="a"))
    assert cycle.filter() == {"a": (), "b": ()}
    assert cycle.chosen("a") == ([("c", "v")], ["d"])
    assert cycle.chosen("b") == ([], ["c", "d"])


ZONE_A = [{"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": ["a"]}]}]
PROVISIONING: dict[str, tuple[list[KubeObject], dict[str, tuple[str, ...]]]] = {
    "A class without a provisioner cannot make a volume": (
        [storage_class("wait", provisioner=NO_PROVISIONER), claim("c")],
        {"a": (BIND_CONFLICT,), "b": (BIND_CONFLICT,)},
    ),
    "Volumes are made in the class's topologies only": (
        [storage_class("wait", allowedTopologies=ZONE_A), claim("c")],
        {"a": FREE, "b": (BIND_CONFLICT,)},
    ),
    "A topology term without expressions allows nothing": (
        [storage_class("wait", allowedTopologies=[{"matchLabelExpressions": []}]), claim("c")],
        {"a": (BIND_CONFLICT,), "b": (BIND_CONFLICT,)},
    ),
    "A driver that tells its capacity needs enough of it within reach": (
        [WAIT, claim("c", gib=5), csi_driver(True), capacity("x", "a", 5), capacity("y", "b", 4)],
        {"a": FREE, "b": (NOT_ENOUGH_SPACE,)},
    ),
    "The largest possible volume counts more than what is free": (
        [WAIT, claim("c", gib=5), csi_driver(True), capacity("x", "a", 50, maximumVolumeSize="4Gi")],
        {"a": (NOT_ENOUGH_SPACE,), "b": (NOT_ENOUGH_SPACE,)},
    ),
    "Capacity of another class does not count": (
        [WAIT, claim("c"), csi_driver(True), capacity("x", "a", 50, storage_class="other")],
        {"a": (NOT_ENOUGH_SPACE,), "b": (NOT_ENOUGH_SPACE,)},
    ),
    "A driver that does not tell its capacity is trusted": (
        [WAIT, claim("c", gib=5), csi_driver(False), capacity("x", "a", 1)],
        {"a": FREE, "b": FREE},
    ),
    "A claim without a size is not checked": (
        [WAIT, claim("c", resources={}), csi_driver(True)],
        {"a": FREE, "b": FREE},
    ),
    "A claim already being provisioned for a node ties the pod to it": (
        [WAIT, claim("c", annotations={SELECTED_NODE: "b"})],
        {"a": (BIND_CONFLICT,), "b": FREE},
    ),
}


@pytest.mark.parametrize(("objects", "reasons"), PROVISIONING.values(), ids=PROVISIONING)
def test_provisioning(objects: list[KubeObject], reasons: dict[str, tuple[str, ...]]) -> None:
    assert Cycle(POD, *objects).filter() == reasons


def test_reasons_of_bound_and_unbound_claims_add_up() -> None:
    objects = [LOCAL, claim("c", bound_to="v"), volume("v", zone="z"), claim("d", storage_class="local")]
    assert Cycle(TWO, *objects).filter()["a"] == (NODE_CONFLICT, BIND_CONFLICT)


# --- Reserve ---

STATIC_OBJECTS = (LOCAL, claim("c", storage_class="local"), volume("v", storage_class="local"))


def second_pod(cycle: Cycle) -> dict[str, tuple[str, ...]]:
    """Return Filter's result for another pod whose claim wants the same volume."""
    cycle.world.add(claim("d", storage_class="local"))
    state, pod = CycleState(), pod_of(make_pod("q").claim("d"))
    cycle.plugin.pre_filter(state, pod, cycle.infos)
    statuses = {info.name: cycle.plugin.filter(state, pod, info) for info in cycle.infos}
    return {name: () if status is None else status.reasons for name, status in statuses.items()}


def test_a_reserved_volume_is_taken_for_later_pods_until_unreserved() -> None:
    cycle = Cycle(POD, *STATIC_OBJECTS)
    cycle.reserve()
    assert second_pod(cycle)["a"] == (BIND_CONFLICT,)
    cycle.plugin.unreserve(cycle.state, cycle.pod, "a")
    assert second_pod(cycle)["a"] == ()


def test_a_reserved_provisioning_ties_the_claim_to_the_node() -> None:
    cycle = Cycle(POD, WAIT, claim("c"))
    cycle.reserve("b")
    assert cycle.filter() == {"a": (BIND_CONFLICT,), "b": ()}
    assert cycle.world.calls == []


def test_an_assumption_ends_when_the_api_server_has_a_newer_version() -> None:
    cycle = Cycle(POD, *STATIC_OBJECTS)
    cycle.reserve()
    newer = volume("v", storage_class="local", labels={"k": "v"}, metadata={"resourceVersion": "7"})
    cycle.world.add(newer)
    assert second_pod(cycle)["a"] == ()


@pytest.mark.parametrize(("kubernetes", "what"), [*zip(VERSIONS, ("v1.PersistentVolume ", "", ""), strict=True)])
def test_reserve_fails_when_the_volume_has_changed_and_assumes_nothing(kubernetes: str, what: str) -> None:
    objects = *STATIC_OBJECTS, claim("d", storage_class="local"), volume("w", storage_class="local")
    cycle = Cycle(TWO, *objects, rules=rules_for(kubernetes))
    cycle.filter()
    cycle.world.add(volume("w", storage_class="local", metadata={"resourceVersion": "7"}))
    with pytest.raises(PluginError, match=rf'^{what}"w" is out of sync \(stored: 7, assume: 0\)$'):
        cycle.plugin.reserve(cycle.state, cycle.pod, "a")
    assert cycle.plugin.binder.volumes.assumed == {}


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))], ids=["by deepcopy", "by pickle"]
)
def test_a_reserved_cycle_can_be_copied(copied: Any) -> None:
    cycle = Cycle(POD, *STATIC_OBJECTS)
    cycle.reserve()
    twin: Cycle = copied(cycle)
    twin.plugin.unreserve(twin.state, twin.pod, "a")
    assert second_pod(twin)["a"] == ()
    assert second_pod(cycle)["a"] == (BIND_CONFLICT,)


# --- PreBind ---

WAITING = Code.WAIT


def test_prebind_writes_the_volume_and_waits_for_the_controller() -> None:
    cycle = Cycle(POD, *STATIC_OBJECTS)
    cycle.reserve()
    first = cycle.pre_bind()
    assert first is not None
    assert first.code is WAITING
    reference = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "resourceVersion": "", **UID_C}
    annotations = {"pv.kubernetes.io/bound-by-controller": "yes"}
    changes: Mapping[str, Any] = {"metadata": {"annotations": annotations}, "spec": {"claimRef": reference}}
    assert cycle.world.calls == [("patch", "PersistentVolume", "v", changes)]
    cycle.apply_patches()
    again = cycle.pre_bind()
    assert again is not None
    assert again.code is WAITING
    assert cycle.world.calls == []
    cycle.world.add(claim("c", bound_to="v", storage_class="local"))
    assert cycle.pre_bind() is None


def test_prebind_asks_for_a_volume_on_the_chosen_node() -> None:
    cycle = Cycle(POD, WAIT, claim("c"))
    cycle.reserve("b")
    cycle.pre_bind("b")
    changes = {"metadata": {"annotations": {SELECTED_NODE: "b"}}}
    assert cycle.world.calls == [("patch", "PersistentVolumeClaim", "default/c", changes)]
    cycle.apply_patches()
    cycle.world.add(claim("c", bound_to="new", annotations={SELECTED_NODE: "b"}))
    waiting = cycle.pre_bind("b")
    assert waiting is not None
    assert waiting.code is WAITING
    cycle.world.add(volume("new", zone="b"))
    assert cycle.pre_bind("b") is None


def test_without_reserve_prebind_changes_no_volume_and_its_check_fails() -> None:
    cycle = Cycle(TWO, *STATIC_OBJECTS, WAIT, claim("d"))
    cycle.filter()
    waiting = cycle.pre_bind()
    assert waiting is not None
    assert waiting.code is WAITING
    assert [(kind, changes) for _, kind, _, changes in cycle.world.calls] == [
        ("PersistentVolume", {}),
        ("PersistentVolumeClaim", {}),
    ]
    with pytest.raises(PluginError, match=r'^binding volumes: ClaimRef got reset for pv "v"$'):
        cycle.pre_bind()


@pytest.mark.parametrize(
    "objects", [(WAIT, claim("c")), (claim("c", bound_to="v"), volume("v"))], ids=["a new volume", "a bound one"]
)
def test_without_reserve_prebind_misses_a_choice_without_existing_volumes(objects: tuple[KubeObject, ...]) -> None:
    cycle = Cycle(POD, *objects)
    cycle.filter()
    with pytest.raises(PluginError, match=r'^failed to get cached bindings for pod "default/p"$'):
        cycle.pre_bind()
    assert cycle.world.calls == []


def test_prebind_gives_up_after_the_timeout() -> None:
    cycle = Cycle(POD, WAIT, claim("c"), timeout=30)
    cycle.reserve()
    cycle.pre_bind()
    cycle.apply_patches()
    cycle.world.recorder.now_us = 29_999_999
    assert cycle.pre_bind() is not None
    cycle.world.recorder.now_us = 30_000_000
    with pytest.raises(PluginError, match=r"^binding volumes: context deadline exceeded$"):
        cycle.pre_bind()


def without(kind: str, key: str) -> Any:
    def change(cycle: Cycle) -> None:
        del cycle.world.objects[kind, key]

    return change


def with_object(item: KubeObject) -> Any:
    def change(cycle: Cycle) -> None:
        cycle.world.add(item)

    return change


FAILURES: dict[str, tuple[tuple[KubeObject, ...], Any, str]] = {
    "The node is gone": ((WAIT, claim("c")), without("Node", "a"), 'failed to get node "a": node "a" not found'),
    "The pod is gone": (
        (WAIT, claim("c")),
        without("Pod", "default/p"),
        'pod does not exist any more: pod "p" not found',
    ),
    "The claim is gone": (
        (WAIT, claim("c")),
        without("PersistentVolumeClaim", "default/c"),
        'failed to check provisioning pvc: could not find v1.PersistentVolumeClaim "default/c"',
    ),
    "The provisioner gives the claim back": (
        (WAIT, claim("c")),
        with_object(claim("c", annotations={"k": "v"})),
        'provisioning failed for PVC "c"',
    ),
    "All annotations of the claim are gone": (
        (WAIT, claim("c")),
        with_object(claim("c")),
        'selectedNode annotation reset for PVC "c"',
    ),
    "The new volume is out of the node's reach": (
        (WAIT, claim("c"), volume("far", zone="b")),
        with_object(claim("c", bound_to="far", annotations={SELECTED_NODE: "a"})),
        'pv "far" node affinity doesn\'t match node "a": no matching NodeSelectorTerms',
    ),
    "The volume is gone": (
        STATIC_OBJECTS,
        without("PersistentVolume", "v"),
        'failed to check binding: could not find v1.PersistentVolume "v"',
    ),
    "The volume lost its claim": (
        STATIC_OBJECTS,
        with_object(volume("v", storage_class="local")),
        'ClaimRef got reset for pv "v"',
    ),
    "The claim of an existing volume is gone": (
        STATIC_OBJECTS,
        without("PersistentVolumeClaim", "default/c"),
        'failed to check binding: could not find v1.PersistentVolumeClaim "default/c"',
    ),
}


@pytest.mark.parametrize(("objects", "change", "message"), FAILURES.values(), ids=FAILURES)
def test_binding_fails_for_good(objects: tuple[KubeObject, ...], change: Any, message: str) -> None:
    check_failure(Cycle(POD, *objects), change, message)


def check_failure(cycle: Cycle, change: Any, message: str) -> None:
    """Check that the binding of volumes fails after a change, with this message."""
    cycle.reserve()
    cycle.pre_bind()
    cycle.apply_patches()
    change(cycle)
    with pytest.raises(PluginError) as raised:
        cycle.pre_bind()
    assert str(raised.value) == f"binding volumes: {message}"


GONE = {
    "The claim is gone": 'failed to check provisioning pvc: persistentvolumeclaims "default/c" not found',
    "The volume is gone": 'failed to check binding: persistentvolumes "v" not found',
    "The claim of an existing volume is gone": 'failed to check binding: persistentvolumeclaims "default/c" not found',
}


@pytest.mark.parametrize("kubernetes", VERSIONS[1:])
@pytest.mark.parametrize(("failure", "message"), GONE.items(), ids=GONE)
def test_newer_versions_name_the_resource_of_what_is_gone(kubernetes: str, failure: str, message: str) -> None:
    objects, change, _ = FAILURES[failure]
    check_failure(Cycle(POD, *objects, rules=rules_for(kubernetes)), change, message)


def test_a_refused_write_drops_the_assumption() -> None:
    cycle = Cycle(POD, *STATIC_OBJECTS)
    cycle.reserve()
    cycle.world.refusal = conflict("persistentvolumes", "v", "no")
    with pytest.raises(PluginError, match=r'^Operation cannot be fulfilled on persistentvolumes "v": no$'):
        cycle.pre_bind()
    cycle.world.refusal = None
    assert second_pod(cycle)["a"] == ()


def test_a_volume_that_changed_since_reserve_is_not_overwritten() -> None:
    cycle = Cycle(POD, *STATIC_OBJECTS)
    cycle.reserve()
    cycle.world.add(volume("v", storage_class="local", metadata={"resourceVersion": "7"}))
    with pytest.raises(PluginError, match=r"the object has been modified; please apply your changes"):
        cycle.pre_bind()
    assert cycle.world.calls == []


# --- events ---


def test_events() -> None:
    assert events_of(VolumeBinding({}, World().handle)) == {
        "storage.k8s.io/StorageClass/ADD, UPDATE": True,
        "PersistentVolumeClaim/ADD, UPDATE": True,
        "PersistentVolume/ADD, UPDATE": False,
        "Node/ADD, UPDATE_NODE_LABEL": False,
        "storage.k8s.io/CSINode/ADD, UPDATE": True,
        "storage.k8s.io/CSIDriver/UPDATE": True,
        "storage.k8s.io/CSIStorageCapacity/ADD, UPDATE": True,
    }


CLASS, CLAIM, CSI_NODE = "storage.k8s.io/StorageClass", "PersistentVolumeClaim", "storage.k8s.io/CSINode"
DRIVER, CAPACITY = "storage.k8s.io/CSIDriver", "storage.k8s.io/CSIStorageCapacity"
INLINE = make_pod("p").spec(volumes=[{"name": "i", "csi": {"driver": "csi.example.com"}}])
UNKNOWN = object_of({**capacity("x", "a", 1).manifest, "capacity": None})

HINTS: dict[str, tuple[PodBuilder, str, KubeObject | None, KubeObject, Hint]] = {
    "A class is created": (POD, CLASS, None, WAIT, Hint.QUEUE),
    "A class changes its topologies": (POD, CLASS, WAIT, storage_class("wait", allowedTopologies=ZONE_A), Hint.QUEUE),
    "A class changes something else": (POD, CLASS, WAIT, storage_class("wait", reclaimPolicy="Retain"), Hint.SKIP),
    "The pod's claim is created": (POD, CLAIM, None, claim("c"), Hint.QUEUE),
    "The pod's ephemeral claim is created": (
        make_pod("p").spec(volumes=[{"name": "s", "ephemeral": {}}]),
        CLAIM,
        None,
        claim("p-s"),
        Hint.QUEUE,
    ),
    "Another claim is created": (POD, CLAIM, None, claim("d"), Hint.SKIP),
    "A claim of that name elsewhere is created": (POD, CLAIM, None, claim("c", namespace="team-a"), Hint.SKIP),
    "A CSINode is created": (POD, CSI_NODE, None, csi_node("a", {}), Hint.QUEUE),
    "A CSINode's migrated plugins change": (POD, CSI_NODE, csi_node("a", {}), csi_node("a", {}, "x"), Hint.QUEUE),
    "A CSINode changes something else": (POD, CSI_NODE, csi_node("a", {}), csi_node("a", {"d": 1}), Hint.SKIP),
    "The pod's driver stops telling its capacity": (INLINE, DRIVER, csi_driver(True), csi_driver(False), Hint.QUEUE),
    "The pod's driver starts telling its capacity": (INLINE, DRIVER, csi_driver(False), csi_driver(True), Hint.SKIP),
    "Another driver stops telling its capacity": (
        INLINE,
        DRIVER,
        csi_driver(True, "x"),
        csi_driver(False, "x"),
        Hint.SKIP,
    ),
    "A capacity is announced": (POD, CAPACITY, None, capacity("x", "a", 1), Hint.QUEUE),
    "A capacity grows": (POD, CAPACITY, capacity("x", "a", 1), capacity("x", "a", 2), Hint.QUEUE),
    "A capacity becomes known": (POD, CAPACITY, UNKNOWN, capacity("x", "a", 1), Hint.QUEUE),
    "A capacity shrinks": (POD, CAPACITY, capacity("x", "a", 2), capacity("x", "a", 1), Hint.SKIP),
    "A capacity is no longer known": (POD, CAPACITY, capacity("x", "a", 1), UNKNOWN, Hint.SKIP),
}


@pytest.mark.parametrize(("pod", "resource", "old", "new", "expected"), HINTS.values(), ids=HINTS)
def test_hints(pod: PodBuilder, resource: str, old: KubeObject | None, new: KubeObject, expected: Hint) -> None:
    assert hint_of(VolumeBinding({}, World().handle), resource, pod_of(pod), old, new) is expected


def test_an_ephemeral_claim_of_the_pod_is_provisioned() -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": True}
    stored = object_of(
        Builder("v1", "PersistentVolumeClaim", "p-s", "default")
        .metadata(ownerReferences=[owner])
        .spec(storageClassName="wait", resources={"requests": {"storage": "1Gi"}})
    )
    cycle = Cycle(make_pod("p").spec(volumes=[{"name": "s", "ephemeral": {}}]), WAIT, stored)
    assert cycle.filter() == {"a": (), "b": ()}


# --- facts ---

OF_C = {"claimRef": {"namespace": "default", "name": "c"}}
PASSED_OVER: dict[str, tuple[KubeObject, list[KubeObject], str]] = {
    "a volume that is too small": (claim("c", storage_class="local", gib=2), [], "smaller than 2Gi"),
    "a volume of another claim": (
        claim("c", storage_class="local"),
        [volume("v", storage_class="local", claimRef={"namespace": "default", "name": "d"})],
        "set aside for another claim",
    ),
    "a volume of another mode": (claim("c", storage_class="local", volumeMode="Block"), [], "different volumeMode"),
    "a volume of another attributes class": (
        claim("c", storage_class="local", volumeAttributesClassName="fast"),
        [],
        "different volumeAttributesClassName",
    ),
    "a volume that is being deleted": (
        claim("c", storage_class="local"),
        [volume("v", storage_class="local", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})],
        "being deleted",
    ),
    "a volume that is not available": (
        claim("c", storage_class="local"),
        [volume("v", storage_class="local", phase="Released")],
        "not available",
    ),
    "a volume that the selector does not match": (
        claim("c", storage_class="local", selector={"matchLabels": {"k": "v"}}),
        [],
        "the claim's selector does not match its labels",
    ),
    "a volume that cannot be mounted so": (
        claim("c", storage_class="local", accessModes=["ReadWriteMany"]),
        [],
        "without an access mode that the claim requests",
    ),
    "a volume elsewhere": (
        claim("c", storage_class="local"),
        [volume("v", storage_class="local", zone="b")],
        "not accessible from a",
    ),
    "a volume set aside elsewhere, beside one that would suit": (
        claim("c", storage_class="local"),
        [volume("v", storage_class="local", zone="b", **OF_C), volume("w", storage_class="local")],
        "not accessible from a",
    ),
}


@pytest.mark.parametrize(("wanting", "objects", "note"), PASSED_OVER.values(), ids=PASSED_OVER)
def test_facts_say_why_a_volume_does_not_suit(wanting: KubeObject, objects: list[KubeObject], note: str) -> None:
    cycle = Cycle(POD, wanting, LOCAL, *(objects or [volume("v", storage_class="local")]))
    assert cycle.filter()["a"] == (BIND_CONFLICT,)
    facts = cycle.plugin.explain_filter(cycle.state, cycle.pod, cycle.infos[0])
    assert lines(facts) == (
        Line("claim c", "no volume suits; one would have to be provisioned"),
        Line("not suitable for c", "v", note),
        Line("new volume for c", "none", "its class local does not provision any"),
    )


def test_an_excluded_volume_is_reported_as_excluded() -> None:
    cycle = Cycle(POD, claim("c", storage_class="local"), LOCAL, volume("v", storage_class="local", **OF_C))
    assert cycle.filter()["a"] == ()
    facts = cycle.plugin.explain_filter(cycle.state, cycle.pod, cycle.infos[0])
    assert lines(facts) == (Line("claim c", "takes v", "the volume set aside for it"),)


@pytest.mark.parametrize(("pod", "objects", "reason"), NO_HELP.values(), ids=NO_HELP)
def test_facts_of_a_refusal_in_prefilter_have_its_status(
    pod: PodBuilder, objects: list[KubeObject], reason: str
) -> None:
    cycle = Cycle(pod, *objects)
    status = cycle.pre_filter()
    cycle.world.objects.clear()
    facts = cycle.plugin.explain_pre_filter(cycle.state, cycle.pod, cycle.infos)
    assert facts.status == status
    assert sentence(facts).endswith(".")
    assert lines(facts)


def test_facts_of_a_bound_volume_are_of_the_csinode_that_filter_saw() -> None:
    """The node's label has another key for the CSI driver, which the CSINode announces later."""
    cycle = Cycle(POD, claim("c", bound_to="v"), volume("v", zone="a", **EBS))
    assert cycle.filter()["a"] == ()
    cycle.world.add(csi_node("a", {}, "kubernetes.io/aws-ebs"))
    assert cycle.plugin.explain_filter(cycle.state, cycle.pod, cycle.infos[0]).status is None
    cycle.state = CycleState()
    assert cycle.filter()["a"] == (NODE_CONFLICT,)
    facts = cycle.plugin.explain_filter(cycle.state, cycle.pod, cycle.infos[0])
    assert lines(facts)[1] == Line(
        "nodeAffinity of v",
        "topology.ebs.csi.aws.com/zone In [a]",
        "fails: topology.ebs.csi.aws.com/zone In [a], node has no label topology.ebs.csi.aws.com/zone",
    )


def test_facts_of_a_bound_volume_list_the_terms_of_its_affinity() -> None:
    terms = [{"matchExpressions": [{"key": "rack", "operator": "In", "values": [rack]}]} for rack in ("x", "y")]
    affinity = {"required": {"nodeSelectorTerms": terms}}
    cycle = Cycle(POD, claim("c", bound_to="v"), volume("v", nodeAffinity=affinity))
    assert cycle.filter()["a"] == (NODE_CONFLICT,)
    shown = lines(cycle.plugin.explain_filter(cycle.state, cycle.pod, cycle.infos[0]))
    assert [(line.label, line.formula) for line in shown] == [
        ("claim c", "bound to v"),
        ("nodeAffinity of v, term 1", "rack In [x]"),
        ("nodeAffinity of v, term 2", "rack In [y]"),
    ]


def reserve_lines(cycle: Cycle) -> tuple[str, list[Line]]:
    facts = cycle.plugin.explain_reserve(cycle.state, cycle.pod, "a")
    return sentence(facts), [*lines(facts)]


def test_the_volume_set_aside_is_reserved_as_such() -> None:
    mine = volume("mine", gib=9, storage_class="local", claimRef=UID_C)
    cycle = Cycle(POD, LOCAL, claim("c", storage_class="local"), volume("small", storage_class="local"), mine)
    cycle.reserve()
    assert reserve_lines(cycle) == (
        "mine is reserved for p.",
        [Line("claim c", "takes mine", "the volume set aside for it")],
    )


def test_a_volume_and_a_new_one_are_reserved_together() -> None:
    here = volume("v", storage_class="local")
    cycle = Cycle(TWO, LOCAL, WAIT, claim("c", storage_class="local"), claim("d", storage_class="wait"), here)
    cycle.reserve()
    says, shown = reserve_lines(cycle)
    assert says == "p takes v, and gets new volumes for d, provisioned on a."
    assert [line.formula for line in shown] == ["takes v: 1Gi ≤ 1Gi", "new volume of 1Gi, class wait"]


def test_the_second_claim_does_not_count_the_volume_of_the_first() -> None:
    sizes = [volume(name, gib=gib, storage_class="local") for name, gib in (("one", 1), ("three", 3))]
    claims = (claim("c", storage_class="local"), claim("d", storage_class="local"))
    cycle = Cycle(TWO, LOCAL, *claims, *sizes)
    cycle.reserve()
    assert [line.note for line in reserve_lines(cycle)[1]] == [
        "the smallest of 2 volumes that suit on a: one 1Gi; three 3Gi",
        "the only volume that suits on a",
    ]


def test_a_claim_with_a_selected_node_was_requested_before() -> None:
    requested = claim("c", storage_class="wait", metadata={"annotations": {SELECTED_NODE: "a"}})
    cycle = Cycle(POD, WAIT, requested)
    cycle.reserve()
    assert [line.note for line in reserve_lines(cycle)[1]] == ["requested on a before"]


def test_a_reserve_that_failed_says_why_nothing_is_reserved() -> None:
    cycle = Cycle(POD, *STATIC_OBJECTS)
    cycle.filter()
    cycle.world.add(volume("v", storage_class="local", metadata={"resourceVersion": "7"}))
    with pytest.raises(PluginError) as problem:
        cycle.plugin.reserve(cycle.state, cycle.pod, "a")
    facts = cycle.plugin.explain_reserve(cycle.state, cycle.pod, "a")
    assert sentence(facts) == f"p reserves nothing: {problem.value}."
    assert facts.status is not None
    assert facts.status.reasons == (str(problem.value),)
