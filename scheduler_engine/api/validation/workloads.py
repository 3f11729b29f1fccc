"""Rules for priority classes, runtime classes, budgets, namespaces and the owners of pods.

Source: upstream ``apis/{scheduling,node,policy,apps,core}/validation``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.labels import selector_from, selector_from_set
from scheduler_engine.api.validation import names
from scheduler_engine.api.validation.metadata import (
    IMMUTABLE,
    finalizer_name,
    labels,
    metadata_rules,
    metadata_update,
    standard_finalizer,
)
from scheduler_engine.api.validation.pod import pod_spec
from scheduler_engine.api.validation.problems import (
    Errors,
    forbidden,
    invalid,
    nonnegative,
    not_supported,
    one_of,
    present,
    required,
    supported,
    texts,
)
from scheduler_engine.api.validation.resources import requirements
from scheduler_engine.api.validation.selectors import label_selector, tolerations

Data = Mapping[str, Any]

HIGHEST_USER_PRIORITY = 1_000_000_000
SYSTEM_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}

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
    if name not in SYSTEM_PRIORITIES:
        return f"{name} is not a known system priority class"
    if value != SYSTEM_PRIORITIES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_PRIORITIES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if default else ""


def priority_class_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    if old["value"] != new["value"]:
        yield forbidden("value", "may not be changed in an update.")
    if old.get("preemptionPolicy") != new.get("preemptionPolicy"):
        yield invalid("preemptionPolicy", new.get("preemptionPolicy"), IMMUTABLE)


def runtime_class_rules(runtime_class: Data) -> Errors:
    yield from metadata_rules(runtime_class, names.subdomain, namespaced=False)
    yield from texts(names.dns_label)(runtime_class["handler"], "handler")
    fixed = (runtime_class.get("overhead") or {}).get("podFixed")
    if fixed is not None:
        yield from requirements({"limits": fixed}, "overhead.podFixed")
    scheduling = runtime_class.get("scheduling") or {}
    yield from labels(scheduling.get("nodeSelector") or {}, "scheduling.nodeSelector")
    yield from tolerations(scheduling.get("tolerations") or (), "scheduling.tolerations")


def runtime_class_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    if old["handler"] != new["handler"]:
        yield invalid("handler", new["handler"], IMMUTABLE)


def budget_rules(budget: Data) -> Errors:
    spec = budget.get("spec") or {}
    yield from metadata_rules(budget, names.subdomain, namespaced=True)
    given = [field for field in ("minAvailable", "maxUnavailable") if spec.get(field) is not None]
    if len(given) == 2:
        yield invalid("spec", dict(spec), "minAvailable and maxUnavailable cannot be both set")
    for field in given:
        yield from _amount_or_percent(spec[field], f"spec.{field}")
    yield from present(spec, "spec", (("selector", label_selector),))
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None:
        yield from supported(("AlwaysAllow", "IfHealthyBudget"))(policy, "spec.unhealthyPodEvictionPolicy")


def _amount_or_percent(value: int | str, path: str) -> Errors:
    if isinstance(value, int):
        yield from nonnegative(value, path)
    elif not (value.endswith("%") and value[:-1].isascii() and value[:-1].isdigit()):
        text = "a valid percent string must be a numeric string followed by an ending '%'"
        yield invalid(path, value, f"{text} (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')")
    elif int(value[:-1]) > 100:
        yield invalid(path, value, "must not be greater than 100%")


def namespace_rules(namespace: Data) -> Errors:
    yield from metadata_rules(namespace, names.dns_label, namespaced=False)
    for finalizer in (namespace.get("spec") or {}).get("finalizers") or ():
        yield from finalizer_name(finalizer, "spec.finalizers")
        yield from standard_finalizer(finalizer, "spec.finalizers")


def namespace_update(old: Data, new: Data) -> Errors:
    yield from namespace_rules(new)
    yield from metadata_update(old, new)


# --- owners of pods ---------------------------------------------------------------------------------------------------


def replica_set_rules(owner: Data) -> Errors:
    """Also for StatefulSets: the selector is a label selector."""
    spec = owner.get("spec") or {}
    yield from metadata_rules(owner, names.subdomain, namespaced=True)
    yield from _counts(spec)
    selector = spec.get("selector")
    if selector is None:
        yield required("spec.selector")
    else:
        yield from label_selector(selector, "spec.selector")
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            yield invalid("spec.selector", dict(selector), "empty selector is invalid for deployment")
    yield from _template(spec, selector is None or selector_from(selector).matches(_template_labels(spec)))


def replication_controller_rules(owner: Data) -> Errors:
    spec = owner.get("spec") or {}
    yield from metadata_rules(owner, names.subdomain, namespaced=True)
    yield from _counts(spec)
    if not spec.get("selector"):
        yield required("spec.selector")
    yield from _template(spec, selector_from_set(spec.get("selector")).matches(_template_labels(spec)))


def _counts(spec: Data) -> Errors:
    for field in ("replicas", "minReadySeconds"):
        yield from nonnegative(spec.get(field) or 0, f"spec.{field}")


def _template_labels(spec: Data) -> dict[str, str]:
    return ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}


def _template(spec: Data, matches: bool) -> Errors:
    template, path = spec.get("template"), "spec.template"
    if template is None:
        yield required(path)
        return
    if not matches:
        text = "`selector` does not match template `labels`"
        yield invalid(f"{path}.metadata.labels", _template_labels(spec), text)
    yield from labels(_template_labels(spec), f"{path}.metadata.labels")
    inner = template.get("spec") or {}
    yield from pod_spec(inner, f"{path}.spec", "")
    if inner.get("restartPolicy") != "Always":
        yield not_supported(f"{path}.spec.restartPolicy", inner.get("restartPolicy"), ("Always",))
