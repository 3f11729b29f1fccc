"""Requests that change the scale of a workload. Source: upstream ``pkg/registry/apps/*/storage`` and
``apimachinery/pkg/util/managedfields/scalehandler.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sandbox.kube.bodies import Write, document
from sandbox.kube.changing import change, manager_of, now_of
from sandbox.kube.managers import applied
from sandbox.kube.patching import APPLY_PATCH, MERGE_PATCH, patched
from sandbox.kube.plans import Planned, check_patched_uid, check_stored, check_version, held_manifest, present
from sandbox.kube.reading import TRUE, Target
from sandbox.kube.scales import SCALABLE, SCALE_VERSION, scale_of
from sandbox.kube.statuses import Refused, no_resource
from scheduler_engine.api.fields import SCALARS
from scheduler_engine.simulation import Simulation


def scale(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    if wanted.resource.kind not in SCALABLE:
        raise no_resource()
    held = held_manifest(simulation, wanted)
    if request.content_type == APPLY_PATCH:
        return _with_scale(_apply(simulation, request, wanted), wanted)
    old = scale_of(request.versions.object(held))
    body = document(request)
    new = body if request.method == "PUT" else patched(request.content_type or MERGE_PATCH, "Scale", old, body)
    if not isinstance(new, Mapping) or new.get("kind", "Scale") != "Scale" or not isinstance(new.get("spec"), Mapping):
        raise Refused(400, "the object provided is unrecognized (must be of type Scale)")
    if request.method == "PUT":
        check_stored(request.versions, held, new, wanted)
    check_patched_uid(held, new, wanted)
    check_version(request.versions, held, new, wanted)
    replicas = _replicas(new["spec"])
    if replicas == old["spec"]["replicas"]:
        planned = Planned((), present(wanted, held))
    elif held["metadata"].get("managedFields"):
        whole = request.versions.object(held)
        planned = change(simulation, request, wanted, {**whole, "spec": {**whole["spec"], "replicas": replicas}})
    else:
        command = {"kind": "scale", "object_kind": wanted.resource.kind, "key": wanted.key, "replicas": replicas}
        planned = Planned((command,), present(wanted, held))
    return _with_scale(planned, wanted)


def _apply(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    """Apply a scale on the server: the sender manages the number of replicas."""
    name, config = manager_of(request, "PatchOptions", needed=True), document(request)
    kind = (config.get("apiVersion"), config.get("kind")) if isinstance(config, Mapping) else (None, None)
    if kind != (SCALE_VERSION, "Scale"):
        raise Refused(400, f"invalid object type: {kind[0] or ''}, Kind={kind[1] or ''}")
    metadata, spec = ({} if config.get(part) is None else config[part] for part in ("metadata", "spec"))
    if not isinstance(metadata, Mapping) or not isinstance(spec, Mapping):
        raise Refused(400, "the object provided is unrecognized (must be of type Scale)")
    if metadata.get("name", wanted.name) != wanted.name:
        text = f"the name of the object ({metadata['name']}) does not match the name on the URL ({wanted.name})"
        raise Refused(400, text)
    if metadata.get("managedFields"):
        raise Refused(400, "metadata.managedFields must be nil")
    held = request.versions.object(held_manifest(simulation, wanted))
    mine = {
        "apiVersion": held["apiVersion"],
        "kind": held["kind"],
        "metadata": {field: metadata[field] for field in ("uid", "resourceVersion") if field in metadata},
        "spec": {"replicas": _replicas(spec)} if "replicas" in spec else {},
    }
    force = request.query.get("force", "").lower() in TRUE
    new, managers = applied(held, mine, name, force, now_of(simulation), "scale", SCALE_VERSION)
    new["spec"] = {"replicas": 0, **new["spec"]}
    return change(simulation, request, wanted, new, managers)


def _replicas(spec: Mapping[str, Any]) -> int:
    replicas = spec.get("replicas", 0)
    fits, wanted_words = SCALARS["int32"]
    if not fits(replicas):
        raise Refused(422, f"spec.replicas: must be {wanted_words}")
    return int(replicas)


def _with_scale(planned: Planned, wanted: Target) -> Planned:
    """Answer with the scale of the workload."""
    return replace(planned, answer=lambda after: (200, scale_of(held_manifest(after, wanted))))
