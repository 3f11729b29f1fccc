"""Rules for workloads that keep their pods running. Source: upstream ``apis/{apps,core}/validation``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.labels import Selector, selector_from, selector_from_set
from scheduler_engine.api.validation import names, selector_text
from scheduler_engine.api.validation.annotations import annotations_match_fields, known_annotations
from scheduler_engine.api.validation.claims import claim_spec
from scheduler_engine.api.validation.metadata import (
    IMMUTABLE,
    annotation_rules,
    labels,
    metadata_rules,
    metadata_update,
)
from scheduler_engine.api.validation.pod import pod_spec
from scheduler_engine.api.validation.problems import (
    Errors,
    amount_or_percent,
    at_most_100_percent,
    forbidden,
    invalid,
    map_shown,
    nonnegative,
    not_supported,
    percent,
    present,
    required,
    supported,
    texts,
)
from scheduler_engine.api.validation.selectors import label_selector, selector_shown

Data = Mapping[str, Any]

STATEFUL_SET_CHANGES = (
    *("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"),
    *("persistentVolumeClaimRetentionPolicy", "minReadySeconds"),
)
"""The fields that an update of a StatefulSet may change in its spec."""

_retention = supported(("Retain", "Delete"))
_service_name = texts(names.dns_label)


def replica_set_rules(owner: Data) -> Errors:
    yield from metadata_rules(owner, names.subdomain, namespaced=True)
    yield from _replica_set_spec(owner.get("spec") or {}, ("replicas", "minReadySeconds"))


def replication_controller_rules(owner: Data) -> Errors:
    spec = owner.get("spec") or {}
    yield from metadata_rules(owner, names.subdomain, namespaced=True, only_name="newer_texts: controller-names")
    yield from _counts(spec, "minReadySeconds")
    if not spec.get("selector"):
        yield required("spec.selector")
    yield from _counts(spec, "replicas")
    if spec.get("template") is None:
        yield required("spec.template")
    else:
        yield from _matching_template(spec, selector_from_set(spec.get("selector")))
        yield from _always_running(spec, "ReplicationController")


def deployment_rules(owner: Data) -> Errors:
    yield from metadata_rules(owner, names.subdomain, namespaced=True)
    spec = owner.get("spec") or {}
    yield from _replica_set_spec(spec, ("replicas",))
    yield from _deployment_strategy(spec.get("strategy") or {}, "spec.strategy")
    yield from _counts(spec, "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and deadline <= (spec.get("minReadySeconds") or 0):
        yield invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


def daemon_set_rules(owner: Data) -> Errors:
    spec = owner.get("spec") or {}
    selector = spec.get("selector")
    yield from metadata_rules(owner, names.subdomain, namespaced=True)
    yield from present(spec, "spec", (("selector", label_selector),))
    if selector is None or not selector_text.label_selector_problem(selector):
        yield from _matched(spec, selector_from(selector))
    yield from _not_empty(selector, "empty selector is invalid for daemonset")
    yield from pod_template(spec.get("template") or {}, "spec.template")
    yield from _always_running(spec, "DaemonSet")
    yield from _counts(spec, "minReadySeconds")
    yield from _daemon_set_strategy(spec.get("updateStrategy") or {}, "spec.updateStrategy")
    yield from _counts(spec, "revisionHistoryLimit")


def stateful_set_rules(owner: Data) -> Errors:
    spec = owner.get("spec") or {}
    yield from metadata_rules(owner, names.dns_label, namespaced=True)
    policy = spec.get("podManagementPolicy")
    if policy not in ("OrderedReady", "Parallel"):
        yield invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
    yield from _stateful_set_strategy(spec.get("updateStrategy") or {}, "spec.updateStrategy")
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for field in ("whenDeleted", "whenScaled"):
        yield from _retention(retention.get(field) or "", f"spec.persistentVolumeClaimRetentionPolicy.{field}")
    yield from _counts(spec, "replicas", "minReadySeconds")
    yield from nonnegative((spec.get("ordinals") or {}).get("start") or 0, "spec.ordinals.start")
    if spec.get("serviceName"):
        yield from _service_name(spec["serviceName"], "spec.serviceName")
    yield from _claim_templates(spec.get("volumeClaimTemplates") or (), "spec.volumeClaimTemplates")
    yield from _selector_and_template(spec, "empty selector is invalid for statefulset", "", "StatefulSet")


# --- selector and template --------------------------------------------------------------------------------------------


def _counts(spec: Data, *fields: str) -> Errors:
    for field in fields:
        yield from nonnegative(spec.get(field) or 0, f"spec.{field}")


def _replica_set_spec(spec: Data, counts: Sequence[str]) -> Errors:
    """Check what ReplicaSets and Deployments share; Kubernetes names a ReplicaSet in both."""
    yield from _counts(spec, *counts)
    text = "empty selector is invalid for deployment"
    yield from _selector_and_template(spec, text, "invalid label selector", "ReplicaSet")


def _selector_and_template(spec: Data, empty: str, unusable: str, owner: str) -> Errors:
    selector = spec.get("selector")
    if selector is None:
        yield required("spec.selector")
    else:
        yield from label_selector(selector, "spec.selector")
        yield from _not_empty(selector, empty)
    if selector is not None and selector_text.label_selector_problem(selector):
        yield invalid("spec.selector", selector_shown(selector), unusable)
    else:
        yield from _matching_template(spec, selector_from(selector))
    yield from _always_running(spec, owner)


def _not_empty(selector: Data | None, text: str) -> Errors:
    if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield invalid("spec.selector", selector_shown(selector), text)


def _matching_template(spec: Data, selector: Selector) -> Errors:
    if not selector.empty:
        yield from _matched(spec, selector)
    claims = spec.get("volumeClaimTemplates") or ()
    yield from pod_template(_with_claims(spec.get("template") or {}, claims), "spec.template")


def _matched(spec: Data, selector: Selector) -> Errors:
    template_labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    if not selector.matches(template_labels):
        yield invalid(
            "spec.template.metadata.labels", map_shown(template_labels), "`selector` does not match template `labels`"
        )


def pod_template(template: Data, path: str) -> Errors:
    """Check any workload's template; Kubernetes omits ``metadata`` from the paths of its labels and annotations."""
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    yield from labels(metadata.get("labels") or {}, f"{path}.labels")
    yield from annotation_rules(metadata.get("annotations") or {}, f"{path}.annotations")
    yield from known_annotations(metadata.get("annotations") or {}, spec, f"{path}.annotations")
    yield from pod_spec(spec, f"{path}.spec", "", template=True)
    yield from annotations_match_fields(metadata.get("annotations") or {}, spec, f"{path}.spec")
    if spec.get("ephemeralContainers"):
        yield forbidden(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def _always_running(spec: Data, owner: str) -> Errors:
    inner, path = (spec.get("template") or {}).get("spec") or {}, "spec.template.spec"
    if inner.get("restartPolicy", "Always") != "Always":
        yield not_supported(f"{path}.restartPolicy", inner["restartPolicy"], ("Always",))
    if inner.get("activeDeadlineSeconds") is not None:
        yield forbidden(f"{path}.activeDeadlineSeconds", f"activeDeadlineSeconds in {owner} is not Supported")


def _with_claims(template: Data, claims: Sequence[Data]) -> Data:
    """Return the template with the volumes from a StatefulSet's claim templates."""
    if not claims:
        return template
    spec = template.get("spec") or {}
    claimed = dict.fromkeys((claim.get("metadata") or {}).get("name") or "" for claim in claims)
    own = [volume for volume in spec.get("volumes") or () if volume["name"] not in claimed]
    claimed_volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claimed if name]
    return {**template, "spec": {**spec, "volumes": [*own, *claimed_volumes]}}


