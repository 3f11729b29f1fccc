"""A pod's requests.

Sums are kept exact, in nano-units, and rounded once per pod: millicores for cpu, whole units for everything else.
Source: seed 002 §3 and §6; upstream ``component-helpers/resource/helpers.go`` and ``framework/types.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scheduler_engine.api.objects import Pod
from scheduler_engine.api.quantity import NANO, divide_away, parse_quantity

DEFAULT_MILLI_CPU = 100
DEFAULT_MEMORY = 200 * 1024 * 1024
DEFAULT_REQUESTS = {"cpu": DEFAULT_MILLI_CPU * (NANO // 1000), "memory": DEFAULT_MEMORY * NANO}
"""The score amounts of a container without a request, in nano-units."""

Amounts = dict[str, int]
"""Resource name → nano-units."""


BASIC = {"cpu": "milli_cpu", "memory": "memory", "ephemeral-storage": "ephemeral_storage"}
"""Resource → field of ``Resource``; all others are scalar."""


@dataclass(slots=True)
class Resource:
    """Amounts: millicores, bytes, bytes, pods; ``scalar`` holds extended resources and hugepages in whole units."""

    milli_cpu: int = 0
    memory: int = 0
    ephemeral_storage: int = 0
    allowed_pod_number: int = 0
    scalar: dict[str, int] = field(default_factory=dict)

    def of(self, name: str) -> int:
        """Return the amount of one resource."""
        place = BASIC.get(name)
        return getattr(self, place) if place else self.scalar.get(name, 0)

    def add(self, other: Resource, sign: int = 1) -> None:
        """Add (or subtract) everything except the pod number."""
        self.milli_cpu += sign * other.milli_cpu
        self.memory += sign * other.memory
        self.ephemeral_storage += sign * other.ephemeral_storage
        for name, amount in other.scalar.items():
            self.scalar[name] = self.scalar.get(name, 0) + sign * amount

    def clone(self) -> Resource:
        return Resource(self.milli_cpu, self.memory, self.ephemeral_storage, self.allowed_pod_number, dict(self.scalar))


@dataclass(frozen=True, slots=True)
class PodResource:
    """Filter and accounting use ``request``; scoring uses the non-zero amounts."""

    request: Resource
    non_zero_milli_cpu: int
    non_zero_memory: int

    def scored(self, name: str) -> int:
        """Return the amount of one resource for scoring."""
        non_zero = {"cpu": self.non_zero_milli_cpu, "memory": self.non_zero_memory}
        return non_zero[name] if name in non_zero else self.request.of(name)


def is_extended_resource(name: str) -> bool:
    """Return True for names outside ``kubernetes.io/``, as ``nvidia.com/gpu`` (upstream ``IsExtendedResourceName``)."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def is_scalar_resource(name: str) -> bool:
    """Check for extended resources, hugepages, volume limits, ``kubernetes.io/`` names (``IsScalarResourceName``)."""
    return (
        is_extended_resource(name) or name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name
    )


def is_pod_level_resource(name: str) -> bool:
    """Return True if allowed in ``spec.resources`` of a pod."""
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def resource_from(quantities: Mapping[str, Any]) -> Resource:
    """Convert a resource list (name → quantity as written) to amounts."""
    return resource_of(_amounts(quantities))


class Kept(dict[Any, Any]):
    """Results by what they follow from, for pods that ask for the same. Too many of them are dropped at once."""

    def __setitem__(self, key: Any, value: Any) -> None:
        if len(self) >= MOST_KEPT:
            self.clear()
        super().__setitem__(key, value)


MOST_KEPT = 10_000
RESOURCES, REQUESTS = Kept(), Kept()


def pod_resource(pod: Pod) -> PodResource:
    """Return the effective request of containers, init containers, overhead, pod-level resources and resize status."""
    kept: PodResource | None = RESOURCES.get(pod.requests_text)
    if kept is None:
        kept = RESOURCES[pod.requests_text] = _pod_resource(pod)
    return kept


def _pod_resource(pod: Pod) -> PodResource:
    requests = pod_requests(pod)
    defaults = DEFAULT_REQUESTS
    if _pod_level_requests(pod):
        defaults = {name: amount for name, amount in defaults.items() if name not in requests}
    non_zero = pod_requests(pod, defaults=defaults) if defaults else requests
    return PodResource(
        resource_of(requests), amount("cpu", non_zero.get("cpu", 0)), amount("memory", non_zero.get("memory", 0))
    )


class RequestParts(NamedTuple):
    """The parts of a pod's requests, in nano-units.

    ``running``: all containers and sidecars together, ``sidecars`` their share of it. ``steps``: per init container
    its name and, for the resources it requests, the sum that runs while it starts: itself and the sidecars before it.
    ``pod_level`` replaces the sums of the containers.
    """

    running: Amounts
    sidecars: Amounts
    steps: list[tuple[str, Amounts]]
    pod_level: Amounts
    overhead: Amounts

    def containers(self) -> Amounts:
        """Return the containers' need: what runs together, or the largest step of the init containers."""
        return _total(dict(self.running), self.steps, {}, {})

    def total(self) -> Amounts:
        return _total(dict(self.running), self.steps, self.pod_level, self.overhead)


