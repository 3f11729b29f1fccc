"""The most pods that one owner may want. People hear about it when they write the owner, before its first pod.

Source: design of the sandbox. A cluster accepts such an owner, and creates pods until something breaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.api.scheme import kind_of
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


def size_problem(manifest: Mapping[str, Any], before: KubeObject | None, document: int = 0) -> FieldError | None:
    """Return what is wrong if the manifest wants more pods than a sandbox may hold; None if nothing is.

    ``before``: the object as it is. One that is too large may stay as large, so that people can change its other
    fields. ``document``: number of the manifest in its command.
    """
    kind = kind_of(manifest).name
    wanted = _wanted(kind, manifest.get("spec") or {})
    if wanted <= MOST_WANTED or (before is not None and wanted <= _wanted(kind, before.spec)):
        return None
    text = say("refusals.too-many-pods", kind=kind, wanted=wanted, most=MOST_WANTED)
    shown = f"{kind} {manifest['metadata']['name']}"
    return FieldError(f"spec.{FIELDS[kind][0]}", "FieldValueInvalid", text, document, object_name=shown)


def _wanted(kind: str, spec: Mapping[str, Any]) -> int:
    """Return how many pods an owner wants at once; 0 for other kinds, and for a Job that is suspended."""
    if spec.get("suspend"):
        return 0
    limits = [spec[name] for name in FIELDS.get(kind, ()) if spec.get(name) is not None]
    return int(min(limits, default=0))
