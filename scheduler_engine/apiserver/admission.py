"""Admission: how the API server changes a new object, or why it refuses it.

Source: seed 002 §3, §5 and §9; upstream ``plugin/pkg/admission/{priority,runtimeclass,defaulttolerationseconds,
podtolerationrestriction,antiaffinity}`` and the pod strategy's handling of ``matchLabelKeys`` and scheduling gates;
for CSIDrivers ``pkg/registry/storage/csidriver/strategy.go``, for claims to devices ``pkg/registry/resource/utils.go``.
Each step is one row of ``STEPS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from scheduler_engine.api.conditions import with_condition
from scheduler_engine.api.gated_fields import keeping_uses, without_gated
from scheduler_engine.api.objects import KubeObject, merge, timestamp
from scheduler_engine.api.priorities import SYSTEM_PRIORITY_CLASSES
from scheduler_engine.api.qos import BEST_EFFORT, qos_class
from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.api.simulated import wrong_annotations
from scheduler_engine.api.taints import MEMORY_PRESSURE, NOT_READY, UNREACHABLE
from scheduler_engine.apiserver.device_admission import Reader, admin_access, admin_status, without_stale_devices
from scheduler_engine.apiserver.errors import forbidden, invalid
from scheduler_engine.versions import Rules

Manifest = dict[str, Any]

SYSTEM_DESCRIPTIONS = {
    "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
    "system-cluster-critical": (
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."
    ),
}
PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"


LIMIT_TOPOLOGY = "LimitPodHardAntiAffinityTopology"
SWITCHED = (LIMIT_TOPOLOGY,)
"""Admission plugins of Kubernetes that are off by default, but can be switched on in a sandbox."""
HOSTNAME = "kubernetes.io/hostname"


class Server(Reader, Protocol):
    @property
    def switched_on(self) -> tuple[str, ...]: ...

    @property
    def priority_numbers(self) -> bool: ...

    @property
    def rules(self) -> Rules: ...


DEFAULT_TOLERATION_SECONDS = 300
NEEDED_DRIVER = "preventPodSchedulingIfMissing"
SCHEDULING_GATED = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}


def admit(manifest: Manifest, objects: Server, old: KubeObject | None = None, subresource: str = "") -> Manifest:
    """Return the manifest to store, new or replacing ``old``. Raises ApiError when a step refuses it.

    Fields whose feature gate is off are dropped.
    """
    update = old is not None
    rules = objects.rules if old is None else keeping_uses(objects.rules, old.manifest)
    manifest = dict(without_gated(manifest, rules))
    for kind, step, on_update in STEPS:
        if manifest.get("kind") == kind and (on_update or not update):
            manifest = step(manifest, objects)
    for plugin, (kind, check) in SWITCHES.items():
        if plugin in objects.switched_on and manifest.get("kind") == kind and not subresource:
            check(manifest)
    return manifest


def _name(manifest: Manifest) -> str:
    return str((manifest.get("metadata") or {}).get("name", ""))


def pod_priority(manifest: Manifest, objects: Server) -> Manifest:
    """Set ``spec.priority`` and ``spec.preemptionPolicy`` by the named class, else the default class, else 0 and
    PreemptLowerPriority.

    With ``priority_numbers``, another number is kept without a class, as no cluster does.
    """
    spec = manifest.get("spec") or {}
    named = spec.get("priorityClassName") or ""
    class_name, value, policy = _class_of(named, manifest, objects) if named else _default_class(objects)
    if objects.priority_numbers and not named and spec.get("priority") not in (None, value):
        class_name, value, policy = "", spec["priority"], PREEMPT_LOWER_PRIORITY
    for title, field, computed in (
        ("the integer value of priority", "priority", value),
        ("the string value of PreemptionPolicy", "preemptionPolicy", policy),
    ):
        if spec.get(field) not in (None, computed):
            raise forbidden(
                "pods",
                _name(manifest),
                f"{title} ({spec[field]}) must not be provided in pod spec; "
                f"priority admission controller computed {computed} from the given PriorityClass name",
            )
    changes = {"priority": value, "preemptionPolicy": policy}
    if class_name:
        changes["priorityClassName"] = class_name
    return merge(manifest, {"spec": changes})


def _class_of(name: str, manifest: Manifest, objects: Reader) -> tuple[str, int, str]:
    """Return name, priority and policy of a class."""
    if name in SYSTEM_PRIORITY_CLASSES:
        return name, SYSTEM_PRIORITY_CLASSES[name], PREEMPT_LOWER_PRIORITY
    priority_class = objects.get("PriorityClass", name)
    if priority_class is None:
        raise forbidden("pods", _name(manifest), f"no PriorityClass with name {name} was found")
    return _class_fields(priority_class)


def _default_class(objects: Reader) -> tuple[str, int, str]:
    """Return name ("" for none), priority and policy for a pod without a class."""
    defaults = (item for item in objects.list("PriorityClass") if item.manifest.get("globalDefault"))
    default = min(defaults, key=lambda item: item.manifest.get("value", 0), default=None)
    return ("", 0, PREEMPT_LOWER_PRIORITY) if default is None else _class_fields(default)


def _class_fields(held: KubeObject) -> tuple[str, int, str]:
    return held.name, held.manifest.get("value", 0), held.manifest.get("preemptionPolicy") or PREEMPT_LOWER_PRIORITY


def system_priority_classes() -> list[Manifest]:
    """Return the classes of every new cluster. Their uids are not among the counted ones."""
    return [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {
                "name": name,
                "uid": f"00000000-0000-4000-9000-{value:012x}",
                "creationTimestamp": timestamp(0),
            },
            "value": value,
            "description": SYSTEM_DESCRIPTIONS[name],
        }
        for name, value in SYSTEM_PRIORITY_CLASSES.items()
    ]


IMMORTAL = ("default", "kube-system", "kube-public")
"""Namespaces that may not be deleted. Source: upstream ``apiserver/pkg/admission/plugin/namespace/lifecycle``."""


def check_deletable(kind: str, name: str) -> None:
    """Raises ApiError for what every cluster must have (upstream ``pkg/registry/scheduling/priorityclass/storage``)."""
    if kind == "Namespace" and name in IMMORTAL:
        raise forbidden("namespaces", name, "this namespace may not be deleted")
    if kind == "PriorityClass" and name in SYSTEM_PRIORITY_CLASSES:
        reason = "this is a system priority class and cannot be deleted"
        raise forbidden("priorityclasses.scheduling.k8s.io", name, reason)


def single_default_class(manifest: Manifest, objects: Reader) -> Manifest:
    """Allow only one global default PriorityClass."""
    if manifest.get("globalDefault"):
        for other in objects.list("PriorityClass"):
            if other.manifest.get("globalDefault") and other.name != _name(manifest):
                raise forbidden(
                    "priorityclasses.scheduling.k8s.io",
                    _name(manifest),
                    f"PriorityClass {other.name} is already marked as default. Only one default can exist",
                )
    return manifest


def runtime_class_overhead(manifest: Manifest, objects: Reader) -> Manifest:
    """Set ``spec.overhead``, node selector and tolerations of the pod's RuntimeClass."""
    spec = manifest.get("spec") or {}
    name = spec.get("runtimeClassName")
    if not name:
        if spec.get("overhead"):
            raise forbidden(
                "pods",
                _name(manifest),
                "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
            )
        return manifest
    runtime_class = objects.get("RuntimeClass", name)
    if runtime_class is None:
        raise forbidden("pods", _name(manifest), f'pod rejected: RuntimeClass "{name}" not found')
    fixed = (runtime_class.manifest.get("overhead") or {}).get("podFixed")
    overhead = spec.get("overhead")
    if overhead is not None and (fixed is None or not _same_amounts(overhead, fixed)):
        reason = (
            "Pod Overhead set without corresponding RuntimeClass defined Overhead"
            if fixed is None
            else "Pod's Overhead doesn't match RuntimeClass's defined Overhead"
        )
        raise forbidden("pods", _name(manifest), f"pod rejected: {reason}")
    changes: Manifest = {"overhead": dict(fixed)} if fixed else {}
    scheduling = runtime_class.manifest.get("scheduling") or {}
    if scheduling.get("nodeSelector"):
        changes["nodeSelector"] = _merged_nodes(manifest, spec.get("nodeSelector") or {}, scheduling["nodeSelector"])
    if scheduling.get("tolerations"):
        held = spec.get("tolerations") or []
        changes["tolerations"] = [*held, *(item for item in scheduling["tolerations"] if item not in held)]
    return merge(manifest, {"spec": changes}) if changes else manifest


