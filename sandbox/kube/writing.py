"""Requests that change objects: what commands they come to, and what they are answered with.

Every change is a command of the sandbox's log, as if somebody had clicked it. Source: upstream
``apiserver/pkg/endpoints/handlers`` (create, update, patch, delete) and the storages in ``pkg/registry``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from sandbox.kube.bodies import NO_METADATA, Write, document, read, read_manifest
from sandbox.kube.patching import APPLY_PATCH, MERGE_PATCH, STRATEGIC_PATCH, between, patched
from sandbox.kube.reading import NO_CONTAINERS, RUNNING, Target, selected, target
from sandbox.kube.resources import ONLY_READ
from sandbox.kube.scales import SCALABLE, scale_of
from sandbox.kube.statuses import (
    UNRECOGNIZED,
    Refused,
    already_exists,
    conflict,
    invalid,
    no_resource,
    not_allowed,
    not_found,
    success,
)
from sandbox.kube.strictness import directive, known_after_patch, known_only
from sandbox.kube.versions import Versions
from scheduler_engine.api.fields import SCALARS
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.apiserver.lifecycle import BACKGROUND, ORPHAN, POLICIES
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import EvictionAnswered, ObjectAdded, ObjectDeleted, ObjectModified

Manifest = Mapping[str, Any]
Command = dict[str, Any]

SET_BY_SERVER = (
    *("uid", "resourceVersion", "creationTimestamp", "generation"),
    *("selfLink", "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds"),
)
"""Metadata whose values in a request only name the version that it is about."""
BINDINGS = re.compile(r"/?api/v1/namespaces/([^/]+)/bindings/?")
"""Where clients post a Binding that names its pod."""
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


def plan(simulation: Simulation, request: Write) -> Planned:
    """Return what a request comes to in the present state. Raises ``Refused``."""
    wanted = _bound(request) if request.method == "POST" and BINDINGS.fullmatch(request.path) else target(request.path)
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


def _held(simulation: Simulation, wanted: Target) -> dict[str, Any]:
    """Return the present manifest. Raises ``Refused``."""
    held = simulation.api.get(wanted.resource.kind, wanted.key)
    if held is None:
        raise not_found(wanted.resource.plural, wanted.resource.group, wanted.name)
    return dict(held.manifest)


def _check_version(versions: Versions, old: Manifest, new: Manifest, wanted: Target) -> None:
    """Raise ``Refused`` if the sender has seen an older version of the object, or another one of that name."""
    before, metadata = old["metadata"], new.get("metadata", {})
    if not isinstance(metadata, Mapping):
        raise Refused(400, NO_METADATA)
    uid, number = metadata.get("uid"), str(metadata.get("resourceVersion") or "")
    is_stale = number and not (
        number.isascii() and number.isdigit() and versions.names(int(number), int(before["resourceVersion"]))
    )
    if is_stale or (uid and uid != before["uid"]):
        raise conflict(wanted.resource.plural, wanted.resource.group, wanted.name, STALE)


def _present(wanted: Target, last: Manifest, code: int = 200) -> Callable[[Simulation], tuple[int, dict[str, Any]]]:
    """Return what answers with the object. ``last``: what is known of it if it went at once."""

    def answer(after: Simulation) -> tuple[int, dict[str, Any]]:
        held = after.api.get(wanted.resource.kind, wanted.key)
        return code, dict(last if held is None else held.manifest)

    return answer


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
    for name in SET_BY_SERVER:
        metadata.pop(name, None)
    made = Target(wanted.resource, wanted.namespace, str(metadata.get("name") or ""))
    held = simulation.api.get(made.resource.kind, made.key)
    if held is not None:
        raise already_exists(made.resource.plural, made.resource.group, made.name, held.terminating)
    return Planned(({"kind": "apply", "manifests": [manifest]},), _present(made, manifest, 201), warnings=warnings)


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
    return replace(_change(simulation, request, wanted, manifest), warnings=warnings)


def _change(simulation: Simulation, request: Write, wanted: Target, new: Manifest) -> Planned:
    """Return the command that replaces an object by ``new``, none if nothing differs."""
    old = _held(simulation, wanted)
    _check_version(request.versions, old, new, wanted)
    # The main resource ignores the status, the subresource everything else.
    whole = (
        {**old, "status": new.get("status")} if wanted.subresource == "status" else {**new, "status": old.get("status")}
    )
    changes = between(old, whole)
    system = changes.get("metadata", {})
    for name in SET_BY_SERVER:
        system.pop(name, None)
    if "metadata" in changes and not system:
        del changes["metadata"]
    subresource = {"subresource": "resize"} if wanted.subresource == "resize" else {}
    command = {"kind": "patch", "object_kind": wanted.resource.kind, "key": wanted.key, "changes": changes}
    return Planned(({**command, **subresource},) if changes else (), _present(wanted, whole))


def _patch(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    if request.content_type == APPLY_PATCH:
        return _apply(simulation, request, wanted)
    old = request.versions.object(_held(simulation, wanted))
    how, (body, duplicates) = directive(request.query, "PatchOptions"), read(request)
    new = patched(request.content_type, wanted.resource.kind, old, body)
    known, warnings = known_after_patch(new, wanted.resource, duplicates, how, simulation.api.rules)
    return replace(_change(simulation, request, wanted, known), warnings=warnings)


def _apply(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    """Apply on the server. Nobody keeps who set which field, so fields that are left out stay as they are."""
    held = simulation.api.get(wanted.resource.kind, wanted.key)
    manifest, warnings = _sent(simulation, request, wanted, "PatchOptions")
    if held is None:
        if manifest["metadata"].get("uid") or manifest["metadata"].get("resourceVersion"):
            raise conflict(wanted.resource.plural, wanted.resource.group, wanted.name, STALE)
        commands = ({"kind": "apply", "manifests": [manifest]},)
        return Planned(commands, _present(wanted, manifest, 201), warnings=warnings)
    old = request.versions.object(held.manifest)
    merged = patched(STRATEGIC_PATCH, wanted.resource.kind, old, manifest)
    return replace(_change(simulation, request, wanted, merged), warnings=warnings)


def _delete(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    options = document(request) if request.body else {}
    if not isinstance(options, Mapping):
        raise Refused(400, UNRECOGNIZED)
    if not wanted.name:
        return _delete_all(simulation, request, wanted, options)
    old = _held(simulation, wanted)
    _check_version(request.versions, old, {"metadata": options.get("preconditions", {})}, wanted)
    details = {"name": wanted.name, "kind": wanted.resource.plural, "uid": old["metadata"]["uid"]}
    if wanted.resource.group:
        details["group"] = wanted.resource.group

    def answer(after: Simulation) -> tuple[int, dict[str, Any]]:
        left = after.api.get(wanted.resource.kind, wanted.key)
        return 200, dict(left.manifest) if left is not None else success(details)

    return Planned((_deletion(request, wanted, options),), answer, options)


def _deletion(request: Write, wanted: Target, options: Manifest) -> Command:
    policy = request.query.get("propagationPolicy", options.get("propagationPolicy"))
    orphan = request.query.get("orphanDependents") == "true" or options.get("orphanDependents") is True
    policy = (ORPHAN if orphan else BACKGROUND) if policy is None else policy
    if not isinstance(policy, str) or policy not in POLICIES:
        raise Refused(422, f'invalid DeleteOptions: propagationPolicy: Unsupported value: "{policy}"')
    grace = request.query.get("gracePeriodSeconds", options.get("gracePeriodSeconds"))
    command: Command = {"kind": "delete", "object_kind": wanted.resource.kind, "key": wanted.key}
    if policy != BACKGROUND:
        command["propagation_policy"] = policy
    if grace is not None and wanted.resource.kind == "Pod":
        if not (isinstance(grace, int | str) and str(grace).isdecimal() and len(str(grace)) < 10):
            raise Refused(422, f'gracePeriodSeconds: Invalid value: "{grace}"')
        command["grace_period_seconds"] = int(grace)
    return command


def _delete_all(simulation: Simulation, request: Write, wanted: Target, options: Manifest) -> Planned:
    keeps, resource = selected(wanted, request.query), wanted.resource
    if resource.kind == "Namespace":
        raise not_allowed()
    found = [
        Target(resource, held.namespace, held.name)
        for held in simulation.api.list(resource.kind, wanted.namespace or None)
        if keeps(held.manifest)
    ]
    empty = {"kind": f"{resource.kind}List", "apiVersion": resource.api_version, "metadata": {}, "items": []}
    commands = tuple(_deletion(request, one, options) for one in found)
    return Planned(commands, lambda after: (200, empty), options)


def _scale(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    if wanted.resource.kind not in SCALABLE:
        raise no_resource()
    held = _held(simulation, wanted)
    old = scale_of(request.versions.object(held))
    body = document(request)
    new = body if request.method == "PUT" else patched(request.content_type or MERGE_PATCH, "Scale", old, body)
    if not isinstance(new, Mapping) or new.get("kind", "Scale") != "Scale" or not isinstance(new.get("spec"), Mapping):
        raise Refused(400, "the object provided is unrecognized (must be of type Scale)")
    _check_version(request.versions, held, new, wanted)
    replicas = new["spec"].get("replicas", 0)
    fits, wanted_words = SCALARS["int32"]
    if not fits(replicas):
        raise Refused(422, f"spec.replicas: must be {wanted_words}")
    command = {"kind": "scale", "object_kind": wanted.resource.kind, "key": wanted.key, "replicas": replicas}
    differs = replicas != old["spec"]["replicas"]
    return Planned((command,) if differs else (), lambda after: (200, scale_of(_held(after, wanted))))


def _evict(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    _held(simulation, wanted)
    body = document(request)
    options = (body.get("deleteOptions") or {}) if isinstance(body, Mapping) else None
    if not isinstance(options, Mapping):
        raise Refused(400, UNRECOGNIZED)

    def answer(after: Simulation) -> tuple[int, dict[str, Any]]:
        said = _answered(after, wanted.key)
        if said is not None and said.code >= 400:
            raise _refused_eviction(said)
        return 201, success({})

    # A drain asks again every five seconds. While nothing changes, the log has the refusal once.
    if (said := _answered(simulation, wanted.key, unchanged=True)) is not None and said.code >= 400:
        raise _refused_eviction(said)
    command = {"kind": "evict", "pod": wanted.key}
    return Planned((command,), answer, options)


def _bound(request: Write) -> Target:
    """Return the subresource of the pod that a Binding names. Raises ``Refused``."""
    metadata = _binding(request).get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    found = BINDINGS.fullmatch(request.path)
    assert found is not None
    if not name or not isinstance(name, str):
        raise Refused(400, "name in URL does not match name in Binding object")
    return Target(target(f"api/v1/namespaces/{found[1]}/pods").resource, found[1], name, "binding")


def _binding(request: Write) -> Manifest:
    body = document(request)
    if not isinstance(body, Mapping) or body.get("kind", "Binding") != "Binding":
        raise Refused(400, "the object provided is unrecognized (must be of type Binding)")
    return body


def _bind(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    """Bind a pod as the API server does, whether or not the node exists."""
    binding = _binding(request)
    metadata, node = binding.get("metadata") or {}, binding.get("target") or {}
    if not isinstance(metadata, Mapping) or metadata.get("name", wanted.name) != wanted.name:
        raise Refused(400, "name in URL does not match name in Binding object")
    if not isinstance(node, Mapping) or not node.get("name") or not isinstance(node["name"], str):
        raise Refused(500, "target.name: Required value")
    if node.get("kind", "") not in ("", "Node"):
        raise Refused(500, f'target.kind: Unsupported value: "{node["kind"]}": supported values: "Node", "<empty>"')
    _check_version(request.versions, _held(simulation, wanted), binding, wanted)
    kept = ("annotations", "labels") if simulation.api.rules.labels_pods_at_binding else ("annotations",)
    changes = {name: metadata[name] for name in kept if metadata.get(name)}
    commands: list[Command] = [{"kind": "bind", "pod": wanted.key, "node": node["name"]}]
    if changes:
        change = {"kind": "patch", "object_kind": "Pod", "key": wanted.key, "changes": {"metadata": changes}}
        commands.append(change)
    return Planned(tuple(commands), lambda after: (201, success({})))


def _refused_eviction(said: EvictionAnswered) -> Refused:
    causes = {"causes": [{"reason": "DisruptionBudget", "message": said.cause}]} if said.cause else None
    return Refused(said.code, said.message, causes)


def _answered(simulation: Simulation, pod: str, unchanged: bool = False) -> EvictionAnswered | None:
    """Return the newest answer to an eviction of a pod. ``unchanged``: None if an object has changed since."""
    for entry in reversed(simulation.recorder.entries):
        if isinstance(entry.event, EvictionAnswered) and entry.event.pod == pod:
            return entry.event
        if unchanged and isinstance(entry.event, ObjectAdded | ObjectModified | ObjectDeleted):
            return None
    return None


VERBS: dict[tuple[str, str], Callable[[Simulation, Write, Target], Planned]] = {
    ("POST", ""): _create,
    ("PUT", ""): _update,
    ("PATCH", ""): _patch,
    ("DELETE", ""): _delete,
    ("PUT", "scale"): _scale,
    ("PATCH", "scale"): _scale,
    ("PUT", "status"): _update,
    ("PATCH", "status"): _patch,
    ("PATCH", "resize"): _patch,
    ("PUT", "resize"): _update,
    ("POST", "eviction"): _evict,
    ("POST", "binding"): _bind,
}
"""Method and subresource → what plans the change."""
