"""Claims, volumes and classes for tests of the volume plugins."""

from __future__ import annotations

from typing import Any

from scheduler_engine.api.objects import KubeObject
from scheduler_engine.testing import Builder
from tests.engine.plugins.world import object_of

DRIVER = "csi.example.com"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}


def claim(
    name: str,
    *,
    bound_to: str = "",
    storage_class: str = "wait",
    gib: int = 1,
    namespace: str = "default",
    annotations: dict[str, str] | None = None,
    metadata: dict[str, Any] | None = None,
    phase: str = "",
    **spec: Any,
) -> KubeObject:
    """Return a PersistentVolumeClaim with uid ``uid-<name>``. ``bound_to`` binds it to that volume."""
    builder = Builder("v1", "PersistentVolumeClaim", name, namespace).metadata(uid=f"uid-{name}", **(metadata or {}))
    for key, value in {**(BOUND if bound_to else {}), **(annotations or {})}.items():
        builder.annotation(key, value)
    builder.spec(
        accessModes=["ReadWriteOnce"],
        resources={"requests": {"storage": f"{gib}Gi"}},
        storageClassName=storage_class,
        **({"volumeName": bound_to} if bound_to else {}),
    ).spec(**spec)
    return object_of(builder.status(phase=phase or ("Bound" if bound_to else "Pending")))


def volume(
    name: str,
    *,
    gib: int = 1,
    zone: str = "",
    storage_class: str = "wait",
    phase: str = "Available",
    labels: dict[str, str] | None = None,
    metadata: dict[str, Any] | None = None,
    **spec: Any,
) -> KubeObject:
    """Return a PersistentVolume of the CSI driver. ``zone`` restricts it to nodes with that label."""
    builder = Builder("v1", "PersistentVolume", name).labels(labels or {}).metadata(**(metadata or {}))
    expression = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    builder.spec(
        capacity={"storage": f"{gib}Gi"},
        accessModes=["ReadWriteOnce"],
        storageClassName=storage_class,
        csi={"driver": DRIVER, "volumeHandle": name},
        **({"nodeAffinity": affinity} if zone else {}),
    ).spec(**spec)
    return object_of(builder.status(phase=phase))


def storage_class(
    name: str, mode: str = "WaitForFirstConsumer", provisioner: str = DRIVER, **fields: Any
) -> KubeObject:
    manifest = Builder("storage.k8s.io/v1", "StorageClass", name).obj()
    return object_of({**manifest, "provisioner": provisioner, "volumeBindingMode": mode, **fields})


def csi_node(name: str, limits: dict[str, int | None], migrated: str = "") -> KubeObject:
    """Return a CSINode. ``limits``: driver → most volumes, None = no limit."""
    drivers = [
        {"name": driver, "nodeID": name, **({} if count is None else {"allocatable": {"count": count}})}
        for driver, count in limits.items()
    ]
    builder = Builder("storage.k8s.io/v1", "CSINode", name).spec(drivers=drivers)
    return object_of(builder.annotation("storage.alpha.kubernetes.io/migrated-plugins", migrated))


def csi_driver(storage_capacity: bool, name: str = DRIVER) -> KubeObject:
    return object_of(Builder("storage.k8s.io/v1", "CSIDriver", name).spec(storageCapacity=storage_capacity))


def capacity(name: str, zone: str, gib: int, storage_class: str = "wait", **fields: Any) -> KubeObject:
    """Return a CSIStorageCapacity: ``gib`` are free for nodes of ``zone``."""
    manifest = Builder("storage.k8s.io/v1", "CSIStorageCapacity", name, "default").obj()
    topology = {"matchLabels": {"topology.kubernetes.io/zone": zone}}
    return object_of(
        {**manifest, "storageClassName": storage_class, "nodeTopology": topology, "capacity": f"{gib}Gi", **fields}
    )