def _merged_nodes(manifest: Manifest, held: Mapping[str, str], demanded: Mapping[str, str]) -> dict[str, str]:
    """Merge the node selectors of the pod and its class, which must not contradict each other."""
    for key, value in sorted(demanded.items()):
        if held.get(key, value) != value:
            raise forbidden(
                "pods",
                _name(manifest),
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {held[key]}",
            )
    return {**held, **demanded}


def _same_amounts(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    return {name: parse_quantity(value).nano for name, value in left.items()} == {
        name: parse_quantity(value).nano for name, value in right.items()
    }


AFFINITY_LISTS = ("requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution")


def match_label_keys(manifest: Manifest, objects: Reader) -> Manifest:
    """Merge ``matchLabelKeys`` and ``mismatchLabelKeys`` into the selectors of affinity terms and spread
    constraints.
    """
    spec = manifest.get("spec") or {}
    labels = (manifest.get("metadata") or {}).get("labels") or {}
    changes: Manifest = {}
    affinity = spec.get("affinity") or {}
    for side in ("podAffinity", "podAntiAffinity"):
        for listed in AFFINITY_LISTS:
            terms = (affinity.get(side) or {}).get(listed)
            if terms:
                merged = [_merged_item(item, labels) for item in terms]
                changes.setdefault("affinity", {}).setdefault(side, {})[listed] = merged
    if spec.get("topologySpreadConstraints"):
        constraints = spec["topologySpreadConstraints"]
        changes["topologySpreadConstraints"] = [_merged_selector(item, labels) for item in constraints]
    return merge(manifest, {"spec": changes}) if changes else manifest


def _merged_item(item: Manifest, labels: Mapping[str, str]) -> Manifest:
    if "podAffinityTerm" in item:
        return {**item, "podAffinityTerm": _merged_selector(item["podAffinityTerm"], labels)}
    return _merged_selector(item, labels)


def _merged_selector(term: Manifest, labels: Mapping[str, str]) -> Manifest:
    added = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in term.get(field) or ()
        if key in labels
    ]
    selector = term.get("labelSelector")
    if not added or selector is None:
        return term
    expressions = [*(selector.get("matchExpressions") or ()), *added]
    return {**term, "labelSelector": {**selector, "matchExpressions": expressions}}


