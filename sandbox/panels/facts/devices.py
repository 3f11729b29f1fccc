"""The devices of nodes and the claims of pods, as the API server has them now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sandbox.panels.model.world import World
from sandbox.words.amounts import short_name
from sandbox.words.say import say
from scheduler_engine.api.device_pools import Slices, gather_pools, indexed
from scheduler_engine.api.devices import Device, DeviceId, ResourceClaim, claim_of_entry, results_of, unusable
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.api.scheme import view

UNUSABLE = {"terminating": "devices.being-deleted", "foreign": "devices.of-another-pod"}
"""Why a pod cannot use a claim → the row that says so."""
MOST_CHIPS = 8
"""The most devices of a node that its card shows one by one."""


class Holder(NamedTuple):
    """A claim that has a device. ``pods``: (key, name) of its users; ``admin``: other claims can have it, too."""

    claim: str
    pods: tuple[tuple[str, str], ...]
    admin: bool


class DeviceRow(NamedTuple):
    """A device that a node can use. ``about``: its attributes and capacities; ``taken``: no other claim can have it."""

    name: str
    pool: str
    about: str
    holders: tuple[Holder, ...]

    @property
    def taken(self) -> bool:
        return not all(holder.admin for holder in self.holders)


class ClaimRow(NamedTuple):
    """A claim of a pod. ``devices``: (request, device); ``state``: why it has none, or why the pod cannot use them;
    ``others``: (key, name) of the other pods that use it; ``uses``: whether the pod does; ``blocks``: DynamicResources
    keeps the pod out of activeQ because of ``state``.
    """

    entry: str
    name: str
    wants: str
    state: str
    devices: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str], ...]
    uses: bool = False
    blocks: bool = False


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
    used = sum(row.taken for row in rows)
    chips = [{"name": row.name, "held": row.taken, "title": _used_by(row)} for row in rows]
    title = "\n".join(map(_used_by, rows))
    few = chips if len(rows) <= MOST_CHIPS else []
    return {"text": say("devices.in-short", used=used, count=len(rows)), "title": title, "chips": few}


def _used_by(row: DeviceRow) -> str:
    """Return ``gpu-0: demo-gpu`` or ``gpu-0: free``."""
    users = [f"{one.claim} ({say('devices.admin')})" if one.admin else one.claim for one in row.holders]
    return f"{row.name}: {', '.join(users if row.taken else [say('devices.free'), *users])}"


def claims(world: World, pod: Pod) -> list[ClaimRow]:
    """Return the claims of a pod for devices, in the order of its spec."""
    return [_claim_row(world, pod, entry) for entry in pod.spec.get("resourceClaims") or ()]


def _claim_row(world: World, pod: Pod, entry: Mapping[str, Any]) -> ClaimRow:
    name, own = claim_of_entry(pod, entry)
    if not name:
        state = say("devices.no-claim-needed" if name is None else "devices.not-created")
        return ClaimRow(entry["name"], "", "", state, (), (), blocks=name is not None)
    stored = world.objects.get("ResourceClaim", {}).get(f"{pod.namespace}/{name}")
    if stored is None:
        return ClaimRow(entry["name"], name, "", say("devices.missing"), (), (), blocks=True)
    claim = view(stored)
    assert isinstance(claim, ResourceClaim)
    devices = tuple((item["request"], f"{item['pool']}/{item['device']}") for item in results_of(claim.allocation))
    users = tuple(_users(claim))
    others, uses = tuple(user for user in users if user[0] != pod.key), claim.reserved_for(pod.uid)
    problem = "" if uses else unusable(claim, pod, own)
    state = say(UNUSABLE[problem]) if problem else "" if devices else say("devices.no-devices-yet")
    wants = "; ".join(_wants(claim))
    return ClaimRow(entry["name"], name, wants, state, devices, others, uses, bool(problem))


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
