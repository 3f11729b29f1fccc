"""Requests that change objects: what commands they come to, and what they are answered with.

Every change is a command of the sandbox's log, as if somebody had clicked it. Source: upstream
``apiserver/pkg/endpoints/handlers`` (create, update, patch, delete) and the storages in ``pkg/registry``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

from sandbox.kube.bodies import Write, read, read_manifest
from sandbox.kube.changing import change, manager_of, now_of
from sandbox.kube.deleting import delete
from sandbox.kube.managers import applied, entries
from sandbox.kube.patching import APPLY_PATCH, patched
from sandbox.kube.plans import NOTHING, SET_BY_SERVER, STALE, Manifest, Planned, check_stored, held_manifest, present
from sandbox.kube.pod_actions import BINDINGS, bind, bound, evict
from sandbox.kube.reading import NO_CONTAINERS, RUNNING, TRUE, Target, target
from sandbox.kube.resources import ONLY_READ
from sandbox.kube.scaling import scale
from sandbox.kube.statuses import (
    Refused,
    already_exists,
    conflict,
    invalid,
    not_allowed,
    not_found,
)
from sandbox.kube.strictness import directive, known_after_patch, known_only
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.simulation import Simulation

CREATED_BY_UPDATE = ("Endpoints", "Lease", "RuntimeClass", "Service")
"""Kinds that a PUT creates if there is no such object. Source: their ``AllowCreateOnUpdate`` upstream."""
NAMED_BY = ("name", "namespace", "uid", "resourceVersion")
"""Metadata that names the object and its version."""


def plan(simulation: Simulation, request: Write) -> Planned:
    """Return what a request comes to in the present state. Raises ``Refused``."""
    wanted = bound(request) if request.method == "POST" and BINDINGS.fullmatch(request.path) else target(request.path)
    if wanted.resource.kind == "Pod" and wanted.subresource in RUNNING:
        raise Refused(400, NO_CONTAINERS)
    verb = VERBS.get((request.method, wanted.subresource))
    everywhere = wanted.resource.namespaced and not wanted.namespace
    if verb is None or wanted.resource.kind in ONLY_READ or everywhere:
        raise not_allowed()
    planned = verb(simulation, request, wanted)
    return replace(planned, dry_run=_is_dry(request.query.get("dryRun"), planned.options.get("dryRun")))


def _is_dry(*said: Any) -> bool:
    """Return True if the query or the options ask for a dry run. Raises ``Refused`` for another word than ``All``."""
    words = [word for one in said if one is not None for word in (one if isinstance(one, list) else [one])]
    for word in words:
        if word != "All":
            raise Refused(422, f'dryRun: Unsupported value: "{word}": supported values: "All"')
    return bool(words)


def of_rejected(error: Rejected, request: Write) -> Refused:
    """Return the error with which an API server answers what the engine refused."""
    cause = error.__cause__
    if isinstance(cause, ApiError):
        return Refused(cause.code, cause.message, None, cause.reason)
    wanted = target(request.path)
    if any(one.path for one in error.errors):
        name = wanted.name or str(read_manifest(request, wanted)[0]["metadata"].get("name", ""))
        return invalid(wanted.resource.kind, wanted.resource.group, name, error.errors)
    return Refused(422, str(error))


# --- verbs ---


def _create(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    if wanted.name:
        raise not_allowed()
    manifest, warnings = _sent(simulation, request, wanted, "CreateOptions")
    metadata = manifest["metadata"]
    if not metadata.get("name") and isinstance(metadata.get("generateName"), str):
        metadata["name"] = _generated(simulation, wanted, metadata["generateName"])
    if metadata.get("resourceVersion"):
        raise Refused(400, "resourceVersion should not be set on objects to be created")
    made = Target(wanted.resource, wanted.namespace, str(metadata.get("name") or ""))
    held = simulation.api.get(made.resource.kind, made.key)
    if held is not None:
        raise already_exists(made.resource.plural, made.resource.group, made.name, held.terminating)
    return _created(made, manifest, warnings)


def _created(made: Target, manifest: dict[str, Any], warnings: tuple[str, ...]) -> Planned:
    for name in SET_BY_SERVER:
        manifest["metadata"].pop(name, None)
    return Planned(({"kind": "apply", "manifests": [manifest]},), present(made, manifest, 201), warnings=warnings)


def _sent(
    simulation: Simulation, request: Write, wanted: Target, options: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the object in the body without unknown fields, and warnings about it. Raises ``Refused``."""
    how, (manifest, duplicates) = directive(request.query, options), read_manifest(request, wanted)
    return known_only(manifest, wanted.resource, duplicates, how, simulation.api.rules)


