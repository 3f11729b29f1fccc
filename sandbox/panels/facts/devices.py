"""The devices of nodes and the claims of pods, as the API server has them now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sandbox.panels.model.world import World
from sandbox.words.amounts import short_name
from sandbox.words.say import say
from scheduler_engine.api.device_pools import Slices, gather_pools, indexed
from scheduler_engine.api.devices import Device, DeviceId, ResourceClaim, claim_of_entry, results_of
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.scheme import view

MOST_CHIPS = 8
"""The most devices of a node that its card shows one by one."""


class Holder(NamedTuple):
    """A claim that has a device. ``pods``: (key, name) of its users; ``admin``: other claims can have it, too."""

    claim: str
    pods: tuple[tuple[str, str], ...]
    admin: bool


class DeviceRow(NamedTuple):
    """A device that a node can use. ``about``: its attributes and capacities."""

    name: str
    pool: str
    about: str
    holders: tuple[Holder, ...]


class ClaimRow(NamedTuple):
    """A claim of a pod. ``devices``: (request, device); ``state``: if it has none, why; ``others``: (key, name) of the
    other pods that use it.
    """

    entry: str
    name: str
    wants: str
    state: str
    devices: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str], ...]


class Offers(NamedTuple):
    """All devices of a cluster. ``held``: device → the claims that have it."""

    slices: Slices
    held: Mapping[DeviceId, list[Holder]]

    def of(self, node: Node) -> list[DeviceRow]:
        """Return the devices that a node can use, in the order in which the scheduler tries them."""
        return [
            DeviceRow(device.name, pool.name, _about(device), tuple(self.held.get(device.id, ())))
            for pool in gather_pools(self.slices.of(node))
            for device in pool.devices()
        ]


def offers(world: World) -> Offers:
    held: dict[DeviceId, list[Holder]] = {}
    for claim in _claims(world):
        pods = tuple(_users(claim))
        for item in results_of(claim.allocation):
            device = DeviceId(item["driver"], item["pool"], item["device"])
            held.setdefault(device, []).append(Holder(claim.name, pods, bool(item.get("adminAccess"))))
    return Offers(indexed(view(item) for item in world.objects.get("ResourceSlice", {}).values()), held)


def in_short(node: Node, offered: Offers) -> dict[str, Any]:
    """Return how many devices of a node are in use, and by which claims; {} if it has none. ``chips``: the devices, if
    they are few.
    """
    rows = offered.of(node)
    if not rows:
        return {}
    used = sum(bool(row.holders) for row in rows)
    chips = [{"name": row.name, "held": bool(row.holders), "title": _used_by(row)} for row in rows]
    title = "\n".join(map(_used_by, rows))
    few = chips if len(rows) <= MOST_CHIPS else []
    return {"text": say("devices.in-short", used=used, count=len(rows)), "title": title, "chips": few}


def _used_by(row: DeviceRow) -> str:
    """Return ``gpu-0: demo-gpu`` or ``gpu-0: free``."""
    users = ", ".join(holder.claim for holder in row.holders) or say("devices.free")
    return f"{row.name}: {users}"


def claims(world: World, pod: Pod) -> list[ClaimRow]:
    """Return the claims of a pod for devices, in the order of its spec."""
    return [_claim_row(world, pod, entry) for entry in pod.spec.get("resourceClaims") or ()]


def _claim_row(world: World, pod: Pod, entry: Mapping[str, Any]) -> ClaimRow:
    name, _ = claim_of_entry(pod, entry)
    if not name:
        state = say("devices.no-claim-needed" if name is None else "devices.not-created")
        return ClaimRow(entry["name"], "", "", state, (), ())
    stored = world.objects.get("ResourceClaim", {}).get(f"{pod.namespace}/{name}")
    if stored is None:
        return ClaimRow(entry["name"], name, "", say("devices.missing"), (), ())
    claim = view(stored)
    assert isinstance(claim, ResourceClaim)
    devices = tuple((item["request"], f"{item['pool']}/{item['device']}") for item in results_of(claim.allocation))
    state = "" if devices else say("devices.no-devices-yet")
    others = tuple(user for user in _users(claim) if user[0] != pod.key)
    return ClaimRow(entry["name"], name, "; ".join(_wants(claim)), state, devices, others)


def _claims(world: World) -> Iterator[ResourceClaim]:
    for item in world.objects.get("ResourceClaim", {}).values():
        claim = view(item)
        assert isinstance(claim, ResourceClaim)
        yield claim


def _users(claim: ResourceClaim) -> Iterator[tuple[str, str]]:
    for consumer in claim.consumers:
        key = f"{claim.namespace}/{consumer['name']}"
        yield key, short_name(key)


def _wants(claim: ResourceClaim) -> Iterator[str]:
    """Yield what each request wants, in words."""
    for request in claim.requests:
        listed = [request["exactly"]] if request.get("exactly") else request.get("firstAvailable") or ()
        alternatives = [_wanted(item) for item in listed]
        text = say("devices.else").join(alternatives)
        yield say("devices.request", name=request["name"], wanted=text)


def _wanted(item: Mapping[str, Any]) -> str:
    if item.get("allocationMode") == "All":
        return say("devices.all-of", device_class=item["deviceClassName"])
    return say("devices.some-of", count=item.get("count") or 1, device_class=item["deviceClassName"])


def _about(device: Device) -> str:
    attributes = device.manifest.get("attributes") or {}
    known = [f"{_short(name)} {_value(attribute)}" for name, attribute in attributes.items()]
    capacity = device.manifest.get("capacity") or {}
    return ", ".join([*known, *(f"{_short(name)} {amount['value']}" for name, amount in capacity.items())])


def _short(name: str) -> str:
    return name.rpartition("/")[2]


def _value(attribute: Mapping[str, Any]) -> str:
    value = next((value for value in attribute.values() if value is not None), "")
    return str(value).lower() if isinstance(value, bool) else str(value)
