"""What the API server checks and drops of claims for devices, besides their fields.

Source: upstream ``pkg/registry/resource/{utils,resourceclaim/strategy}.go``.
"""

from __future__ import annotations

from typing import Any, Protocol

from scheduler_engine.api.devices import device_of, results_of
from scheduler_engine.api.objects import KubeObject, merge
from scheduler_engine.api.validation.devices import claim_status
from scheduler_engine.api.validation.problems import in_version
from scheduler_engine.apiserver.errors import invalid
from scheduler_engine.versions import Rules

Manifest = dict[str, Any]
ADMIN_LABEL = "resource.kubernetes.io/admin-access"


class Reader(Protocol):
    def list(self, kind: str, namespace: str | None = None) -> Any: ...

    def get(self, kind: str, key: str) -> KubeObject | None: ...


def check_status(old: Manifest, new: Manifest, rules: Rules) -> None:
    """Raise ApiError if a claim cannot have these devices, or these users."""
    errors = in_version(claim_status(old.get("status") or {}, new), rules)
    problems = [f"{error.path}: {error.message}" for error in errors]
    if problems:
        raise _invalid(new, problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")


def admin_access(manifest: Manifest, objects: Reader) -> Manifest:
    """Allow access to devices that others use only in namespaces with a label."""
    spec = manifest.get("spec") or {}
    devices = (spec.get("spec") or {} if manifest.get("kind") == "ResourceClaimTemplate" else spec).get("devices") or {}
    wanted = [bool((request.get("exactly") or {}).get("adminAccess")) for request in devices.get("requests") or ()]
    if True in wanted:
        _check_labelled(manifest, f"spec.devices.requests[{wanted.index(True)}].adminAccess", objects)
    return manifest


def admin_status(manifest: Manifest, objects: Reader) -> Manifest:
    """The same for a claim that gets such devices."""
    granted = [bool(result.get("adminAccess")) for result in results_of(_status(manifest).get("allocation"))]
    held = results_of(_stored_status(manifest, objects).get("allocation"))
    if True in granted and not any(result.get("adminAccess") for result in held):
        _check_labelled(manifest, f"status.allocation.devices.results[{granted.index(True)}].adminAccess", objects)
    return manifest


def without_stale_devices(manifest: Manifest, objects: Reader) -> Manifest:
    """Drop what drivers told about devices that the claim loses."""
    status = _status(manifest)
    told = status.get("devices")
    if not told:
        return manifest
    held = results_of(_stored_status(manifest, objects).get("allocation"))
    kept = [device_of(item) for item in results_of(status.get("allocation"))]
    lost = [device for device in map(device_of, held) if device not in kept]
    left = [item for item in told if device_of(item) not in lost]
    return manifest if len(left) == len(told) else merge(manifest, {"status": {"devices": left or None}})


def _status(claim: Manifest) -> Manifest:
    return claim.get("status") or {}


def _stored_status(claim: Manifest, objects: Reader) -> Manifest:
    metadata = claim.get("metadata") or {}
    old = objects.get("ResourceClaim", f"{metadata.get('namespace') or 'default'}/{metadata.get('name')}")
    return {} if old is None else old.status


def _check_labelled(manifest: Manifest, place: str, objects: Reader) -> None:
    """Raise ApiError if the namespace lacks the label that admin access needs. ``place``: where it is asked for."""
    namespace = objects.get("Namespace", (manifest.get("metadata") or {}).get("namespace") or "default")
    if namespace is None or namespace.labels.get(ADMIN_LABEL) != "true":
        text = f"admin access to devices requires the `{ADMIN_LABEL}: true` label on the containing namespace"
        raise _invalid(manifest, f"{place}: Forbidden: {text}")


def _invalid(manifest: Manifest, problem: str) -> Exception:
    name = str((manifest.get("metadata") or {}).get("name", ""))
    return invalid(f"{manifest.get('kind')}.resource.k8s.io", name, problem)
