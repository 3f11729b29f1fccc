"""The pod fields that an update may change. Source: upstream ``apis/core/validation`` (ValidatePodUpdate)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.fields import without_empty
from scheduler_engine.api.validation.annotations import changed_annotations, known_annotations
from scheduler_engine.api.validation.metadata import metadata_update
from scheduler_engine.api.validation.pod import internal_form, pod_and_template_rules
from scheduler_engine.api.validation.problems import Errors, forbidden, invalid, map_shown, required
from scheduler_engine.api.validation.selectors import REQUIRED, term_shown, tolerations

Data = Mapping[str, Any]

UPDATABLE = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)


def pod_update(old: Data, new: Data) -> Errors:
    old, new = internal_form(old), internal_form(new)
    before, after = old["spec"], new["spec"]
    yield from metadata_update(old, new)
    yield from pod_and_template_rules(new)
    yield from _annotations(old, new)
    for field in ("containers", "initContainers"):
        mine, others = after.get(field) or (), before.get(field) or ()
        if len(mine) != len(others):
            yield forbidden(f"spec.{field}", "pod updates may not add or remove containers")
            return
        yield from _images(mine, f"spec.{field}")
    deadline = list(_deadline(before, after))
    yield from deadline
    if deadline and after.get("activeDeadlineSeconds") is not None:
        return
    yield from _tolerations(before.get("tolerations") or [], after.get("tolerations") or [])
    yield from _gates(before.get("schedulingGates") or (), after.get("schedulingGates") or ())
    yield from _everything_else(before, after)


def _annotations(old: Data, new: Data) -> Errors:
    before = (old.get("metadata") or {}).get("annotations") or {}
    after = (new.get("metadata") or {}).get("annotations") or {}
    yield from changed_annotations(before, after, "metadata.annotations")
    yield from known_annotations(after, new.get("spec") or {}, "metadata.annotations")


def _images(containers: Sequence[Data], path: str) -> Errors:
    for index, container in enumerate(containers):
        image = container.get("image") or ""
        if not image:
            yield required(f"{path}[{index}].image")
        if image != image.strip():
            yield invalid(f"{path}[{index}].image", image, "must not have leading or trailing whitespace")


def _deadline(before: Data, after: Data) -> Errors:
    """Allow setting a number, or lowering it."""
    old, new, path = (
        before.get("activeDeadlineSeconds"),
        after.get("activeDeadlineSeconds"),
        "spec.activeDeadlineSeconds",
    )
    if new is None:
        if old is not None:
            yield invalid(path, None, "must not update from a positive integer to nil value")
    elif not 0 <= new < 2**31:
        yield invalid(path, new, f"must be between 0 and {2**31 - 1}, inclusive")
    elif old is not None and old < new:
        yield invalid(path, new, "must be less than or equal to previous value")


def _tolerations(before: list[Data], after: list[Data]) -> Errors:
    bare = {_without_seconds(item) for item in after}
    if any(_without_seconds(item) not in bare for item in before):
        yield forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")
    else:
        yield from tolerations(after, "spec.tolerations")


def _without_seconds(toleration: Data) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((field, value) for field, value in toleration.items() if field != "tolerationSeconds"))


def _gates(before: Sequence[Data], after: Sequence[Data]) -> Errors:
    known = {gate["name"] for gate in before}
    places = {gate["name"]: index for index, gate in enumerate(after)}
    for name, index in places.items():
        if name not in known:
            text = f"only deletion is allowed, but found new scheduling gate '{name}'"
            yield forbidden(f"spec.schedulingGates[{index}].name", text)


def _everything_else(before: Data, after: Data) -> Errors:
    """Forbid all other differences; gated pods may narrow their node selector and node affinity."""
    changed = dict(after)
    for field in ("containers", "initContainers"):
        if changed.get(field):
            pairs = zip(changed[field], before[field], strict=True)
            changed[field] = [{**mine, "image": other.get("image")} for mine, other in pairs]
    for field in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        _take_over(changed, before, field)
    if before.get("schedulingGates"):
        yield from _narrowed_selector(before.get("nodeSelector") or {}, after.get("nodeSelector"))
        _take_over(changed, before, "nodeSelector")
        yield from _narrowed_affinity(before, after)
        changed = _with_node_affinity_of(before, changed)
    held, wanted = (without_empty(spec, "PodSpec", structs=True) for spec in (before, changed))
    differing = [field for field in (*held, *wanted) if held.get(field) != wanted.get(field)]
    if differing:
        listed = ", ".join(f"spec.{field}" for field in dict.fromkeys(differing))
        text = f"pod updates may not change fields other than {','.join(UPDATABLE)}\nchanged: {listed}"
        yield forbidden("spec", text)


def _take_over(changed: dict[str, Any], before: Data, field: str) -> None:
    changed.pop(field, None)
    if field in before:
        changed[field] = before[field]


def _narrowed_selector(before: Data, after: Data | None) -> Errors:
    if any((after or {}).get(key) != value for key, value in before.items()):
        text = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield invalid("spec.nodeSelector", None if after is None else map_shown(after), text)


def _node_affinity(spec: Data) -> Data | None:
    return (spec.get("affinity") or {}).get("nodeAffinity")


def _terms(spec: Data) -> list[Data]:
    return ((_node_affinity(spec) or {}).get(REQUIRED) or {}).get("nodeSelectorTerms") or []


def _narrowed_affinity(before: Data, after: Data) -> Errors:
    old, new = _terms(before), _terms(after)
    path = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
    if old and len(old) != len(new):
        terms = ((_node_affinity(after) or {}).get(REQUIRED) or {}).get("nodeSelectorTerms")
        shown = None if terms is None else [term_shown(term) for term in new]
        yield invalid(path, shown, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")
        return
    for index, (term, other) in enumerate(zip(new, old, strict=False)):
        if not _only_additions(term, other):
            text = "only additions are allowed (no mutations or deletions)"
            yield invalid(f"{path}[{index}]", term_shown(term), text)


def _only_additions(term: Data, before: Data) -> bool:
    fields = ("matchExpressions", "matchFields")
    if not any(before.get(field) for field in fields):
        return not any(term.get(field) for field in fields)
    return all((term.get(field) or [])[: len(before.get(field) or [])] == (before.get(field) or []) for field in fields)


def _with_node_affinity_of(before: Data, changed: Data) -> dict[str, Any]:
    """Return ``changed`` with the old node affinity, so that only other differences remain."""
    old, new = _node_affinity(before), _node_affinity(changed)
    if old == new:
        return dict(changed)
    affinity = dict(changed.get("affinity") or {})
    affinity.pop("nodeAffinity", None)
    if old is not None:
        affinity["nodeAffinity"] = old
    result = dict(changed)
    result.pop("affinity", None)
    if affinity or before.get("affinity") is not None:
        result["affinity"] = affinity
    return result
