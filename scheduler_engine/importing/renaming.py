"""Rename all references to made-up names: labels and selectors, pods, and the places of their volumes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from scheduler_engine.api.devices import results_of
from scheduler_engine.api.images import normalized_image_name
from scheduler_engine.api.priorities import SYSTEM_PRIORITY_CLASSES
from scheduler_engine.importing.kept import STAND_IN_SOURCE
from scheduler_engine.importing.made_up import MadeUp
from scheduler_engine.importing.trimming import SOURCES

Manifest = dict[str, Any]

CLAIM, TEMPLATE = "PersistentVolumeClaim", "ResourceClaimTemplate"
CATEGORIES = {
    "Pod": "pod",
    "Node": "node",
    "CSINode": "node",
    "Namespace": "namespace",
    "PersistentVolume": "volume",
    "PersistentVolumeClaim": "claim",
    "PriorityClass": "priority",
    "StorageClass": "storage",
    "RuntimeClass": "runtime",
}
"""Kind → the category of its names; other kinds have their own."""
NAMED = {"nodeName": "Node", "priorityClassName": "PriorityClass", "runtimeClassName": "RuntimeClass"}
"""Field of a pod's spec → the kind that it names."""
KEPT_KINDS = ("CSIDriver",)
POD_FIELDS = (
    *("priority", "preemptionPolicy", "restartPolicy", "terminationGracePeriodSeconds", "hostNetwork", "hostPID"),
    *("hostIPC", "overhead", "resources", "activeDeadlineSeconds", "schedulerName", "os"),
)
CONTAINER_FIELDS = ("ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules")
PORT_FIELDS = ("containerPort", "hostPort", "protocol", "hostIP")
VOLUME_FIELDS = ("accessModes", "capacity", "persistentVolumeReclaimPolicy", "volumeMode", "volumeAttributesClassName")
CLAIM_FIELDS = ("accessModes", "resources", "volumeMode", "volumeAttributesClassName")
PLACES = (*SOURCES["PersistentVolumeSpec"], *STAND_IN_SOURCE)
"""Fields of a PersistentVolume that locate it, by a stand-in."""
ANNOTATIONS_WITH_NAMES = {
    "volume.kubernetes.io/selected-node": "node",
    "volume.beta.kubernetes.io/storage-class": "storage",
}


