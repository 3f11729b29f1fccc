"""The objects of a run as manifests for ``kubectl apply``, and as a snapshot of kube-scheduler-simulator.

A cluster adds much to what people write. This removes what defaults and admission would add again, what only the API
server, controllers and the scheduler write, and what controllers would create again.
Source: upstream ``kubectl apply`` and the registry's strategies; kube-scheduler-simulator, ``ResourcesForSnap``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.defaults import set_defaults
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.api.priorities import SYSTEM_PRIORITY_CLASSES
from scheduler_engine.apiserver.admission import admit
from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.apiserver.store import KEPT_METADATA, ApiServer
from scheduler_engine.scenario.for_clusters import complete, on_kwok, own_namespace
from scheduler_engine.scenario.yaml_text import documents
from scheduler_engine.shapes import Data
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import Configured
from scheduler_engine.versions import Rules, named
from scheduler_engine.words import say

KINDS = (
    *("Namespace", "PriorityClass", "RuntimeClass", "StorageClass", "CSIDriver", "DeviceClass", "Node", "CSINode"),
    *("ResourceSlice", "ResourceClaimTemplate", "ResourceClaim"),
    *("CSIStorageCapacity", "PersistentVolume", "PersistentVolumeClaim", "VolumeAttachment", "ConfigMap", "Service"),
    *("Endpoints", "PodDisruptionBudget", "PodGroup", "Lease", "ReplicationController", "ReplicaSet", "Deployment"),
    *("StatefulSet", "DaemonSet", "Job", "Pod"),
)
"""The order in which a cluster can take them: objects that others name come first."""
OUTLIVES_OWNER = ("Pod", "ReplicaSet", "Job")
"""Kinds that owners create, and that stay when their owner is gone. Objects of other kinds that nobody applied are
created again: volumes by provisioners, claims by pods and StatefulSets, locks by schedulers.
"""
SERVER_METADATA = (*KEPT_METADATA, "generateName", "managedFields", "selfLink", "ownerReferences", "finalizers")
WRITTEN_LATER: dict[str, dict[str, tuple[str, str] | None]] = {
    "Pod": {
        "nodeName": None,
        "preemptionPolicy": None,
        "priority": ("PriorityClass", "priorityClassName"),
        "overhead": ("RuntimeClass", "runtimeClassName"),
    },
    "PersistentVolume": {"claimRef": None},
    "PersistentVolumeClaim": {"volumeName": None},
}
"""Kind → fields of its spec that, if unset, the scheduler or a controller fills in, or admission from an object: (its
kind, the field that names it).
"""
CLUSTERS_OWN = ("node.kubernetes.io/", "deployment.kubernetes.io/", "pv.kubernetes.io/", "volume.kubernetes.io/")
"""Prefixes of annotations, and of keys of taints, that controllers write."""
SIMULATORS_LISTS = {
    "pods": "Pod",
    "nodes": "Node",
    "pvs": "PersistentVolume",
    "pvcs": "PersistentVolumeClaim",
    "storageClasses": "StorageClass",
    "priorityClasses": "PriorityClass",
    "namespaces": "Namespace",
}
"""Key of a snapshot → kind."""


def manifests(simulation: Simulation, added: bool = False, kwok: bool = False, taint: bool = False) -> list[Data]:
    """Return every object of ``simulation`` as it is now, in an order that ``kubectl apply`` can take.

    ``added``: exactly as stored, with status, uid, defaults and the node it is bound to. Otherwise as a person would
    write it, with later changes (a scale, a cordon, a taint), but without pods and other objects that controllers
    create, and without objects being deleted. A priority that is only a number, which Kubernetes does not accept,
    becomes a PriorityClass. ``kwok``: KWOK simulates the nodes; ``taint``: they are tainted, too, and the pods tolerate
    it, so that no other pods come there.
    """
    api = simulation.api
    stored = [item for kind in KINDS for item in api.list(kind)]
    if added:
        objects = [dict(item.manifest) for item in stored]
    else:
        objects = complete([_bare(item, api) for item in stored if _is_own(item, api)])
    return [on_kwok(item, taint) for item in objects] if kwok else objects


def manifests_text(objects: Sequence[Data], rules: Rules) -> str:
    """Return manifests as a file for ``kubectl apply -f``. Its first line names the version of their cluster."""
    return f"# {say('versions.of-manifests', version=named(rules))}\n{documents(objects)}"


def simulator_snapshot(simulation: Simulation) -> dict[str, Any]:
    """Return the run for import by kube-scheduler-simulator: pods stay where they are bound, workloads are omitted."""
    api = simulation.api
    stored = [item for kind in KINDS if kind in SIMULATORS_LISTS.values() for item in api.list(kind)]
    kept = [_without_server_metadata(item.manifest) for item in stored if not _comes_with_a_cluster(item)]
    objects = complete(kept)
    entries = reversed(simulation.recorder.entries)
    configured = next(entry.event for entry in entries if isinstance(entry.event, Configured))
    lists = {key: [item for item in objects if item["kind"] == kind] for key, kind in SIMULATORS_LISTS.items()}
    return {**lists, "schedulerConfig": _without_simulated(configured.configuration)}


def _without_simulated(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration without simulated extenders, which only a sandbox can ask."""
    real = [item for item in configuration.get("extenders", ()) if "simulated" not in item]
    rest = {name: value for name, value in configuration.items() if name != "extenders"}
    return {**rest, "extenders": real} if real else rest


