"""Give the same cluster made-up names: the scheduler decides the same, but nothing shows who owns it.

Each kind has a function that builds a new object from the fields that affect decisions; nothing else is copied.
Names of drivers, schedulers and resources stay, as decisions and configurations refer to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_engine.importing.draft import Draft, controller_of
from scheduler_engine.importing.made_up import MadeUp
from scheduler_engine.importing.renaming import CLAIM, Renamer
from scheduler_engine.importing.result import key_of
from scheduler_engine.plugins.node_declared_features import FEATURES

Manifest = dict[str, Any]

WORKLOAD_FIELDS = (
    *("replicas", "minReadySeconds", "strategy", "updateStrategy", "podManagementPolicy", "ordinals", "paused"),
    *("parallelism", "completions", "completionMode", "backoffLimit", "suspend", "activeDeadlineSeconds"),
    *("progressDeadlineSeconds", "revisionHistoryLimit", "manualSelector"),
)
DECLARED = tuple(name for name, _ in FEATURES.values())
"""The features of nodes that pods here can need."""


def make_anonymous(draft: Draft) -> dict[str, str]:
    """Rename everything in ``draft``. Return the key of each pod before → after."""
    names = MadeUp()
    _every(Renamer(names), draft)
    names.number()
    _name_by_set(draft, names)
    renamed = _every(Renamer(names), draft)
    keys = {key: key_of(pod) for key, pod in zip(draft.of("Pod"), renamed.get("Pod", ()), strict=True)}
    draft.objects = {kind: {key_of(item): item for item in items} for kind, items in renamed.items()}
    draft.messages = {}
    draft.created = {keys[key]: created for key, created in draft.created.items() if key in keys}
    draft.terminating = {keys[key]: None for key in draft.terminating}
    return keys


def _name_by_set(draft: Draft, names: MadeUp) -> None:
    """Name pods and claims of a StatefulSet by the set's name and a number."""
    for manifest in draft.of("StatefulSet").values():
        real = manifest["metadata"]["name"]
        set_name = names.of("StatefulSet", real)
        templates = [item["metadata"]["name"] for item in manifest["spec"].get("volumeClaimTemplates") or ()]
        for pod in draft.of("Pod").values():
            owner, name = controller_of(pod), pod["metadata"]["name"]
            if owner is None or owner["kind"] != "StatefulSet" or owner["name"] != real:
                continue
            number = name.rpartition("-")[2]
            names.exact["pod", name] = f"{set_name}-{number}"
            for template in templates:
                claim_name = f"{names.of('name', template)}-{set_name}-{number}"
                names.exact["claim", f"{template}-{name}"] = claim_name


def _every(renamer: Renamer, draft: Draft) -> dict[str, list[Manifest]]:
    """Return kind → its objects under their made-up names, in their old order."""
    return {kind: [_object(renamer, item) for item in held.values()] for kind, held in draft.objects.items()}


def _object(renamer: Renamer, item: Manifest) -> Manifest:
    kind = item["kind"]
    head = {"apiVersion": item["apiVersion"], "kind": kind, "metadata": renamer.metadata(item)}
    return {**head, **PARTS[kind](renamer, item)}


# --- kinds ---


def _workload(renamer: Renamer, item: Manifest) -> Manifest:
    spec = item["spec"]
    result = {name: spec[name] for name in WORKLOAD_FIELDS if spec.get(name) is not None}
    if spec.get("selector"):
        plain = item["kind"] == "ReplicationController"
        result["selector"] = renamer.labels(spec["selector"]) if plain else renamer.tree(spec["selector"])
    if spec.get("serviceName"):
        result["serviceName"] = renamer.name("Service", spec["serviceName"])
    if spec.get("volumeClaimTemplates"):
        result["volumeClaimTemplates"] = [
            {
                "metadata": {"name": renamer.names.of("name", claim["metadata"]["name"])},
                "spec": renamer.claim_spec(claim.get("spec") or {}),
            }
            for claim in spec["volumeClaimTemplates"]
        ]
    template = spec.get("template") or {}
    metadata = template.get("metadata") or {}
    template_metadata: Manifest = {"labels": renamer.labels(metadata.get("labels") or {})}
    if metadata.get("annotations"):
        template_metadata["annotations"] = metadata["annotations"]
    if metadata.get("finalizers"):
        template_metadata["finalizers"] = [renamer.names.finalizer(name) for name in metadata["finalizers"]]
    result["template"] = {"metadata": template_metadata, "spec": renamer.pod_spec(template.get("spec") or {})}
    return {"spec": result, **_status(item)}


def _pod(renamer: Renamer, item: Manifest) -> Manifest:
    status = _status(item).get("status") or {}
    if status.get("nominatedNodeName"):
        status["nominatedNodeName"] = renamer.names.of("node", status["nominatedNodeName"])
    if status.get("containerStatuses"):
        named = [one for one in status["containerStatuses"] if one.get("name")]
        statuses = [{**one, "name": renamer.names.of("container", one["name"])} for one in named]
        status["containerStatuses"] = statuses
    return {"spec": renamer.pod_spec(item["spec"]), **({"status": status} if status else {})}


def _node(renamer: Renamer, item: Manifest) -> Manifest:
    spec, status = item.get("spec") or {}, _status(item).get("status") or {}
    result: Manifest = {"unschedulable": True} if spec.get("unschedulable") else {}
    if spec.get("taints"):
        result["taints"] = [renamer.taint(taint) for taint in spec["taints"]]
    if status.get("images"):
        status["images"] = [_image(renamer, image) for image in status["images"]]
    if status.get("declaredFeatures"):
        status["declaredFeatures"] = [name for name in status["declaredFeatures"] if name in DECLARED]
    return {"spec": result, "status": status}


