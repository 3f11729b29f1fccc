"""Lists as tables, as ``kubectl get`` prints them.

Columns and cells are those of Kubernetes. Ages are simulated. Source: upstream
``pkg/printers/internalversion/printers.go`` and ``apimachinery/pkg/util/duration``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.kube import pod_cells
from sandbox.kube.events import in_core_form, source_of
from scheduler_engine.api.labels import selector_from, selector_from_set
from scheduler_engine.api.objects import time_us

Manifest = Mapping[str, Any]
Cell = Callable[[Manifest, int], Any]
"""Returns a cell of an object at a simulated time in microseconds."""

NONE, UNKNOWN, UNSET = "<none>", "<unknown>", "<unset>"
MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
ROLE = "node-role.kubernetes.io/"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
LATER_JOB = ("Suspended", "FailureTarget", "SuccessCriteriaMet")


@dataclass(frozen=True, slots=True)
class Column:
    """One column. ``priority`` 1: only in ``-o wide``."""

    name: str
    cell: Cell
    type: str = "string"
    priority: int = 0
    format: str = ""


def value(manifest: Manifest, path: str, default: Any = "") -> Any:
    """Return the value at a path such as ``spec.nodeName``."""
    found: Any = manifest
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return default if found in (None, "") else found


def at(path: str, default: Any = "") -> Cell:
    return lambda manifest, now_us: value(manifest, path, default)


def of(cell: Callable[[Manifest], Any]) -> Cell:
    return lambda manifest, now_us: cell(manifest)


def human(seconds: int) -> str:
    """Return a duration as kubectl prints it: ``5m10s``, ``3h``, ``2d4h``."""
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    for below, whole, unit, rest, small in (
        (seconds < 120, seconds, "s", 0, ""),
        (minutes < 10, minutes, "m", seconds % 60, "s"),
        (hours < 3, minutes, "m", 0, ""),
        (hours < 8, hours, "h", minutes % 60, "m"),
        (hours < 48, hours, "h", 0, ""),
        (days < 8, days, "d", hours % 24, "h"),
        (days < 730, days, "d", 0, ""),
        (days < 2920, days // 365, "y", days % 365, "d"),
        (True, days // 365, "y", 0, ""),
    ):
        if below:
            return f"{whole}{unit}{f'{rest}{small}' if rest else ''}"
    raise AssertionError


def since(text: Any, now_us: int) -> str:
    """Return how long ago a time was."""
    then_us = time_us(text) if text else None
    return UNKNOWN if then_us is None else human(max(0, now_us - then_us) // 1_000_000)


def ago(path: str) -> Cell:
    return lambda manifest, now_us: since(value(manifest, path), now_us)


def selector(path: str) -> Cell:
    """Return a cell with a ``LabelSelector`` as text."""
    return of(lambda manifest: str(selector_from(value(manifest, path, {}))) or NONE)


def labels(path: str) -> Cell:
    """Return a cell with labels and their values as text."""
    return of(lambda manifest: str(selector_from_set(value(manifest, path, {}))) or NONE)


def containers(field: str) -> Cell:
    return of(lambda manifest: ",".join(item[field] for item in value(manifest, "spec.template.spec.containers", ())))


def node_status(node: Manifest) -> str:
    conditions = value(node, "status.conditions", ())
    known = [item["status"] == "True" for item in conditions if item.get("type") == "Ready"]
    words = ["Ready" if known[-1] else "NotReady"] if known else ["Unknown"]
    return ",".join(words + ["SchedulingDisabled"] * bool(value(node, "spec.unschedulable", False)))


def roles(node: Manifest) -> str:
    labels = value(node, "metadata.labels", {})
    found = {key.removeprefix(ROLE) for key in labels if key.startswith(ROLE) and key != ROLE}
    return (
        ",".join(sorted(found | {labels["kubernetes.io/role"]} if labels.get("kubernetes.io/role") else found)) or NONE
    )


def address(kind: str) -> Cell:
    def cell(node: Manifest) -> str:
        return next((item["address"] for item in value(node, "status.addresses", ()) if item["type"] == kind), NONE)

    return of(cell)


def modes(path: str) -> Callable[[Manifest], str]:
    return lambda manifest: ",".join(MODES.get(mode, mode) for mode in dict.fromkeys(value(manifest, path, ())))


def phase(manifest: Manifest) -> str:
    return "Terminating" if value(manifest, "metadata.deletionTimestamp") else value(manifest, "status.phase")


def claim(volume: Manifest) -> str:
    reference = value(volume, "spec.claimRef", {})
    return f"{reference.get('namespace', '')}/{reference.get('name', '')}" if reference else ""


def if_bound(cell: Callable[[Manifest], Any]) -> Cell:
    return of(lambda found: cell(found) if value(found, "spec.volumeName") else "")


def storage_class(manifest: Manifest) -> str:
    name = value(manifest, "metadata.name")
    return f"{name} (default)" if value(manifest, "metadata.annotations", {}).get(DEFAULT_CLASS) == "true" else name


def ports(service: Manifest) -> str:
    return (
        ",".join(
            f"{port['port']}{':' + str(port['nodePort']) if port.get('nodePort') else ''}/{port.get('protocol', 'TCP')}"
            for port in value(service, "spec.ports", ())
        )
        or NONE
    )


def external(service: Manifest) -> str:
    given = value(service, "spec.externalIPs", ())
    if value(service, "spec.type") == "LoadBalancer":
        balanced = [
            item.get("ip") or item.get("hostname") for item in value(service, "status.loadBalancer.ingress", ())
        ]
        return ",".join([*balanced, *given]) or "<pending>"
    if value(service, "spec.type") == "ExternalName":
        return str(value(service, "spec.externalName"))
    return ",".join(given) or NONE


def completions(job: Manifest) -> str:
    done, wanted = value(job, "status.succeeded", 0), value(job, "spec.completions", None)
    if wanted is not None:
        return f"{done}/{wanted}"
    side_by_side = value(job, "spec.parallelism", 0)
    return f"{done}/1 of {side_by_side}" if side_by_side > 1 else f"{done}/1"


def job_status(job: Manifest) -> str:
    true = [item["type"] for item in value(job, "status.conditions", ()) if item.get("status") == "True"]
    for word in ("Complete", "Failed"):
        if word in true:
            return word
    if value(job, "metadata.deletionTimestamp"):
        return "Terminating"
    return next((word for word in LATER_JOB if word in true), "Running")


def job_duration(job: Manifest, now_us: int) -> str:
    start = value(job, "status.startTime")
    end = value(job, "status.completionTime")
    return since(start, (time_us(end) if end else None) or now_us) if start else ""


def involved(event: Manifest) -> str:
    about = value(in_core_form(event), "involvedObject", {})
    return f"{value(about, 'kind').lower()}/{value(about, 'name')}"


def first_seen(event: Manifest, now_us: int) -> str:
    return since(value(in_core_form(event), "firstTimestamp") or value(event, "eventTime"), now_us)


def last_seen(event: Manifest, now_us: int) -> str:
    last = value(event, "series.lastObservedTime") or value(in_core_form(event), "lastTimestamp")
    return since(last, now_us) if last else first_seen(event, now_us)


def event_count(event: Manifest) -> int:
    return int(value(event, "series.count") or value(in_core_form(event), "count", 1))


def controller_of(revision: Manifest) -> str:
    owners = value(revision, "metadata.ownerReferences", ())
    return next((f"{one['kind'].lower()}.apps/{one['name']}" for one in owners), NONE)


def claim_state(claim: Manifest) -> str:
    deleted, allocated = value(claim, "metadata.deletionTimestamp"), value(claim, "status.allocation", None)
    states = {
        "deleted": deleted,
        "pending": allocated is None and not deleted,
        "allocated": allocated is not None,
        "reserved": allocated is not None and value(claim, "status.reservedFor", ()),
    }
    return ",".join(state for state, holds in states.items() if holds)


def data_count(config: Manifest) -> str:
    return str(len(value(config, "data", {})) + len(value(config, "binaryData", {})))


def ready_of(ready: str, wanted: str) -> Cell:
    return of(lambda manifest: f"{value(manifest, ready, 0)}/{value(manifest, wanted, 0)}")


NAME = Column("Name", at("metadata.name"), format="name")
AGE = Column("Age", ago("metadata.creationTimestamp"))
CONTAINERS = (Column("Containers", containers("name"), priority=1), Column("Images", containers("image"), priority=1))
SELECTOR = Column("Selector", selector("spec.selector"), priority=1)
LABELS = Column("Selector", labels("spec.selector"), priority=1)


def number(name: str, path: str) -> Column:
    return Column(name, at(path, 0), "integer")


REPLICAS = (
    NAME,
    *(
        number("Desired", "spec.replicas"),
        number("Current", "status.replicas"),
        number("Ready", "status.readyReplicas"),
    ),
    *(AGE, *CONTAINERS),
)
GROUP_COUNTS = (
    ("MinMember", "spec.minMember"),
    ("Running", "status.running"),
    ("Succeeded", "status.succeeded"),
    ("Failed", "status.failed"),
)
"""Title and path of the printer columns of a PodGroup. A missing field leaves its cell empty."""
COLUMNS: dict[str, tuple[Column, ...]] = {
    "Pod": (
        NAME,
        Column("Ready", of(pod_cells.ready)),
        Column("Status", of(pod_cells.status)),
        Column("Restarts", of(lambda pod: str(pod_cells.restarts(pod)))),
        AGE,
        Column("IP", at("status.podIP", NONE), priority=1),
        Column("Node", at("spec.nodeName", NONE), priority=1),
        Column("Nominated Node", at("status.nominatedNodeName", NONE), priority=1),
        Column("Readiness Gates", of(pod_cells.readiness_gates), priority=1),
    ),
    "Node": (
        NAME,
        Column("Status", of(node_status)),
        Column("Roles", of(roles)),
        AGE,
        Column("Version", at("status.nodeInfo.kubeletVersion")),
        Column("Internal-IP", address("InternalIP"), priority=1),
        Column("External-IP", address("ExternalIP"), priority=1),
        Column("OS-Image", at("status.nodeInfo.osImage", UNKNOWN), priority=1),
        Column("Kernel-Version", at("status.nodeInfo.kernelVersion", UNKNOWN), priority=1),
        Column("Container-Runtime", at("status.nodeInfo.containerRuntimeVersion", UNKNOWN), priority=1),
    ),
    "Namespace": (NAME, Column("Status", at("status.phase")), AGE),
    "Service": (
        NAME,
        Column("Type", at("spec.type")),
        Column("Cluster-IP", at("spec.clusterIP", NONE)),
        Column("External-IP", of(external)),
        Column("Port(s)", of(ports)),
        AGE,
        LABELS,
    ),
    "PersistentVolume": (
        NAME,
        Column("Capacity", at("spec.capacity.storage", "0")),
        Column("Access Modes", of(modes("spec.accessModes"))),
        Column("Reclaim Policy", at("spec.persistentVolumeReclaimPolicy")),
        Column("Status", of(phase)),
        Column("Claim", of(claim)),
        Column("StorageClass", at("spec.storageClassName")),
        Column("VolumeAttributesClass", at("spec.volumeAttributesClassName", UNSET)),
        Column("Reason", at("status.reason")),
        AGE,
        Column("VolumeMode", at("spec.volumeMode", UNSET), priority=1),
    ),
    "PersistentVolumeClaim": (
        NAME,
        Column("Status", of(phase)),
        Column("Volume", at("spec.volumeName")),
        Column("Capacity", if_bound(lambda found: value(found, "status.capacity.storage", "0"))),
        Column("Access Modes", if_bound(modes("status.accessModes"))),
        Column("StorageClass", at("spec.storageClassName")),
        Column("VolumeAttributesClass", at("spec.volumeAttributesClassName", UNSET)),
        AGE,
        Column("VolumeMode", at("spec.volumeMode", UNSET), priority=1),
    ),
    "StorageClass": (
        Column("Name", of(storage_class), format="name"),
        Column("Provisioner", at("provisioner")),
        Column("ReclaimPolicy", at("reclaimPolicy", "Delete")),
        Column("VolumeBindingMode", at("volumeBindingMode", "Immediate")),
        Column("AllowVolumeExpansion", at("allowVolumeExpansion", False)),
        AGE,
    ),
    "PriorityClass": (
        NAME,
        number("Value", "value"),
        Column("Global-Default", at("globalDefault", False), "boolean"),
        AGE,
        Column("PreemptionPolicy", at("preemptionPolicy"), priority=1),
    ),
    "RuntimeClass": (NAME, Column("Handler", at("handler")), AGE),
    "PodDisruptionBudget": (
        NAME,
        Column("Min Available", of(lambda budget: str(value(budget, "spec.minAvailable", "N/A")))),
        Column("Max Unavailable", of(lambda budget: str(value(budget, "spec.maxUnavailable", "N/A")))),
        number("Allowed Disruptions", "status.disruptionsAllowed"),
        AGE,
    ),
    "PodGroup": (
        NAME,
        Column("Phase", at("status.phase")),
        *(Column(title, at(path, None), "integer") for title, path in GROUP_COUNTS),
        AGE,
    ),
    "ReplicaSet": (*REPLICAS, SELECTOR),
    "ReplicationController": (*REPLICAS, LABELS),
    "Deployment": (
        NAME,
        Column("Ready", ready_of("status.readyReplicas", "spec.replicas")),
        number("Up-to-date", "status.updatedReplicas"),
        number("Available", "status.availableReplicas"),
        *(AGE, *CONTAINERS, SELECTOR),
    ),
    "DaemonSet": (
        NAME,
        number("Desired", "status.desiredNumberScheduled"),
        number("Current", "status.currentNumberScheduled"),
        number("Ready", "status.numberReady"),
        number("Up-to-date", "status.updatedNumberScheduled"),
        number("Available", "status.numberAvailable"),
        Column("Node Selector", labels("spec.template.spec.nodeSelector")),
        *(AGE, *CONTAINERS, SELECTOR),
    ),
    "StatefulSet": (NAME, Column("Ready", ready_of("status.readyReplicas", "spec.replicas")), AGE, *CONTAINERS),
    "Job": (
        NAME,
        Column("Status", of(job_status)),
        Column("Completions", of(completions)),
        Column("Duration", job_duration),
        *(AGE, *CONTAINERS, SELECTOR),
    ),
    "Lease": (NAME, Column("Holder", at("spec.holderIdentity")), AGE),
    "ConfigMap": (
        NAME,
        Column("Data", of(lambda item: str(len(value(item, "data", {})) + len(value(item, "binaryData", {}))))),
        AGE,
    ),
    "VolumeAttachment": (
        NAME,
        Column("Attacher", at("spec.attacher"), format="name"),
        Column("PV", at("spec.source.persistentVolumeName")),
        Column("Node", at("spec.nodeName")),
        Column("Attached", at("status.attached", False), "boolean"),
        AGE,
    ),
    "CSINode": (NAME, Column("Drivers", of(lambda node: len(value(node, "spec.drivers", ()))), "integer"), AGE),
    "CSIDriver": (
        NAME,
        Column("AttachRequired", at("spec.attachRequired", True), "boolean"),
        Column("PodInfoOnMount", at("spec.podInfoOnMount", False), "boolean"),
        Column("StorageCapacity", at("spec.storageCapacity", False), "boolean"),
        Column("TokenRequests", of(lambda driver: UNSET)),
        Column("RequiresRepublish", at("spec.requiresRepublish", False), "boolean"),
        Column("Modes", of(lambda driver: ",".join(value(driver, "spec.volumeLifecycleModes", ("Persistent",))))),
        AGE,
    ),
    "CSIStorageCapacity": (
        NAME,
        Column("StorageClassName", at("storageClassName")),
        Column("Capacity", at("capacity")),
    ),
    "ResourceClaim": (NAME, Column("State", of(claim_state)), AGE),
    "ResourceClaimTemplate": (NAME, AGE),
    "DeviceClass": (NAME, AGE),
    "ResourceSlice": (
        NAME,
        Column("Node", at("spec.nodeName")),
        Column("Driver", at("spec.driver")),
        Column("Pool", at("spec.pool.name")),
        AGE,
    ),
    "ControllerRevision": (
        NAME,
        Column("Controller", of(controller_of)),
        Column("Revision", at("revision"), "integer"),
        AGE,
    ),
    "Scale": (
        NAME,
        Column("Desired", at("spec.replicas", 0), "integer"),
        Column("Available", at("status.replicas", 0), "integer"),
        AGE,
    ),
    "Event": (
        Column("Last Seen", last_seen),
        Column("Type", at("type")),
        Column("Reason", at("reason")),
        Column("Object", of(involved)),
        Column("Subobject", of(lambda event: value(in_core_form(event), "involvedObject.fieldPath")), priority=1),
        Column("Source", of(source_of), priority=1),
        Column("Message", of(lambda event: value(in_core_form(event), "message"))),
        Column("First Seen", first_seen, priority=1),
        Column("Count", of(event_count), priority=1),
        Column("Name", at("metadata.name"), priority=1, format="name"),
    ),
}
"""Kind → the columns of its table."""
PLAIN = (NAME, Column("Created At", at("metadata.creationTimestamp")))
"""Columns of kinds that Kubernetes has none for."""


def table(kind: str, manifests: Iterable[Manifest], now_us: int, include: str) -> dict[str, Any]:
    """Return a table of objects of a kind, without metadata of the list.

    ``include``: what each row holds of its object – ``Object`` all, ``None`` nothing, else the metadata.
    """
    columns = COLUMNS.get(kind, PLAIN)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "columnDefinitions": [
            {"name": one.name, "type": one.type, "format": one.format, "description": "", "priority": one.priority}
            for one in columns
        ],
        "rows": [
            {"cells": [one.cell(item, now_us) for one in columns], **_object(item, include)} for item in manifests
        ],
    }


def _object(manifest: Manifest, include: str) -> dict[str, Any]:
    if include == "None":
        return {}
    if include == "Object":
        return {"object": manifest}
    metadata = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": manifest.get("metadata")}
    return {"object": metadata}
