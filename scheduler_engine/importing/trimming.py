"""Cut an object down to the fields of the allow-list (``importing/kept.py``), while a file is read.

Types come from ``api/fields.py``. A value of a wrong type stays for validation to report, but emptied: its content is
unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.fields import TYPES, Field, absent_fields
from scheduler_engine.api.times import is_time
from scheduler_engine.config.schema import (
    CONFIGURATION,
    EXTENDER,
    PLUGIN_ARGS,
    PLUGIN_CONFIG,
    RAW,
    ListOf,
    MapOf,
    Struct,
)
from scheduler_engine.importing.kept import (
    ANNOTATIONS,
    DEFAULTS,
    FINALIZER_BEGINNINGS_NOT_KEPT,
    FINALIZERS_NOT_KEPT,
    KEPT,
    MEANINGFUL,
    REQUIRED_FIELDS,
    STAND_IN_SOURCE,
    STAND_INS,
)
from scheduler_engine.plugins.expressions import SCHEME
from scheduler_engine.versions import Rules

Manifest = dict[str, Any]
Notes = dict[str, dict[str, int]]
"""Key of a notice → its subject → count."""

CONTAINERS = ("containers", "initContainers")
TEMPLATED = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")
TIMES = ("creationTimestamp", "deletionTimestamp")
"""Times of an object in a draft; a sandbox sets its own."""
QUIET = ("ObjectMeta", "PodTemplateSpec")
"""Types whose notices cover only unknown fields and stand-ins: clusters write the one, and pods repeat the other."""
SOURCE = "VolumeSource"
SOURCES = {
    kind: tuple(name for name in KEPT[kind] if TYPES[kind][name].type.endswith(SOURCE))
    for kind in ("Volume", "PersistentVolumeSpec")
}
"""Type → its fields that locate a volume."""
DROPPED = {
    **dict.fromkeys(("env", "envFrom"), "environment"),
    **dict.fromkeys(("command", "args", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe"), "commands"),
    "ephemeralContainers": "ephemeral-containers",
}
"""Field → its notice; all others share one."""
LONGEST_FIELD = 60
"""The most characters of the path of an unknown field."""
REAL_EXTENDER = {"urlPrefix": "https://extender.example"}
KEYS = "tlsConfig"
NEVER_READ = ("clientConnection",)
"""Fields of a scheduler's configuration."""


@dataclass(slots=True)
class StandIns:
    """Names that replace real identifiers: consistent across all fields, numbered in order of arrival."""

    numbers: dict[str, int] = field(default_factory=dict)

    def of(self, form: str, real: str) -> str:
        """Return the replacement; ``form`` has a place for the number. "" stays."""
        if not real or real in DEFAULTS:
            return real
        beginning = next((text for text in MEANINGFUL if real.startswith(text)), "")
        bare = re.fullmatch("aws://[^/]*/+(vol-[^/]+)/*", real)
        number = self.numbers.setdefault(bare[1] if bare else real, len(self.numbers) + 1)
        return f"{beginning}{'/' if bare else ''}{form.format(number)}"


