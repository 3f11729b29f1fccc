"""What the API server keeps count of in an object's life: its generation, and what holds back its end.

Source: upstream ``apiserver/pkg/registry/{rest,generic}`` and the registry strategies of each kind. Every finalizer
holds an object until it is taken off: the garbage collector takes off its own two, people all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Manifest = Mapping[str, Any]

BACKGROUND, FOREGROUND, ORPHAN = "Background", "Foreground", "Orphan"
POLICIES: dict[str, str] = {BACKGROUND: "", FOREGROUND: "foregroundDeletion", ORPHAN: "orphan"}
"""propagationPolicy of a deletion → the finalizer by which the garbage collector learns of it. Background: the object
first, then what it owns; Foreground: it waits for what it owns; Orphan: what it owned stays.
"""

NOT_HELD = ("kubernetes.io/pvc-protection", "kubernetes.io/pv-protection", "batch.kubernetes.io/job-tracking")
"""Finalizers of controllers that would take them off at once, and that a sandbox does not have."""

COUNTED = (
    *("Pod", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job"),
    "PodDisruptionBudget",
)
"""Kinds with a generation."""


def first_generation(kind: str) -> int | None:
    return 1 if kind in COUNTED else None


def with_generation(kind: str, old: Manifest, new: dict[str, Any]) -> dict[str, Any]:
    """``new`` with its generation: one more when the spec differs (of a Deployment: or the annotations), or when the
    deletion begins.
    """
    if kind not in COUNTED or not (old.get("metadata") or {}).get("generation"):
        return new
    before, after = old["metadata"], new["metadata"]
    changed = old.get("spec") != new.get("spec")
    changed |= kind == "Deployment" and _annotations(before) != _annotations(after)
    changed |= "deletionTimestamp" in after and "deletionTimestamp" not in before
    return {**new, "metadata": {**after, "generation": before["generation"] + changed}}


def _annotations(metadata: Manifest) -> dict[str, str]:
    """But the revision, which the controller writes together with the status."""
    held = metadata.get("annotations") or {}
    return {name: text for name, text in held.items() if name != "deployment.kubernetes.io/revision"}


def finalizers(manifest: Manifest) -> list[str]:
    return (manifest.get("metadata") or {}).get("finalizers") or []


def finalizers_for(manifest: Manifest, policy: str) -> list[str]:
    """The finalizers of an object that is deleted with this propagation policy."""
    held = [name for name in finalizers(manifest) if name not in POLICIES.values()]
    return [*held, POLICIES[policy]] if POLICIES[policy] else held


def hold_back(names: Sequence[str]) -> bool:
    """Somebody has to do something before an object with these finalizers may go."""
    return any(name not in NOT_HELD for name in names)


def held_back(manifest: Manifest) -> bool:
    return hold_back(finalizers(manifest))


def grace_seconds(manifest: Manifest) -> int:
    """How long a pod that is being deleted may take; 0 for all else."""
    return (manifest.get("metadata") or {}).get("deletionGracePeriodSeconds") or 0
