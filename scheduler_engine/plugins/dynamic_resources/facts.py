"""Why a node has the devices that a pod claims, or not: which devices the search tried, and what was against each."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from scheduler_engine.api.cel.devices import names_in, qualified
from scheduler_engine.api.devices import Device, DeviceId, ResourceClaim, results_of
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.framework.facts import AllOf, Fact, Facts, Keys, SearchFacts, SearchStep, fact
from scheduler_engine.framework.status import Status, error, unresolvable
from scheduler_engine.plugins.dynamic_resources.allocator import MOST_STEPS, Film, Tried
from scheduler_engine.plugins.dynamic_resources.claims import ClaimProblem

MOST_TRIED = 40
"""The most devices that are listed. A search may try many more."""


def refusal_facts(pod: Pod, problem: ClaimProblem) -> Facts:
    """Explain why PreFilter refused the pod."""
    values = {"claim": problem.claim, "entry": problem.name, "other": problem.other}
    says = fact(f"devices.claim-{problem.kind}", False, pod=Keys((pod.key,)), **values)
    shown = fact(f"devices.state-{problem.kind}", False, **values)
    return Facts(says, (shown,), unresolvable(problem.text))


def failure_facts(row: str, pod: Pod, problem: str, node: str) -> Facts:
    """Explain an error of Filter or PreBind."""
    says = fact(f"devices.{row}", False, pod=Keys((pod.key,)), node=node)
    return Facts(says, (fact("devices.problem", False, problem=problem),), error(problem))


def filter_facts(
    pod: Pod,
    node: Node,
    claims: Sequence[ResourceClaim],
    allocations: Sequence[Mapping[str, Any]],
    tried: Sequence[Tried],
    devices: Mapping[DeviceId, Device],
    status: Status | None,
    conclusion: str,
) -> Facts:
    """Explain Filter. ``allocations``: what the claims without devices would get; ``tried``: all that was tried."""
    shown: list[Fact] = []
    found = iter(allocations)
    for claim in claims:
        if claim.allocation is not None:
            shown.append(_held(claim, node))
        elif status is None or allocations:
            shown += _would_get(claim, next(found))
        else:
            shown += _needs(claim)
    if status is not None and not allocations:
        shown += _tried(tried, devices)
    away = next((claim.name for claim in claims if is_away(claim, node)), "")
    says = fact(f"devices.{conclusion}", status is None, pod=Keys((pod.key,)), node=node.name, claim=away)
    return Facts(says, tuple(shown), status)


def search_facts(
    verdict: Facts,
    claims: Sequence[ResourceClaim],
    allocations: Sequence[Mapping[str, Any]],
    film: Film,
    devices: Mapping[DeviceId, Device],
    used: Container[DeviceId],
) -> SearchFacts:
    """Tell a search step by step. ``used``: devices that other claims have."""
    places = {device: place for place, device in enumerate(devices)}
    got = (
        DeviceId(item["driver"], item["pool"], item["device"])
        for allocation in allocations
        for item in results_of(allocation)
    )
    return SearchFacts(
        facts=verdict,
        needs=tuple(item for claim in claims for item in _needs(claim)),
        devices=tuple(f"{device.pool}/{device.device}" for device in devices),
        used=frozenset(place for device, place in places.items() if device in used),
        steps=tuple(_steps(film.steps[:MOST_STEPS], devices, places)),
        more=max(len(film.steps) + film.more - MOST_STEPS, 0),
        got=tuple(places[device] for device in got),
    )


def _steps(
    tried: Sequence[Tried], devices: Mapping[DeviceId, Device], places: Mapping[DeviceId, int]
) -> Iterator[SearchStep]:
    held: list[int] = []
    for item in tried:
        place = places[item.device]
        if item.outcome == "taken":
            held.append(place)
        elif item.outcome == "given-back":
            held.remove(place)
        yield SearchStep(place, item.outcome, _outcome(item, devices[item.device]), tuple(held))


def reserve_facts(pod: Pod, allocations: Mapping[str, Mapping[str, Any]]) -> Facts:
    """Explain Reserve. ``allocations``: name of a claim → what it gets."""
    results = [result for item in allocations.values() for result in results_of(item)]
    watched = bool(results) and all(result.get("adminAccess") for result in results)
    row = "nothing-to-set-aside" if not results else "watched" if watched else "set-aside"
    return Facts(
        fact(f"devices.{row}", True, pod=Keys((pod.key,))),
        tuple(row for name, item in allocations.items() for row in _got(name, item)),
    )


def _got(claim: str, allocation: Mapping[str, Any]) -> Iterator[Fact]:
    """Yield the devices of a claim: those that nobody else gets, and those that it has with admin access."""
    for row, admin in (("gets", False), ("gets-as-admin", True)):
        results = [item for item in results_of(allocation) if bool(item.get("adminAccess")) is admin]
        if results:
            devices = _named({"devices": {"results": results}})
            yield fact(f"devices.{row}", claim=claim, devices=devices)


def pre_bind_facts(pod: Pod, claims: Sequence[ResourceClaim]) -> Facts:
    """Explain PreBind. ``claims``: as they were written."""
    says = fact("devices.written" if claims else "devices.nothing-to-write", True, pod=Keys((pod.key,)))
    return Facts(says, tuple(_has("has-and-serves", None, claim) for claim in claims))


def _has(row: str, holds: bool | None, claim: ResourceClaim, **values: str) -> Fact:
    """Return the fact that a claim has devices, or another one if it asks for none."""
    devices = _named(claim.allocation or {})
    if not devices:
        return fact("devices.has-none", holds, claim=claim.name)
    return fact(f"devices.{row}", holds, claim=claim.name, devices=devices, **values)


def is_away(claim: ResourceClaim, node: Node) -> bool:
    """Return True if the claim has devices that the node does not reach."""
    return claim.node_selector is not None and not claim.node_selector.matches(node.name, node.labels)


def _named(allocation: Mapping[str, Any]) -> Keys:
    return Keys(f"{item['pool']}/{item['device']}" for item in results_of(allocation))


def _held(claim: ResourceClaim, node: Node) -> Fact:
    away = is_away(claim, node)
    return _has("held-elsewhere" if away else "held-here", not away, claim, node=node.name)


def _needs(claim: ResourceClaim) -> Iterator[Fact]:
    """Yield what each request wants, or each of its alternatives."""
    for name, wanted in claim.wanted():
        row = "needs-all" if wanted.get("allocationMode") == "All" else "needs"
        count, device_class = wanted.get("count") or 1, wanted["deviceClassName"]
        yield fact(f"devices.{row}", claim=claim.name, request=name, count=count, name=device_class)


def _would_get(claim: ResourceClaim, allocation: Mapping[str, Any]) -> Iterator[Fact]:
    for item in results_of(allocation):
        device = f"{item['pool']}/{item['device']}"
        yield fact("devices.takes", True, claim=claim.name, request=item["request"], device=device)


def _tried(tried: Sequence[Tried], devices: Mapping[DeviceId, Device]) -> Iterator[Fact]:
    """Yield the last outcome of every device for every request, in the order of the first try."""
    last: dict[tuple[str, str, DeviceId], Tried] = {}
    for item in tried:
        key = (item.claim, item.request, item.device)
        held = last.get(key)
        # Any other outcome says more than that the search itself had the device.
        if held is None or item.outcome != "held":
            last[key] = item
    for item in [*last.values()][:MOST_TRIED]:
        yield _outcome(item, devices.get(item.device))
    if len(last) > MOST_TRIED:
        yield fact("devices.more-tried", count=len(last) - MOST_TRIED)


def _outcome(item: Tried, device: Device | None) -> Fact:
    values = _values_in(item.expression, device) if item.expression and device is not None else ()
    differing = AllOf(f"{_shown(value)}" for _, value in item.values)
    return fact(
        f"devices.tried-{item.outcome}" if not item.class_name else "devices.tried-class-selector",
        False if item.outcome != "taken" else None,
        claim=item.claim.rpartition("/")[2],
        request=item.request,
        device=f"{item.device.pool}/{item.device.device}",
        expression=item.expression,
        name=item.class_name,
        attribute=item.attribute,
        values=differing if item.attribute else AllOf(values),
    )


def _values_in(expression: str, device: Device) -> Iterator[str]:
    """Yield the attributes of a device whose names occur in an expression, with their values."""
    names = names_in(expression)
    if "driver" in names:
        yield f"driver = {device.slice.driver}"
    for name, attribute in (device.manifest.get("attributes") or {}).items():
        if qualified(name, "")[1] in names:
            yield f"{name} = {_shown(next(iter(attribute.values()), None))}"
    for name, amount in (device.manifest.get("capacity") or {}).items():
        if qualified(name, "")[1] in names:
            yield f"{name} = {amount['value']}"


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
