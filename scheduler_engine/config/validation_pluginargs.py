"""Validation of the plugins' arguments.

Source: seed 004; upstream ``apis/config/validation/validation_pluginargs.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_engine.api.labels import parse_int64
from scheduler_engine.api.validation.names import joined, label_value, qualified_name
from scheduler_engine.api.validation.problems import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    texts,
    worded,
)
from scheduler_engine.durations import parse_duration
from scheduler_engine.errors import FieldError
from scheduler_engine.versions import DEFAULT_RULES, Rules

Args = dict[str, Any]

SCORING_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
NODE_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
MAX_SHAPE_SCORE = 10
SECOND_NS = 1_000_000_000

qualified = texts(qualified_name)


def default_preemption(path: str, args: Args) -> list[FieldError]:
    errors: list[FieldError] = []
    percentage, absolute = args["minCandidateNodesPercentage"], args["minCandidateNodesAbsolute"]
    percentage_path, absolute_path = f"{path}.minCandidateNodesPercentage", f"{path}.minCandidateNodesAbsolute"
    if not 0 <= percentage <= 100:
        errors.append(invalid(percentage_path, percentage, "not in valid range [0, 100]"))
    if absolute < 0:
        errors.append(invalid(absolute_path, absolute, "not in valid range [0, inf)"))
    if percentage == absolute == 0:
        same = "cannot be zero at the same time as"
        errors.append(invalid(percentage_path, 0, f"{same} minCandidateNodesAbsolute"))
        errors.append(invalid(absolute_path, 0, f"{same} minCandidateNodesPercentage"))
    return errors


def dynamic_resources(path: str, args: Args) -> list[FieldError]:
    timeout = args["filterTimeout"]
    if parse_duration(timeout) < 0:
        return [invalid(f"{path}.filterTimeout", timeout, "must be zero or positive")]
    return []


def with_binding_timeout(path: str, args: Args) -> list[FieldError]:
    """Check the arguments of DynamicResources where it waits for binding conditions."""
    errors, timeout = dynamic_resources(path, args), args["bindingTimeout"]
    if parse_duration(timeout) < SECOND_NS:
        errors.append(invalid(f"{path}.bindingTimeout", timeout, "must be at least 1 second"))
    return errors


def without_binding_timeout(path: str, args: Args) -> list[FieldError]:
    errors = dynamic_resources(path, args)
    if "bindingTimeout" in args:
        detail = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
        errors.append(forbidden(f"{path}.bindingTimeout", detail))
    return errors


def inter_pod_affinity(path: str, args: Args) -> list[FieldError]:
    weight = args["hardPodAffinityWeight"]
    if 0 <= weight <= 100:
        return []
    return [invalid(f"{path}.hardPodAffinityWeight", weight, "not in valid range [0, 100]")]


def balanced_allocation(path: str, args: Args) -> list[FieldError]:
    errors: list[FieldError] = []
    names: dict[str, None] = {}
    for index, resource in enumerate(args["resources"]):
        place = f"{path}.resources[{index}]"
        if resource["name"] in names:
            errors.append(duplicate(f"{place}.name", resource["name"]))
        names[resource["name"]] = None
        if resource["weight"] != 1:
            errors.append(invalid(f"{place}.weight", resource["weight"], "must be 1"))
    return errors


def volume_binding(path: str, args: Args) -> list[FieldError]:
    errors: list[FieldError] = []
    timeout = args["bindTimeoutSeconds"]
    if timeout < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        errors.append(invalid(f"{path}.bindTimeoutSeconds", timeout, detail))
    if "shape" in args:
        points = [{"Utilization": point["utilization"], "Score": point["score"]} for point in args["shape"]]
        detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
        errors.append(invalid(f"{path}.shape", points, detail))
    return errors


def pod_topology_spread(path: str, args: Args) -> list[FieldError]:
    errors: list[FieldError] = []
    defaulting, constraints = args["defaultingType"], args.get("defaultConstraints", [])
    if defaulting not in ("System", "List"):
        errors.append(not_supported(f"{path}.defaultingType", defaulting, ("System", "List")))
    elif defaulting == "System" and constraints:
        errors.append(invalid(f"{path}.defaultingType", defaulting, "when .defaultConstraints are not empty"))
    pairs: dict[tuple[str, str], None] = {}
    for index, constraint in enumerate(constraints):
        place = f"{path}.defaultConstraints[{index}]"
        errors += _spread_constraint(place, constraint)
        pair = (constraint["topologyKey"], constraint["whenUnsatisfiable"])
        if pair in pairs:
            errors.append(duplicate(place, f"{{{pair[0]}, {pair[1]}}}"))
        pairs[pair] = None
    return errors


def _spread_constraint(path: str, constraint: Args) -> list[FieldError]:
    errors: list[FieldError] = []
    key, action = constraint["topologyKey"], constraint["whenUnsatisfiable"]
    if constraint["maxSkew"] <= 0:
        errors.append(invalid(f"{path}.maxSkew", constraint["maxSkew"], "not in valid range (0, inf)"))
    if key:
        errors += qualified(key, f"{path}.topologyKey")
    else:
        errors.append(required(f"{path}.topologyKey", "can not be empty"))
    if not action:
        errors.append(required(f"{path}.whenUnsatisfiable", "can not be empty"))
    elif action not in ("DoNotSchedule", "ScheduleAnyway"):
        errors.append(not_supported(f"{path}.whenUnsatisfiable", action, ("DoNotSchedule", "ScheduleAnyway")))
    if "labelSelector" in constraint:
        detail = "constraint must not define a selector, as they deduced for each pod"
        errors.append(forbidden(f"{path}.labelSelector", detail))
    return errors


def node_affinity(path: str, args: Args) -> list[FieldError]:
    affinity = args.get("addedAffinity", {})
    errors: list[FieldError] = []
    place = f"{path}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    selector = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {})
    for index, term in enumerate(selector.get("nodeSelectorTerms") or ()):
        errors += _node_selector_term(f"{place}[{index}]", term)
    place = f"{path}.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution"
    for index, preferred in enumerate(affinity.get("preferredDuringSchedulingIgnoredDuringExecution", ())):
        if preferred["weight"] != 0:
            errors += _node_selector_term(f"{place}[{index}]", preferred["preference"])
    return errors


def _node_selector_term(path: str, term: Args) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, expression in enumerate(term.get("matchExpressions", ())):
        errors += _label_requirement(f"{path}.matchExpressions[{index}]", expression)
    for index, expression in enumerate(term.get("matchFields", ())):
        place, values = f"{path}.matchFields[{index}]", expression.get("values")
        if expression["operator"] not in ("In", "NotIn"):
            errors.append(not_supported(f"{place}.operator", expression["operator"], ("In", "NotIn")))
        elif values is None or len(values) != 1:
            errors.append(invalid(f"{place}.values", values, "must have one element"))
    return errors


def _label_requirement(path: str, requirement: Args) -> list[FieldError]:
    key, operator, values = requirement["key"], requirement["operator"], requirement.get("values")
    if operator not in NODE_OPERATORS:
        return [not_supported(f"{path}.operator", operator, NODE_OPERATORS)]
    errors: list[FieldError] = []
    problems = qualified_name(key)
    if problems:
        errors += worded(f"{path}.key", key, joined(problems, "; "))
    if operator in ("In", "NotIn") and not values:
        errors.append(invalid(f"{path}.values", values, "for 'in', 'notin' operators, values set can't be empty"))
    if operator in ("Exists", "DoesNotExist") and values:
        errors.append(invalid(f"{path}.values", values, "values set must be empty for exists and does not exist"))
    if operator in ("Gt", "Lt"):
        if values is None or len(values) != 1:
            errors.append(invalid(f"{path}.values", values, "for 'Gt', 'Lt' operators, exactly one value is required"))
        for index, value in enumerate(values or ()):
            if not _is_int64(value):
                detail = "for 'Gt', 'Lt' operators, the value must be an integer"
                errors.append(invalid(f"{path}.values[{index}]", value, detail))
    for index, value in enumerate(values or ()):
        problems = label_value(value)
        if problems:
            errors += worded(f"{path}.values[{index}][{key}]", value, joined(problems, "; "))
    return errors


def _is_int64(text: str) -> bool:
    try:
        parse_int64(text)
    except ValueError:
        return False
    return True


def node_resources_fit(path: str, args: Args, rules: Rules = DEFAULT_RULES) -> list[FieldError]:
    """Check them only when a profile is built; ``path`` is then empty."""
    errors: list[FieldError] = []
    prefix = f"{path}." if path else ""
    for index, name in enumerate(args.get("ignoredResources", ())):
        place = f"{prefix}ignoredResources[{index}]"
        errors += qualified(name, place)
    for index, group in enumerate(args.get("ignoredResourceGroups", ())):
        place = f"{prefix}ignoredResourceGroups[{index}]"
        if "/" in group:
            errors.append(invalid(place, group, "resource group name can't contain '/'"))
        errors += qualified(group, place)
    strategy, place = args["scoringStrategy"], f"{prefix}scoringStrategy"
    errors += _scoring_strategy(place, strategy)
    if rules.strict_scoring_strategy:
        return errors + _shape(f"{place}.requestedToCapacityRatio", strategy)
    ratio = strategy.get("requestedToCapacityRatio")
    if ratio is not None:
        errors += validate_shape(f"{place}.shape", ratio.get("shape", []))
    shapeless = strategy.get("type") == "RequestedToCapacityRatio" and strategy.get("requestedToCapacityRatio") is None
    if shapeless and not errors:
        detail = "the strategy RequestedToCapacityRatio needs a shape; the real scheduler crashes without one"
        errors.append(required(f"{place}.requestedToCapacityRatio", detail))
    return errors


def _scoring_strategy(path: str, strategy: Args) -> list[FieldError]:
    errors: list[FieldError] = []
    kind = strategy.get("type", "")
    if kind not in SCORING_STRATEGIES:
        errors.append(not_supported(f"{path}.type", kind, SCORING_STRATEGIES))
    for index, resource in enumerate(strategy["resources"]):
        if not 0 < resource["weight"] <= 100:
            detail = f"resource weight of {resource['name']} not in valid range (0, 100]"
            errors.append(invalid(f"{path}.resources[{index}].weight", resource["weight"], detail))
    return errors


def _shape(path: str, strategy: Args) -> list[FieldError]:
    """Check that the strategy has a shape exactly if its type needs one."""
    ratio = strategy.get("requestedToCapacityRatio")
    if strategy.get("type") != "RequestedToCapacityRatio":
        detail = "must be nil when type is not RequestedToCapacityRatio"
        return [] if ratio is None else [forbidden(path, detail)]
    if ratio is None:
        return [required(path, "must be specified when type is RequestedToCapacityRatio")]
    return validate_shape(f"{path}.shape", ratio.get("shape", []))


def validate_shape(path: str, points: list[Args]) -> list[FieldError]:
    """Return errors in the points of a function from utilization to score."""
    if not points:
        return [required(path, "at least one point must be specified")]
    errors: list[FieldError] = []
    for index in range(1, len(points)):
        utilization = points[index]["utilization"]
        if points[index - 1]["utilization"] >= utilization:
            detail = "values must be sorted in increasing order"
            errors.append(invalid(f"{path}[{index}].utilization", utilization, detail))
            break
    for index, point in enumerate(points):
        for name, most in (("utilization", 100), ("score", MAX_SHAPE_SCORE)):
            if not 0 <= point[name] <= most:
                detail = f"not in valid range [0, {most}]"
                errors.append(invalid(f"{path}[{index}].{name}", point[name], detail))
    return errors


VALIDATORS: dict[str, Callable[[str, Args], list[FieldError]]] = {
    "DefaultPreemption": default_preemption,
    "DynamicResources": dynamic_resources,
    "InterPodAffinity": inter_pod_affinity,
    "NodeAffinity": node_affinity,
    "NodeResourcesBalancedAllocation": balanced_allocation,
    "PodTopologySpread": pod_topology_spread,
    "VolumeBinding": volume_binding,
}
"""Plugin → check of its defaulted arguments; ``build.py`` has those that are checked when the profile is built."""


def validators(rules: Rules = DEFAULT_RULES) -> dict[str, Callable[[str, Args], list[FieldError]]]:
    """Return the checks under these rules."""
    timeout = with_binding_timeout if rules.binding_conditions else without_binding_timeout
    return {**VALIDATORS, "DynamicResources": timeout} if rules.binding_timeout else VALIDATORS