@dataclass(slots=True)
class Trimmer:
    """Trims one object. ``notes`` lists what was dropped or replaced."""

    stand_ins: StandIns
    notes: Notes = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def note(self, key: str, name: str = "", count: int = 1) -> None:
        held = self.notes.setdefault(key, {})
        held[name] = held.get(name, 0) + count

    def struct(self, value: Any, kind: str, path: str, quiet: bool) -> Any:
        if not isinstance(value, dict):
            return _emptied(value)
        fields, kept = TYPES[kind], KEPT[kind]
        quiet = quiet or kind in QUIET
        result: Manifest = {}
        for name, item in value.items():
            inside = f"{path}.{name}" if path else str(name)
            if item is None:
                continue
            if name not in fields:
                self.unknown.append(inside[:LONGEST_FIELD])
            elif name in kept:
                trimmed = self.member(item, kind, name, inside, quiet or name == "status")
                if trimmed is not None:
                    result[name] = trimmed
            elif not quiet and not _is_empty(item) and not (kind in SOURCES and _is_source(fields[name])):
                self._note_dropped(name, item)
        if kind in SOURCES and result.keys().isdisjoint(SOURCES[kind]):
            return self._without_source(result, kind, quiet)
        return result | REQUIRED_FIELDS.get(kind, {})

    def member(self, item: Any, kind: str, name: str, path: str, quiet: bool) -> Any:
        """Return a kept field of a type; None if nothing of it is left."""
        known = TYPES[kind][name]
        if kind == "ObjectMeta" and name == "annotations":
            return self._annotations(item)
        if kind == "ObjectMeta" and name == "finalizers":
            return self._finalizers(item)
        if (kind, name) in STAND_INS:
            return self._replaced(item, known, kind, name)
        if known.holds == "list":
            if not isinstance(item, list):
                return _emptied(item)
            kept = [self._one(one, known, f"{path}[]", quiet) for one in item if one is not None]
            return [one for one in kept if one is not None] if known.type in TYPES else kept
        if known.holds == "map":
            if not isinstance(item, dict):
                return _emptied(item)
            return {key: self._one(one, known, path, quiet) for key, one in item.items() if one is not None}
        return self._one(item, known, path, quiet)

    def _one(self, value: Any, known: Field, path: str, quiet: bool) -> Any:
        if known.type in TYPES:
            return self.struct(value, known.type, path, quiet)
        return _emptied(value) if isinstance(value, (dict, list)) else value

    def _annotations(self, held: Any) -> Any:
        if not isinstance(held, dict):
            return _emptied(held)
        kept = {name: text for name, text in held.items() if name in ANNOTATIONS and not isinstance(text, (dict, list))}
        kept = {name: text for name, text in kept.items() if text is not None}
        if len(held) > len(kept):
            self.note("annotations", count=len(held) - len(kept))
        return kept or None

    def _finalizers(self, held: Any) -> Any:
        if not isinstance(held, list):
            return _emptied(held)
        names = [_emptied(name) if isinstance(name, (dict, list)) else name for name in held]
        kept = [name for name in names if not _is_taken_off_elsewhere(name)]
        for name in names:
            if _is_taken_off_elsewhere(name):
                self.note("finalizers", name)
        return kept or None

    def _replaced(self, item: Any, known: Field, kind: str, name: str) -> Any:
        items = item if known.holds == "list" and isinstance(item, list) else [item]
        replaced = [
            self.stand_ins.of(STAND_INS[kind, name], one) if isinstance(one, str) else _emptied(one) for one in items
        ]
        changed = sum(before != after for before, after in zip(items, replaced, strict=True))
        if changed:
            self.note("stand-ins", name, changed)
        return replaced if items is item else replaced[0]

    def _without_source(self, result: Manifest, kind: str, quiet: bool) -> Manifest | None:
        """Drop a pod's volume, because nothing depends on it, but give a PersistentVolume a location."""
        if kind == "PersistentVolumeSpec":
            self.note("volume-places")
            return result | STAND_IN_SOURCE
        if not quiet:
            self.note("volumes")
        return None

    def _note_dropped(self, name: str, item: Any) -> None:
        key = DROPPED.get(name, "fields")
        several = isinstance(item, list) and key in ("environment", "ephemeral-containers")
        self.note(key, name if key == "fields" else "", len(item) if several else 1)


def trimmed(manifest: Manifest, stand_ins: StandIns) -> tuple[Manifest, Notes]:
    """Return the object's kept part, and its notices. ``manifest`` has a kind of ``KEPT`` and metadata."""
    kind, metadata = manifest["kind"], manifest["metadata"]
    trimmer = Trimmer(stand_ins)
    result: Manifest = trimmer.struct(manifest, kind, "", quiet=False)
    if trimmer.unknown:
        trimmer.note("unknown-fields", f"{kind}: {', '.join(dict.fromkeys(trimmer.unknown))}")
    held = result["metadata"]
    if kind == "Pod":
        held.pop("uid", None)
        _keep_verdict(result)
    held |= {name: metadata[name] for name in TIMES if isinstance(metadata.get(name), str) and is_time(metadata[name])}
    return result, trimmer.notes


