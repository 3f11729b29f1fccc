"""Defaults of ``spec.resources`` of a pod, computed from its containers.

Source: upstream ``pkg/apis/core/v1/defaults.go`` and ``component-helpers/resource/helpers.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.quantity import Quantity, added, canonical, parse_quantity

Amounts = dict[str, Quantity]


def default_pod_level_resources(spec: dict[str, Any]) -> None:
    """Set pod-level hugepage limits and pod-level requests, only if pod-level resources are set at all."""
    resources = spec.get("resources")
    if not resources:
        return
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    if limits or requests:
        for name, amount in aggregate(spec, "limits").items():
            if name.startswith("hugepages-") and name not in requests:
                limits.setdefault(name, canonical(amount))
        if limits:
            resources["limits"] = limits
    if not limits:
        return
    for name, amount in aggregate(spec, "requests").items():
        if name in ("cpu", "memory"):
            requests.setdefault(name, canonical(amount))
    for name, written in limits.items():
        if name in ("cpu", "memory") or name.startswith("hugepages-"):
            requests.setdefault(name, written)
    if requests:
        resources["requests"] = requests


def aggregate(spec: Mapping[str, Any], which: str) -> Amounts:
    """Return the containers' effective amounts: the sum, or the largest init container with its sidecars."""
    total: Amounts = {}
    for container in spec.get("containers") or ():
        _add(total, _amounts(container, which))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        running = _amounts(container, which)
        if container.get("restartPolicy") == "Always":
            _add(total, running)
            _add(sidecars, running)
            running = {name: sidecars[name] for name in running}
        else:
            _add(running, {name: sidecars[name] for name in running if name in sidecars})
        _raise_to(peak, running)  # peak already includes the sidecars' other resources
    _raise_to(total, peak)
    return total


def _amounts(container: Mapping[str, Any], which: str) -> Amounts:
    listed = (container.get("resources") or {}).get(which) or {}
    return {name: parse_quantity(written) for name, written in listed.items()}


def _add(amounts: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        amounts[name] = added(amounts[name], amount) if name in amounts else amount


def _raise_to(amounts: Amounts, floor: Amounts) -> None:
    for name, amount in floor.items():
        if name not in amounts or amount.nano > amounts[name].nano:
            amounts[name] = amount
