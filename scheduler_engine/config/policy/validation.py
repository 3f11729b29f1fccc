"""Validation of a Scheduling Policy. Source: upstream v1.22 ``apis/config/validation`` (ValidatePolicy) and
``framework/plugins/legacy_registry.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_engine.api.validation.names import qualified_name
from scheduler_engine.api.validation.problems import invalid
from scheduler_engine.config.decode import DECODE_ERROR
from scheduler_engine.config.policy.schema import API_VERSIONS, KIND, LEGACY_EXTENDER
from scheduler_engine.config.policy.tables import OTHER_NAMES, PREDICATES, PRIORITIES, Predicate, Priority
from scheduler_engine.config.schema import SHAPE, completed
from scheduler_engine.config.validation import validate_extenders
from scheduler_engine.config.validation_pluginargs import validate_shape
from scheduler_engine.errors import FieldError

INVALID = "FieldValueInvalid"
LARGEST_WEIGHT = 2**31
MOST_ENTRIES = 500
"""The limit for each list. Kubernetes sets none."""


def wrong_type(manifest: Any) -> list[FieldError]:
    """Return an error if it is not a policy at all."""
    if not isinstance(manifest, Mapping):
        return [FieldError("", DECODE_ERROR, f"a {KIND} is a mapping of fields")]
    if manifest.get("kind") != KIND:
        text = f"Object 'Kind' is missing; a scheduling policy has kind {KIND}"
        if manifest.get("kind"):
            text = f'kind is "{manifest["kind"]}"; a scheduling policy has kind {KIND}'
        return [FieldError("kind", DECODE_ERROR, text)]
    if manifest.get("apiVersion") not in API_VERSIONS:
        return [
            FieldError("apiVersion", DECODE_ERROR, f"a scheduling policy has apiVersion {' or '.join(API_VERSIONS)}")
        ]
    return []


def validate_policy(policy: Mapping[str, Any]) -> list[FieldError]:
    """Return all errors in ``policy`` (as decoded)."""
    errors: list[FieldError] = []
    for field in ("predicates", "priorities", "extenders"):
        if len(policy.get(field, ())) > MOST_ENTRIES:
            errors.append(FieldError(field, "FieldValueTooMany", f"Too many: must have at most {MOST_ENTRIES} items"))
    if errors:
        return errors
    for index, item in enumerate(policy.get("predicates", ())):
        errors += _arguments("predicate", f"predicates[{index}]", item, predicate_of(item))
    errors += _priorities(policy.get("priorities", ()))
    errors += validate_extenders([completed(item, LEGACY_EXTENDER) for item in policy.get("extenders", ())])
    hard = policy.get("hardPodAffinitySymmetricWeight", 0)
    if not 0 <= hard <= 100:
        errors.append(invalid("hardPodAffinitySymmetricWeight", hard, "not in valid range [0-100]"))
    return errors


def predicate_of(item: Mapping[str, Any]) -> Predicate | None:
    """Return the predicate of an entry: by its name, else by its argument."""
    name, argument = OTHER_NAMES.get(item.get("name", ""), item.get("name", "")), item.get("argument") or {}
    return next((known for known in PREDICATES if known.name == name), None) or next(
        (known for known in PREDICATES if known.argument in argument), None
    )


def priority_of(item: Mapping[str, Any]) -> Priority | None:
    """Return the priority of an entry: by its name, else by its argument."""
    name, argument = OTHER_NAMES.get(item.get("name", ""), item.get("name", "")), item.get("argument") or {}
    return next((known for known in PRIORITIES if known.name == name and not known.argument), None) or next(
        (known for known in PRIORITIES if known.argument in argument), None
    )


def _arguments(word: str, path: str, item: Mapping[str, Any], known: Predicate | Priority | None) -> list[FieldError]:
    """Check that an entry is known, and has at most one argument."""
    name, argument = item.get("name", ""), item.get("argument")
    if argument is not None and len(argument) != 1:
        text = f"exactly 1 {word} argument is required, numArgs: {len(argument)}, {word} {name}"
        return [FieldError(f"{path}.argument", INVALID, text)]
    if known is None:
        return [FieldError(f"{path}.name", INVALID, f'{word} type not found for "{name}"')]
    value = (argument or {}).get(known.argument)
    return [] if value is None else ARGUMENTS[known.argument](f"{path}.argument.{known.argument}", value)


def _labels(path: str, argument: Mapping[str, Any]) -> list[FieldError]:
    return [
        invalid(f"{path}.labels[{index}]", label, problem)
        for index, label in enumerate(argument.get("labels", ()))
        for problem in qualified_name(label)
    ]


def _label(path: str, argument: Mapping[str, Any]) -> list[FieldError]:
    label = argument.get("label", "")
    return [invalid(f"{path}.label", label, problem) for problem in qualified_name(label)]


def _ratio(path: str, argument: Mapping[str, Any]) -> list[FieldError]:
    """Check a shape, and weights of resources, of which 0 counts as 1."""
    points = completed(argument.get("shape", []), SHAPE)
    errors = validate_shape(f"{path}.shape", points)
    for index, resource in enumerate(argument.get("resources", ())):
        weight = resource.get("weight", 0)
        if not 0 <= weight <= 100:
            place = f"{path}.resources[{index}].weight"
            errors.append(
                invalid(place, weight, f"resource weight of {resource.get('name', '')} not in valid range (0, 100]")
            )
    return errors


ARGUMENTS: dict[str, Callable[[str, Mapping[str, Any]], list[FieldError]]] = {
    "labelsPresence": _labels,
    "labelPreference": _label,
    "requestedToCapacityRatioArguments": _ratio,
    # They have no counterpart, so they are ignored.
    "serviceAffinity": lambda path, argument: [],
    "serviceAntiAffinity": lambda path, argument: [],
}
"""Argument → its check."""


def _priorities(items: Any) -> list[FieldError]:
    """Check the weights, and that those which share a plugin agree."""
    errors: list[FieldError] = []
    first_uses: dict[str, tuple[str, int]] = {}
    for index, item in enumerate(items):
        path, name, weight = f"priorities[{index}]", item.get("name", ""), item.get("weight", 0)
        known = priority_of(item)
        errors += _arguments("priority", path, item, known)
        if not 0 < weight < LARGEST_WEIGHT:
            text = f"priority {name} should have a positive weight applied to it or it has overflown"
            errors.append(FieldError(f"{path}.weight", INVALID, text))
        if known is None or not known.argument:
            continue
        before = first_uses.setdefault(known.argument, (name, weight))
        kind = known.argument[0].upper() + known.argument[1:]
        if known.strategy and before != (name, weight):
            text = f'priority "{name}" redeclares custom priority "{known.name}", from: "{before[0]}"'
            errors.append(FieldError(path, INVALID, text))
        elif before[1] != weight:
            text = f'{kind} priority "{name}" has a different weight with "{before[0]}"'
            errors.append(FieldError(f"{path}.weight", INVALID, text))
    return errors
