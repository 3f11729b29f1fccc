"""Rules for the objects of CSI drivers, new and updated. Source: upstream ``apis/storage/validation``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.fields import without_empty
from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.metadata import IMMUTABLE, metadata_rules, metadata_update
from scheduler_engine.api.validation.problems import (
    Errors,
    by_version,
    duplicate,
    forbidden,
    invalid,
    nonnegative,
    not_supported,
    present,
    required,
    since,
    supported,
    texts,
)
from scheduler_engine.api.validation.selectors import label_selector, selector_shown
from scheduler_engine.api.validation.volumes import driver_name

Data = Mapping[str, Any]

LONGEST_NODE_ID = 256
LIFECYCLES = ("Persistent", "Ephemeral")
SHORTEST_TOKEN, LONGEST_TOKEN = 600, 2**32
SHORTEST_PERIOD = 10
LIMITS_CHANGE = "changes_volume_limits"

_name = texts(names.subdomain)
_key = texts(names.qualified_name)
_group_policy = supported(("File", "None", "ReadWriteOnceWithFSType"))


def csi_node_rules(node: Data) -> Errors:
    yield from metadata_rules(node, names.subdomain, namespaced=False)
    driver_names: set[str] = set()
    for index, driver in enumerate(_drivers(node)):
        path, name, node_id = f"spec.drivers[{index}]", driver["name"], driver["nodeID"]
        yield from driver_name(name, f"{path}.name")
        if not node_id:
            yield required(f"{path}.nodeID")
        if len(node_id.encode()) > LONGEST_NODE_ID:
            yield invalid(f"{path}.nodeID", node_id, f"must be {LONGEST_NODE_ID} characters or less")
        yield from present(driver.get("allocatable") or {}, f"{path}.allocatable", (("count", nonnegative),))
        if name in driver_names:
            yield duplicate(f"{path}.name", name)
        driver_names.add(name)
        yield from _topology_keys(driver.get("topologyKeys") or (), path)


def _topology_keys(keys: Sequence[str], path: str) -> Errors:
    earlier: set[str] = set()
    for key in keys:
        if not key:
            yield required(path)
        if key in earlier:
            yield duplicate(path, key)
        earlier.add(key)
        yield from _key(key, path)


def _drivers(node: Data) -> Sequence[Data]:
    drivers: Sequence[Data] = (node.get("spec") or {}).get("drivers") or ()
    return drivers


def csi_node_update(old: Data, new: Data) -> Errors:
    """Check that drivers stay, except for the number of volumes where it may change."""
    yield from csi_node_rules(new)
    for before in _drivers(old):
        for after in _drivers(new):
            if before["name"] == after["name"]:
                whole, limitless = (_fixed(before, after, limit) for limit in (True, False))
                yield from by_version(whole, (LIMITS_CHANGE, limitless))


def _fixed(before: Data, after: Data, limit: bool) -> Errors:
    held, wanted = (_driver_shown(driver, limit) for driver in (before, after))
    if [value or None for value in held.values()] != [value or None for value in wanted.values()]:
        yield invalid("spec.drivers", wanted, IMMUTABLE)


def _driver_shown(driver: Data, limit: bool) -> dict[str, Any]:
    """Return a driver as Go prints its internal form. ``limit``: with the number of volumes."""
    allocatable = driver.get("allocatable") if limit else None
    return {
        "Name": driver["name"],
        "NodeID": driver["nodeID"],
        "TopologyKeys": driver.get("topologyKeys"),
        "Allocatable": None if allocatable is None else {"Count": allocatable.get("count")},
    }


def csi_driver_rules(driver: Data) -> Errors:
    yield from metadata_rules(driver, names.subdomain, namespaced=False)
    yield from driver_name(((driver.get("metadata") or {}).get("name")) or "", "metadata.name")
    spec = driver.get("spec") or {}
    yield from present(spec, "spec", (("fsGroupPolicy", _group_policy), ("tokenRequests", _token_requests)))
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in LIFECYCLES:
            yield not_supported("spec.volumeLifecycleModes", mode, LIFECYCLES)
    period, field = spec.get("nodeAllocatableUpdatePeriodSeconds"), "serviceAccountTokenInSecrets"
    if period is not None and period < SHORTEST_PERIOD:
        text = f"must be greater than or equal to {SHORTEST_PERIOD} seconds"
        yield from since(LIMITS_CHANGE, (invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, text),))
    if spec.get(field) is not None and not spec.get("tokenRequests"):
        yield invalid(f"spec.{field}", spec[field], f"{field} is set but no tokenRequests are specified")


def _token_requests(requests: Sequence[Data], path: str) -> Errors:
    audiences: set[str] = set()
    for index, request in enumerate(requests):
        audience, seconds = request.get("audience") or "", request.get("expirationSeconds")
        if audience in audiences:
            yield duplicate(f"{path}[{index}].audience", audience)
            continue
        audiences.add(audience)
        if seconds is not None and seconds < SHORTEST_TOKEN:
            text = "may not specify a duration less than 10 minutes"
            yield invalid(f"{path}[{index}].expirationSeconds", seconds, text)
        if seconds is not None and seconds > LONGEST_TOKEN:
            text = "may not specify a duration larger than 2^32 seconds"
            yield invalid(f"{path}[{index}].expirationSeconds", seconds, text)


def csi_driver_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    yield from csi_driver_rules(new)
    before, after = old.get("spec") or {}, new.get("spec") or {}
    for field, place in (("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")):
        if before.get(field) != after.get(field):
            yield invalid(f"spec.{place}", after.get(field), IMMUTABLE)


def capacity_rules(capacity: Data) -> Errors:
    yield from metadata_rules(capacity, names.subdomain, namespaced=True)
    if capacity.get("nodeTopology") is not None:
        yield from label_selector(capacity["nodeTopology"], "nodeTopology")
    yield from _name(capacity["storageClassName"], "storageClassName")
    if capacity.get("capacity") is not None and parse_quantity(capacity["capacity"]).nano < 0:
        yield invalid("capacity", capacity["capacity"], "must be greater than or equal to 0")


def capacity_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    before, after = (one.get("nodeTopology") for one in (old, new))
    if before != after:
        yield invalid("nodeTopology", None if after is None else selector_shown(after), IMMUTABLE)
    if old["storageClassName"] != new["storageClassName"]:
        yield invalid("storageClassName", new["storageClassName"], IMMUTABLE)


def attachment_rules(attachment: Data) -> Errors:
    spec = attachment.get("spec") or {}
    yield from metadata_rules(attachment, names.subdomain, namespaced=False)
    yield from driver_name(spec.get("attacher") or "", "spec.attacher")
    source, text = spec.get("source") or {}, "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    volume, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if volume is None and inline is None:
        yield required("spec.source", text)
    elif volume is not None and inline is not None:
        yield forbidden("spec.source", text)
    elif volume == "":
        yield required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName")
    yield from _name(spec.get("nodeName") or "", "spec.nodeName")
    if volume is not None:
        yield from _name(volume, "spec.source.persistentVolumeName")


def attachment_update(old: Data, new: Data) -> Errors:
    yield from attachment_rules(new)
    before, after = (without_empty(one.get("spec") or {}, "VolumeAttachmentSpec", structs=True) for one in (old, new))
    if before != after:
        yield invalid("spec", after, IMMUTABLE)