# --- choice of objects -----------------------------------------------------------------------------------------------


def _comes_with_a_cluster(item: KubeObject) -> bool:
    if item.kind == "Namespace":
        return own_namespace(item.name)
    return item.kind == "PriorityClass" and item.name in SYSTEM_PRIORITY_CLASSES


def _is_own(item: KubeObject, api: ApiServer) -> bool:
    """Return True if somebody applied it or it outlived its owner, and it stays."""
    if item.terminating or _comes_with_a_cluster(item):
        return False
    if item.uid in api.applied:
        return True
    return item.kind in OUTLIVES_OWNER and not any(_exists(owner, item, api) for owner in _owners(item))


def _owners(item: KubeObject) -> Sequence[Mapping[str, Any]]:
    return item.metadata.get("ownerReferences") or ()


def _exists(owner: Mapping[str, Any], item: KubeObject, api: ApiServer) -> bool:
    key = owner["name"] if owner["kind"] == "Node" else f"{item.namespace}/{owner['name']}"
    existing = api.get(owner["kind"], key)
    return existing is not None and existing.uid == owner["uid"]


# --- choice of fields ------------------------------------------------------------------------------------------------


def _bare(item: KubeObject, api: ApiServer) -> Data:
    """Return the object as a person would write it."""
    held = api.applied.get(item.uid)
    applied: Mapping[str, Any] = held.manifest if held is not None else {}
    pruned = _pruned(item.manifest, applied, as_stored(applied, api)) if applied else _undefaulted(item.manifest)
    bare = _without_server_metadata(pruned)
    bare.pop("status", None)
    if item.kind == "Node" and "status" in applied:
        # A node's capacity is only in the status.
        bare["status"] = applied["status"]
    spec = {**bare["spec"]} if isinstance(bare.get("spec"), Mapping) else {}
    for name, by in WRITTEN_LATER.get(item.kind, {}).items():
        # Drop the values of a class while the class exists to set them again.
        gone = by and spec.get(by[1]) and api.get(by[0], spec[by[1]]) is None
        if name not in (applied.get("spec") or {}) and not gone:
            spec.pop(name, None)
    if item.kind == "Node" and spec.get("taints"):
        mine = (applied.get("spec") or {}).get("taints") or ()
        kept = [taint for taint in spec["taints"] if taint in mine or not taint["key"].startswith(CLUSTERS_OWN)]
        spec = {**spec, "taints": kept} if kept else {name: spec[name] for name in spec if name != "taints"}
    ordered = {name: bare[name] for name in ("apiVersion", "kind", "metadata") if name in bare}
    return ordered | ({**bare, "spec": spec} if spec else {name: bare[name] for name in bare if name != "spec"})


def as_stored(applied: Mapping[str, Any], api: ApiServer) -> Mapping[str, Any]:
    """Return a manifest as the API server would store it today."""
    defaulted = set_defaults(applied)
    try:
        return admit(defaulted, api)
    except ApiError:
        # An object that it names may be gone, such as its priority class.
        return defaulted


def _pruned(held: Any, applied: Any, expected: Any) -> Any:
    """Return ``held`` without fields not in ``applied`` that are set anyway, as in ``expected``."""
    if isinstance(held, Mapping):
        applied, expected = (part if isinstance(part, Mapping) else {} for part in (applied, expected))
        kept: Data = {}
        for name, value in held.items():
            if name in applied:
                kept[name] = _pruned(value, applied[name], expected.get(name))
            elif value != expected.get(name):
                kept[name] = _pruned(value, {}, expected.get(name))
        return kept
    if held == expected:
        return applied
    lists = all(isinstance(part, list) for part in (held, applied, expected))
    if lists and len(held) == len(applied) == len(expected):
        return [_pruned(*items) for items in zip(held, applied, expected, strict=True)]
    return held


def _undefaulted(manifest: Mapping[str, Any]) -> Data:
    """Drop fields of its spec and containers that have their defaults, from a manifest that nobody wrote."""
    whole = dict(manifest)
    spec = whole["spec"] = dict(whole.get("spec") or {})
    parts: list[Data] = [spec]
    for name in ("containers", "initContainers"):
        if name in spec:
            spec[name] = [dict(item) for item in spec[name]]
            parts += spec[name]
    target = set_defaults(whole)
    for part in parts:
        for name in [*part]:
            value = part.pop(name)
            try:
                needless = set_defaults(whole) == target
            except (KeyError, TypeError):
                needless = False  # The object cannot exist without the field.
            if not needless:
                part[name] = value
    return whole


def _without_server_metadata(manifest: Mapping[str, Any]) -> Data:
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in SERVER_METADATA}
    annotations = metadata.pop("annotations", None) or {}
    mine = {name: value for name, value in annotations.items() if not name.startswith(CLUSTERS_OWN)}
    return {**manifest, "metadata": {**metadata, **({"annotations": mine} if mine else {})}}
