"""The subresource ``scale``. Source: upstream ``pkg/registry/apps/*/storage`` (``scaleFrom…``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.labels import selector_from, selector_from_set
from scheduler_engine.controllers.disruption import SCALES

SCALABLE = tuple(SCALES)
"""Kinds that have it."""
SCALE_VERSION = "autoscaling/v1"


def scale_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``Scale`` of a workload."""
    metadata, spec, status = manifest["metadata"], manifest.get("spec") or {}, manifest.get("status") or {}
    chosen = spec.get("selector") or {}
    of_labels = manifest["kind"] == "ReplicationController"
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    return {
        "kind": "Scale",
        "apiVersion": SCALE_VERSION,
        "metadata": {name: metadata[name] for name in kept if name in metadata},
        "spec": {"replicas": spec.get("replicas", 1)},
        "status": {
            "replicas": status.get("replicas", 0),
            "selector": str(selector_from_set(chosen) if of_labels else selector_from(chosen)),
        },
    }