def pod_requests(
    pod: Pod, *, use_status: bool = True, pod_level: bool = True, defaults: Mapping[str, int] | None = None
) -> Mapping[str, int]:
    """Return the pod's requests, including overhead.

    ``use_status`` counts what a resized container or pod really has; ``pod_level`` lets ``spec.resources`` replace the
    sum of the containers; ``defaults`` (nano-units) replace, container by container, missing requests, but not zero.
    """
    key = pod.requests_text, use_status, pod_level, tuple(defaults.items()) if defaults else ()
    kept: Mapping[str, int] | None = REQUESTS.get(key)
    if kept is None:
        running, _, steps = _of_containers(pod, use_status, defaults or {})
        kept = _total(running, steps, _pod_level_requests(pod, use_status) if pod_level else {}, _overhead(pod))
        REQUESTS[key] = kept
    return kept


def request_parts(
    pod: Pod, *, use_status: bool = True, pod_level: bool = True, defaults: Mapping[str, int] | None = None
) -> RequestParts:
    """Return the parts that ``pod_requests`` adds up, for the same arguments."""
    of_containers = _of_containers(pod, use_status, defaults or {})
    return RequestParts(*of_containers, _pod_level_requests(pod, use_status) if pod_level else {}, _overhead(pod))


def _total(requests: Amounts, steps: Sequence[tuple[str, Amounts]], pod_level: Amounts, overhead: Amounts) -> Amounts:
    """Return the total, by changing ``requests``, which run together."""
    for _, step in steps:
        _raise_to(requests, step)
    requests.update(pod_level)
    _add(requests, overhead)
    return requests


def resource_of(amounts: Mapping[str, int]) -> Resource:
    """Convert nano-units to a ``Resource``, each amount rounded up."""
    return Resource(
        amount("cpu", amounts.get("cpu", 0)),
        amount("memory", amounts.get("memory", 0)),
        amount("ephemeral-storage", amounts.get("ephemeral-storage", 0)),
        amount("pods", amounts.get("pods", 0)),
        {name: amount(name, nano) for name, nano in amounts.items() if is_scalar_resource(name)},
    )


def amount(name: str, nano: int) -> int:
    """Return millicores for cpu, whole units otherwise; rounded up."""
    return divide_away(nano, NANO // 1000 if name == "cpu" else NANO)


def _of_containers(
    pod: Pod, use_status: bool, defaults: Mapping[str, int]
) -> tuple[Amounts, Amounts, list[tuple[str, Amounts]]]:
    """Return ``running``, ``sidecars`` and ``steps`` of the parts."""
    statuses = _container_statuses(pod) if use_status else {}
    running: Amounts = {}
    for container in pod.containers:
        _add(running, _container_requests(pod, container, statuses, defaults))
    sidecars: Amounts = {}
    steps: list[tuple[str, Amounts]] = []
    for container in pod.init_containers:
        sidecar = container.get("restartPolicy") == "Always"
        asked = _container_requests(pod, container, statuses if sidecar else {}, defaults)
        if sidecar:
            _add(running, asked)
            _add(sidecars, asked)
        else:
            _add(asked, {name: sidecars[name] for name in asked if name in sidecars})
            steps.append((container.get("name", ""), asked))
    return running, sidecars, steps


def _container_requests(
    pod: Pod, container: Mapping[str, Any], statuses: Mapping[str, Mapping[str, Any]], defaults: Mapping[str, int]
) -> Amounts:
    """Return the requests of a container, for a resized one as its status has them."""
    requests = _amounts((container.get("resources") or {}).get("requests") or {})
    status = statuses.get(container.get("name", ""))
    if status is not None and status.get("resources") is not None:
        requests = _resized(pod, requests, status)
    for name, nano in defaults.items():
        requests.setdefault(name, nano)
    return requests


def _resized(pod: Pod, wanted: Amounts, status: Mapping[str, Any]) -> Amounts:
    """Return the most of what is wanted (unless infeasible), was allotted and is there, by the status of a container
    or the pod.
    """
    most = {} if _resize_infeasible(pod) else dict(wanted)
    _raise_to(most, _amounts(status["resources"].get("requests") or {}))
    _raise_to(most, _amounts(status.get("allocatedResources") or {}))
    return most


def _container_statuses(pod: Pod) -> dict[str, Mapping[str, Any]]:
    listed = [*(pod.status.get("containerStatuses") or ()), *(pod.status.get("initContainerStatuses") or ())]
    return {status.get("name", ""): status for status in listed}


def _resize_infeasible(pod: Pod) -> bool:
    return (pod.condition("PodResizePending") or {}).get("reason") == "Infeasible"


def _pod_level_requests(pod: Pod, use_status: bool = False) -> Amounts:
    """Return the requests of the whole pod. The API server keeps a status of them only where they can be resized."""
    resources = pod.spec.get("resources")
    requests = _amounts(resources.get("requests") or {}) if resources else {}
    asked = {name: nano for name, nano in requests.items() if is_pod_level_resource(name)}
    if not asked or not use_status or pod.status.get("resources") is None:
        return asked
    most = _resized(pod, requests, pod.status)
    return {name: most.get(name, 0) for name in asked}


def _overhead(pod: Pod) -> Amounts:
    overhead = pod.spec.get("overhead")
    return _amounts(overhead) if overhead else {}


def _amounts(quantities: Mapping[str, Any]) -> Amounts:
    return {name: parse_quantity(quantity).nano for name, quantity in quantities.items()}


def _add(amounts: Amounts, more: Mapping[str, int]) -> None:
    for name, nano in more.items():
        amounts[name] = amounts.get(name, 0) + nano


def _raise_to(amounts: Amounts, floor: Mapping[str, int]) -> None:
    for name, nano in floor.items():
        if name not in amounts or nano > amounts[name]:
            amounts[name] = nano