def without_later_fields(manifest: Manifest, rules: Rules, notes: Notes) -> Manifest:
    """Return a trimmed object without the fields that a version of Kubernetes does not have yet. Adds to ``notes``."""
    kind, absent = manifest["kind"], absent_fields(rules)
    for part, known in TYPES[kind].items():
        held_part = manifest.get(part) if known.type in TYPES else None
        names = held_part if isinstance(held_part, Mapping) else ()  # Some parts are lists.
        for name in [name for name in names if (known.type, name) in absent]:
            manifest = {**manifest, part: {field: item for field, item in manifest[part].items() if field != name}}
            held = notes.setdefault("unknown-fields", {})
            about = f"{kind}: {part}.{name}"
            held[about] = held.get(about, 0) + 1
    return manifest


def _keep_verdict(pod: Manifest) -> None:
    """Keep only the message that says why the pod has no node."""
    conditions = (pod.get("status") or {}).get("conditions")
    for item in conditions if isinstance(conditions, list) else ():
        if isinstance(item, dict) and item.get("type") != "PodScheduled":
            item.pop("message", None)


def trimmed_configuration(configuration: Manifest) -> Manifest:
    """Return a KubeSchedulerConfiguration without connection settings, and without fields that no plugin here reads.

    Real extenders are refused as such; their addresses and keys are not needed for that. Simulated ones are kept.
    """
    kept = {name: item for name, item in configuration.items() if name not in NEVER_READ}
    result: Manifest = _configured(kept, CONFIGURATION)
    if isinstance(configuration.get("extenders"), list):
        result["extenders"] = [_extender(item) for item in configuration["extenders"]]
    return result


def _extender(extender: Any) -> Any:
    simulated = isinstance(extender, dict) and str(extender.get("urlPrefix")).startswith(SCHEME)
    if not simulated or not isinstance(extender.get("simulated"), dict):
        return REAL_EXTENDER
    return _configured({name: item for name, item in extender.items() if name != KEYS}, EXTENDER)


def _configured(value: Any, kind: Any) -> Any:
    if isinstance(kind, ListOf) and isinstance(value, list):
        return [_configured(item, kind.item) for item in value]
    if isinstance(kind, MapOf) and isinstance(value, dict):
        return {name: _configured(item, kind.item) for name, item in value.items()}
    if not isinstance(kind, Struct) or not isinstance(value, dict):
        typed = isinstance(kind, str) and kind != RAW and not isinstance(value, (dict, list))
        return value if typed else _emptied(value)
    fields = kind.fields
    result = {name: _configured(item, fields[name].type if name in fields else RAW) for name, item in value.items()}
    name = value.get("name")
    if kind is PLUGIN_CONFIG and isinstance(name, str) and name in PLUGIN_ARGS and "args" in value:
        result["args"] = _configured(value["args"], PLUGIN_ARGS[name])
    return result


def _emptied(value: Any) -> Any:
    """Return an empty value of the same type."""
    return None if value is None else type(value)()


def _is_taken_off_elsewhere(finalizer: Any) -> bool:
    if not isinstance(finalizer, str):
        return False
    return finalizer in FINALIZERS_NOT_KEPT or finalizer.startswith(FINALIZER_BEGINNINGS_NOT_KEPT)


def _is_source(known: Field) -> bool:
    return known.type.endswith(SOURCE)


def _is_empty(value: Any) -> bool:
    return value in ("", [], {})


def pod_specs(manifest: Manifest) -> Iterator[Manifest]:
    """Yield the spec of a pod, or of a workload's template."""
    if manifest["kind"] == "Pod":
        yield manifest.get("spec") or {}
    elif manifest["kind"] in TEMPLATED:
        yield ((manifest.get("spec") or {}).get("template") or {}).get("spec") or {}
