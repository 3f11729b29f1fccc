"""Names, labels and taints that editors of manifests offer: tables of names, or of keys with their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from sandbox.panels.facts.device_expressions import device_attributes, device_expressions
from sandbox.panels.model.world import World
from scheduler_engine.api.priorities import SYSTEM_PRIORITY_CLASSES

MOST_NAMES = 500
MOST_KEYS = 200
MOST_VALUES = 100
"""Values of one key."""

Pairs = Iterable[tuple[str, str]]
Manifest = Mapping[str, Any]

RESOURCES = ("cpu", "memory", "ephemeral-storage", "pods")
"""Offered even while there is no node."""


def offers(world: World) -> dict[str, list[str] | dict[str, list[str]]]:
    """Return all tables, each cut to a length that people can choose from."""
    names = {table: sorted(islice(dict.fromkeys(read(world)), MOST_NAMES)) for table, read in NAMES.items()}
    keys = {table: _by_key(read(world)) for table, read in KEYS.items()}
    return {**names, **keys, "nodeFields": {"metadata.name": names["nodes"]}}


def _by_key(pairs: Pairs) -> dict[str, list[str]]:
    table: dict[str, dict[str, None]] = {}
    for key, value in pairs:
        if key not in table and len(table) == MOST_KEYS:
            continue
        values = table.setdefault(key, {})
        if value and len(values) < MOST_VALUES:
            values[value] = None
    return {key: sorted(table[key]) for key in sorted(table)}


def _all(world: World, kind: str) -> Iterable[Manifest]:
    return world.objects.get(kind, {}).values()


def _names(kind: str, world: World) -> Iterator[str]:
    return (manifest["metadata"]["name"] for manifest in _all(world, kind))


def _namespaces(world: World) -> Iterator[str]:
    yield "default"
    yield from _names("Namespace", world)
    yield from (pod.pod.namespace for pod in world.pods.values())


def _priority_classes(world: World) -> Iterator[str]:
    yield from SYSTEM_PRIORITY_CLASSES
    yield from _names("PriorityClass", world)


def _labels(kind: str, world: World) -> Iterator[tuple[str, str]]:
    for manifest in _all(world, kind):
        yield from (manifest["metadata"].get("labels") or {}).items()


def _taints(world: World) -> Iterator[tuple[str, str]]:
    for node in _all(world, "Node"):
        for taint in (node.get("spec") or {}).get("taints") or ():
            yield taint["key"], taint.get("value", "")


def _resources(world: World) -> Iterator[tuple[str, str]]:
    yield from ((name, "") for name in RESOURCES)
    for node in _all(world, "Node"):
        yield from ((name, "") for name in (node.get("status") or {}).get("allocatable") or {})


NAMES: dict[str, Callable[[World], Iterator[str]]] = {
    "claimTemplates": partial(_names, "ResourceClaimTemplate"),
    "claims": partial(_names, "PersistentVolumeClaim"),
    "deviceAttributes": lambda world: device_attributes(_all(world, "ResourceSlice")),
    "deviceClaims": partial(_names, "ResourceClaim"),
    "deviceClasses": partial(_names, "DeviceClass"),
    "deviceExpressions": lambda world: device_expressions(_all(world, "ResourceSlice")),
    "namespaces": _namespaces,
    "nodes": partial(_names, "Node"),
    "priorityClasses": _priority_classes,
    "runtimeClasses": partial(_names, "RuntimeClass"),
    "schedulers": lambda world: (name for name, _ in (world.configured.profiles if world.configured else ())),
    "storageClasses": partial(_names, "StorageClass"),
    "volumes": partial(_names, "PersistentVolume"),
}
KEYS: dict[str, Callable[[World], Iterator[tuple[str, str]]]] = {
    "namespaceLabels": partial(_labels, "Namespace"),
    "nodeLabels": partial(_labels, "Node"),
    "podLabels": partial(_labels, "Pod"),
    "resources": _resources,
    "taints": _taints,
    "volumeLabels": partial(_labels, "PersistentVolume"),
}
TABLES = (*NAMES, *KEYS, "nodeFields")
