"""Sets of fields of an object, as ``metadata.managedFields`` names them: in which every list item has a name, too.

A path is the tuple of its ``FieldsV1`` parts: ``f:name`` for a field, ``k:{…}`` for an item by its keys, ``v:…`` for
an item by its value. Source: upstream ``structured-merge-diff/v6/fieldpath`` and ``typed``; ``listType``,
``listMapKey``, ``mapType`` and ``structType`` in ``api/*/types.go``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduler_engine.api.fields import TYPES, Field

Path = tuple[str, ...]
Data = Mapping[str, Any]

KEYED: dict[str, tuple[str, ...]] = {
    "AllocatedDeviceStatus.conditions": ("type",),
    "CSINodeSpec.drivers": ("name",),
    "Container.env": ("name",),
    "Container.ports": ("containerPort", "protocol"),
    "Container.volumeDevices": ("devicePath",),
    "Container.volumeMounts": ("mountPath",),
    "ContainerStatus.allocatedResourcesStatus": ("name",),
    "ContainerStatus.volumeMounts": ("mountPath",),
    "DaemonSetStatus.conditions": ("type",),
    "DeploymentStatus.conditions": ("type",),
    "NamespaceStatus.conditions": ("type",),
    "NodeStatus.addresses": ("type",),
    "NodeStatus.conditions": ("type",),
    "ObjectMeta.ownerReferences": ("uid",),
    "PersistentVolumeClaimStatus.conditions": ("type",),
    "PodDisruptionBudgetStatus.conditions": ("type",),
    "PodSpec.containers": ("name",),
    "PodSpec.ephemeralContainers": ("name",),
    "PodSpec.hostAliases": ("ip",),
    "PodSpec.imagePullSecrets": ("name",),
    "PodSpec.initContainers": ("name",),
    "PodSpec.resourceClaims": ("name",),
    "PodSpec.schedulingGates": ("name",),
    "PodSpec.topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "PodSpec.volumes": ("name",),
    "PodStatus.conditions": ("type",),
    "PodStatus.podIPs": ("ip",),
    "PodStatus.resourceClaimStatuses": ("name",),
    "ReplicaSetStatus.conditions": ("type",),
    "ReplicationControllerStatus.conditions": ("type",),
    "ResourceClaimStatus.devices": ("driver", "device", "pool"),
    "ResourceClaimStatus.reservedFor": ("uid",),
    "ResourceRequirements.claims": ("name",),
    "ResourceStatus.resources": ("resourceID",),
    "ServiceSpec.ports": ("port", "protocol"),
    "ServiceStatus.conditions": ("type",),
    "StatefulSetStatus.conditions": ("type",),
}
"""List → the fields that name an item. Items of other lists have no name of their own."""
SETS = frozenset(
    {
        *("CSIDriverSpec.volumeLifecycleModes", "ContainerRestartRuleOnExitCodes.values", "NodeSpec.podCIDRs"),
        *("ObjectMeta.finalizers", "UncountedTerminatedPods.failed", "UncountedTerminatedPods.succeeded"),
    }
)
"""Lists whose items are named by their values."""
WHOLE_TYPES = frozenset(
    {
        *("ConfigMapKeySelector", "EndpointAddress", "EndpointPort", "FileKeySelector", "LabelSelector"),
        *("LocalObjectReference", "NodeSelector", "NodeSelectorTerm"),
        *("ObjectFieldSelector", "ObjectReference", "OwnerReference", "ResourceFieldSelector", "SecretKeySelector"),
        *("SecretReference", "TopologySelectorTerm", "TypedLocalObjectReference"),
    }
)
"""Types that are set as a whole."""
WHOLE_MAPS = frozenset({"PodSpec.nodeSelector", "ReplicationControllerSpec.selector", "ServiceSpec.selector"})
IN_PARTS = frozenset({"PersistentVolumeSpec.claimRef"})
"""Fields of a type of ``WHOLE_TYPES`` that are not set as a whole."""
DEFAULTS = {"protocol": "TCP"}
"""Key of an item → what it is if it is not given."""
MEMBER = "."
"""Part of ``FieldsV1``: the item itself, besides its fields."""


def leaves(manifest: Data, kind: str) -> dict[Path, Any]:
    """Return what an object sets: path → value. The value of a named item itself is None."""
    return dict(_leaves(manifest, kind, "", ()))


def _leaves(value: Any, type_name: str, place: str, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield what a value sets. ``place``: the field that it stands in, ``Type.field``."""
    parts = dict(_parts(value, type_name, place))
    if not parts:
        if value != [] or _atomic_list(place):
            yield path, value
        return
    for part, (inner, of, where) in parts.items():
        if not part.startswith("f:"):
            yield (*path, part), None
        if part.startswith("v:"):
            continue
        yield from _leaves(inner, of, where, (*path, part))


