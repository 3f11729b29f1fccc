"""Requests that do something with a pod: evictions and bindings. Source: upstream ``pkg/registry/core/pod/storage``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sandbox.kube.bodies import Write, document
from sandbox.kube.plans import Command, Manifest, Planned, check_preconditions, check_stored, held_manifest
from sandbox.kube.reading import Target, target
from sandbox.kube.statuses import UNRECOGNIZED, Refused, success
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import EvictionAnswered, ObjectAdded, ObjectDeleted, ObjectModified

BINDINGS = re.compile(r"/?api/v1/namespaces/([^/]+)/bindings/?")
"""Where clients post a Binding that names its pod."""


def evict(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    held, body = held_manifest(simulation, wanted), document(request)
    metadata = (body.get("metadata") or {}) if isinstance(body, Mapping) else None
    options = (body.get("deleteOptions") or {}) if isinstance(body, Mapping) else None
    if not isinstance(options, Mapping) or not isinstance(metadata, Mapping):
        raise Refused(400, UNRECOGNIZED)
    if metadata.get("name", wanted.name) != wanted.name:
        raise Refused(400, "name in URL does not match name in Eviction object")
    check_preconditions(request.versions, held, options, wanted.resource)

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


def bound(request: Write) -> Target:
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


def bind(simulation: Simulation, request: Write, wanted: Target) -> Planned:
    """Bind a pod as the API server does, whether or not the node exists."""
    binding = _binding(request)
    metadata, node = binding.get("metadata") or {}, binding.get("target") or {}
    if not isinstance(metadata, Mapping) or metadata.get("name", wanted.name) != wanted.name:
        raise Refused(400, "name in URL does not match name in Binding object")
    if not isinstance(node, Mapping) or not node.get("name") or not isinstance(node["name"], str):
        raise Refused(500, "target.name: Required value")
    if node.get("kind", "") not in ("", "Node"):
        raise Refused(500, f'target.kind: Unsupported value: "{node["kind"]}": supported values: "Node", "<empty>"')
    check_stored(request.versions, held_manifest(simulation, wanted), binding, wanted, ("uid", "resourceVersion"))
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