def _generated(simulation: Simulation, wanted: Target, start: str) -> str:
    """Return a free name. Kubernetes draws its end; here it must follow from the log."""
    for number in count(simulation.api.uid_count + 1):
        name = f"{start}{number:05x}"
        if simulation.api.get(wanted.resource.kind, Target(wanted.resource, wanted.namespace, name).key) is None:
            return name
    raise AssertionError


def _update(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    manifest, warnings = _sent(simulation, request, wanted, "UpdateOptions")
    kind = wanted.resource.kind
    if kind in CREATED_BY_UPDATE and not wanted.subresource and simulation.api.get(kind, wanted.key) is None:
        check_stored(request.versions, NOTHING, manifest, wanted)
        return _created(wanted, manifest, warnings)
    return replace(change(simulation, request, wanted, manifest), warnings=warnings)


def _patch(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    if request.content_type == APPLY_PATCH:
        return _apply(simulation, request, wanted)
    if "force" in request.query:
        text = "Forbidden: may not be specified for non-apply patch"
        raise invalid("PatchOptions", "meta.k8s.io", "", [FieldError("force", "FieldValueForbidden", text)])
    old = request.versions.object(held_manifest(simulation, wanted))
    how, (body, duplicates) = directive(request.query, "PatchOptions"), read(request)
    new = patched(request.content_type, wanted.resource.kind, old, body)
    known, warnings = known_after_patch(new, wanted.resource, duplicates, how, simulation.api.rules)
    return replace(change(simulation, request, wanted, known), warnings=warnings)


def _apply(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    """Apply on the server: the sender manages the fields that it sets, and removes those that it no longer sets."""
    name = manager_of(request, "PatchOptions", needed=True)
    held = simulation.api.get(wanted.resource.kind, wanted.key)
    config, warnings = _sent(simulation, request, wanted, "PatchOptions")
    if config["metadata"].get("managedFields"):
        raise Refused(400, "metadata.managedFields must be nil")
    force = request.query.get("force", "").lower() in TRUE
    if held is None and wanted.subresource:
        raise not_found(wanted.resource.plural, wanted.resource.group, wanted.name)
    mine = _managed_part(config, wanted.subresource)
    if held is None:
        _check_new(config["metadata"], wanted)
        _, managers = applied(None, mine, name, force, now_of(simulation))
        made = {**config, "metadata": {**config["metadata"], "managedFields": entries(managers)}}
        return Planned(({"kind": "apply", "manifests": [made]},), present(wanted, made, 201), warnings=warnings)
    old = request.versions.object(held.manifest)
    new, managers = applied(old, mine, name, force, now_of(simulation), wanted.subresource)
    return replace(change(simulation, request, wanted, new, managers), warnings=warnings)


def _check_new(metadata: Manifest, wanted: Target) -> None:
    """Raise ``Refused`` if who applies an object that does not exist means one that existed."""
    text = STALE if metadata.get("resourceVersion") else ""
    if uid := metadata.get("uid"):
        text = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
    if text:
        raise conflict(wanted.resource.plural, wanted.resource.group, wanted.name, text)


def _managed_part(config: Manifest, subresource: str) -> dict[str, Any]:
    """Return what who applies ``config`` manages: only the status there, everything else in the object itself."""
    if subresource != "status":
        return {name: value for name, value in config.items() if name != "status"}
    named = {name: config["metadata"][name] for name in NAMED_BY if name in config["metadata"]}
    return {**{name: config[name] for name in ("apiVersion", "kind", "status") if name in config}, "metadata": named}


VERBS: dict[tuple[str, str], Callable[[Simulation, Write, Target], Planned]] = {
    ("POST", ""): _create,
    ("PUT", ""): _update,
    ("PATCH", ""): _patch,
    ("DELETE", ""): delete,
    ("PUT", "scale"): scale,
    ("PATCH", "scale"): scale,
    ("PUT", "status"): _update,
    ("PATCH", "status"): _patch,
    ("PATCH", "resize"): _patch,
    ("PUT", "resize"): _update,
    ("POST", "eviction"): evict,
    ("POST", "binding"): bind,
}
"""Method and subresource → what plans the change."""
