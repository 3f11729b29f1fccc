"""The pod fields that the resize subresource may change: requests and limits of cpu and memory.

Source: upstream ``apis/core/validation`` (ValidatePodResize) and ``registry/core/pod`` (the resize strategy).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.critical_pods import MIRROR
from scheduler_engine.api.qos import COMPUTE, qos_class
from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.api.validation.metadata import metadata_update
from scheduler_engine.api.validation.pod import internal_form, pod_and_template_rules
from scheduler_engine.api.validation.problems import Errors, forbidden, invalid
from scheduler_engine.errors import FieldError
from scheduler_engine.versions import Rules

Data = Mapping[str, Any]

LISTS = ("containers", "initContainers")
PARTS = ("requests", "limits")
ONLY_COMPUTE = "only cpu and memory resources are mutable"
POD_LEVEL = "pods with pod-level resources cannot be resized"
POD_LEVEL_OFF = (
    "resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature "
    "gate is disabled"
)
ONLY_POD_LEVEL_COMPUTE = f"{ONLY_COMPUTE} at pod-level"
ONLY_INIT = "only cpu and memory resources for init or sidecar containers are mutable"
RESTARTS = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
ONLY_SIDECARS = "only cpu and memory resources for sidecar containers are mutable"
NOT_INIT = "resources for non-sidecar init containers are immutable"


def resized(old: Data, new: Data, rules: Rules) -> dict[str, Any]:
    """Return ``old`` with the resources from ``new``; ignore all other differences."""
    spec, new_spec = dict(old["spec"]), new.get("spec") or {}
    if rules.resizes_pod_level:
        kept = {field: value for field, value in spec.items() if field != "resources"}
        spec = kept | {field: new_spec[field] for field in ("resources",) if new_spec.get(field) is not None}
    for field in LISTS:
        held = {container["name"]: container for container in spec.get(field) or ()}
        items = [item or {} for item in new_spec.get(field) or ()]  # An item that is null is an empty object.
        if held or items:
            spec[field] = [_resized(held.get(item.get("name")), item) for item in items]
    return {**old, "spec": spec}


def _resized(held: Data | None, container: Data) -> Data:
    if held is None:
        return container
    kept = {field: value for field, value in held.items() if field != "resources"}
    return kept | {field: container[field] for field in ("resources", "resizePolicy") if field in container}


def pod_resize(old: Data, new: Data, rules: Rules) -> Errors:
    old, new = internal_form(old), internal_form(new)
    before, after = old["spec"], new["spec"]
    whole = any(_whole(spec) for spec in (before, after))
    if whole and not rules.knows_pod_level_resize:
        yield forbidden("", POD_LEVEL)
        return
    if MIRROR in (old["metadata"].get("annotations") or {}):
        yield forbidden("", "static pods cannot be resized")
        return
    if (before.get("os") or {}).get("name") == "windows":
        yield forbidden("", "windows pods cannot be resized")
        return
    yield from metadata_update(old, new)
    yield from pod_and_template_rules(new)
    qos = (old.get("status") or {}).get("qosClass") or qos_class(before)
    if qos != qos_class(after):
        yield invalid("spec", qos, "Pod QOS Class may not change as a result of resizing")
    if not _supported(old.get("status") or {}):
        yield forbidden("spec", "Pod running on node without support for resize")
    if whole and not rules.resizes_pod_level:
        yield forbidden("", POD_LEVEL_OFF)
        return
    if whole:
        yield from _pod_level(before.get("resources"), after.get("resources"))
    yield from _containers(before, after, rules)


def _containers(before: Data, after: Data, rules: Rules) -> Errors:
    misplaced = [error for field in LISTS for error in _order(field, before.get(field) or (), after.get(field) or ())]
    yield from misplaced
    if not misplaced:
        for field in reversed(LISTS):
            yield from _removed(field, before.get(field) or (), after.get(field) or (), rules)
        for field in LISTS:
            yield from _others(field, before.get(field) or (), after.get(field) or (), rules)


def _pod_level(held: Data | None, wanted: Data | None) -> Errors:
    if held is not None and wanted is None:
        yield forbidden("spec.resources", "pod-level resources cannot be removed")
        return
    old, new = {"resources": held}, {"resources": wanted}
    for part in PARTS:
        if not _part(old, part).keys() <= _part(new, part).keys():
            yield forbidden(f"spec.resources.{part}", f"pod-level resource {part} cannot be removed")
    if any(_amounts(old, part, COMPUTE) != _amounts(new, part, COMPUTE) for part in PARTS):
        yield forbidden("spec", ONLY_POD_LEVEL_COMPUTE)


def _whole(spec: Data) -> bool:
    return any((spec.get("resources") or {}).get(part) for part in PARTS)


def _supported(status: Data) -> bool:
    """Return True if the node reports its running containers' resources; without one that runs, that is unknown."""
    running = (one for one in status.get("containerStatuses") or () if "running" in (one.get("state") or {}))
    return next(("resources" in one for one in running), True)


