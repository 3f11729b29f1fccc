"""Where the devices of an allocation can be used.

Source: upstream ``dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scheduler_engine.api.devices import Device


def common_selector(devices: Sequence[Device], node_name: str) -> dict[str, Any] | None:
    """Return where all devices of an allocation can be used, as a node selector; None: everywhere."""
    fields: list[dict[str, Any]] = []
    expressions: list[dict[str, Any]] = []
    for device in devices:
        spec = device.slice.spec
        if spec.get("nodeName"):
            only = {"key": "metadata.name", "operator": "In", "values": [node_name]}
            return {"nodeSelectorTerms": [{"matchFields": [only]}]}
        for term in (spec.get("nodeSelector") or {}).get("nodeSelectorTerms") or ():
            # Upstream adds both kinds of requirements to its own list.
            _add_new(term.get("matchFields") or (), fields)
            _add_new(term.get("matchExpressions") or (), expressions)
    term = {name: held for name, held in (("matchExpressions", expressions), ("matchFields", fields)) if held}
    return {"nodeSelectorTerms": [term]} if term else None


def _add_new(requirements: Iterable[dict[str, Any]], to: list[dict[str, Any]]) -> None:
    for requirement in requirements:
        if not any(_same(requirement, held) for held in to):
            to.append(requirement)


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    plain = all(one.get(name) == other.get(name) for name in ("key", "operator"))
    return plain and set(one.get("values") or ()) == set(other.get("values") or ())
