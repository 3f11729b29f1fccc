"""What a claim gets, as its status holds it: devices, their configurations, and the nodes that can use them.

Source: upstream ``dynamic-resource-allocation/structured/internal/``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_engine.api.devices import ResourceClaim
from scheduler_engine.plugins.dynamic_resources.common_selector import common_selector
from scheduler_engine.plugins.dynamic_resources.wanted import Chosen, Wanted
from scheduler_engine.versions import Rules


def allocation(
    node: str, claim: ResourceClaim, taken: Sequence[Wanted], chosen: Sequence[Chosen], rules: Rules
) -> dict[str, Any]:
    """Return the allocation of a claim. ``taken``: what was taken for each request; ``chosen``: the devices for it."""
    devices: dict[str, Any] = {"results": [_result(item) for item in chosen]} if chosen else {}
    config = [*_of_classes(taken, rules), *_of_claim(claim, taken)]
    if config:
        devices["config"] = config
    selector = common_selector([item.device for item in chosen], node)
    return {"devices": devices} | ({"nodeSelector": selector} if selector is not None else {})


def _result(item: Chosen) -> dict[str, Any]:
    where = item.device.id
    result = {"request": item.wanted.full_name, "driver": where.driver, "pool": where.pool, "device": where.device}
    return result | ({"adminAccess": True} if item.wanted.admin_access else {})


def _of_claim(claim: ResourceClaim, taken: Sequence[Wanted]) -> list[dict[str, Any]]:
    """Return the configurations of the claim: once, or for each request that they name and that was taken."""
    found: list[dict[str, Any]] = []
    for item in (claim.spec.get("devices") or {}).get("config") or ():
        names = item.get("requests") or ()
        times = sum(one.request in names or one.full_name in names for one in taken) if names else 1
        found += [{"source": "FromClaim", **item}] * times
    return found


def _of_classes(taken: Sequence[Wanted], rules: Rules) -> list[dict[str, Any]]:
    """Return the configurations of the classes: for each request, or once for each class with its requests."""
    found: list[dict[str, Any]] = []
    listed: dict[str, list[dict[str, Any]]] = {}
    for one in taken:
        name, config = one.device_class.name, one.device_class.spec.get("config") or ()
        if name not in listed or not rules.lists_class_once:
            listed[name] = [{"source": "FromClass", **item} for item in config]
            found += listed[name]
        for item in listed[name] if rules.lists_class_once else ():
            item.setdefault("requests", []).append(one.full_name)
    return found