def scheduling_gated(manifest: Manifest, objects: Reader) -> Manifest:
    """Set the status of a new pod with scheduling gates, to say why it is not scheduled."""
    conditions = (manifest.get("status") or {}).get("conditions") or []
    gates = (manifest.get("spec") or {}).get("schedulingGates")
    if not gates or any(item.get("type") == "PodScheduled" for item in conditions):
        return manifest
    return merge(manifest, {"status": {"conditions": with_condition(conditions, SCHEDULING_GATED)}})


def default_toleration_seconds(manifest: Manifest, objects: Reader) -> Manifest:
    """Let every pod stay for 300 s on a node that is not ready or unreachable, unless it says otherwise."""
    held = (manifest.get("spec") or {}).get("tolerations") or []
    missing = [key for key in (NOT_READY, UNREACHABLE) if not any(_speaks_of(item, key) for item in held)]
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": DEFAULT_TOLERATION_SECONDS}
        for key in missing
    ]
    return merge(manifest, {"spec": {"tolerations": [*held, *added]}}) if added else manifest


def _speaks_of(toleration: Manifest, key: str) -> bool:
    return toleration.get("key") in (None, "", key) and toleration.get("effect") in (None, "", "NoExecute")


def memory_pressure_toleration(manifest: Manifest, objects: Reader) -> Manifest:
    """Let pods with requests tolerate memory pressure, as PodTolerationRestriction does.

    v1.34.1 has that plugin off by default; seed 002 §5 describes it as a rule of the control plane.
    """
    spec = manifest.get("spec") or {}
    toleration = {"key": MEMORY_PRESSURE, "operator": "Exists", "effect": "NoSchedule"}
    held = spec.get("tolerations") or []
    if qos_class(spec) == BEST_EFFORT or toleration in held:
        return manifest
    return merge(manifest, {"spec": {"tolerations": [*held, toleration]}})


def limit_topology(manifest: Manifest) -> None:
    """Allow required anti-affinity of pods only by node."""
    anti_affinity = ((manifest.get("spec") or {}).get("affinity") or {}).get("podAntiAffinity") or {}
    for term in anti_affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        key = term.get("topologyKey", "")
        if key != HOSTNAME:
            raise forbidden(
                "pods",
                _name(manifest),
                f"affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {key} "
                f"but only key {HOSTNAME} is allowed",
            )


def simulated_annotations(manifest: Manifest, objects: Reader) -> Manifest:
    """Check the sandbox's own annotations, also those that no rule has seen."""
    annotations = (manifest.get("metadata") or {}).get("annotations") or {}
    for name, problem in wrong_annotations(annotations, str(manifest.get("kind"))):
        text = f'metadata.annotations[{name}]: Invalid value: "{annotations[name]}": {problem}'
        raise invalid(str(manifest.get("kind")), _name(manifest), text)
    return manifest


def needed_driver(manifest: Manifest, objects: Server) -> Manifest:
    """Fill ``spec.preventPodSchedulingIfMissing`` with its default, as the strategy of CSIDrivers does."""
    if not (objects.rules.volume_drivers_opt_in and objects.rules.needs_volume_drivers):
        return manifest
    return merge(manifest, {"spec": {NEEDED_DRIVER: bool((manifest.get("spec") or {}).get(NEEDED_DRIVER))}})


STEPS: tuple[tuple[str, Callable[[Manifest, Server], Manifest], bool], ...] = (
    ("PriorityClass", single_default_class, True),
    ("Pod", pod_priority, False),
    ("Pod", runtime_class_overhead, False),
    ("Pod", match_label_keys, True),
    ("Pod", scheduling_gated, False),
    ("Pod", default_toleration_seconds, True),
    ("Pod", memory_pressure_toleration, True),
    ("Pod", simulated_annotations, True),
    ("Node", simulated_annotations, True),
    ("CSIDriver", needed_driver, True),
    ("ResourceClaim", admin_access, False),
    ("ResourceClaim", admin_status, True),
    ("ResourceClaim", without_stale_devices, True),
    ("ResourceClaimTemplate", admin_access, False),
)
"""(kind, step, True if it also applies to updates)"""
SWITCHES: dict[str, tuple[str, Callable[[Manifest], None]]] = {LIMIT_TOPOLOGY: ("Pod", limit_topology)}
"""Plugin → (kind, check for new objects and updates, after all steps)"""
