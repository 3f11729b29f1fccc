"""Expressions over the devices of a cluster, as classes and claims write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Manifest = Mapping[str, Any]

COMPARED: dict[str, Callable[[str, Any], str]] = {
    "bool": lambda place, value: place if value else f"!{place}",
    "int": lambda place, value: f"{place} >= {value}",
    "string": lambda place, value: f"{place} == {json.dumps(value, ensure_ascii=False)}",
    "version": lambda place, value: f'{place}.compareTo(semver("{value}")) >= 0',
}
"""Type of an attribute → the expression that devices with this value satisfy, and perhaps better ones."""


def device_expressions(slices: Iterable[Manifest]) -> Iterator[str]:
    """Yield expressions that some device of these ResourceSlices satisfies: by driver, attributes and capacity."""
    for spec, device in _devices(slices):
        yield f'device.driver == "{spec["driver"]}"'
        for name, attribute in (device.get("attributes") or {}).items():
            place = _place("attributes", spec, name)
            yield from (write(place, attribute[kind]) for kind, write in COMPARED.items() if kind in attribute)
        for name, amount in (device.get("capacity") or {}).items():
            yield f'{_place("capacity", spec, name)}.compareTo(quantity("{amount["value"]}")) >= 0'


def device_attributes(slices: Iterable[Manifest]) -> Iterator[str]:
    """Yield the full names of all attributes, as ``matchAttribute`` needs them."""
    for spec, device in _devices(slices):
        yield from ("/".join(_full(spec, name)) for name in device.get("attributes") or {})


def _devices(slices: Iterable[Manifest]) -> Iterator[tuple[Manifest, Manifest]]:
    for item in slices:
        yield from ((item["spec"], device) for device in item["spec"].get("devices") or ())


def _place(table: str, spec: Manifest, name: str) -> str:
    domain, name = _full(spec, name)
    return f'device.{table}["{domain}"].{name}'


def _full(spec: Manifest, name: str) -> tuple[str, str]:
    """Return domain and name. Names without a domain belong to the driver."""
    domain, _, short = name.rpartition("/")
    return domain or spec["driver"], short
