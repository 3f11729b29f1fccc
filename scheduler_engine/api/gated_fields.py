"""Fields that a version keeps only while their feature gate is on.

The API server drops them before it checks an object, unless the stored object uses them.

The table is ``GATED_FIELDS`` in ``versions/gates.py``; the rule ``kept_fields`` lists those that are kept.
Source: upstream ``pkg/api/{pod,persistentvolumeclaim}/util.go`` and the strategies in ``pkg/registry``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from scheduler_engine.api.fields import TYPES, absent_fields
from scheduler_engine.errors import FieldError
from scheduler_engine.versions import GATED_FIELDS, Rules, is_on, release_of
from scheduler_engine.words import say

Data = Mapping[str, Any]
Steps = tuple[str | int, ...]

IMAGE_VOLUME = "Volume.image"
EACH_ALONE = ("Lease",)
"""Kinds whose stored objects keep only the very field that they use, not all fields of its gate."""


@dataclass(frozen=True, slots=True)
class Use:
    """A gated field that an object has. ``steps`` lead to it; ``place`` is its ``Type.field``."""

    steps: Steps
    place: str

    @property
    def path(self) -> str:
        """Return its path, as errors write it."""
        return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.steps)[1:]


def _is_no_sidecar(policy: Any, steps: Steps) -> bool:
    return policy != "Always" or steps[-2] != "initContainers"


def _crosses_namespaces(reference: Any, steps: Steps) -> bool:
    return steps == ("spec",) and isinstance(reference, Mapping) and bool(reference.get("namespace"))


COUNTS: dict[str, Callable[[Any, Steps], bool]] = {
    "Container.restartPolicy": _is_no_sidecar,
    "PersistentVolumeClaimSpec.dataSourceRef": _crosses_namespaces,
}
"""Place → whether a value there, below ``steps``, is what the gate is about. Others always are."""


@cache
def _ways(type_name: str, places: frozenset[str]) -> Mapping[str, str]:
    """Return the fields of a type that are in ``places`` ("") or have such fields below them (their type)."""
    ways: dict[str, str] = {}
    for name, field in TYPES[type_name].items():
        if f"{_owner(type_name)}.{name}" in places:
            ways[name] = ""
        elif field.type in TYPES and _ways(field.type, places):
            ways[name] = field.type
    return ways


def _owner(type_name: str) -> str:
    return "Container" if type_name == "EphemeralContainer" else type_name


def uses(manifest: Data, places: frozenset[str]) -> list[Use]:
    """Return the fields of a manifest that are in ``places``, in the order of its kind's table."""
    kind = str(manifest.get("kind"))
    return [*_uses(manifest, kind, places, ())] if kind in TYPES else []


def _uses(value: Any, type_name: str, places: frozenset[str], steps: Steps) -> Iterator[Use]:
    if not isinstance(value, Mapping):
        return
    for name, below in _ways(type_name, places).items():
        held = value.get(name)
        if held is None:
            continue
        if below:
            for inside, item in _parts(held, TYPES[type_name][name].holds):
                yield from _uses(item, below, places, (*steps, name, *inside))
            continue
        place = f"{_owner(type_name)}.{name}"
        if place not in COUNTS or COUNTS[place](held, steps):
            yield Use((*steps, name), place)


def _parts(held: Any, holds: str) -> Iterator[tuple[Steps, Any]]:
    """Yield the values that a field holds, with the steps to each."""
    if holds == "one":
        yield (), held
    elif isinstance(held, list):
        yield from (((index,), item) for index, item in enumerate(held))
    elif isinstance(held, Mapping):
        yield from (((key,), item) for key, item in held.items())


@cache
def _dropped(rules: Rules) -> frozenset[str]:
    """Return the gated fields that a version knows, but does not keep."""
    absent = (".".join(place) for place in absent_fields(rules))
    return frozenset(GATED_FIELDS).difference(rules.kept_fields, absent)


def without_gated(manifest: Data, rules: Rules) -> Data:
    """Return the manifest without the fields that ``rules`` do not keep; the same one if it has none."""
    found = uses(manifest, _dropped(rules))
    if not found:
        return manifest
    result = copy.deepcopy(dict(manifest))
    for use in found:
        owners = _on_the_way(result, use.steps)
        del owners[-1][use.steps[-1]]
        if use.steps[-2] == "lifecycle" and not owners[-1]:
            del owners[-2]["lifecycle"]
    for steps in dict.fromkeys(use.steps[:-3] for use in found if use.place == IMAGE_VOLUME):
        indexes = {use.steps[-2] for use in found if use.place == IMAGE_VOLUME and use.steps[:-3] == steps}
        _drop_volumes(_on_the_way(result, (*steps, ""))[-1], indexes)
    return result


def _on_the_way(manifest: Any, steps: Steps) -> list[Any]:
    """Return what ``steps`` pass before the last one."""
    passed = [manifest]
    for step in steps[:-1]:
        passed.append(passed[-1][step])
    return passed


def _drop_volumes(spec: dict[str, Any], indexes: set[str | int]) -> None:
    """Drop volumes from a pod's spec, and their mounts."""
    names = {volume["name"] for index, volume in enumerate(spec["volumes"]) if index in indexes}
    _keep(spec, "volumes", [volume for index, volume in enumerate(spec["volumes"]) if index not in indexes])
    for listed in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(listed) or ():
            mounts = container.get("volumeMounts") or ()
            _keep(container, "volumeMounts", [item for item in mounts if item["name"] not in names])


def _keep(owner: dict[str, Any], name: str, items: list[Any]) -> None:
    """Set a list, or drop it if it is empty."""
    owner.pop(name, None)
    if items:
        owner[name] = items


def keeping_uses(rules: Rules, old: Data) -> Rules:
    """Return the rules for a change of a stored object, which keep the fields of all gates that it uses."""
    used = {use.place for use in uses(old, _dropped(rules))}
    if not used:
        return rules
    gates = set() if old.get("kind") in EACH_ALONE else {GATED_FIELDS[place] for place in used}
    kept = (
        place for place, gate in GATED_FIELDS.items() if place in rules.kept_fields or place in used or gate in gates
    )
    return replace(rules, kept_fields=(*kept,))


def dropped_warnings(manifest: Data, rules: Rules) -> Iterator[FieldError]:
    """Return for each field that is dropped from a manifest, as written, why."""
    for use in uses(manifest, _dropped(rules)):
        yield FieldError(use.path, "Warning", _why_dropped(use.place, rules))


def _why_dropped(place: str, rules: Rules) -> str:
    gate, release = GATED_FIELDS[place], release_of(rules.kubernetes)
    if is_on(gate, rules.kubernetes, dict(rules.feature_gates)):
        return say("manifest-errors.dropped-unsimulated", gate=gate)
    if place == IMAGE_VOLUME:
        return say("manifest-errors.dropped-volume", gate=gate, release=release)
    return say("manifest-errors.dropped-field", gate=gate, release=release)
