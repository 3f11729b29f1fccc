"""Which replica set has a deployment's template, and the annotations that number it.

Source: upstream ``pkg/controller/deployment/util/deployment_util.go``.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.controllers.naming import same_template
from scheduler_engine.controllers.workload import Manifest

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS = "deployment.kubernetes.io/max-replicas"
REVISION_HISTORY = "deployment.kubernetes.io/revision-history"
LONGEST_HISTORY = 2000
"""Characters of ``REVISION_HISTORY``."""
NOT_INHERITED = (
    *("kubectl.kubernetes.io/last-applied-configuration", "deprecated.deployment.rollback.to"),
    *(REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS),
)
"""Annotations that a replica set does not take from its deployment."""


def newest(owner: KubeObject, sets: Iterable[KubeObject]) -> KubeObject | None:
    """Return the set of the deployment's template, None if it has none yet."""
    return next((item for item in sets if same_template(_bare_template(item), owner.spec["template"])), None)


def _bare_template(item: KubeObject) -> Manifest:
    """Return a replica set's template as in the deployment: without the hash."""
    template = item.spec["template"]
    metadata = template.get("metadata") or {}
    labels = {name: text for name, text in (metadata.get("labels") or {}).items() if name != HASH_LABEL}
    return {**template, "metadata": {**metadata, "labels": labels}}


def inherited(owner: KubeObject) -> dict[str, str]:
    return {name: text for name, text in owner.annotations.items() if name not in NOT_INHERITED}


def renumbered(item: KubeObject, revision: int) -> dict[str, str]:
    """Return the annotations with a set's revision. If it grows, its old one goes into the history."""
    held = item.annotations.get(REVISION)
    if held is None or revision_of(item) >= revision:
        return {REVISION: str(revision)}
    earlier = [*filter(None, item.annotations.get(REVISION_HISTORY, "").split(",")), held]
    while len(",".join(earlier)) > LONGEST_HISTORY:
        del earlier[0]
    return {REVISION: str(revision), REVISION_HISTORY: ",".join(earlier)}


def revision_of(item: KubeObject) -> int:
    text = item.annotations.get(REVISION, "0")
    return int(text) if text.isascii() and text.isdigit() else 0


def highest_revision(sets: Iterable[KubeObject]) -> int:
    return max(map(revision_of, sets), default=0)
