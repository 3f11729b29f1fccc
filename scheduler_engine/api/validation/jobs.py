"""Rules for Jobs. Source: upstream ``apis/batch/validation`` and the registry's generated selector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.labels import selector_from
from scheduler_engine.api.objects import merge
from scheduler_engine.api.validation import names, selector_text
from scheduler_engine.api.validation.metadata import IMMUTABLE, metadata_rules, metadata_update
from scheduler_engine.api.validation.owners import pod_template
from scheduler_engine.api.validation.problems import (
    Errors,
    by_version,
    duplicate,
    invalid,
    map_shown,
    nonnegative,
    not_supported,
    quoted,
    required,
    supported,
    texts,
    too_many,
)
from scheduler_engine.api.validation.selectors import label_selector, selector_shown

Data = Mapping[str, Any]

MODES = ("NonIndexed", "Indexed")
COUNTS = (
    *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"),
    *("backoffLimitPerIndex", "maxFailedIndexes"),
)
ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
LISTS = ("containers", "initContainers")
DIRECTIVES, DIRECTIVES_CHANGE = ("nodeSelector", "tolerations", "schedulingGates"), "changes_suspended_directives"
FIXED = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
"""Fields of the spec that an update may not change; also selector and template, and ``completions`` unless it is
Indexed.
"""

MOST_PARALLEL_INDEXES = MOST_FAILED_INDEXES = 100_000
MOST_RULES = MOST_CONDITIONS = 20
MOST_EXIT_CODES = 255

GENERATED = ("controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name")
"""Labels of the pods of a Job that selects by its UID; the first two are the older names."""

_condition_type = texts(names.qualified_name)


def in_registry(job: Data) -> Data:
    """Complete a Job like its registry: without ``manualSelector`` it selects the pods with its UID."""
    spec, metadata = job.get("spec") or {}, job.get("metadata") or {}
    if spec.get("manualSelector"):
        return job
    uid, name = metadata.get("uid") or "", metadata.get("name") or ""
    generated = {key: uid if key.endswith("uid") else name for key in GENERATED}
    selector = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    template = {"metadata": {"labels": generated}}
    return merge(job, {"spec": {"selector": selector, "template": template}})


def job_rules(job: Data) -> Errors:
    spec, name = job.get("spec") or {}, (job.get("metadata") or {}).get("name") or ""
    yield from metadata_rules(job, names.subdomain, namespaced=True)
    if not spec.get("manualSelector") and spec.get("selector") is not None:
        yield from _generated_selector(job, spec)
    yield from _numbers(spec, "spec")
    if spec.get("podFailurePolicy") is not None:
        yield from _failure_policy(spec, "spec.podFailurePolicy")
    if spec.get("successPolicy") is not None and spec.get("completionMode") != "Indexed":
        yield invalid("spec.successPolicy", spec["successPolicy"], "requires indexed completion mode")
    yield from _replacement_policy(spec, "spec.podReplacementPolicy")
    yield from pod_template(spec.get("template") or {}, "spec.template")
    yield from _restart_policy(spec, "spec.template.spec.restartPolicy")
    yield from _selector(spec)
    completions = spec.get("completions") or 0
    if spec.get("completionMode") == "Indexed" and completions > 0 and names.dns_label(f"{name}-{completions - 1}"):
        text = f"will not able to create pod with invalid DNS label: {name}-{completions - 1}"
        yield invalid("metadata.name", name, text)


def _generated_selector(job: Data, spec: Data) -> Errors:
    """Check that the selector and labels are those of ``in_registry``."""
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    expected = in_registry(job)["spec"]["template"]["metadata"]["labels"]
    for key in GENERATED:
        value = expected[key]
        path = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            yield required(path, f"must be '{value}'")
        elif labels[key] != value:
            yield invalid(path, map_shown(labels), f"must be '{value}'")
    selector = spec["selector"]
    if not selector_text.label_selector_problem(selector) and not selector_from(selector).matches(expected):
        yield invalid("spec.selector", selector_shown(selector), "`selector` not auto-generated")


def _selector(spec: Data) -> Errors:
    selector = spec.get("selector")
    if selector is None:
        yield required("spec.selector")
    else:
        yield from label_selector(selector, "spec.selector")
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    usable = selector is None or not selector_text.label_selector_problem(selector)
    if usable and not selector_from(selector).matches(labels):
        yield invalid("spec.template.metadata.labels", map_shown(labels), "`selector` does not match template `labels`")


def _numbers(spec: Data, path: str) -> Errors:
    for field in COUNTS:
        yield from nonnegative(spec.get(field) or 0, f"{path}.{field}")
    mode, completions, parallelism = spec.get("completionMode"), spec.get("completions"), spec.get("parallelism") or 0
    retries, failed = spec.get("backoffLimitPerIndex"), spec.get("maxFailedIndexes")
    if failed is not None and retries is None:
        yield required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if mode is not None:
        yield from supported(MODES)(mode, f"{path}.completionMode")
    if mode == "Indexed":
        if completions is None:
            yield required(f"{path}.completions", "when completion mode is Indexed")
        if parallelism > MOST_PARALLEL_INDEXES:
            text = f"must be less than or equal to {MOST_PARALLEL_INDEXES} when completion mode is Indexed"
            yield invalid(f"{path}.parallelism", parallelism, text)
        if completions is not None and failed is not None and failed > completions:
            yield invalid(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions")
        if failed is not None and failed > MOST_FAILED_INDEXES:
            yield invalid(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {MOST_FAILED_INDEXES}")
    elif mode in (None, "NonIndexed"):
        for field, value in (("backoffLimitPerIndex", retries), ("maxFailedIndexes", failed)):
            if value is not None:
                yield invalid(f"{path}.{field}", value, "requires indexed completion mode")


def _replacement_policy(spec: Data, path: str) -> Errors:
    policy = spec.get("podReplacementPolicy")
    if policy is not None:
        allowed = ("Failed", "TerminatingOrFailed") if spec.get("podFailurePolicy") is None else ("Failed",)
        yield from supported(allowed)(policy, path)


def _restart_policy(spec: Data, path: str) -> Errors:
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy") or "Always"
    if policy == "Always":
        yield required(path, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield not_supported(path, policy, ("OnFailure", "Never"))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        yield invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')


def _failure_policy(spec: Data, path: str) -> Errors:
    rules = spec["podFailurePolicy"].get("rules") or ()
    if len(rules) > MOST_RULES:
        yield too_many(f"{path}.rules", len(rules), MOST_RULES)
    inner = (spec.get("template") or {}).get("spec") or {}
    containers = {item["name"] for field in ("containers", "initContainers") for item in inner.get(field) or ()}
    for index, rule in enumerate(rules):
        place, action = f"{path}.rules[{index}]", rule["action"]
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or ()
        if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
            yield invalid(f"{place}.action", action, "requires the backoffLimitPerIndex to be set")
        yield from _one_of(ACTIONS, action, f"{place}.action")
        if codes is not None:
            yield from _exit_codes(codes, f"{place}.onExitCodes", containers)
        if len(conditions) > MOST_CONDITIONS:
            yield too_many(f"{place}.onPodConditions", len(conditions), MOST_CONDITIONS)
        for number, pattern in enumerate(conditions):
            yield from _condition_type(pattern["type"], f"{place}.onPodConditions[{number}].type")
            status = f"{place}.onPodConditions[{number}].status"
            yield from _one_of(("False", "True", "Unknown"), pattern["status"], status)
        if (codes is None) == (not conditions):
            many = "both OnExitCodes and OnPodConditions is not supported"
            none = "one of OnExitCodes and OnPodConditions is required"
            yield invalid(place, "", f"specifying {none if codes is None else many}")


def _exit_codes(codes: Data, path: str, containers: set[str]) -> Errors:
    yield from _one_of(("In", "NotIn"), codes["operator"], f"{path}.operator")
    container, values = codes.get("containerName"), codes.get("values") or []
    if container is not None and container not in containers:
        text = "must be one of the container or initContainer names in the pod template"
        yield invalid(f"{path}.containerName", container, text)
    if not values:
        yield invalid(f"{path}.values", values, "at least one value is required")
    if len(values) > MOST_EXIT_CODES:
        yield too_many(f"{path}.values", len(values), MOST_EXIT_CODES)
    earlier_values: set[int] = set()
    for index, value in enumerate(values):
        if codes["operator"] == "In" and value == 0:
            yield invalid(f"{path}.values[{index}]", value, "must not be 0 for the In operator")
        if value in earlier_values:
            yield duplicate(f"{path}.values[{index}]", value)
        earlier_values.add(value)
    if values != sorted(values):
        yield invalid(f"{path}.values", values, "must be ordered")


def _one_of(values: tuple[str, ...], value: str, path: str) -> Errors:
    """List the allowed values if one is missing, as Go prints a list."""
    if not value:
        yield required(path, f"valid values: [{' '.join(map(quoted, values))}]")
    elif value not in values:
        yield not_supported(path, value, values)


def job_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    yield from job_rules(new)
    before, after = old.get("spec") or {}, new.get("spec") or {}
    indexed = after.get("completionMode") == "Indexed" and before.get("parallelism") == before.get("completions")
    together = after.get("parallelism") == after.get("completions")
    if before.get("completions") != after.get("completions") and not (indexed and together):
        yield invalid("spec.completions", after.get("completions"), IMMUTABLE)
    yield from _same(before.get("selector"), after.get("selector"), "spec.selector")
    yield from _template_update(before["template"], after["template"], _is_idle(old), _has_never_run(old))
    for field in FIXED:
        yield from _same(before.get(field), after.get(field), f"spec.{field}")


def _same(old: Any, new: Any, path: str) -> Errors:
    if old != new:
        yield invalid(path, new, IMMUTABLE)


def _is_idle(job: Data) -> bool:
    """Return True if a Job is suspended and has no pods left."""
    spec, status = job.get("spec") or {}, job.get("status") or {}
    conditions = {item.get("type"): item.get("status") for item in status.get("conditions") or ()}
    stopped = not status.get("startTime") or conditions.get("Suspended") == "True"
    return bool(spec.get("suspend")) and stopped and not status.get("active")


def _has_never_run(job: Data) -> bool:
    """Return True if a Job is suspended and was never started."""
    return bool((job.get("spec") or {}).get("suspend")) and not (job.get("status") or {}).get("startTime")


def _template_update(before: Data, after: Data, idle: bool, never_ran: bool) -> Errors:
    """Check that a template stays, except for what may change in an ``idle`` Job, or in one that ``never_ran``."""
    path, directed = "spec.template", _with_directives(before, after)
    always, gated = directed if never_ran else before, directed if idle else before
    if not idle:
        yield from by_version(_same(always, after, path), (DIRECTIVES_CHANGE, _same(gated, after, path)))
        return
    resized, both = (
        _same(_with_resources(one.get("spec") or {}, after.get("spec") or {}), after.get("spec"), f"{path}.spec")
        for one in (always, gated)
    )
    yield from by_version(
        _same(always, after, path),
        ("changes_suspended_resources", by_version(resized, (DIRECTIVES_CHANGE, both))),
        (DIRECTIVES_CHANGE, _same(gated, after, path)),
    )


def _with_directives(before: Data, after: Data) -> Data:
    """Return the template ``before`` with the labels and annotations of ``after``, and where its pods may run."""
    metadata = _taking_over(before.get("metadata") or {}, after.get("metadata") or {}, ("labels", "annotations"))
    new = after.get("spec") or {}
    spec = _taking_over(before.get("spec") or {}, new, DIRECTIVES)
    affinity = _taking_over(spec.get("affinity") or {}, new.get("affinity") or {}, ("nodeAffinity",))
    return {**before, "metadata": metadata, "spec": _taking_over(spec, {"affinity": affinity or None}, ("affinity",))}


def _with_resources(before: Data, after: Data) -> Data:
    """Return the spec ``before`` with the resources that its containers have in ``after``."""
    return {**before, **{name: _resized(before[name], after.get(name) or ()) for name in LISTS if before.get(name)}}


def _resized(before: Sequence[Data], after: Sequence[Data]) -> list[Data]:
    if len(before) != len(after):
        return list(before)
    pairs = zip(before, after, strict=True)
    return [_taking_over(one, other, ("resources",)) if one["name"] == other["name"] else one for one, other in pairs]


def _taking_over(held: Data, other: Data, fields: Sequence[str]) -> dict[str, Any]:
    kept = {name: value for name, value in held.items() if name not in fields}
    return kept | {name: other[name] for name in fields if other.get(name) is not None}
