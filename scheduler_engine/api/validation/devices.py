"""Rules for claims, templates of claims and classes of devices.

Source: upstream ``apis/resource/validation`` and ``registry/resource``. Fields of gates that are off never get here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.fields import without_empty
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.device_parts import (
    MOST_ITEMS,
    NEWER,
    NEWEST,
    full_name,
    listed,
    opaque,
    pool_name,
    selector,
)
from scheduler_engine.api.validation.metadata import IMMUTABLE, labels, metadata_rules, metadata_update
from scheduler_engine.api.validation.problems import (
    Errors,
    Rule,
    by_version,
    forbidden,
    invalid,
    not_supported,
    one_of,
    present,
    required,
    texts,
    until,
)
from scheduler_engine.api.validation.selectors import node_selector
from scheduler_engine.api.validation.volumes import driver_name

Data = Mapping[str, Any]

MOST_ALTERNATIVES = 8
MOST_CONSUMERS = 256
EXACTLY_ONE = "exactly one of `exactly` or `firstAvailable` is required"
ONE_ATTRIBUTE = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'  # Even for none.
)
NAMED = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

_label = texts(names.dns_label)
_subdomain = texts(names.subdomain)
_source = one_of(("FromClaim", "FromClass"))


# --- claims -----------------------------------------------------------------------------------------------------------


def claim_rules(claim: Data) -> Errors:
    yield from metadata_rules(claim, names.subdomain, namespaced=True)
    yield from _claim_spec(claim.get("spec") or {}, "spec")


def claim_update(old: Data, new: Data) -> Errors:
    yield from metadata_rules(new, names.subdomain, namespaced=True)
    yield from until("newer_texts: claim-specs", _claim_spec(new.get("spec") or {}, "spec"))
    yield from metadata_update(old, new)
    yield from _unchanged(old, new, "ResourceClaimSpec")
    yield from claim_status(old.get("status") or {}, new)


def template_rules(template: Data) -> Errors:
    yield from metadata_rules(template, names.subdomain, namespaced=True)
    spec = template.get("spec") or {}
    yield from labels((spec.get("metadata") or {}).get("labels") or {}, "spec.metadata.labels")
    yield from _claim_spec(spec.get("spec") or {}, "spec.spec")


def template_update(old: Data, new: Data) -> Errors:
    yield from template_rules(new)
    yield from metadata_update(old, new)
    yield from _unchanged(old, new, "ResourceClaimTemplateSpec")


def _unchanged(old: Data, new: Data, type_name: str) -> Errors:
    before, after = (without_empty(one.get("spec") or {}, type_name, structs=True) for one in (old, new))
    if before != after:
        yield invalid("spec", after, IMMUTABLE)


def _claim_spec(spec: Data, path: str) -> Errors:
    devices, path = spec.get("devices") or {}, f"{path}.devices"
    requests = devices.get("requests") or ()
    known = _request_names(requests)
    yield from listed(requests, f"{path}.requests", _request, MOST_ITEMS, "name")
    yield from listed(devices.get("constraints") or (), f"{path}.constraints", _constraint(known))
    yield from listed(devices.get("config") or (), f"{path}.config", _configuration(known))


def _request_names(requests: Sequence[Data]) -> dict[str, None]:
    """Return the names of all requests and ``request/subrequest``."""
    found: dict[str, None] = {}
    for request in requests:
        found[request["name"]] = None
        found.update({f"{request['name']}/{sub['name']}": None for sub in request.get("firstAvailable") or ()})
    return found


def _request(request: Data, path: str) -> Errors:
    yield from _label(request["name"], f"{path}.name")
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable") or ()
    errors = [*listed(alternatives, f"{path}.firstAvailable", _alternative, MOST_ALTERNATIVES, "name")]
    if exactly is not None:
        errors += _devices_wanted(exactly, f"{path}.exactly")
    if exactly is None and not alternatives:
        yield required(path, EXACTLY_ONE)
    elif exactly is not None and alternatives:
        both = invalid(path, None, f"{EXACTLY_ONE}, but multiple fields are set")
        yield from by_version((*errors, both), (NEWER, (both,)))
    else:
        yield from errors


def _alternative(alternative: Data, path: str) -> Errors:
    yield from _label(alternative["name"], f"{path}.name")
    yield from _devices_wanted(alternative, path)


def _devices_wanted(wanted: Data, path: str) -> Errors:
    if wanted["deviceClassName"]:
        yield from _subdomain(wanted["deviceClassName"], f"{path}.deviceClassName")
    else:
        yield required(f"{path}.deviceClassName")
    yield from listed(wanted.get("selectors") or (), f"{path}.selectors", selector)
    mode, count = wanted.get("allocationMode") or "", wanted.get("count") or 0
    if mode == "All" and count:
        yield invalid(f"{path}.count", count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount" and count <= 0:
        yield invalid(f"{path}.count", count, "must be greater than zero")
    elif mode not in ("All", "ExactCount"):
        yield not_supported(f"{path}.allocationMode", mode, ("All", "ExactCount"))


def _constraint(known: Mapping[str, None]) -> Rule:
    def rule(constraint: Data, path: str) -> Errors:
        yield from listed(constraint.get("requests") or (), f"{path}.requests", _reference(known), unique="")
        attribute = constraint.get("matchAttribute")
        if attribute is None:
            newer = required(path, ONE_ATTRIBUTE)
            yield from by_version((required(f"{path}.matchAttribute"),), (NEWEST, (newer,)))
        else:
            yield from full_name(attribute, f"{path}.matchAttribute")

    return rule


def _configuration(known: Mapping[str, None]) -> Rule:
    def rule(configuration: Data, path: str) -> Errors:
        yield from listed(configuration.get("requests") or (), f"{path}.requests", _reference(known), unique="")
        yield from opaque(configuration, path)

    return rule


def _reference(known: Mapping[str, None]) -> Rule:
    def rule(name: str, path: str) -> Errors:
        parts = name.split("/")
        if len(parts) > 2:
            yield invalid(path, name, NAMED)
            return
        for part in parts:
            yield from _label(part, path)
        if name not in known:
            yield invalid(path, name, NAMED)

    return rule


# --- the status of a claim --------------------------------------------------------------------------------------------


def claim_status(held: Data, claim: Data) -> Errors:
    """Check the status of a claim. ``held``: the status that it replaces."""
    status, path = claim.get("status") or {}, "status"
    consumers, allocation = status.get("reservedFor") or (), status.get("allocation")
    yield from _reservations(consumers, allocation is not None)
    terminating = (claim.get("metadata") or {}).get("deletionTimestamp")
    if (
        allocation is not None
        and terminating
        and any(item not in (held.get("reservedFor") or ()) for item in consumers)
    ):
        text = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
        yield forbidden(f"{path}.reservedFor", text)
    if allocation is None:
        return
    if held.get("allocation") is None:
        known = _request_names(((claim.get("spec") or {}).get("devices") or {}).get("requests") or ())
        yield from _allocation(allocation, f"{path}.allocation", known)
    elif _plain(allocation) != _plain(held["allocation"]):
        yield invalid(f"{path}.allocation", allocation, IMMUTABLE)


def _reservations(consumers: Sequence[Data], allocated: bool) -> Errors:
    path = "status.reservedFor"
    yield from listed(consumers, path, _consumer, MOST_CONSUMERS, "uid")
    if consumers and not allocated:
        yield forbidden(path, "may not be specified when `allocated` is not set")


def _plain(allocation: Data) -> Data:
    return without_empty(allocation, "AllocationResult", structs=True)


def _consumer(consumer: Data, path: str) -> Errors:
    for field in ("resource", "name", "uid"):
        if not consumer[field]:
            yield required(f"{path}.{field}")


def _allocation(allocation: Data, path: str, known: Mapping[str, None]) -> Errors:
    devices = allocation.get("devices") or {}
    yield from listed(devices.get("results") or (), f"{path}.devices.results", _result(known))
    configured = _configuration(known)

    def configuration(item: Data, place: str) -> Errors:
        yield from _source(item["source"], f"{place}.source")
        yield from configured(item, place)

    yield from listed(devices.get("config") or (), f"{path}.devices.config", configuration, 2 * MOST_ITEMS)
    yield from present(allocation, path, (("nodeSelector", node_selector),))


def _result(known: Mapping[str, None]) -> Rule:
    def rule(result: Data, path: str) -> Errors:
        yield from _reference(known)(result["request"], f"{path}.request")
        yield from driver_name(result["driver"], f"{path}.driver")
        yield from pool_name(result["pool"], f"{path}.pool")
        yield from _label(result["device"], f"{path}.device")

    return rule


# --- classes and slices -----------------------------------------------------------------------------------------------


def class_rules(device_class: Data) -> Errors:
    yield from metadata_rules(device_class, names.subdomain, namespaced=False)
    spec = device_class.get("spec") or {}
    yield from listed(spec.get("selectors") or (), "spec.selectors", selector)
    yield from listed(spec.get("config") or (), "spec.config", opaque)


def class_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    yield from class_rules(new)