def _image(renamer: Renamer, image: Manifest) -> Manifest:
    return {**image, "names": [renamer.names.of("image", name) for name in image["names"]]}


def _service(renamer: Renamer, item: Manifest) -> Manifest:
    selector = (item.get("spec") or {}).get("selector")
    return {"spec": {"ports": [{"port": 80}], **({"selector": renamer.labels(selector)} if selector else {})}}


def _claim(renamer: Renamer, item: Manifest) -> Manifest:
    return {"spec": renamer.claim_spec(item.get("spec") or {}), **_status(item)}


def _volume(renamer: Renamer, item: Manifest) -> Manifest:
    return {"spec": renamer.volume_spec(item.get("spec") or {}), **_status(item)}


def _budget(renamer: Renamer, item: Manifest) -> Manifest:
    return {"spec": renamer.tree(item.get("spec") or {})}


def _pod_group(renamer: Renamer, item: Manifest) -> Manifest:
    return {"spec": item.get("spec") or {}}


def _storage_class(renamer: Renamer, item: Manifest) -> Manifest:
    kept = ("provisioner", "reclaimPolicy", "volumeBindingMode", "allowVolumeExpansion")
    result = {name: item[name] for name in kept if item.get(name) is not None}
    topologies = item.get("allowedTopologies")
    return {**result, "allowedTopologies": renamer.tree(topologies)} if topologies else result


def _csi_node(renamer: Renamer, item: Manifest) -> Manifest:
    drivers = [
        driver | ({"topologyKeys": renamer.keys(driver["topologyKeys"])} if driver.get("topologyKeys") else {})
        for driver in (item.get("spec") or {}).get("drivers") or ()
    ]
    return {"spec": {"drivers": drivers}}


def _capacity(renamer: Renamer, item: Manifest) -> Manifest:
    kept = {name: item[name] for name in ("capacity", "maximumVolumeSize") if item.get(name) is not None}
    topology = {"nodeTopology": renamer.tree(item["nodeTopology"])} if item.get("nodeTopology") is not None else {}
    return {**kept, **topology, "storageClassName": renamer.names.of("storage", item["storageClassName"])}


def _attachment(renamer: Renamer, item: Manifest) -> Manifest:
    spec = item["spec"]
    source = {"persistentVolumeName": renamer.names.of("volume", spec["source"].get("persistentVolumeName") or "")}
    named = {"attacher": spec["attacher"], "nodeName": renamer.names.of("node", spec["nodeName"]), "source": source}
    return {"spec": named, **_status(item)}


def _runtime_class(renamer: Renamer, item: Manifest) -> Manifest:
    result: Manifest = {"handler": "runc"}
    if item.get("overhead"):
        result["overhead"] = item["overhead"]
    held = item.get("scheduling") or {}
    scheduling: Manifest = {}
    if held.get("nodeSelector"):
        scheduling["nodeSelector"] = renamer.labels(held["nodeSelector"])
    if held.get("tolerations"):
        scheduling["tolerations"] = [renamer.taint(taint) for taint in held["tolerations"]]
    return {**result, "scheduling": scheduling} if scheduling else result


def _priority_class(renamer: Renamer, item: Manifest) -> Manifest:
    kept = ("value", "globalDefault", "preemptionPolicy")
    return {name: item[name] for name in kept if item.get(name) is not None}


def _namespace(renamer: Renamer, item: Manifest) -> Manifest:
    return {}


def _device_class(renamer: Renamer, item: Manifest) -> Manifest:
    return {"spec": item.get("spec") or {}}


def _resource_slice(renamer: Renamer, item: Manifest) -> Manifest:
    return {"spec": renamer.slice_spec(item["spec"])}


def _resource_claim(renamer: Renamer, item: Manifest) -> Manifest:
    allocation = (item.get("status") or {}).get("allocation")
    status = {} if allocation is None else {"status": {"allocation": renamer.allocation(allocation)}}
    return {"spec": renamer.device_claim(item["spec"]), **status}


def _resource_claim_template(renamer: Renamer, item: Manifest) -> Manifest:
    return {"spec": {"spec": renamer.device_claim(item["spec"].get("spec") or {})}}


def _driver(renamer: Renamer, item: Manifest) -> Manifest:
    return {"spec": item.get("spec") or {}}


def _status(item: Manifest) -> Manifest:
    """Return a copy."""
    held = item.get("status")
    return {"status": dict(held)} if held else {}


WORKLOADS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")
PARTS: dict[str, Callable[[Renamer, Manifest], Manifest]] = {
    "Pod": _pod,
    "Node": _node,
    "Namespace": _namespace,
    "Service": _service,
    "PersistentVolume": _volume,
    CLAIM: _claim,
    "PodDisruptionBudget": _budget,
    "PodGroup": _pod_group,
    "StorageClass": _storage_class,
    "CSINode": _csi_node,
    "CSIDriver": _driver,
    "CSIStorageCapacity": _capacity,
    "VolumeAttachment": _attachment,
    "RuntimeClass": _runtime_class,
    "PriorityClass": _priority_class,
    "DeviceClass": _device_class,
    "ResourceSlice": _resource_slice,
    "ResourceClaim": _resource_claim,
    "ResourceClaimTemplate": _resource_claim_template,
    **dict.fromkeys(WORKLOADS, _workload),
}
"""Kind → builder of its objects with decisive fields and made-up names."""