@dataclass(slots=True)
class Renamer:
    names: MadeUp

    def metadata(self, item: Manifest) -> Manifest:
        held = item["metadata"]
        result: Manifest = {"name": self.name(item["kind"], held["name"])}
        if held.get("namespace"):
            result["namespace"] = self.names.namespace(held["namespace"])
        if held.get("uid"):
            result["uid"] = self.names.of("uid", held["uid"])
        if held.get("labels"):
            result["labels"] = self.labels(held["labels"])
        if held.get("annotations"):
            result["annotations"] = {
                name: self.names.of(ANNOTATIONS_WITH_NAMES[name], text) if name in ANNOTATIONS_WITH_NAMES else text
                for name, text in held["annotations"].items()
            }
        if held.get("finalizers"):
            result["finalizers"] = [self.names.finalizer(name) for name in held["finalizers"]]
        if held.get("ownerReferences"):
            result["ownerReferences"] = [self._owner(owner) for owner in held["ownerReferences"]]
        return result

    def name(self, kind: str, real: str) -> str:
        """Return the name of an object of a kind."""
        if kind in KEPT_KINDS or (kind == "PriorityClass" and real in SYSTEM_PRIORITY_CLASSES):
            return real
        if kind == "Namespace":
            return self.names.namespace(real)
        return self.names.of(CATEGORIES.get(kind, kind), real)

    def _owner(self, owner: Manifest) -> Manifest:
        named = {"name": self.name(owner["kind"], owner["name"]), "uid": self.names.of("uid", owner["uid"])}
        return {**owner, **named}

    # --- selectors, wherever they are ---

    def labels(self, held: Manifest) -> Manifest:
        return {self.names.key(key): self.names.value(key, text) for key, text in held.items()}

    def tree(self, value: Any) -> Any:
        """Rename affinity, spread constraints and selectors: every field that is a name changes, the rest stays."""
        if isinstance(value, list):
            return [self.tree(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {
            name: TREE_FIELDS[name](self, item) if name in TREE_FIELDS and item is not None else self.tree(item)
            for name, item in value.items()
        }

    def _requirements(self, items: Iterable[Manifest]) -> list[Manifest]:
        return [self._requirement(item) for item in items]

    def _requirement(self, item: Manifest) -> Manifest:
        values = item.get("values")
        renamed = {} if values is None else {"values": [self.names.value(item["key"], text) for text in values]}
        return {**item, "key": self.names.key(item["key"]), **renamed}

    def _fields(self, items: Iterable[Manifest]) -> list[Manifest]:
        """Match a node only by its name."""
        return [
            {**item, "values": [self.names.of("node", text) for text in item.get("values") or ()]} for item in items
        ]

    def keys(self, items: Iterable[str]) -> list[str]:
        return [self.names.key(item) for item in items]

    def taint(self, item: Manifest) -> Manifest:
        """Rename a taint or a toleration."""
        key = item.get("key") or ""
        renamed = {"key": self.names.key(key)} if key else {}
        if item.get("value"):
            renamed["value"] = self.names.value(key, item["value"])
        kept = ("operator", "effect", "tolerationSeconds", "timeAdded")
        return {**{name: item[name] for name in kept if name in item}, **renamed}

    # --- pods ---

    def pod_spec(self, spec: Manifest) -> Manifest:
        result = {name: spec[name] for name in POD_FIELDS if spec.get(name) is not None}
        for listed in ("containers", "initContainers"):
            if spec.get(listed):
                result[listed] = [self._container(item) for item in spec[listed]]
        for name in ("nodeName", "priorityClassName", "runtimeClassName"):
            if spec.get(name):
                result[name] = self.name(
                    {"nodeName": "Node", "priorityClassName": "PriorityClass", "runtimeClassName": "RuntimeClass"}[
                        name
                    ],
                    spec[name],
                )
        if spec.get("nodeSelector"):
            result["nodeSelector"] = self.labels(spec["nodeSelector"])
        for name in ("affinity", "topologySpreadConstraints"):
            if spec.get(name):
                result[name] = self.tree(spec[name])
        if spec.get("tolerations"):
            result["tolerations"] = [self.taint(item) for item in spec["tolerations"]]
        if spec.get("resourceClaims"):
            result["resourceClaims"] = [self._resource_claim(item) for item in spec["resourceClaims"]]
        if spec.get("schedulingGates"):
            result["schedulingGates"] = [
                {"name": self.names.of("gate", item["name"])} for item in spec["schedulingGates"]
            ]
        volumes = [self._pod_volume(volume) for volume in spec.get("volumes") or ()]
        return {**result, "volumes": volumes} if volumes else result

    def _resource_claim(self, item: Manifest) -> Manifest:
        result = {"name": self.names.of("name", item["name"])}
        for field, kind in (("resourceClaimName", "ResourceClaim"), ("resourceClaimTemplateName", TEMPLATE)):
            if item.get(field):
                result[field] = self.name(kind, item[field])
        return result

    def _container(self, item: Manifest) -> Manifest:
        result = {name: item[name] for name in CONTAINER_FIELDS if item.get(name) is not None}
        if result.get("ports"):
            result["ports"] = [{name: port[name] for name in PORT_FIELDS if name in port} for port in result["ports"]]
        if item.get("image"):
            result["image"] = self.names.of("image", normalized_image_name(item["image"]))
        return {"name": self.names.of("container", item["name"]), **result}

    def _pod_volume(self, volume: Manifest) -> Manifest:
        """Keep a volume's place, already a stand-in."""
        head = {"name": self.names.of("name", volume["name"])}
        claim = volume.get("persistentVolumeClaim")
        if claim:
            read_only = {"readOnly": True} if claim.get("readOnly") else {}
            return {**head, "persistentVolumeClaim": {"claimName": self.name(CLAIM, claim["claimName"]), **read_only}}
        if volume.get("ephemeral"):
            template = (volume["ephemeral"].get("volumeClaimTemplate") or {}).get("spec") or {}
            return {**head, "ephemeral": {"volumeClaimTemplate": {"spec": self.claim_spec(template)}}}
        image = volume.get("image") or {}
        if image.get("reference"):
            reference = self.names.of("image", normalized_image_name(image["reference"]))
            return {**head, "image": {**image, "reference": reference}}
        return {**volume, **head}

    # --- devices ---

    def device_claim(self, spec: Manifest) -> Manifest:
        """Rename requests and classes. Expressions stay: they name attributes of devices."""
        devices = spec.get("devices") or {}
        result = {"requests": [self._device_request(item) for item in devices.get("requests") or ()]}
        if devices.get("constraints"):
            result["constraints"] = [
                {**item, **({"requests": list(map(self.request, item["requests"]))} if item.get("requests") else {})}
                for item in devices["constraints"]
            ]
        return {"devices": result}

    def _device_request(self, item: Manifest) -> Manifest:
        result: Manifest = {"name": self.request(item["name"])}
        if item.get("exactly") is not None:
            result["exactly"] = self._devices_wanted(item["exactly"])
        if item.get("firstAvailable"):
            result["firstAvailable"] = [
                {**self._devices_wanted(one), "name": self.request(one["name"])} for one in item["firstAvailable"]
            ]
        return result

    def _devices_wanted(self, item: Manifest) -> Manifest:
        return {**item, "deviceClassName": self.name("DeviceClass", item["deviceClassName"])}

    def request(self, name: str) -> str:
        """Rename a request, or ``request/alternative``."""
        return "/".join(self.names.of("request", part) for part in name.split("/"))

    def allocation(self, item: Manifest) -> Manifest:
        renamed = [
            {**one, "request": self.request(one["request"]), "pool": self.names.of("pool", one["pool"])}
            for one in results_of(item)
        ]
        selector = {"nodeSelector": self.tree(item["nodeSelector"])} if item.get("nodeSelector") else {}
        return {"devices": {"results": renamed}, **selector}

    def slice_spec(self, spec: Manifest) -> Manifest:
        kept = {name: spec[name] for name in ("driver", "allNodes", "devices") if spec.get(name) is not None}
        result = {**kept, "pool": {**spec["pool"], "name": self.names.of("pool", spec["pool"]["name"])}}
        if spec.get("nodeName"):
            result["nodeName"] = self.name("Node", spec["nodeName"])
        return {**result, "nodeSelector": self.tree(spec["nodeSelector"])} if spec.get("nodeSelector") else result

    # --- storage ---

    def claim_spec(self, spec: Manifest) -> Manifest:
        result = {name: spec[name] for name in CLAIM_FIELDS if spec.get(name) is not None}
        if spec.get("storageClassName") is not None:
            result["storageClassName"] = self.names.of("storage", spec["storageClassName"])
        if spec.get("volumeName"):
            result["volumeName"] = self.names.of("volume", spec["volumeName"])
        return {**result, "selector": self.tree(spec["selector"])} if spec.get("selector") else result

    def volume_spec(self, spec: Manifest) -> Manifest:
        result = {name: spec[name] for name in VOLUME_FIELDS if spec.get(name) is not None}
        if spec.get("storageClassName"):
            result["storageClassName"] = self.names.of("storage", spec["storageClassName"])
        if spec.get("nodeAffinity"):
            result["nodeAffinity"] = self.tree(spec["nodeAffinity"])
        claim = spec.get("claimRef")
        if claim:
            named = {"namespace": self.names.namespace(claim["namespace"]), "name": self.name(CLAIM, claim["name"])}
            uid = {"uid": self.names.of("uid", claim["uid"])} if claim.get("uid") else {}
            result["claimRef"] = {"apiVersion": "v1", "kind": CLAIM, **named, **uid}
        return result | {name: spec[name] for name in PLACES if name in spec}


TREE_FIELDS: dict[str, Callable[[Renamer, Any], Any]] = {
    "matchLabels": Renamer.labels,
    "matchExpressions": Renamer._requirements,
    "matchLabelExpressions": Renamer._requirements,
    "matchFields": Renamer._fields,
    "matchLabelKeys": Renamer.keys,
    "mismatchLabelKeys": Renamer.keys,
    "topologyKey": lambda renamer, key: renamer.names.key(key),
    "namespaces": lambda renamer, items: [renamer.names.namespace(item) for item in items],
}