def _claim_templates(claims: Sequence[Data], path: str) -> Errors:
    for index, claim in enumerate(claims):
        yield from claim_spec(claim.get("spec") or {}, f"{path}[{index}].spec")


# --- strategies -------------------------------------------------------------------------------------------------------


def _deployment_strategy(strategy: Data, path: str) -> Errors:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            yield forbidden(f"{path}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
    elif kind == "RollingUpdate":
        unavailable, surge = _rolling(rolling)
        yield from amount_or_percent(unavailable, f"{path}.rollingUpdate.maxUnavailable")
        yield from amount_or_percent(surge, f"{path}.rollingUpdate.maxSurge")
        if _number(unavailable) == 0 and _number(surge) == 0:
            text = "may not be 0 when `maxSurge` is 0"
            yield invalid(f"{path}.rollingUpdate.maxUnavailable", unavailable, text)
        yield from at_most_100_percent(unavailable, f"{path}.rollingUpdate.maxUnavailable")
    else:
        yield not_supported(path, _shown(strategy), ("Recreate", "RollingUpdate"))


def _daemon_set_strategy(strategy: Data, path: str) -> Errors:
    kind = strategy.get("type")
    if kind == "RollingUpdate":
        unavailable, surge = _rolling(strategy.get("rollingUpdate"))
        for rule in (amount_or_percent, at_most_100_percent):
            yield from rule(unavailable, f"{path}.rollingUpdate.maxUnavailable")
            yield from rule(surge, f"{path}.rollingUpdate.maxSurge")
        if _number(unavailable) != 0 and _number(surge) != 0:
            text = "may not be set when maxUnavailable is non-zero"
            yield invalid(f"{path}.rollingUpdate.maxSurge", surge, text)
        elif _number(unavailable) == 0 and _number(surge) == 0:
            yield required(f"{path}.rollingUpdate.maxUnavailable", "cannot be 0 when maxSurge is 0")
    elif kind != "OnDelete":
        yield not_supported(path, _shown(strategy), ("RollingUpdate", "OnDelete"))


def _stateful_set_strategy(strategy: Data, path: str) -> Errors:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind not in ("RollingUpdate", "OnDelete"):
        yield invalid(path, _shown(strategy), "must be 'RollingUpdate' or 'OnDelete'")
    elif rolling is not None and kind == "OnDelete":
        yield invalid(f"{path}.rollingUpdate", dict(rolling), "only allowed for updateStrategy 'RollingUpdate'")
    elif rolling is not None:
        yield from nonnegative(rolling.get("partition") or 0, f"{path}.rollingUpdate.partition")


def _rolling(rolling: Data | None) -> tuple[int | str, int | str]:
    values = rolling or {}
    return values.get("maxUnavailable", 0), values.get("maxSurge", 0)


def _number(value: int | str) -> int:
    """Return a number, or a percentage without its sign; other text counts as 0."""
    if isinstance(value, int):
        return value
    if value.isascii() and value.isdigit():
        return int(value[:9])
    return percent(value) or 0


def _shown(strategy: Data) -> Data:
    """Return a strategy as in an error text: Kubernetes prints its inner form."""
    rolling = strategy.get("rollingUpdate")
    inner = None if rolling is None else {key[0].upper() + key[1:]: value for key, value in rolling.items()}
    return {"Type": strategy.get("type") or "", "RollingUpdate": inner}


# --- updates ----------------------------------------------------------------------------------------------------------


def replica_set_update(old: Data, new: Data) -> Errors:
    """Check also ReplicationControllers, whose selector may change."""
    yield from metadata_update(old, new)
    if new.get("kind") == "ReplicationController":
        yield from replication_controller_rules(new)
    else:
        yield from replica_set_rules(new)
        yield from _same_selector(old, new)


def deployment_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    yield from deployment_rules(new)
    yield from _same_selector(old, new)


def daemon_set_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    yield from daemon_set_rules(new)
    yield from _same_selector(old, new)


def stateful_set_update(old: Data, new: Data) -> Errors:
    yield from metadata_update(old, new)
    yield from stateful_set_rules(new)
    before, after = ({**(owner.get("spec") or {})} for owner in (old, new))
    for field in STATEFUL_SET_CHANGES:
        before.pop(field, None)
        after.pop(field, None)
    if before != after:
        *most, last = (f"'{field}'" for field in STATEFUL_SET_CHANGES)
        allowed = f"{', '.join(most)} and {last}"
        yield forbidden("spec", f"updates to statefulset spec for fields other than {allowed} are forbidden")


def _same_selector(old: Data, new: Data) -> Errors:
    before, after = ((owner.get("spec") or {}).get("selector") for owner in (old, new))
    if before != after:
        yield invalid("spec.selector", after and selector_shown(after), IMMUTABLE)
