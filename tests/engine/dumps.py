"""Dumps of invented clusters with everything real dumps have, for the import tests.

``cluster`` creates the objects, the functions below it the files. The same seed gives the same bytes.
"""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

Manifest = dict[str, Any]

ZONES = ("eu-west-1a", "eu-west-1b", "eu-west-1c")
APPS = ("shop", "cart", "search", "billing", "mail", "auth", "edge", "report", "ledger", "stock")
PLURALS = {
    "Pod": "pods",
    "Node": "nodes",
    "Service": "services",
    "ReplicaSet": "replicasets",
    "Deployment": "deployments",
    "DaemonSet": "daemonsets",
    "Event": "events",
}
DAEMON_TOLERATES = {
    "NoExecute": ("not-ready", "unreachable"),
    "NoSchedule": ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable", "network-unavailable"),
}
SECRET = "hunter2-never-to-be-seen"
TIME = "2025-03-04T05:06:07Z"


@dataclass
class Cluster:
    """Objects in kubectl's order, and the expected result of an import."""

    random: random.Random
    objects: list[Manifest] = field(default_factory=list)
    room: dict[str, int] = field(default_factory=dict)
    """Node → pods that still fit."""
    count: int = 0

    def add(self, version: str, kind: str, name: str, namespace: str = "", **parts: Any) -> Manifest:
        self.count += 1
        metadata: Manifest = {"name": name, "uid": f"{self.count:08x}-aaaa-4bbb-8ccc-dddddddddddd"}
        if namespace:
            metadata["namespace"] = namespace
        metadata |= {
            "creationTimestamp": f"2025-01-{1 + self.count % 28:02d}T00:00:{self.count % 60:02d}Z",
            "resourceVersion": str(1000 + self.count),
            "generation": 1,
            "managedFields": managed_fields(),
        }
        item = {"apiVersion": version, "kind": kind, "metadata": metadata | parts.pop("metadata", {}), **parts}
        self.objects.append(item)
        return item

    def bind(self) -> str:
        """Return a node with room for one more pod."""
        free = [name for name, room in self.room.items() if room]
        name = self.random.choice(free)
        self.room[name] -= 1
        return name


def managed_fields() -> list[Manifest]:
    fields = {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}, "f:spec": {"f:containers": {'k:{"name":"main"}': {}}}}
    entry = {"apiVersion": "v1", "fieldsType": "FieldsV1", "operation": "Update", "time": TIME}
    return [{**entry, "manager": name, "fieldsV1": fields} for name in ("kube-controller-manager", "kubelet")]


