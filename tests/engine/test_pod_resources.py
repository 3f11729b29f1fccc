"""A pod's requests to a node."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_engine.api.objects import Pod
from scheduler_engine.api.pod_resources import (
    DEFAULT_MEMORY,
    Resource,
    is_extended_resource,
    is_scalar_resource,
    pod_requests,
    pod_resource,
    resource_from,
    resource_of,
)
from scheduler_engine.testing import PodBuilder, make_pod

MIB = 2**20


def pod(builder: PodBuilder) -> Pod:
    return Pod(builder.obj())


def init(*containers: tuple[str, str]) -> PodBuilder:
    """Return a pod whose one container requests 2 cpu; ``containers`` are (cpu, "sidecar" or "")."""
    builder = make_pod("p").cpu("2")
    for number, (cpu, kind) in enumerate(containers):
        builder.init_container(f"i{number}", {"cpu": cpu}, sidecar=kind == "sidecar")
    return builder


@pytest.mark.parametrize(
    ("builder", "milli_cpu"),
    [
        pytest.param(make_pod("p"), 0, id="a pod without requests needs nothing"),
        pytest.param(make_pod("p").cpu("500m").container("b").cpu("1"), 1500, id="containers run together"),
        pytest.param(init(("1", "")), 2000, id="a small init container does not matter"),
        pytest.param(init(("3", "")), 3000, id="a large init container sets the minimum"),
        pytest.param(init(("3", ""), ("3", "")), 3000, id="init containers run one after the other"),
        pytest.param(init(("1", "sidecar")), 3000, id="a sidecar runs beside the containers"),
        pytest.param(init(("1", "sidecar"), ("4", "")), 5000, id="an init container runs beside earlier sidecars"),
        pytest.param(init(("4", ""), ("1", "sidecar")), 4000, id="and not beside later ones"),
        pytest.param(init(("1", "sidecar"), ("4", ""), ("1", "sidecar")), 5000, id="the order of all of them matters"),
        pytest.param(make_pod("p").cpu("1").spec(overhead={"cpu": "250m"}), 1250, id="overhead is added"),
        pytest.param(init(("3", "")).spec(overhead={"cpu": "250m"}), 3250, id="to the init containers' peak as well"),
        pytest.param(make_pod("p").cpu("100u"), 1, id="cpu is rounded up to millicores"),
    ],
)
def test_cpu_of_all_containers(builder: PodBuilder, milli_cpu: int) -> None:
    assert pod_resource(pod(builder)).request.milli_cpu == milli_cpu


def test_rounding_happens_once_per_pod() -> None:
    builder = make_pod("p").cpu("100u").memory("100m")
    for number in range(9):
        builder.container(f"c{number}").cpu("100u").memory("100m")
    request = pod_resource(pod(builder)).request
    assert (request.milli_cpu, request.memory) == (1, 1)


@pytest.mark.parametrize(
    ("builder", "milli_cpu", "memory"),
    [
        pytest.param(make_pod("p"), 100, DEFAULT_MEMORY, id="a container without requests counts as 100m and 200Mi"),
        pytest.param(make_pod("p").container("b").cpu("1"), 1100, 2 * DEFAULT_MEMORY, id="each container by itself"),
        pytest.param(make_pod("p").cpu("0"), 0, DEFAULT_MEMORY, id="a request of 0 stays 0"),
        pytest.param(
            make_pod("p").cpu("1").memory("1Mi").spec(overhead={"cpu": "1", "memory": "1Mi"}),
            2000,
            2 * MIB,
            id="overhead counts as well",
        ),
        pytest.param(
            make_pod("p").spec(resources={"requests": {"cpu": "1"}}),
            1000,
            DEFAULT_MEMORY,
            id="a pod-level request takes the place of the default",
        ),
        pytest.param(
            make_pod("p").container("b").memory("1Mi").spec(resources={"requests": {"cpu": "1"}}),
            1000,
            MIB,
            id="with pod-level requests, defaults replace only resources without any request",
        ),
    ],
)
def test_non_zero_requests(builder: PodBuilder, milli_cpu: int, memory: int) -> None:
    resource = pod_resource(pod(builder))
    assert (resource.non_zero_milli_cpu, resource.non_zero_memory) == (milli_cpu, memory)


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        pytest.param({"requests": {"cpu": "500m"}}, (500, 4, 7), id="pod-level cpu replaces the sum of the containers"),
        pytest.param({"requests": {"hugepages-2Mi": "8"}}, (1000, 8, 7), id="so do pod-level hugepages"),
        pytest.param({"requests": {"example.com/foo": "9"}}, (1000, 4, 7), id="other resources cannot be set there"),
        pytest.param({"limits": {"cpu": "5"}}, (1000, 4, 7), id="limits alone change nothing"),
    ],
)
def test_pod_level_resources(resources: dict[str, Any], expected: tuple[int, int, int]) -> None:
    builder = make_pod("p").request({"hugepages-2Mi": "4", "example.com/foo": "7"}, cpu="1").spec(resources=resources)
    request = pod_resource(pod(builder)).request
    assert (request.milli_cpu, request.scalar["hugepages-2Mi"], request.scalar["example.com/foo"]) == expected
    ignored = resource_of(pod_requests(pod(builder), pod_level=False))
    assert ignored.milli_cpu == 1000


def resized(wants: str, has: str | None, allotted: str | None, reason: str | None, sidecar: bool = False) -> Pod:
    status: dict[str, Any] = {"name": "i0" if sidecar else "main"}
    if has is not None:
        status["resources"] = {"requests": {"cpu": has}}
    if allotted is not None:
        status["allocatedResources"] = {"cpu": allotted}
    conditions = [] if reason is None else [{"type": "PodResizePending", "status": "True", "reason": reason}]
    builder = make_pod("p").init_container("i0", {"cpu": wants}, sidecar=True) if sidecar else make_pod("p").cpu(wants)
    listed = {"initContainerStatuses" if sidecar else "containerStatuses": [status]}
    return pod(builder.status(conditions=conditions, **listed))


@pytest.mark.parametrize(
    ("resizing", "milli_cpu"),
    [
        pytest.param(resized("3", "1", "2", None), 3000, id="a larger request counts at once"),
        pytest.param(resized("1", "3", "2", None), 3000, id="a smaller request counts once it is done"),
        pytest.param(resized("1", "2", "3", None), 3000, id="the allotted amount counts as well"),
        pytest.param(resized("3", "1", "2", "Deferred"), 3000, id="a deferred resize is still wanted"),
        pytest.param(resized("3", "1", "2", "Infeasible"), 2000, id="an infeasible resize is not"),
        pytest.param(resized("1", None, "3", None), 1000, id="an allotment without resources in the status is ignored"),
        pytest.param(resized("1", "3", None, None, sidecar=True), 3000, id="sidecars are resized like containers"),
    ],
)
def test_resized_pods(resizing: Pod, milli_cpu: int) -> None:
    assert pod_resource(resizing).request.milli_cpu == milli_cpu


def test_the_status_can_be_left_out() -> None:
    assert resource_of(pod_requests(resized("1", "3", "3", None), use_status=False)).milli_cpu == 1000


def test_a_resource_list_as_amounts() -> None:
    amounts = {
        "cpu": "1500m",
        "memory": "1Gi",
        "ephemeral-storage": "1k",
        "pods": 110,
        "hugepages-2Mi": "4Mi",
        "nvidia.com/gpu": 2,
        "storage": "1Gi",
    }
    assert resource_from(amounts) == Resource(
        1500, 1024 * MIB, 1000, 110, {"hugepages-2Mi": 4 * MIB, "nvidia.com/gpu": 2}
    )


@pytest.mark.parametrize(
    ("name", "scalar", "extended"),
    [
        pytest.param("cpu", False, False, id="cpu is neither scalar nor extended"),
        pytest.param("nvidia.com/gpu", True, True, id="a resource of a vendor is extended"),
        pytest.param("hugepages-1Gi", True, False, id="hugepages are scalar but not extended"),
        pytest.param("kubernetes.io/batch", True, False, id="so are resources of Kubernetes"),
        pytest.param("requests.example.com/foo", False, False, id="the names of quotas are neither"),
    ],
)
def test_kinds_of_resources(name: str, scalar: bool, extended: bool) -> None:
    assert (is_scalar_resource(name), is_extended_resource(name)) == (scalar, extended)
