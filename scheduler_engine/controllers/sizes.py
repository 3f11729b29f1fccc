"""The most pods that one owner may want. People hear about it when they write the owner, before its first pod.

Only a command that newly asks for too many pods is refused: not one that leaves the number as it is, and not one whose
owner makes no pods yet. Source: design of the sandbox. A cluster accepts such an owner, and creates pods until
something breaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.labels import selector_from
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.api.scheme import kind_of
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.errors import FieldError
from scheduler_engine.words import say

MOST_WANTED = 20_000
"""As many pods as a sandbox of the site may hold. Controllers create fewer, but an imported owner can have them."""
FIELDS = {
    "Deployment": ("replicas",),
    "Job": ("parallelism", "completions"),
    "ReplicaSet": ("replicas",),
    "ReplicationController": ("replicas",),
    "StatefulSet": ("replicas",),
}
"""Kind → the fields of its ``spec`` that limit its pods. The least counts; errors name the first."""


def size_problem(
    api: ApiServer, manifest: Mapping[str, Any], before: KubeObject | None, document: int = 0, stays: bool = True
) -> FieldError | None:
    """Return what is wrong if the manifest newly wants more pods than a sandbox may hold; None if nothing is.

    ``before``: the object as it is. One that is too large may stay as large, so that people can change its other
    fields. ``stays``: it keeps its uid, and what it owns. ``document``: number of the manifest in its command.
    """
    kind = kind_of(manifest).name
    wanted = _wanted(api, manifest, before.uid if before is not None and stays else "")
    if wanted <= MOST_WANTED or (before is not None and wanted <= _wanted(api, before.manifest, before.uid)):
        return None
    text = say("refusals.too-many-pods", kind=kind, wanted=wanted, most=MOST_WANTED)
    shown = f"{kind} {manifest['metadata']['name']}"
    return FieldError(f"spec.{FIELDS[kind][0]}", "FieldValueInvalid", text, document, object_name=shown)


def _wanted(api: ApiServer, manifest: Mapping[str, Any], uid: str) -> int:
    """Return how many pods an owner wants at once; 0 for other kinds, and for one that makes none yet."""
    kind, spec = kind_of(manifest).name, manifest.get("spec") or {}
    if spec.get("suspend") or (spec.get("paused") and not _has_sets(api, manifest, uid)):
        return 0
    limits = [spec[name] for name in FIELDS.get(kind, ()) if spec.get(name) is not None]
    return int(min(limits, default=0))


def _has_sets(api: ApiServer, manifest: Mapping[str, Any], uid: str) -> bool:
    """Return True if a Deployment has replica sets, or will adopt some: it scales these also while it is paused."""
    selector = selector_from(manifest["spec"].get("selector"))
    namespace = manifest["metadata"].get("namespace", "default")
    for item in api.list("ReplicaSet", namespace):
        reference = item.controller_ref
        if selector.matches(item.labels) and (reference is None or reference.get("uid") == uid):
            return True
    return False
