"""What the volume explanations share: the claims behind a pod's volumes, and facts of claims and volumes.

Source: upstream ``component-helpers/storage`` and ``csi-translation-lib``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.panels.explain.model import Line
from sandbox.panels.model.seen import Objects
from sandbox.panels.words.say import say
from scheduler_engine.api.objects import KubeObject, Pod

BETA_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"


def claim_of(pod: Pod, volume: Mapping[str, Any]) -> str:
    """Name of the claim behind one of the pod's volumes, "" when there is none."""
    if volume.get("persistentVolumeClaim") is not None:
        return str(volume["persistentVolumeClaim"].get("claimName") or "")
    return f"{pod.name}-{volume.get('name')}" if volume.get("ephemeral") is not None else ""


def claims_of(pod: Pod, objects: Objects) -> list[tuple[str, KubeObject | None]]:
    """(name, claim or None) for every volume that uses a claim, in order."""
    named = (claim_of(pod, volume) for volume in pod.volumes)
    return [(name, objects.get("PersistentVolumeClaim", f"{pod.namespace}/{name}")) for name in named if name]


def class_name_of(claim_or_volume: KubeObject) -> str:
    """Name of the StorageClass; the old annotation wins."""
    annotated = claim_or_volume.annotations.get(BETA_STORAGE_CLASS)
    return annotated if annotated is not None else claim_or_volume.spec.get("storageClassName") or ""


def fully_bound(claim: KubeObject) -> bool:
    return bool(claim.spec.get("volumeName")) and BIND_COMPLETED in claim.annotations


def claim_lines(pod: Pod, objects: Objects) -> list[Line]:
    """One line per claim of the pod, as it stood before any node was looked at."""
    return [Line(say("volumes.claim", claim=name), _state(claim)) for name, claim in claims_of(pod, objects)]


def _state(claim: KubeObject | None) -> str:
    if claim is None:
        return say("volumes.claim-missing")
    if claim.terminating:
        return say("volumes.claim-deleted")
    if fully_bound(claim):
        return say("volumes.claim-bound", volume=claim.spec["volumeName"])
    name = class_name_of(claim)
    return say("volumes.claim-unbound", name=name) if name else say("volumes.claim-unbound-without-class")
