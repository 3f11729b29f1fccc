"""Rules for priority classes, runtime classes, budgets and namespaces.

Source: upstream ``apis/{scheduling,node,policy,core}/validation``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.priorities import HIGHEST_USER_PRIORITY, SYSTEM_PRIORITY_CLASSES
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.metadata import (
    IMMUTABLE,
    finalizer_name,
    labels,
    metadata_rules,
    metadata_update,
    standard_finalizer,
)
from scheduler_engine.api.validation.problems import (
    Errors,
    amount_or_percent,
    at_most_100_percent,
    by_version,
    duplicate,
    forbidden,
    invalid,
    one_of,
    present,
    required,
    supported,
    texts,
    without,
)
from scheduler_engine.api.validation.resources import requirements
from scheduler_engine.api.validation.selectors import label_selector, tolerations

Data = Mapping[str, Any]

_preemption_policy = one_of(("PreemptLowerPriority", "Never"))


def priority_class_rules(priority_class: Data) -> Errors:
    name, value = (priority_class.get("metadata") or {}).get("name") or "", priority_class["value"]
    yield from metadata_rules(priority_class, names.subdomain, namespaced=False)
    if name.startswith("system-"):
        problem = _system_class_problem(name, value, bool(priority_class.get("globalDefault")))
        if problem:
            text = "priority class names with 'system-' prefix are reserved for system use only. error: "
            yield forbidden("metadata.name", text + problem)
    elif value > HIGHEST_USER_PRIORITY:
        yield forbidden("value", f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}")
    yield from present(priority_class, "", (("preemptionPolicy", _policy_at_top),))


def _policy_at_top(policy: str, path: str) -> Errors:
    yield from _preemption_policy(policy, "preemptionPolicy")


def _system_class_problem(name: str, value: int, default: bool) -> str:
    if name not in SYSTEM_PRIORITY_CLASSES:
        return f"{name} is not a known system priority class"
    if value != SYSTEM_PRIORITY_CLASSES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_PRIORITY_CLASSES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if default else ""


def priority_class_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    if old["value"] != new["value"]:
        yield forbidden("value", "may not be changed in an update.")
    if old.get("preemptionPolicy") != new.get("preemptionPolicy"):
        yield invalid("preemptionPolicy", new.get("preemptionPolicy"), IMMUTABLE)


def runtime_class_rules(runtime_class: Data) -> Errors:
    yield from metadata_rules(runtime_class, names.subdomain, namespaced=False)
    malformed, missing = texts(names.dns_label)(runtime_class["handler"], "handler"), (required("handler"),)
    yield from malformed if runtime_class["handler"] else by_version(malformed, ("newer_texts: handlers", missing))
    fixed = (runtime_class.get("overhead") or {}).get("podFixed")
    if fixed is not None:
        yield from requirements({"limits": fixed}, "overhead.podFixed")
    scheduling = runtime_class.get("scheduling") or {}
    yield from labels(scheduling.get("nodeSelector") or {}, "scheduling.nodeSelector")
    yield from _tolerations(scheduling.get("tolerations") or (), "scheduling.tolerations")


def _tolerations(value: Sequence[Data], path: str) -> Errors:
    """Check those of a RuntimeClass, which may never compare: upstream passes no options there.

    v1.34 names the field twice in their paths.
    """
    older, newer = (
        [without(error, "tolerations_compare") for error in tolerations(value, place)]
        for place in (f"{path}.tolerations", path)
    )
    yield from by_version(older, ("newer_texts: class-tolerations", newer))
    held: list[dict[str, str]] = []
    for index, toleration in enumerate(value):
        listed = {field.capitalize(): toleration.get(field) or "" for field in ("key", "operator", "value", "effect")}
        if listed in held:
            yield duplicate(f"{path}[{index}]", {**listed, "TolerationSeconds": toleration.get("tolerationSeconds")})
        held.append(listed)


def runtime_class_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    if old["handler"] != new["handler"]:
        yield invalid("handler", new["handler"], IMMUTABLE)


def budget_rules(budget: Data) -> Errors:
    spec = budget.get("spec") or {}
    yield from metadata_rules(budget, names.subdomain, namespaced=True)
    fields = [field for field in ("minAvailable", "maxUnavailable") if spec.get(field) is not None]
    if len(fields) == 2:
        yield invalid("spec", dict(spec), "minAvailable and maxUnavailable cannot be both set")
    for field in fields:
        yield from amount_or_percent(spec[field], f"spec.{field}")
        yield from at_most_100_percent(spec[field], f"spec.{field}")
    yield from present(spec, "spec", (("selector", label_selector),))
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None:
        yield from supported(("AlwaysAllow", "IfHealthyBudget"))(policy, "spec.unhealthyPodEvictionPolicy")


def namespace_rules(namespace: Data) -> Errors:
    yield from metadata_rules(namespace, names.dns_label, namespaced=False)
    for finalizer in (namespace.get("spec") or {}).get("finalizers") or ():
        yield from finalizer_name(finalizer, "spec.finalizers")
        yield from standard_finalizer(finalizer, "spec.finalizers")


def namespace_update(old: Data, new: Data) -> Errors:
    yield from namespace_rules(new)
    yield from metadata_update(old, new)


def budget_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    yield from budget_rules(new)