def owned_by(owner: Manifest) -> Manifest:
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
    more = {"uid": owner["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}
    return {"ownerReferences": [{**reference, **more}]}


def cluster(seed: int = 1, nodes: int = 12, pods: int = 60) -> Cluster:
    """Return a cluster of ``nodes`` nodes and about ``pods`` workload pods, plus system pods."""
    result = Cluster(random.Random(seed))
    _nodes(result, nodes)
    _storage(result)
    result.add("scheduling.k8s.io/v1", "PriorityClass", "high", value=1000, metadata={"annotations": {"a": SECRET}})
    namespaces = [f"team-{number}" for number in range(1, 2 + min(8, pods // 30))]
    # One is not in the dump, because nobody asked for it.
    for name in namespaces[1:]:
        result.add("v1", "Namespace", name, status={"phase": "Active"}, spec={"finalizers": ["kubernetes"]})
    _daemon_set(result, list(result.room))
    number = 0
    while sum(item["kind"] == "Pod" for item in result.objects) - nodes - 1 < pods:
        number += 1
        _workload(result, result.random.choice(namespaces), number)
    _job(result, namespaces[0])
    _leftovers(result, namespaces[0])
    return result


def _nodes(cluster: Cluster, nodes: int) -> None:
    for number in range(nodes):
        name = f"ip-10-0-{number // 200}-{number % 200}.eu-west-1.compute.internal"
        control = number == 0
        labels = {
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "topology.kubernetes.io/zone": ZONES[number % 3],
            "topology.kubernetes.io/region": "eu-west-1",
            "acme.example/pool": "control" if control else ("big" if number % 2 else "small"),
        }
        amounts = {"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"}
        taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
        node = cluster.add(
            "v1",
            "Node",
            name,
            metadata={"labels": labels, "annotations": {"csi.volume.kubernetes.io/nodeid": f"i-{number:08x}"}},
            spec={"providerID": f"aws:///{number}", "podCIDR": "10.1.0.0/24", "taints": [taint] if control else None},
            status={
                "addresses": [{"type": "InternalIP", "address": f"10.0.0.{number % 250}"}],
                "capacity": amounts,
                "allocatable": {**amounts, "cpu": "15800m"},
                "conditions": [
                    {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": TIME},
                    {"type": "MemoryPressure", "status": "False", "lastTransitionTime": TIME},
                ],
                "images": [
                    {"names": [f"registry.acme.example/{app}:1", f"registry.acme.example/{app}@sha256:{'a' * 64}"],
                     "sizeBytes": 300_000_000 + 1000 * index}
                    for index, app in enumerate(cluster.random.sample(APPS, 5))
                ] + [{"names": ["registry.k8s.io/pause:3.9"], "sizeBytes": 700_000}],
                "nodeInfo": {"kubeletVersion": "v1.34.1", "machineID": f"{number:032x}"},
                "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                "runtimeHandlers": [{"name": "runc", "features": {"userNamespaces": True}}],
                "someNewField": {"of": "a later version"},
            },
        )  # fmt: skip
        cluster.add("coordination.k8s.io/v1", "Lease", name, "kube-node-lease", spec={"holderIdentity": name})
        if control:
            _static_pod(cluster, node)
        else:
            cluster.room[name] = 100


def _static_pod(cluster: Cluster, node: Manifest) -> None:
    name = node["metadata"]["name"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"], "controller": True}
    annotations = {"kubernetes.io/config.mirror": "0f0f", "kubernetes.io/config.source": "file"}
    spec = pod_spec("kube-apiserver", "250m") | {
        "nodeName": name,
        "hostNetwork": True,
        "priority": 2_000_001_000,
        "priorityClassName": "system-node-critical",
        "tolerations": [{"operator": "Exists", "effect": "NoExecute"}],
    }
    metadata = {"annotations": annotations, "ownerReferences": [owner], "labels": {"tier": "control-plane"}}
    cluster.add("v1", "Pod", f"kube-apiserver-{name}", "kube-system", metadata=metadata, spec=spec, status=running())


def pod_spec(app: str, cpu: str, memory: str = "128Mi") -> Manifest:
    return {
        "containers": [
            {
                "name": "main",
                "image": f"registry.acme.example/{app}:1",
                "command": ["/bin/sh", "-c", f"run --password={SECRET}"],
                "args": ["--verbose"],
                "env": [{"name": "PASSWORD", "value": SECRET}, {"name": "MODE", "value": "production"}],
                "envFrom": [{"secretRef": {"name": "env"}}],
                "livenessProbe": {"exec": {"command": ["check", SECRET]}, "periodSeconds": 10},
                "resources": {"requests": {"cpu": cpu, "memory": memory}},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "imagePullPolicy": "IfNotPresent",
                "volumeMounts": [{"name": "kube-api-access-x7k2p", "mountPath": "/var/run/secrets", "readOnly": True}],
            }
        ],
        "volumes": [
            {
                "name": "kube-api-access-x7k2p",
                "projected": {
                    "defaultMode": 420,
                    "sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}],
                },
            }
        ],
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "tolerations": [
            {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            for what in ("not-ready", "unreachable")
        ],
    }


def running(ready: bool = True) -> Manifest:
    word = "True" if ready else "False"
    return {
        "phase": "Running",
        "conditions": [
            {"type": name, "status": word, "lastProbeTime": None, "lastTransitionTime": TIME, "observedGeneration": 1}
            for name in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
        ],
        "hostIP": "10.0.0.1",
        "podIP": "10.1.0.9",
        "podIPs": [{"ip": "10.1.0.9"}],
        "qosClass": "Burstable",
        "startTime": TIME,
        "containerStatuses": [
            {
                "name": "main",
                "ready": ready,
                "restartCount": 2,
                "image": "x",
                "imageID": "sha256:1",
                "containerID": "containerd://1",
                "lastState": {"terminated": {"exitCode": 1, "message": SECRET}},
                "state": {"running": {"startedAt": TIME}},
            }
        ],
    }


def pending(message: str = "0/12 nodes are available: 12 Insufficient cpu.") -> Manifest:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {"phase": "Pending", "qosClass": "Burstable", "conditions": [{**condition, "lastTransitionTime": TIME}]}


def _storage(cluster: Cluster) -> None:
    common = {"provisioner": "ebs.csi.aws.com", "parameters": {"type": "gp3", "key": SECRET}, "reclaimPolicy": "Delete"}
    cluster.add("storage.k8s.io/v1", "StorageClass", "fast", volumeBindingMode="WaitForFirstConsumer", **common)
    cluster.add("storage.k8s.io/v1", "CSIDriver", "ebs.csi.aws.com", spec={"attachRequired": True})
    for name in cluster.room:
        driver = {"name": "ebs.csi.aws.com", "nodeID": name, "topologyKeys": ["topology.kubernetes.io/zone"]}
        cluster.add("storage.k8s.io/v1", "CSINode", name, spec={"drivers": [driver | {"allocatable": {"count": 25}}]})


def _daemon_set(cluster: Cluster, nodes: list[str]) -> None:
    labels = {"k8s-app": "network"}
    spec = pod_spec("network", "100m") | {
        "hostNetwork": True,
        "hostPID": True,
        "priorityClassName": "system-node-critical",
    }
    spec["priority"] = 2_000_001_000
    spec["containers"][0]["securityContext"] = {"privileged": True}
    spec["tolerations"] = [
        {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": effect}
        for effect, taints in DAEMON_TOLERATES.items()
        for what in taints
    ]
    template = {"metadata": {"creationTimestamp": None, "labels": labels}, "spec": spec}
    owner = cluster.add(
        "apps/v1",
        "DaemonSet",
        "network",
        "kube-system",
        metadata={"annotations": {"deprecated.daemonset.template.generation": "3"}},
        spec={"selector": {"matchLabels": labels}, "template": template, "revisionHistoryLimit": 10},
        status={"currentNumberScheduled": len(nodes), "observedGeneration": 3},
    )
    for name in nodes:
        cluster.room[name] -= 1
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
        here = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
        more = {"controller-revision-hash": "5d8c7b9f66", "pod-template-generation": "3"}
        cluster.add(
            "v1",
            "Pod",
            f"network-{name[:40].replace('.', '-')}",
            "kube-system",
            metadata={"labels": {**labels, **more}, **owned_by(owner)},
            spec={**spec, "nodeName": name, "affinity": here},
            status=running(),
        )


def _workload(cluster: Cluster, namespace: str, number: int) -> None:
    """Add a Deployment or StatefulSet with everything that belongs to it."""
    app = cluster.random.choice(APPS)
    name, replicas = f"{app}-{number}", cluster.random.randint(1, 12)
    labels = {"app": name, "app.kubernetes.io/name": app, "acme.example/tier": cluster.random.choice(("web", "data"))}
    spec = pod_spec(app, cluster.random.choice(("50m", "100m", "250m")), cluster.random.choice(("64Mi", "256Mi")))
    if number % 4 == 0:
        spec |= {"priorityClassName": "high", "priority": 1000}
    if number % 9 == 0:
        spec |= {"priorityClassName": "not-in-the-dump", "priority": 77}
    if number % 3 == 0:
        spread = {"maxSkew": 5, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}
        spec["topologySpreadConstraints"] = [{**spread, "labelSelector": {"matchLabels": {"app": name}}}]
    if number % 5 == 0:
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": name}}}
        listed = [{"weight": 10, "podAffinityTerm": term}]
        spec["affinity"] = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": listed}}
    if number % 4 == 1:
        spec["nodeSelector"] = {"acme.example/pool": "big"}
    stateful = number % 6 == 5
    service = {"selector": {"app": name}, "ports": [{"port": 80}], "clusterIP": "10.96.0.7", "type": "ClusterIP"}
    cluster.add("v1", "Service", name, namespace, spec=service)
    if number % 2:
        budget = {"minAvailable": 1, "selector": {"matchLabels": {"app": name}}}
        cluster.add("policy/v1", "PodDisruptionBudget", name, namespace, spec=budget, status={"disruptionsAllowed": 1})
    maker = _stateful_set if stateful else _deployment
    maker(cluster, namespace, name, labels, spec, replicas)


def _may_run_on(cluster: Cluster, spec: Manifest) -> str:
    """Return a node with room that the pod's selector allows."""
    wanted = (spec.get("nodeSelector") or {}).get("acme.example/pool")
    pools = {
        item["metadata"]["name"]: item["metadata"]["labels"]["acme.example/pool"]
        for item in cluster.objects
        if item["kind"] == "Node"
    }
    free = [name for name, room in cluster.room.items() if room and wanted in (None, pools[name])]
    name = cluster.random.choice(free)
    cluster.room[name] -= 1
    return name


def _pods_of(cluster: Cluster, owner: Manifest, names: list[str], labels: Manifest, spec: Manifest) -> None:
    namespace = owner["metadata"]["namespace"]
    for index, name in enumerate(names):
        metadata: Manifest = {"labels": labels, "generateName": f"{owner['metadata']['name']}-", **owned_by(owner)}
        metadata["annotations"] = {"acme.example/token": SECRET, "kubectl.kubernetes.io/restartedAt": TIME}
        kind, own = cluster.random.random(), json.loads(json.dumps(spec))
        for volume in own["volumes"]:
            if "persistentVolumeClaim" in volume:
                volume["persistentVolumeClaim"]["claimName"] = f"data-{name}"
        if kind < 0.03:
            own["containers"][0]["resources"] = {"requests": {"cpu": "400"}}
            cluster.add("v1", "Pod", name, namespace, metadata=metadata, spec=own, status=pending())
            continue
        own["nodeName"] = _may_run_on(cluster, spec)
        status = running(ready=kind > 0.08)
        if 0.08 < kind < 0.1 and owner["kind"] == "ReplicaSet":
            # Its owner has already replaced it.
            going = {"deletionTimestamp": TIME, "deletionGracePeriodSeconds": 30, "finalizers": ["acme.example/x"]}
            there = own | {"nodeName": _may_run_on(cluster, spec)}
            cluster.add("v1", "Pod", f"{name}-old", namespace, metadata=metadata | going, spec=there, status=running())
        elif 0.1 < kind < 0.12:
            status |= {"phase": "Pending", "containerStatuses": []}
        elif 0.12 < kind < 0.14 and index:
            own["ephemeralContainers"] = [{"name": "debug", "image": "busybox"}]
        cluster.add("v1", "Pod", name, namespace, metadata=metadata, spec=own, status=status)


def _deployment(cluster: Cluster, namespace: str, name: str, labels: Manifest, spec: Manifest, replicas: int) -> None:
    # The earlier revision differs only in fields that an import drops.
    earlier = json.loads(json.dumps(spec))
    earlier["containers"][0]["env"][0]["value"] = "another"
    noted = {"deployment.kubernetes.io/revision": "2", "kubectl.kubernetes.io/last-applied-configuration": SECRET}
    owner = cluster.add(
        "apps/v1",
        "Deployment",
        name,
        namespace,
        metadata={"labels": labels, "annotations": noted},
        spec={
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"creationTimestamp": None, "labels": labels}, "spec": spec},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "progressDeadlineSeconds": 600,
            "revisionHistoryLimit": 10,
        },
        status={"replicas": replicas, "availableReplicas": replicas, "observedGeneration": 2},
    )
    for revision, template, wanted in (("1", earlier, 0), ("2", spec, replicas)):
        value = f"{cluster.random.getrandbits(32):08x}"
        own = {**labels, "pod-template-hash": value}
        owned = cluster.add(
            "apps/v1",
            "ReplicaSet",
            f"{name}-{value}",
            namespace,
            metadata={
                "labels": own,
                "annotations": {
                    "deployment.kubernetes.io/revision": revision,
                    "deployment.kubernetes.io/desired-replicas": str(replicas),
                },
                **owned_by(owner),
            },
            spec={
                "replicas": wanted,
                "selector": {"matchLabels": {"app": name, "pod-template-hash": value}},
                "template": {"metadata": {"creationTimestamp": None, "labels": own}, "spec": template},
            },
            status={"replicas": wanted, "availableReplicas": wanted},
        )
        letters = [f"{name}-{value}-{cluster.random.getrandbits(24):06x}" for _ in range(wanted)]
        _pods_of(cluster, owned, letters, own, template)


def _stateful_set(cluster: Cluster, namespace: str, name: str, labels: Manifest, spec: Manifest, replicas: int) -> None:
    replicas = min(replicas, 3)
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "volumeMode": "Filesystem"}
    claim["resources"] = {"requests": {"storage": "10Gi"}}
    template = {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "metadata": {"name": "data", "creationTimestamp": None},
    }
    owner = cluster.add(
        "apps/v1",
        "StatefulSet",
        name,
        namespace,
        spec={
            "replicas": replicas,
            "serviceName": name,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": labels}, "spec": spec},
            "volumeClaimTemplates": [{**template, "spec": claim, "status": {"phase": "Pending"}}],
        },
        status={"replicas": replicas, "currentRevision": f"{name}-7c5b", "updateRevision": f"{name}-7c5b"},
    )
    for number in range(replicas):
        cluster.count += 1
        bound = cluster.add(
            "v1",
            "PersistentVolumeClaim",
            f"data-{name}-{number}",
            namespace,
            metadata={
                "annotations": {
                    "pv.kubernetes.io/bind-completed": "yes",
                    "pv.kubernetes.io/bound-by-controller": "yes",
                },
                "finalizers": ["kubernetes.io/pvc-protection"],
            },
            spec={**claim, "volumeName": f"pvc-{cluster.count:06x}"},
            status={"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "10Gi"}},
        )
        _volume_of(cluster, bound)
    pod = json.loads(json.dumps(spec))
    pod["volumes"].append({"name": "data", "persistentVolumeClaim": {"claimName": ""}})
    revision_labels = {"controller-revision-hash": f"{name}-7c5b", "apps.kubernetes.io/pod-index": "0"}
    before = len(cluster.objects)
    _pods_of(cluster, owner, [f"{name}-{number}" for number in range(replicas)], {**labels, **revision_labels}, pod)
    for item in cluster.objects[before:]:
        item["metadata"]["labels"] = {
            **item["metadata"]["labels"],
            "statefulset.kubernetes.io/pod-name": item["metadata"]["name"],
        }


def _volume_of(cluster: Cluster, claim: Manifest) -> None:
    """Add a volume that every zone can reach, so pods can run anywhere."""
    metadata = claim["metadata"]
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": metadata["namespace"]}
    reference |= {"name": metadata["name"], "uid": metadata["uid"], "resourceVersion": "9"}
    zones = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": list(ZONES)}
    handle = {"driver": "ebs.csi.aws.com", "volumeHandle": f"vol-{cluster.count}", "volumeAttributes": {"key": SECRET}}
    cluster.add(
        "v1",
        "PersistentVolume",
        claim["spec"]["volumeName"],
        metadata={"annotations": {"pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com"}},
        spec={
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "10Gi"},
            "claimRef": reference,
            "csi": handle,
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [zones]}]}},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": "fast",
            "volumeMode": "Filesystem",
        },
        status={"phase": "Bound", "lastPhaseTransitionTime": TIME},
    )


def _job(cluster: Cluster, namespace: str) -> None:
    for number, state in enumerate(("Complete", "", "")):
        name, uid = f"backup-{number}", f"{number:08x}-0000-4000-8000-00000000beef"
        labels = {"job-name": name, "controller-uid": uid}
        labels |= {f"batch.kubernetes.io/{key}": value for key, value in list(labels.items())}
        spec = pod_spec("backup", "100m") | {"restartPolicy": "Never"}
        owner = cluster.add(
            "batch/v1",
            "Job",
            name,
            namespace,
            metadata={"uid": uid, "labels": labels},
            spec={
                "completions": 2,
                "parallelism": 2,
                "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
            status={"conditions": [{"type": state, "status": "True"}]} if state else {"active": 1, "startTime": TIME},
        )
        for index, phase in enumerate(("Succeeded", "Succeeded" if state else "Running")):
            if number == 2:
                phase = "Running"
            more = {"nodeName": cluster.bind()}
            status = running() | {"phase": phase}
            metadata = {"labels": labels, **owned_by(owner)}
            cluster.add(
                "v1", "Pod", f"backup-{number}-{index}", namespace, metadata=metadata, spec=spec | more, status=status
            )


def _leftovers(cluster: Cluster, namespace: str) -> None:
    """Add objects no scheduler reads, an evicted pod, a pod without its owner, and a pod on a deleted node."""
    cluster.add("v1", "Secret", "env", namespace, data={"PASSWORD": SECRET}, type="Opaque")
    cluster.add("v1", "ConfigMap", "settings", namespace, data={"key": SECRET, "yaml": "a:\n  managedFields:\n  - b\n"})
    cluster.add("v1", "Event", "web.1", namespace, reason="Scheduled", message=SECRET, involvedObject={"kind": "Pod"})
    cluster.add("example.com/v1", "Widget", "w", namespace, spec={"anything": [1, 2, {"at": "all"}]})
    cluster.add(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.com", spec={"group": "example.com"}
    )
    evicted = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}
    spec = pod_spec("shop", "100m")
    cluster.add("v1", "Pod", "evicted", namespace, spec=spec | {"nodeName": cluster.bind()}, status=evicted)
    lost = owned_by({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "gone", "uid": "gone-uid"}})
    cluster.add(
        "v1", "Pod", "orphan", namespace, metadata=lost, spec=spec | {"nodeName": cluster.bind()}, status=running()
    )
    cluster.add("v1", "Pod", "nowhere", namespace, spec=spec | {"nodeName": "a-node-that-is-gone"}, status=running())
    gated = spec | {"schedulingGates": [{"name": "acme.example/quota"}]}
    cluster.add("v1", "Pod", "gated", namespace, spec=gated, status={"phase": "Pending"})
    elsewhere = spec | {"schedulerName": "acme-scheduler"}
    cluster.add("v1", "Pod", "elsewhere", namespace, spec=elsewhere, status={"phase": "Pending"})


# --- files ------------------------------------------------------------------------------------------------------------


def as_list(objects: list[Manifest]) -> Manifest:
    return {"apiVersion": "v1", "items": objects, "kind": "List", "metadata": {"resourceVersion": ""}}


class _Plain(yaml.CSafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def as_yaml(objects: list[Manifest]) -> bytes:
    """Write the objects as ``kubectl get … -o yaml --show-managed-fields`` does."""
    return yaml.dump(as_list(objects), Dumper=_Plain, width=1_000_000, sort_keys=True).encode()


def as_json(objects: list[Manifest]) -> bytes:
    return json.dumps(as_list(objects), indent=4).encode()


def as_documents(objects: list[Manifest]) -> bytes:
    return yaml.dump_all(objects, Dumper=_Plain, explicit_start=True).encode()


def as_zip(objects: list[Manifest]) -> bytes:
    """Write the folder of ``kubectl cluster-info dump --all-namespaces --output-directory=…``."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in folder(objects):
            archive.writestr(name, content)
    return buffer.getvalue()


def folder(objects: list[Manifest]) -> Iterator[tuple[str, bytes]]:
    """Yield only the kinds this dump contains. Items have neither apiVersion nor kind."""
    files: dict[str, list[Manifest]] = {}
    for item in objects:
        if item["kind"] in PLURALS:
            bare = {name: value for name, value in item.items() if name not in ("apiVersion", "kind")}
            path = f"{item['metadata'].get('namespace', '')}/{PLURALS[item['kind']]}.json".lstrip("/")
            files.setdefault(f"dump/{path}", []).append(bare)
    versions = {item["kind"]: item["apiVersion"] for item in objects}
    kinds = {plural: kind for kind, plural in PLURALS.items()}
    for path, items in files.items():
        kind = kinds[path.rpartition("/")[2].removesuffix(".json")]
        whole = {"kind": f"{kind}List", "apiVersion": versions[kind], "metadata": {}, "items": items}
        yield path, json.dumps(whole, indent=1).encode()
        if kind == "Pod":
            yield f"{path.rpartition('/')[0]}/{items[0]['metadata']['name']}/logs.txt", SECRET.encode()


def as_snapshot(objects: list[Manifest], configuration: Manifest | None = None) -> Manifest:
    """Return an export as kube-scheduler-simulator writes it."""
    keys = {"Pod": "pods", "Node": "nodes", "PersistentVolume": "pvs", "PersistentVolumeClaim": "pvcs"}
    keys |= {"StorageClass": "storageClasses", "PriorityClass": "priorityClasses", "Namespace": "namespaces"}
    lists: Manifest = {key: [] for key in keys.values()}
    for item in objects:
        if item["kind"] in keys:
            bare = {name: value for name, value in item.items() if name not in ("apiVersion", "kind")}
            lists[keys[item["kind"]]].append(bare)
    return {**lists, "schedulerConfig": configuration}