def _order(field: str, before: Sequence[Data], after: Sequence[Data]) -> Errors:
    if len(before) != len(after):
        yield forbidden(f"spec.{field}", f"{field} may not be added or removed on resize")
        return
    for place, (held, container) in enumerate(zip(before, after, strict=True)):
        if held["name"] != container.get("name"):
            yield forbidden(f"spec.{field}[{place}].name", f"{field} may not be renamed or reordered on resize")


def _sidecar(container: Data) -> bool:
    return container.get("restartPolicy") == "Always"


def _removed(field: str, before: Sequence[Data], after: Sequence[Data], rules: Rules) -> Errors:
    for place, (held, container) in enumerate(zip(before, after, strict=True)):
        if not _resizable(field, held, rules):
            continue
        for part in PARTS:
            kept = _part(container, part)
            if any(name not in kept for name in _part(held, part)):
                yield forbidden(f"spec.{field}[{place}].resources.{part}", f"resource {part} cannot be removed")


def _resizable(field: str, held: Data, rules: Rules) -> bool:
    return field == "containers" or _sidecar(held) or rules.resizes_init_containers


def _others(field: str, before: Sequence[Data], after: Sequence[Data], rules: Rules) -> Errors:
    """Check all except cpu and memory, and everything in a container that cannot be resized."""
    for place, (held, container) in enumerate(zip(before, after, strict=True)):
        if not _resizable(field, held, rules):
            if _changed(held, container):
                yield forbidden("spec", NOT_INIT)
            continue
        if _differ(held, container, rules):
            yield _other_change(field, place, rules)
        if field == "initContainers" and not _sidecar(held) and _changed(held, container):
            policies = container.get("resizePolicy") or ()
            yield from (
                forbidden(f"spec.{field}[{place}]", RESTARTS)
                for policy in policies
                if policy.get("restartPolicy") == "RestartContainer"
            )


def _other_change(field: str, place: int, rules: Rules) -> FieldError:
    if field == "containers":
        return forbidden("spec", ONLY_COMPUTE)
    named = rules.names_resized_init_container
    return forbidden(f"spec.{field}[{place}]", ONLY_INIT) if named else forbidden("spec", ONLY_SIDECARS)


def _changed(held: Data, container: Data) -> bool:
    resizes = held.get("resizePolicy") != container.get("resizePolicy")
    return resizes or any(_amounts(held, part) != _amounts(container, part) for part in PARTS)


def _differ(held: Data, container: Data, rules: Rules) -> bool:
    """Compare like upstream: a container with claims always differs, and in v1.34 a first request never does."""
    if (held.get("resources") or {}).get("claims") or held.get("resizePolicy") != container.get("resizePolicy"):
        return True
    return any(
        _amounts(held, part, COMPUTE) != _amounts(container, part, COMPUTE)
        for part in PARTS
        if rules.resize_checks_first_amounts or _part(held, part)
    )


def _amounts(container: Data, part: str, without: Sequence[str] = ()) -> dict[str, int]:
    """Return resource → amount in 10⁻⁹ of its unit."""
    quantities = _part(container, part).items()
    return {name: parse_quantity(quantity).nano for name, quantity in quantities if name not in without}


def _part(container: Data, part: str) -> Data:
    return (container.get("resources") or {}).get(part) or {}
