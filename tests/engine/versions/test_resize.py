"""Resizing pods in place: who may, and what the scheduler counts meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.errors import Rejected
from scheduler_engine.testing import PodBuilder, make_node, make_pod
from scheduler_engine.testing.cluster import Cluster
from scheduler_engine.trace import events as ev
from scheduler_engine.versions import VERSIONS
from tests.engine.versions.test_plugins import events

OLD, MIDDLE, NEW = VERSIONS
POD_LEVEL, INIT = "InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"
ON = {POD_LEVEL: True, "NodeDeclaredFeatures": True}


def whole(cpu: str, name: str = "p") -> PodBuilder:
    """Return a pod that requests ``cpu`` as a whole."""
    return make_pod(name).spec(resources={"requests": {"cpu": cpu}})


def declaring(*features: str, cpu: str = "4") -> Any:
    return make_node("n1").capacity(cpu=cpu, pods="9").status(declaredFeatures=[*features])


def resize(cluster: Cluster, spec: dict[str, Any], pod: str = "p") -> Cluster:
    key = f"default/{pod}"
    command = {"kind": "patch", "object_kind": "Pod", "key": key, "changes": {"spec": spec}, "subresource": "resize"}
    return cluster.execute(command)


def cpu(amount: str | None) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": amount}}}


OFF = (
    "Forbidden: resize of pods with pod-level resources is forbidden when "
    "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"
)


@pytest.mark.parametrize(
    ("kubernetes", "gates", "changes", "problem"),
    [
        pytest.param(OLD, {}, cpu("2"), "Forbidden: pods with pod-level resources cannot be resized", id="v1.34"),
        pytest.param(MIDDLE, {}, cpu("2"), OFF, id="off in v1.35"),
        pytest.param(MIDDLE, ON, cpu("2"), "", id="on in v1.35"),
        pytest.param(NEW, {POD_LEVEL: False}, cpu("2"), OFF, id="off in v1.36"),
        pytest.param(NEW, {}, cpu("2"), "", id="on in v1.36"),
        pytest.param(
            NEW,
            {},
            cpu(None) | {"resources": {"requests": {"cpu": None, "memory": "1Gi"}}},
            "spec.resources.requests: Forbidden: pod-level resource requests cannot be removed",
            id="a removed request",
        ),
        pytest.param(
            NEW,
            {},
            {"resources": None},
            "spec.resources: Forbidden: pod-level resources cannot be removed",
            id="all of them removed",
        ),
        pytest.param(
            NEW,
            {},
            {"resources": {"requests": {"hugepages-2Mi": "2Mi"}, "limits": {"hugepages-2Mi": "2Mi"}}},
            "spec: Forbidden: only cpu and memory resources are mutable at pod-level",
            id="other resources",
        ),
    ],
)
def test_pods_with_pod_level_resources_are_resized_where_that_is_possible(
    kubernetes: str, gates: dict[str, bool], changes: dict[str, Any], problem: str
) -> None:
    cluster = Cluster(kubernetes=kubernetes, feature_gates=gates).apply(whole("1"))
    if problem:
        with pytest.raises(Rejected) as refusal:
            resize(cluster, changes)
        assert problem in [str(error) for error in refusal.value.errors]
        return
    resize(cluster, changes)
    assert cluster.pod("p").spec["resources"] == changes["resources"]


def test_a_running_pod_that_shrinks_as_a_whole_makes_room() -> None:
    node = declaring(POD_LEVEL)
    cluster = Cluster(kubernetes=NEW).apply(node, whole("3"), make_pod("q").cpu("2")).settle().advance(20)
    resize(cluster, cpu("1")).settle().advance(5)
    [hint] = [event for event in events(cluster, ev.HintAnswered) if event.plugin == "NodeResourcesFit"]
    assert (hint.verdict, hint.cluster_event) == ("Queue", "AssignedPodUpdatePodScaleDown")
    assert cluster.node_of("q") == "n1"


STATUS = {"resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "2"}}
INFEASIBLE = {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]}


@pytest.mark.parametrize(
    ("kubernetes", "gates", "asks", "status", "counted"),
    [
        pytest.param(NEW, {}, "1", STATUS, 3000, id="what it has still counts"),
        pytest.param(NEW, {}, "4", STATUS, 4000, id="what it wants counts at once"),
        pytest.param(NEW, {}, "4", STATUS | INFEASIBLE, 3000, id="unless that is infeasible"),
        pytest.param(NEW, {}, "1", {**STATUS, "allocatedResources": {"cpu": "4"}}, 4000, id="what it was allotted"),
        pytest.param(NEW, {}, "1", {"allocatedResources": {"cpu": "4"}}, 1000, id="not without resources it has"),
        pytest.param(NEW, {}, "1", {"resources": {}} | INFEASIBLE, 0, id="infeasible, and it has nothing"),
        pytest.param(MIDDLE, ON, "1", STATUS, 3000, id="by the gate in v1.35"),
        pytest.param(MIDDLE, {}, "1", STATUS, 1000, id="which is off"),
        pytest.param(NEW, {POD_LEVEL: False}, "1", STATUS, 1000, id="and can be switched off in v1.36"),
    ],
)
def test_the_scheduler_counts_what_a_resized_pod_has_as_a_whole(
    kubernetes: str, gates: dict[str, bool], asks: str, status: dict[str, Any], counted: int
) -> None:
    pod = whole(asks).node("n1").status(**status)
    cluster = Cluster(kubernetes=kubernetes, feature_gates=gates).apply(declaring(cpu="8"), pod).settle()
    info = cluster.simulation.scheduler.cache.nodes["n1"]
    assert info.requested.milli_cpu == counted


def test_v1_34_does_not_know_the_status_of_a_whole_pod() -> None:
    with pytest.raises(Rejected, match=r"unknown field .status\.allocatedResources"):
        Cluster(kubernetes=OLD).apply(whole("1").status(allocatedResources={"cpu": "1"}))


# --- init containers ---


def prepared(name: str = "first", **fields: Any) -> dict[str, Any]:
    return {"name": name, "image": "i", **cpu("1"), **fields}


SIDECAR = {"restartPolicy": "Always"}
RESTARTING = {"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]}
IMMUTABLE = "spec: Forbidden: resources for non-sidecar init containers are immutable"
DISK = {"resources": {"requests": {"cpu": "1", "ephemeral-storage": "1Gi"}}}


@pytest.mark.parametrize(
    ("kubernetes", "gates", "container", "change", "problem"),
    [
        pytest.param(OLD, {}, {}, cpu("2"), IMMUTABLE, id="v1.34"),
        pytest.param(MIDDLE, {}, {}, cpu("2"), IMMUTABLE, id="v1.35"),
        pytest.param(NEW, {INIT: False}, {}, cpu("2"), IMMUTABLE, id="v1.36 with the gate off"),
        pytest.param(NEW, {}, {}, cpu("2"), "", id="v1.36"),
        pytest.param(
            MIDDLE,
            {},
            SIDECAR,
            DISK,
            "spec: Forbidden: only cpu and memory resources for sidecar containers are mutable",
            id="another resource of a sidecar in v1.35",
        ),
        pytest.param(
            NEW,
            {},
            SIDECAR,
            DISK,
            "spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are "
            "mutable",
            id="v1.36 names the container",
        ),
    ],
)
def test_init_containers_are_resized_in_v1_36(
    kubernetes: str, gates: dict[str, bool], container: dict[str, Any], change: dict[str, Any], problem: str
) -> None:
    cluster = Cluster(kubernetes=kubernetes, feature_gates=gates)
    cluster.apply(make_pod("p").cpu("1").spec(initContainers=[prepared(**container)]))
    wanted = {"initContainers": [prepared(**container, **change)]}
    if problem:
        with pytest.raises(Rejected) as refusal:
            resize(cluster, wanted)
        assert [str(error) for error in refusal.value.errors] == [problem]
    else:
        resize(cluster, wanted)
        [held] = cluster.pod("p").spec["initContainers"]
        assert held["resources"] == change["resources"]


def test_an_older_init_container_that_would_restart_is_not_resized_in_v1_36() -> None:
    cluster = Cluster(kubernetes=MIDDLE).apply(make_pod("p").cpu("1").spec(initContainers=[prepared(**RESTARTING)]))
    cluster.execute({"kind": "kubernetes", "version": NEW, "feature_gates": {}})
    with pytest.raises(Rejected) as refusal:
        resize(cluster, {"initContainers": [prepared(**RESTARTING, **cpu("2"))]})
    text = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
    assert [str(error) for error in refusal.value.errors] == [f"spec.initContainers[0]: Forbidden: {text}"]


def node_and_pod(name: str, labels: dict[str, str]) -> tuple[Any, Any]:
    node = make_node("n1").capacity(cpu="4", memory="4Gi", pods="9").metadata(labels=labels)
    return node, make_pod(name).cpu("1").node("n1")


@pytest.mark.parametrize(
    ("kubernetes", "labels", "amounts", "problem"),
    [
        pytest.param(MIDDLE, {}, {"cpu": "8"}, "", id="v1.35 does not look at the node"),
        pytest.param(NEW, {}, {"cpu": "4"}, "", id="all that the node has"),
        pytest.param(
            NEW,
            {},
            {"cpu": "4001m", "memory": "5Gi"},
            "node didn't have enough allocatable resources: cpu, requested: 4001, allocatable: 4000; "
            "memory, requested: 5368709120, allocatable: 4294967296",
            id="more than the node has",
        ),
        pytest.param(
            NEW,
            {"kubernetes.io/os": "windows"},
            {"cpu": "2"},
            'pod resize is only supported on linux nodes, node "n1" is "windows"',
            id="a node with Windows",
        ),
    ],
)
def test_v1_36_compares_a_resize_with_the_node(
    kubernetes: str, labels: dict[str, str], amounts: dict[str, str], problem: str
) -> None:
    node, pod = node_and_pod("p", labels)
    pod.request({"cpu": "1", "memory": "1Gi"})
    cluster = Cluster(kubernetes=kubernetes).apply(node, pod).settle()
    wanted = [{**cluster.pod("p").spec["containers"][0], "resources": {"requests": {"memory": "1Gi", **amounts}}}]
    if problem:
        with pytest.raises(Rejected) as refusal:
            resize(cluster, {"containers": wanted})
        assert str(refusal.value) == f'pods "p" is forbidden: {problem}'
    else:
        resize(cluster, {"containers": wanted})
        assert cluster.pod("p").spec["containers"][0]["resources"]["requests"]["cpu"] == amounts["cpu"]


@pytest.mark.parametrize(("kubernetes", "accepted"), [(OLD, True), (MIDDLE, False), (NEW, False)])
def test_a_resize_adds_a_first_request_of_another_resource_only_in_v1_34(kubernetes: str, accepted: bool) -> None:
    main, side = {"name": "main", "image": "i", **cpu("1")}, {"name": "side", "image": "i"}
    cluster = Cluster(kubernetes=kubernetes).apply(make_pod("p").spec(containers=[main, side]))
    wanted = {"containers": [main, {**side, "resources": {"requests": {"ephemeral-storage": "1Gi"}}}]}
    if accepted:
        resize(cluster, wanted)
        return
    with pytest.raises(Rejected) as refusal:
        resize(cluster, wanted)
    assert str(refusal.value) == "spec: Forbidden: only cpu and memory resources are mutable"


# --- what nodes must declare ---


@pytest.mark.parametrize(
    ("kubernetes", "gates", "features", "missing"),
    [
        pytest.param(NEW, {}, (), POD_LEVEL, id="v1.36 and a node that declares nothing"),
        pytest.param(NEW, {}, (POD_LEVEL,), "", id="a node that declares it"),
        pytest.param(MIDDLE, ON, (), POD_LEVEL, id="v1.35 with both gates"),
        pytest.param(MIDDLE, ON, (POD_LEVEL,), "", id="v1.35 and a node that declares it"),
    ],
)
def test_the_node_of_a_resized_pod_must_declare_it(
    kubernetes: str, gates: dict[str, bool], features: tuple[str, ...], missing: str
) -> None:
    cluster = Cluster(kubernetes=kubernetes, feature_gates=gates).apply(declaring(*features), whole("1")).settle()
    assert cluster.node_of("p") == "n1"
    if missing:
        text = f'pods "p" is forbidden: pod update requires features {missing} which are not available on node "n1"'
        with pytest.raises(Rejected) as refusal:
            resize(cluster, cpu("2"))
        assert text in str(refusal.value)
    else:
        resize(cluster, cpu("2"))


@pytest.mark.parametrize(("kubernetes", "refused"), [(MIDDLE, True), (NEW, False)])
def test_v1_35_wants_a_feature_for_other_cpus_of_a_guaranteed_pod(kubernetes: str, refused: bool) -> None:
    cluster = Cluster(kubernetes=kubernetes, feature_gates={"NodeDeclaredFeatures": True}).apply(declaring())

    def containers(amount: str) -> list[dict[str, Any]]:
        amounts = {"cpu": amount, "memory": "1Gi"}
        return [{"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}]

    cluster.apply(make_pod("p").spec(containers=containers("1"))).settle()
    if refused:
        with pytest.raises(Rejected, match="requires features GuaranteedQoSPodCPUResize which are not available"):
            resize(cluster, {"containers": containers("2")})
    else:
        resize(cluster, {"containers": containers("2")})


def test_the_node_of_a_pod_with_a_resized_init_container_must_declare_it() -> None:
    cluster = Cluster(kubernetes=NEW).apply(declaring())
    cluster.apply(make_pod("p").cpu("1").spec(initContainers=[prepared()])).settle()
    with pytest.raises(Rejected, match=f"requires features {INIT} which are not available"):
        resize(cluster, {"initContainers": [prepared(**cpu("2"))]})