def _parts(value: Any, type_name: str, place: str) -> Iterator[tuple[str, tuple[Any, str, str]]]:
    """Yield the parts of a value that others may set: its name, itself, its type and place. None: it is set as one."""
    if isinstance(value, Mapping):
        if place in WHOLE_MAPS or (type_name in WHOLE_TYPES and place not in IN_PARTS):
            return
        fields = TYPES.get(type_name, {})
        for name, inner in value.items():
            field = fields.get(name)
            yield f"f:{name}", (inner, _type(field, inner), f"{type_name}.{name}")
    elif isinstance(value, list) and not _atomic_list(place):
        keys = KEYED.get(place)
        names = [f"v:{_json(item)}" if keys is None else _named(item, keys) for item in value]
        if len(set(names)) == len(names):  # Else nobody can name them.
            yield from ((name, (item, type_name, "")) for name, item in zip(names, value, strict=True))


def _atomic_list(place: str) -> bool:
    """Return True if a list is set as a whole. Another one is only its items: if it has none, it sets nothing."""
    return place not in SETS and place not in KEYED


def _type(field: Field | None, value: Any) -> str:
    """Return the type of a field's value, "" = none of the tables. That of a map is none: all of its keys are free."""
    if field is None or field.type not in TYPES or (field.holds == "map" and isinstance(value, Mapping)):
        return ""
    return field.type


def _named(item: Any, keys: tuple[str, ...]) -> str:
    held = item if isinstance(item, Mapping) else {}
    return f"k:{_json({key: held.get(key, DEFAULTS.get(key)) for key in keys})}"


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def merged(old: Any, new: Any, type_name: str, place: str = "") -> Any:
    """Return ``old`` with all that ``new`` sets. A list has the order of ``new``; what only ``old`` has, stays in it.

    What has parts is neither emptied nor removed: a manager only gives up the parts that it has applied.
    """
    mine = dict(_parts(new, type_name, place))
    theirs = dict(_parts(old, type_name, place))
    if theirs and (new is None or (not new and type(old) is type(new))):
        return old
    if not mine or not theirs or type(old) is not type(new):
        return new
    both = {
        part: merged(theirs[part][0], inner, of, where) if part in theirs else inner
        for part, (inner, of, where) in mine.items()
    }
    if isinstance(new, Mapping):
        return {**old, **{part.removeprefix("f:"): inner for part, inner in both.items()}}
    return [both[part] if part in both else theirs[part][0] for part in _order(theirs, mine)]


def _order(old: Data, new: Data) -> list[str]:
    """Return the items of both lists in the order of ``new``, those of ``old`` alone before the next shared one."""
    names, places, result = list(new), {part: place for place, part in enumerate(new)}, list[str]()
    shared = iter([part for part in new if part in old])
    awaited, done = next(shared, None), 0
    for part in old:
        if part not in places:
            result.append(part)
        elif part == awaited:
            result += names[done : places[part] + 1]
            awaited, done = next(shared, None), places[part] + 1
    return result + names[done:]


def without(value: Any, doomed: Data, type_name: str, place: str = "") -> Any:
    """Return a value without the fields and items that ``doomed``, a ``FieldsV1``, names; None if nothing is left."""
    parts = dict(_parts(value, type_name, place))
    if not parts or not doomed:
        return value
    left: dict[str, Any] = {}
    for part, (inner, of, where) in parts.items():
        below = doomed.get(part)
        if below is not None and (not below or MEMBER in below):
            continue
        rest = without(inner, below, of, where) if below else inner
        if below and part.startswith("k:"):
            # Without its keys nobody could find what is left of the item.
            rest = {name: inner[name] for name in KEYED[place] if name in inner} | (rest or {})
        if rest is not None:
            left[part] = rest
    if not left:
        return None
    if isinstance(value, Mapping):
        return {part.removeprefix("f:"): inner for part, inner in left.items()}
    return list(left.values())


def to_fields(paths: Iterable[Path]) -> dict[str, Any]:
    """Return paths as ``FieldsV1``."""
    tree: dict[str, Any] = {}
    whole = set[Path]()
    for path in sorted(paths):
        here = tree
        for part in path:
            here = here.setdefault(part, {})
        whole.add(path)
    return _with_members(tree, (), whole)


def _with_members(tree: Data, path: Path, whole: set[Path]) -> dict[str, Any]:
    inside = {part: _with_members(below, (*path, part), whole) for part, below in tree.items()}
    return {MEMBER: {}, **inside} if tree and path in whole else inside


def of_fields(fields: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of ``FieldsV1``."""
    if not isinstance(fields, Mapping) or not fields:
        if path:
            yield path
        return
    for part, below in fields.items():
        if part == MEMBER:
            yield path
        else:
            yield from of_fields(below, (*path, part))


def shown(path: Path) -> str:
    """Return a path as messages show it: ``.spec.containers[name="main"].image``."""
    return "".join(_shown(part) for part in path)


def _shown(part: str) -> str:
    what, _, text = part.partition(":")
    if what == "f":
        return f".{text}"
    if what == "v":
        return f"[={text}]"
    return f"[{','.join(f'{name}={_json(value)}' for name, value in json.loads(text).items())}]"
