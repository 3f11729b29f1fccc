"""What a request that changes objects comes to, and the checks that such requests have in common."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox.kube.bodies import NO_METADATA
from sandbox.kube.reading import Target
from sandbox.kube.resources import Resource
from sandbox.kube.statuses import UNRECOGNIZED, Refused, conflict, invalid, not_found
from sandbox.kube.versions import Versions
from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.fields import TYPES, check_fields
from scheduler_engine.api.objects import merge
from scheduler_engine.errors import FieldError
from scheduler_engine.simulation import Simulation
from scheduler_engine.versions import Rules

Manifest = Mapping[str, Any]
Command = dict[str, Any]

PRECONDITIONS = (
    ("uid", "UID", "The object might have been deleted and then recreated"),
    ("resourceVersion", "ResourceVersion", "The object might have been modified"),
)
"""Field of a precondition, its name in the message, and what may have happened."""
TITLES = {name: title for name, title, _ in PRECONDITIONS}
SET_BY_SERVER = (
    *("uid", "resourceVersion", "creationTimestamp", "generation"),
    *("selfLink", "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds"),
)
"""Metadata whose values in a request only name the version that it is about."""
NEEDS_VERSION = (
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "Lease",
    "PodDisruptionBudget",
    "PodGroup",
    "RuntimeClass",
    "VolumeAttachment",
)
"""Kinds whose updates must name a version. Source: their ``AllowUnconditionalUpdate`` upstream."""
NOTHING: Manifest = {"metadata": {"uid": ""}}
"""Stands for an object that does not exist."""
STORED_AT = {
    "endpoints": "services/endpoints",
    "nodes": "minions",
    "replicationcontrollers": "controllers",
    "services": "services/specs",
}
"""Resource → its place in the storage, as messages name it. Others are stored under their own names."""
STALE = "the object has been modified; please apply your changes to the latest version and try again"


@dataclass(frozen=True, slots=True)
class Planned:
    """What a request comes to. ``answer`` is called once the commands are executed: it returns status and document.

    ``options``: those in the body, if it has some. ``warnings``: for the sender, about unknown fields.
    """

    commands: tuple[Command, ...]
    answer: Callable[[Simulation], tuple[int, dict[str, Any]]]
    options: Manifest = field(default_factory=dict)
    dry_run: bool = False
    warnings: tuple[str, ...] = ()


def held_manifest(simulation: Simulation, wanted: Target) -> dict[str, Any]:
    """Return the present manifest. Raises ``Refused``."""
    held = simulation.api.get(wanted.resource.kind, wanted.key)
    if held is None:
        raise not_found(wanted.resource.plural, wanted.resource.group, wanted.name)
    return dict(held.manifest)


def stored(old: Manifest, changes: Manifest, rules: Rules) -> dict[str, Any]:
    """Return an object after a merge patch, as it is stored: ``cpu: 1`` is "1". With a wrong type it stays as it is."""
    new, kind = merge(old, changes), old["kind"]
    return new if kind not in TYPES or check_fields(new, kind, rules) else set_defaults(new)


def check_version(versions: Versions, old: Manifest, new: Manifest, wanted: Target) -> None:
    """Raise ``Refused`` if the sender has seen an older version of the object."""
    number, resource = str(_metadata(new).get("resourceVersion") or ""), wanted.resource
    if not number and resource.kind in NEEDS_VERSION:
        error = FieldError(
            "metadata.resourceVersion", "FieldValueInvalid", "Invalid value: 0: must be specified for an update"
        )
        raise invalid(resource.plural, resource.group, wanted.name, [error])
    if number and not _is_present(versions, number, old["metadata"]):
        raise conflict(wanted.resource.plural, wanted.resource.group, wanted.name, STALE)


def check_patched_uid(old: Manifest, new: Manifest, wanted: Target) -> None:
    """Raise ``Refused`` if a patch changes the uid of an object."""
    uid, held, resource = _metadata(new).get("uid"), old["metadata"]["uid"], wanted.resource
    if uid and uid != held and wanted.subresource == "scale":
        raise conflict(f"{resource.plural}/scale", resource.group, wanted.name, _differing("UID", uid, held))
    if uid and uid != held:
        text = f"Invalid value: {json.dumps(uid)}: field is immutable"
        raise invalid(
            resource.kind, resource.group, wanted.name, [FieldError("metadata.uid", "FieldValueInvalid", text)]
        )


def check_stored(
    versions: Versions, old: Manifest, new: Manifest, wanted: Target, fields: Sequence[str] = ("uid",)
) -> None:
    """Raise ``Refused`` if the storage has another object of the name. ``fields``: what the sender may name it by."""
    resource, shown = wanted.resource, versions.object(old)["metadata"]
    for name in fields:
        said = str(_metadata(new).get(name) or shown[name])
        if said == shown[name] or (name == "resourceVersion" and _is_present(versions, said, old["metadata"])):
            continue
        key = f"/registry/{STORED_AT.get(resource.plural, resource.plural)}/{wanted.key}"
        why = _differing(TITLES[name], said, shown[name])
        text = f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"
        raise conflict(resource.plural, resource.group, wanted.name, text)


def _differing(title: str, said: str, held: str) -> str:
    return f"Precondition failed: {title} in precondition: {said}, {title} in object meta: {held}"


def _metadata(manifest: Manifest) -> Manifest:
    metadata = manifest.get("metadata", {})
    if not isinstance(metadata, Mapping):
        raise Refused(400, NO_METADATA)
    return metadata


def check_preconditions(versions: Versions, old: Manifest, options: Manifest, resource: Resource) -> None:
    """Raise ``Refused`` if the object is not the one that the options of a deletion are about."""
    wanted, held = options.get("preconditions") or {}, old["metadata"]
    if not isinstance(wanted, Mapping):
        raise Refused(400, UNRECOGNIZED)
    shown = versions.object(old)["metadata"]
    for name, title, why in PRECONDITIONS:
        said = str(shown[name] if wanted.get(name) is None else wanted[name])
        if said != shown[name] and not (name == "resourceVersion" and _is_present(versions, said, held)):
            text = f"the {title} in the precondition ({said}) does not match the {title} in record"
            raise conflict(resource.kind, resource.group, held["name"], f"{text} ({shown[name]}). {why}")


def _is_present(versions: Versions, number: str, held: Manifest) -> bool:
    """Return True if a client saw the object with this number as it is. ``held``: its metadata."""
    is_number = number.isascii() and number.isdigit()
    return is_number and versions.names(int(number), int(held["resourceVersion"]))


def present(wanted: Target, last: Manifest, code: int = 200) -> Callable[[Simulation], tuple[int, dict[str, Any]]]:
    """Return what answers with the object. ``last``: what is known of it if it went at once."""

    def answer(after: Simulation) -> tuple[int, dict[str, Any]]:
        held = after.api.get(wanted.resource.kind, wanted.key)
        return code, dict(last if held is None else held.manifest)

    return answer
