"""An object's lifecycle in the API server: its generation, and what delays its deletion.

Source: upstream ``apiserver/pkg/registry/{rest,generic}`` and the registry strategies of each kind. Every finalizer
holds an object until removed: the garbage collector removes its own two, people all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.fields import without_empty

Manifest = Mapping[str, Any]

BACKGROUND, FOREGROUND, ORPHAN = "Background", "Foreground", "Orphan"
POLICIES: dict[str, str] = {BACKGROUND: "", FOREGROUND: "foregroundDeletion", ORPHAN: "orphan"}
"""propagationPolicy of a deletion → the finalizer that shows it to the garbage collector. Background: the object
first, then what it owns; Foreground: it waits for what it owns; Orphan: what it owned stays.
"""

NOT_HELD = ("kubernetes.io/pvc-protection", "kubernetes.io/pv-protection", "batch.kubernetes.io/job-tracking")
"""Finalizers whose controllers would remove them at once, and that a sandbox does not have."""

COUNTED = (
    *("Pod", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job"),
    *("PodDisruptionBudget", "PodGroup"),
)
"""Kinds with a generation."""


def first_generation(kind: str) -> int | None:
    return 1 if kind in COUNTED else None


def with_generation(kind: str, old: Manifest, new: dict[str, Any]) -> dict[str, Any]:
    """Set the generation of ``new``: one more if the spec differs (of a Deployment: or the annotations), or if its
    deletion begins.
    """
    if kind not in COUNTED or not (old.get("metadata") or {}).get("generation"):
        return new
    before, after = old["metadata"], new["metadata"]
    changed = _differ(f"{kind}Spec", old.get("spec") or {}, new.get("spec") or {})
    changed |= kind == "Deployment" and _annotations(before) != _annotations(after)
    changed |= "deletionTimestamp" in after and "deletionTimestamp" not in before
    return {**new, "metadata": {**after, "generation": before["generation"] + changed}}


def _differ(type_name: str, old: Manifest, new: Manifest) -> bool:
    """Return True if Kubernetes considers two specs different: ``resources: {}`` is the same as no resources."""
    return old != new and without_empty(old, type_name, structs=True) != without_empty(new, type_name, structs=True)


def _annotations(metadata: Manifest) -> dict[str, str]:
    """Return the annotations without the revision, which the controller writes together with the status."""
    held = metadata.get("annotations") or {}
    return {name: text for name, text in held.items() if name != "deployment.kubernetes.io/revision"}


def finalizers(manifest: Manifest) -> list[str]:
    return (manifest.get("metadata") or {}).get("finalizers") or []


def finalizers_for(manifest: Manifest, policy: str) -> list[str]:
    """Return the finalizers of an object deleted with this propagation policy."""
    held = [name for name in finalizers(manifest) if name not in POLICIES.values()]
    return [*held, POLICIES[policy]] if POLICIES[policy] else held


def hold_back(names: Sequence[str]) -> bool:
    """Return True if an object with these finalizers must wait for someone's action."""
    return any(name not in NOT_HELD for name in names)


def held_back(manifest: Manifest) -> bool:
    return hold_back(finalizers(manifest))


def grace_seconds(manifest: Manifest) -> int:
    """Return the grace period of a pod that is being deleted; 0 for other kinds."""
    return (manifest.get("metadata") or {}).get("deletionGracePeriodSeconds") or 0
