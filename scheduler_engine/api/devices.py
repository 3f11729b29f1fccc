"""ResourceSlices and ResourceClaims as the scheduler reads them. Source: upstream ``api/resource/v1/types.go``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_engine.api.cel.devices import device_value
from scheduler_engine.api.computed import computed
from scheduler_engine.api.node_affinity import NodeSelector, node_selector_from
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.records import record

FINALIZER = "resource.kubernetes.io/delete-protection"
"""Set while a claim has devices: it is deleted only after it has lost them."""


@record(frozen=True, slots=True)
class DeviceId:
    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class Device:
    """One device of a slice. ``value``: what expressions see of it."""

    def __init__(self, resource_slice: ResourceSlice, manifest: Mapping[str, Any]) -> None:
        self.slice = resource_slice
        self.manifest = manifest
        self.name: str = manifest["name"]
        self.id = DeviceId(resource_slice.driver, resource_slice.pool, self.name)

    @computed
    def value(self) -> dict[str, Any]:
        return device_value(self.slice.driver, self.manifest)

    def attribute(self, name: str) -> tuple[str, Any] | None:
        """Return kind and value of an attribute with its domain, None if the device does not have it."""
        attributes = self.manifest.get("attributes") or {}
        domain, slash, identifier = name.partition("/")
        found = attributes.get(name)
        if found is None and slash and domain == self.slice.driver:
            found = attributes.get(identifier)
        if found is None:
            return None
        return next(((kind, value) for kind, value in found.items() if value is not None), None)


class ResourceSlice(KubeObject):
    """Some of the devices of a pool."""

    @property
    def driver(self) -> str:
        return self.spec.get("driver") or ""

    @computed
    def pool(self) -> str:
        """Return the name of the pool; it is unique within its driver."""
        return (self.spec.get("pool") or {}).get("name") or ""

    @computed
    def devices(self) -> tuple[Device, ...]:
        return tuple(Device(self, manifest) for manifest in self.spec.get("devices") or ())

    @computed
    def node_selector(self) -> NodeSelector | None:
        selector = self.spec.get("nodeSelector")
        return None if selector is None else node_selector_from(selector)

    def reaches(self, node_name: str, labels: Mapping[str, str]) -> bool:
        """Return True if pods on a node can use these devices."""
        if self.spec.get("nodeName"):
            return bool(self.spec["nodeName"] == node_name)
        if self.spec.get("allNodes"):
            return True
        return self.node_selector is not None and self.node_selector.matches(node_name, labels)


def results_of(allocation: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the devices of an allocation, with the request of each."""
    return ((allocation or {}).get("devices") or {}).get("results") or []


def device_of(item: Mapping[str, Any]) -> DeviceId:
    """Return the device that an entry of a claim's status is about."""
    return DeviceId(item["driver"], item["pool"], item["device"])


def alternatives(request: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and contents of a request of a claim, or of each of its alternatives as ``request/alternative``."""
    if request.get("exactly") is not None:
        yield request["name"], request["exactly"]
    for item in request.get("firstAvailable") or ():
        yield f"{request['name']}/{item['name']}", item


class ResourceClaim(KubeObject):
    """A request for devices. ``allocation``: which it got."""

    @property
    def allocation(self) -> dict[str, Any] | None:
        return self.status.get("allocation")

    @property
    def requests(self) -> list[dict[str, Any]]:
        return (self.spec.get("devices") or {}).get("requests") or []

    def wanted(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield what ``alternatives`` do, for all requests."""
        for request in self.requests:
            yield from alternatives(request)

    @property
    def consumers(self) -> list[dict[str, Any]]:
        return self.status.get("reservedFor") or []

    @computed
    def node_selector(self) -> NodeSelector | None:
        """Return where the devices can be used; None: everywhere, or the claim has none."""
        selector = (self.allocation or {}).get("nodeSelector")
        return None if selector is None else node_selector_from(selector)

    def reserved_for(self, uid: str) -> bool:
        return any(consumer.get("uid") == uid for consumer in self.consumers)

    def exclusive_devices(self) -> Iterator[DeviceId]:
        """Yield the devices that no other claim can get: all but those with admin access."""
        for result in results_of(self.allocation):
            if not result.get("adminAccess"):
                yield device_of(result)


def claim_of_entry(pod: KubeObject, entry: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Return the name of the claim of an entry of the pod's spec, and whether it is made for the pod.

    None: the entry needs no claim; "": the claim has not been created yet.
    """
    if entry.get("resourceClaimName") is not None:
        return entry["resourceClaimName"], False
    for status in pod.status.get("resourceClaimStatuses") or ():
        if status.get("name") == entry["name"]:
            return status.get("resourceClaimName"), True
    return "", True


def is_controlled_by(claim: KubeObject, pod: KubeObject) -> bool:
    owner = claim.controller_ref
    return owner is not None and owner.get("uid") == pod.uid


def unusable(claim: KubeObject, pod: KubeObject, own: bool) -> str:
    """Return why a pod cannot use a claim: ``terminating``, ``foreign``, or "" if it can. ``own``: made for a pod."""
    if claim.terminating:
        return "terminating"
    return "foreign" if own and not is_controlled_by(claim, pod) else ""
