"""The table of resources that a sandbox serves. It follows from the engine's table of kinds.

Source: upstream ``pkg/registry/*/rest/storage_*.go`` and the ``ShortNames`` and ``Categories`` of the storages.
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.api.scheme import KINDS

READS = ("get", "list", "watch")
REVIEWS = (
    ("authorization.k8s.io", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "SelfSubjectRulesReview"),
)
"""Group and kind of what is only posted: what may I do?"""
ONLY_READ: dict[str, tuple[str, ...]] = {"Event": READS, "ControllerRevision": ("get", "list")}
"""Kinds that follow from the trace, and what can be done with them."""
WRITES = ("create", "delete", "deletecollection", "patch", "update")


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource. ``group``: "" for the core group."""

    kind: str
    group: str
    version: str
    plural: str
    namespaced: bool
    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def singular(self) -> str:
        return self.kind.lower()


SHORT = {
    "Pod": ("po",),
    "Node": ("no",),
    "Namespace": ("ns",),
    "Service": ("svc",),
    "PersistentVolume": ("pv",),
    "PersistentVolumeClaim": ("pvc",),
    "StorageClass": ("sc",),
    "PriorityClass": ("pc",),
    "PodDisruptionBudget": ("pdb",),
    "PodGroup": ("pg", "pgs"),
    "ReplicaSet": ("rs",),
    "ReplicationController": ("rc",),
    "Deployment": ("deploy",),
    "DaemonSet": ("ds",),
    "StatefulSet": ("sts",),
    "ConfigMap": ("cm",),
    "Endpoints": ("ep",),
    "Event": ("ev",),
}
IN_ALL = (*("Pod", "ReplicationController", "Service", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet", "Job"),)
"""Kinds that ``kubectl get all`` lists."""


def _resource(kind: str, api_version: str, plural: str, namespaced: bool) -> Resource:
    group, _, version = api_version.rpartition("/")
    return Resource(kind, group, version, plural, namespaced, SHORT.get(kind, ()), ("all",) if kind in IN_ALL else ())


RESOURCES: dict[tuple[str, str, str], Resource] = {
    (row.group, row.version, row.plural): row
    for row in (
        *(
            _resource(kind.name, api_version, kind.plural, kind.namespaced)
            for kind in KINDS.values()
            for api_version in kind.api_versions
        ),
        _resource("Event", "v1", "events", True),
        _resource("Event", "events.k8s.io/v1", "events", True),
        _resource("ControllerRevision", "apps/v1", "controllerrevisions", True),
    )
}
"""Group, version and plural → resource."""
GROUPS: dict[str, tuple[str, ...]] = {
    group: tuple(dict.fromkeys(version for other, version, _ in RESOURCES if other == group))
    for group in sorted({group for group, _, _ in RESOURCES})
} | {group: ("v1",) for group, _ in REVIEWS}
"""Group → its versions, the preferred one first."""
