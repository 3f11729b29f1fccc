"""The kinds of patches that an API server takes: JSON patch, JSON merge patch and strategic merge patch.

Source: RFC 6902 and 7396; upstream ``apimachinery/pkg/util/strategicpatch``, and ``patchStrategy`` and
``patchMergeKey`` in ``api/*/types.go``.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

import jsonpatch
import jsonpointer

from sandbox.kube.statuses import Refused
from scheduler_engine.api.fields import TYPES, Field
from scheduler_engine.api.objects import merge

Data = Mapping[str, Any]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
MOST_COPIED = 3 << 20
"""Bytes that the copies of one JSON patch may make."""
MOST_OPERATIONS = 10_000
"""Operations of one JSON patch, as in Kubernetes."""

MERGED_BY: dict[str, str] = {
    "CSINodeSpec.drivers": "name",
    "Container.env": "name",
    "Container.ports": "containerPort",
    "Container.volumeDevices": "devicePath",
    "Container.volumeMounts": "mountPath",
    "ContainerStatus.allocatedResourcesStatus": "name",
    "ContainerStatus.volumeMounts": "mountPath",
    "DaemonSetStatus.conditions": "type",
    "DeploymentStatus.conditions": "type",
    "JobStatus.conditions": "type",
    "NamespaceStatus.conditions": "type",
    "NodeStatus.addresses": "type",
    "NodeStatus.conditions": "type",
    "ObjectMeta.ownerReferences": "uid",
    "PersistentVolumeClaimStatus.conditions": "type",
    "PodDisruptionBudgetStatus.conditions": "type",
    "PodSpec.containers": "name",
    "PodSpec.ephemeralContainers": "name",
    "PodSpec.hostAliases": "ip",
    "PodSpec.imagePullSecrets": "name",
    "PodSpec.initContainers": "name",
    "PodSpec.resourceClaims": "name",
    "PodSpec.schedulingGates": "name",
    "PodSpec.topologySpreadConstraints": "topologyKey",
    "PodSpec.volumes": "name",
    "PodStatus.conditions": "type",
    "PodStatus.hostIPs": "ip",
    "PodStatus.podIPs": "ip",
    "PodStatus.resourceClaimStatuses": "name",
    "ReplicaSetStatus.conditions": "type",
    "ReplicationControllerStatus.conditions": "type",
    "ResourceClaimStatus.reservedFor": "uid",
    "ServiceSpec.ports": "port",
    "ServiceStatus.conditions": "type",
    "StatefulSetStatus.conditions": "type",
}
"""List in an object → the field by which a strategic merge patch finds its items. Other lists are replaced."""
MERGED_VALUES = ("NodeSpec.podCIDRs", "ObjectMeta.finalizers")
"""Lists of values that a strategic merge patch adds to."""
DIRECTIVE, ORDER, RETAIN, WITHOUT = "$patch", "$setElementOrder/", "$retainKeys", "$deleteFromPrimitiveList/"


def between(old: Data, new: Data) -> dict[str, Any]:
    """Return the JSON merge patch that makes ``new`` of ``old``. Fields that are null in ``new`` count as missing."""
    changes: dict[str, Any] = {name: None for name in old if new.get(name) is None}
    for name, value in new.items():
        held = old.get(name)
        if value is None or value == held:
            continue
        if isinstance(value, Mapping) and isinstance(held, Mapping):
            value = between(held, value)
            if not value:
                continue
        changes[name] = value
    return changes


def _json_patch(kind: str, old: Data, body: Any) -> Any:
    if not isinstance(body, list):
        raise Refused(400, "json: cannot unmarshal object into Go value of type jsonpatch.Patch")
    if len(body) > MOST_OPERATIONS:
        text = f"The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {len(body)}"
        raise Refused(413, text)
    new: Any = copy.deepcopy(dict(old))
    copied = 0
    try:
        for operation in body:
            if isinstance(operation, Mapping) and operation.get("op") == "copy":
                copied += len(json.dumps(jsonpointer.resolve_pointer(new, operation["from"])))
                if copied > MOST_COPIED:
                    raise Refused(413, f"the copy operations of the patch copy more than {MOST_COPIED} bytes")
            new = jsonpatch.apply_patch(new, [operation], in_place=True)
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError, KeyError, ValueError) as problem:
        raise Refused(422, "the server rejected our request due to an error in our request") from problem
    return new


def _merge_patch(kind: str, old: Data, body: Any) -> Any:
    return merge(old, _mapping(body))


def _strategic_patch(kind: str, old: Data, body: Any) -> Any:
    return _merged(old, _mapping(body), kind)


def _mapping(body: Any) -> Data:
    if not isinstance(body, Mapping):
        raise Refused(400, "json: cannot unmarshal the patch into Go value of type map[string]interface {}")
    return body


PATCHES: dict[str, Callable[[str, Data, Any], Any]] = {
    JSON_PATCH: _json_patch,
    MERGE_PATCH: _merge_patch,
    STRATEGIC_PATCH: _strategic_patch,
}
"""Content type → function of a kind, its present manifest and the patch. It returns the new manifest."""


def patched(content_type: str, kind: str, old: Data, body: Any) -> Data:
    """Return a manifest after a patch. Raises ``Refused``."""
    how = PATCHES.get(content_type)
    if how is None:
        listed = ", ".join((*PATCHES, APPLY_PATCH))
        text = "the body of the request was in an unknown format - accepted media types include: "
        raise Refused(415, f"{text}{listed}")
    new = how(kind, old, body)
    if not isinstance(new, Mapping) or not isinstance(new.get("metadata"), Mapping):
        raise Refused(422, "the patch does not result in an object with metadata")
    return new


# --- strategic merge ---


def _merged(old: Data, patch: Data, type_name: str) -> dict[str, Any]:
    how = patch.get(DIRECTIVE)
    if how == "delete":
        return {}
    if how == "replace":
        return {name: value for name, value in patch.items() if name != DIRECTIVE}
    if how not in (None, "merge"):
        raise Refused(400, f"Unknown patch type: {how}")
    result = dict(old)
    retained = patch.get(RETAIN)
    if isinstance(retained, list):
        result = {name: value for name, value in result.items() if name in retained}
    fields = TYPES.get(type_name, {})
    for name, value in patch.items():
        if name in (DIRECTIVE, RETAIN) or name.startswith(ORDER):
            continue
        if name.startswith(WITHOUT):
            field, held = name.removeprefix(WITHOUT), result.get(name.removeprefix(WITHOUT), [])
            if not isinstance(value, list) or not isinstance(held, list):
                raise Refused(400, f"invalid patch format of {field} in delete primitive list")
            result[field] = [item for item in held if item not in value]
        elif value is None:
            result.pop(name, None)
        else:
            result[name] = _field(result.get(name), value, f"{type_name}.{name}", fields.get(name))
            _order(result, name, patch.get(f"{ORDER}{name}"), MERGED_BY.get(f"{type_name}.{name}"))
    for name in patch:
        field = name.removeprefix(ORDER)
        if name.startswith(ORDER) and field not in patch:
            _order(result, field, patch[name], MERGED_BY.get(f"{type_name}.{field}"))
    return result


def _field(held: Any, value: Any, path: str, field: Field | None) -> Any:
    if isinstance(value, Mapping):
        of = field.type if field is not None and field.holds == "one" else ""
        return _merged(held if isinstance(held, Mapping) else {}, value, of)
    if isinstance(value, list) and isinstance(held, list):
        if path in MERGED_VALUES:
            return [*held, *(item for item in value if item not in held)]
        if path in MERGED_BY and field is not None:
            return _list(held, value, MERGED_BY[path], field.type)
    return _without_directives(value)


def _list(held: list[Any], patch: list[Any], key: str, type_name: str) -> list[Any]:
    if {DIRECTIVE: "replace"} in patch:
        return [item for item in patch if item != {DIRECTIVE: "replace"}]
    result = list(held)
    for item in patch:
        if not isinstance(item, Mapping) or key not in item:
            raise Refused(400, f"map: {item} does not contain declared merge key: {key}")
        places = [n for n, one in enumerate(result) if isinstance(one, Mapping) and one.get(key) == item[key]]
        if item.get(DIRECTIVE) == "delete":
            result = [one for n, one in enumerate(result) if n not in places]
        elif places:
            result[places[0]] = _merged(result[places[0]], item, type_name)
        else:
            result.append(_without_directives(item))
    return result


def _without_directives(value: Any) -> Any:
    """Return a value of a patch that nothing is there to merge with."""
    if isinstance(value, Mapping):
        return {name: _without_directives(item) for name, item in value.items() if not name.startswith("$")}
    if isinstance(value, list):
        return [
            _without_directives(item)
            for item in value
            if not (isinstance(item, Mapping) and item.get(DIRECTIVE) in ("delete", "replace"))
        ]
    return value


def _order(result: dict[str, Any], name: str, order: Any, key: str | None) -> None:
    """Sort a list as ``$setElementOrder`` says. Items that it does not name stay behind the one before them."""
    items = result.get(name)
    if not isinstance(order, list) or not isinstance(items, list):
        return

    def of(item: Any) -> Any:
        return item.get(key) if key and isinstance(item, Mapping) else item

    places = {repr(of(item)): place for place, item in enumerate(order)}
    last, sorted_by = -1, []
    for item in items:
        last = places.get(repr(of(item)), last)
        sorted_by.append(last)
    result[name] = [item for _, item in sorted(zip(sorted_by, items, strict=True), key=lambda pair: pair[0])]
