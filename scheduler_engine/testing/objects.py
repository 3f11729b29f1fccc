"""Builders of workloads and storage, for tests and examples."""

from __future__ import annotations

from typing import Any

from scheduler_engine.api.topology import HOSTNAME
from scheduler_engine.testing.builders import Builder, Data, PodBuilder, make_pod

APP = "app"
"""The label by which a workload made here selects its pods; its value is the name of the workload."""


def make_deployment(name: str, replicas: int = 1, pod: PodBuilder | None = None, namespace: str = "default") -> Builder:
    """Build a Deployment. ``pod``: its pods are like this one, None = a pod without requests."""
    return _workload("apps/v1", "Deployment", name, namespace, pod, replicas=replicas)


def make_stateful_set(
    name: str, replicas: int = 1, pod: PodBuilder | None = None, namespace: str = "default"
) -> Builder:
    """Build a StatefulSet. For claims of its pods, add ``.spec(volumeClaimTemplates=[make_claim("data").obj()])``."""
    return _workload("apps/v1", "StatefulSet", name, namespace, pod, replicas=replicas, serviceName=name)


def make_daemon_set(name: str, pod: PodBuilder | None = None, namespace: str = "default") -> Builder:
    return _workload("apps/v1", "DaemonSet", name, namespace, pod)


def make_job(
    name: str, completions: int = 1, parallelism: int = 1, pod: PodBuilder | None = None, namespace: str = "default"
) -> Builder:
    """Build a Job, whose pods are not restarted."""
    template = _template(pod, {})
    template["spec"].setdefault("restartPolicy", "Never")
    fields = {"completions": completions, "parallelism": parallelism}
    return Builder("batch/v1", "Job", name, namespace).spec(template=template, **fields)


def make_claim(
    name: str, storage: str = "1Gi", storage_class: str | None = None, namespace: str = "default"
) -> Builder:
    """Build a PersistentVolumeClaim. ``storage_class``: None = the default class, "" = no class."""
    resources = {"requests": {"storage": storage}}
    claim = Builder("v1", "PersistentVolumeClaim", name, namespace)
    claim.spec(accessModes=["ReadWriteOnce"], resources=resources)
    return claim if storage_class is None else claim.spec(storageClassName=storage_class)


def make_volume(name: str, storage: str = "1Gi", storage_class: str = "", node: str = "") -> Builder:
    """Build a PersistentVolume: a disk of ``node``; without a node, one that every node reaches."""
    volume = Builder("v1", "PersistentVolume", name)
    volume.spec(capacity={"storage": storage}, accessModes=["ReadWriteOnce"], storageClassName=storage_class)
    if not node:
        return volume.spec(csi={"driver": "disks.example.com", "volumeHandle": name})
    terms = [{"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [node]}]}]
    return volume.spec(local={"path": f"/mnt/{name}"}, nodeAffinity={"required": {"nodeSelectorTerms": terms}})


def make_storage_class(
    name: str, provisioner: str = "kubernetes.io/no-provisioner", binding: str = "WaitForFirstConsumer"
) -> Data:
    """Return a StorageClass. ``binding``: ``Immediate``, or ``WaitForFirstConsumer``: the scheduler decides."""
    manifest = Builder("storage.k8s.io/v1", "StorageClass", name).obj()
    return {**manifest, "provisioner": provisioner, "volumeBindingMode": binding}


def _workload(api_version: str, kind: str, name: str, namespace: str, pod: PodBuilder | None, **fields: Any) -> Builder:
    labels = {APP: name}
    template = _template(pod, labels)
    return Builder(api_version, kind, name, namespace).spec(
        selector={"matchLabels": labels}, template=template, **fields
    )


def _template(pod: PodBuilder | None, labels: dict[str, str]) -> Data:
    """Return a template of pods like ``pod``, whose name and namespace do not count."""
    manifest = (pod or make_pod("any")).obj()
    metadata = {field: value for field, value in manifest["metadata"].items() if field not in ("name", "namespace")}
    if labels:
        metadata["labels"] = {**metadata.get("labels", {}), **labels}
    return {"metadata": metadata, "spec": manifest["spec"]}
