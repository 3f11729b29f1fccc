"""Build profiles from a valid configuration: multiPoint expanded, effective running order, weights.

Source: seed 004 and 002 §6; upstream ``framework/runtime/framework.go`` (NewFramework) and ``profile/profile.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler_engine.api.validation.problems import in_version
from scheduler_engine.config.extenders import extender_problem, profiles_for_extenders
from scheduler_engine.config.schema import declares_expressions
from scheduler_engine.config.types import Profile
from scheduler_engine.config.validation_out_of_tree import coscheduling
from scheduler_engine.config.validation_pluginargs import node_resources_fit
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.framework.extension_points import EXTENSION_POINTS, PLACEMENT_POINTS
from scheduler_engine.framework.interface import Plugin
from scheduler_engine.plugins.expressions import NAME, plugin_class
from scheduler_engine.plugins.registry import REGISTRY
from scheduler_engine.versions import DEFAULT_RULES, Rules

BUILD_ERROR = "BuildError"
"""The error kind of a valid configuration from which no scheduler can be built."""

POINTS = (
    *("preFilter", "filter", "postFilter", "reserve", "preScore", "score", "preBind", "bind", "postBind", "permit"),
    *("preEnqueue", "queueSort"),
)
"""The order of Kubernetes' checks, which decides the error reported."""

CHECKED_WHEN_BUILT: dict[str, Callable[[str, dict[str, Any], Rules], list[FieldError]]] = {
    "Coscheduling": coscheduling,
    "NodeResourcesFit": node_resources_fit,
}
"""Plugin → check of its defaulted arguments, which it makes itself when it is created."""
Registry = Mapping[str, type[Plugin]]


class _CannotBuild(Exception):
    """A profile cannot be built; the text comes from Kubernetes."""


def build_profiles(
    config: dict[str, Any], registry: Registry = REGISTRY, rules: Rules = DEFAULT_RULES
) -> tuple[Profile, ...]:
    """Build the profiles of a defaulted, validated configuration. Raises Rejected with Kubernetes' first error."""
    problem = extender_problem(config)
    if problem:
        raise Rejected([FieldError("", BUILD_ERROR, f"couldn't build extenders: {problem}")])
    profiles: list[Profile] = []
    for manifest in profiles_for_extenders(config):
        name = manifest["schedulerName"]
        try:
            profiles.append(_build(manifest, registry, rules))
        except _CannotBuild as failure:
            raise not_built(name, failure) from failure
        _check_queue_sort(profiles[0], profiles[-1])
    return tuple(profiles)


def not_built(scheduler_name: str, problem: Exception) -> Rejected:
    """Return the refusal of a configuration with a profile that cannot be built, in Kubernetes' words."""
    text = f"initializing profiles: creating profile for scheduler name {scheduler_name}: {problem}"
    return Rejected([FieldError("", BUILD_ERROR, text)])


def _check_queue_sort(first: Profile, other: Profile) -> None:
    """Check that its plugin has the same arguments in all profiles, because they share one queue."""
    [(name, _)], [(expected, _)] = other.plugins["queueSort"], first.plugins["queueSort"]
    if name != expected:
        text = f'different queue sort plugins for profile "{other.scheduler_name}": "{name}", first: "{expected}"'
    elif other.args.get(name) != first.args.get(name):
        text = f'different queue sort plugin args for profile "{other.scheduler_name}"'
    else:
        return
    raise Rejected([FieldError("", BUILD_ERROR, f"initializing profiles: {text}")])


def _declared(manifest: dict[str, Any], registry: Registry) -> dict[str, dict[str, Any]]:
    """Return the plugins that a profile declares by expressions: name → arguments, with the name."""
    declared = {
        item["name"]: {**item["args"], NAME: item["name"]}
        for item in manifest["pluginConfig"]
        if declares_expressions(item["args"])
    }
    for name in declared:
        if name in registry:
            raise _CannotBuild(f'plugin "{name}" already exists, so expressions cannot declare it')
    return declared


def _build(manifest: dict[str, Any], registry: Registry, rules: Rules) -> Profile:
    sets: dict[str, Any] = manifest["plugins"]
    declared = _declared(manifest, registry)
    registry = {**registry, **{name: plugin_class(args) for name, args in declared.items()}}
    args = {item["name"]: item["args"] or {} for item in manifest["pluginConfig"]} | declared
    needed = {item["name"] for plugin_set in sets.values() for item in plugin_set.get("enabled", ())}
    for plugin, check in CHECKED_WHEN_BUILT.items():
        if plugin in needed and plugin in registry:
            errors = [*in_version(check("", args[plugin], rules), rules)]
            if errors:
                raise _CannotBuild(f'initializing plugin "{plugin}": {_combined(errors)}')
    points = (*POINTS, *PLACEMENT_POINTS) if rules.placement_points else POINTS
    for point in points:
        _check_specific(point, sets[point], registry)
    order = {point: _effective(point, sets[point], sets["multiPoint"], registry) for point in points}
    name = manifest["schedulerName"]
    if len(order["queueSort"]) != 1:
        raise _CannotBuild(
            f'only one queue sort plugin required for profile with scheduler name "{name}", '
            f"but got {len(order['queueSort'])}"
        )
    if not order["bind"]:
        raise _CannotBuild(f'at least one bind plugin is needed for profile with scheduler name "{name}"')
    weights = _weights(sets)
    _check_total(weights, registry, "score plugins: " if rules.placement_points else "")
    plugins = {
        point: tuple((plugin, weights[plugin] if point == "score" else 0) for plugin in order[point])
        for point in (*EXTENSION_POINTS, *points[len(POINTS) :])
    }
    return Profile(name, plugins, args, registry, manifest.get("percentageOfNodesToScore"))


def _combined(errors: list[FieldError]) -> str:
    """Join all texts, each once, in brackets if there are several."""
    texts = list(dict.fromkeys(str(error) for error in errors))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _interface(point: str) -> str:
    """Return Kubernetes' name of the interface, as its errors show it."""
    return f"{point[0].upper()}{point[1:]}Plugin"


def takes_part(plugin: type[Plugin], point: str) -> bool:
    """Return True if ``plugin`` has the method of an extension point, or is listed there."""
    if point in PLACEMENT_POINTS:
        return plugin.name in PLACEMENT_POINTS[point]
    return hasattr(plugin, EXTENSION_POINTS[point])


def _check_specific(point: str, plugin_set: dict[str, Any], registry: Registry) -> None:
    """Check that each plugin named at an extension point exists, has its method, and is named once."""
    names: dict[str, None] = {}
    for item in plugin_set.get("enabled", ()):
        name = item["name"]
        if name not in registry:
            raise _CannotBuild(f'{_interface(point)} "{name}" does not exist')
        if not takes_part(registry[name], point):
            raise _CannotBuild(f'plugin "{name}" does not extend {_interface(point)} plugin')
        if name in names:
            raise _CannotBuild(f'plugin "{name}" already registered as "{_interface(point)}"')
        names[name] = None


def _effective(point: str, plugin_set: dict[str, Any], multi_point: dict[str, Any], registry: Registry) -> list[str]:
    """Return first those that multiPoint names as well, then the rest of multiPoint, then the rest of this point."""
    specific = dict.fromkeys(item["name"] for item in plugin_set.get("enabled", ()))
    disabled = {item["name"] for item in plugin_set.get("disabled", ())}
    if "*" in disabled:
        return list(specific)
    expanded: dict[str, None] = {}
    overriding: set[str] = set()
    for item in multi_point.get("enabled", ()):
        name = item["name"]
        if name not in registry:
            raise _CannotBuild(f'{_interface(point)} "{name}" does not exist')
        if not takes_part(registry[name], point) or name in disabled:
            continue
        if name in specific:
            overriding.add(name)
        elif name in expanded:
            raise _CannotBuild(f'plugin "{name}" already registered as "{_interface(point)}"')
        else:
            expanded[name] = None
    first = [name for name in specific if name in overriding]
    return [*first, *expanded, *(name for name in specific if name not in overriding)]


def _check_total(weights: dict[str, int], registry: Registry, prefix: str) -> None:
    """Check the sum of the weights for overflow, like Kubernetes; once it is negative, the check itself overflows.

    ``prefix``: which kind of weights, as a part of the message.
    """
    total = 0
    for name, weight in weights.items():
        if name in registry and takes_part(registry[name], "score"):
            if total < 0:
                raise _CannotBuild(f"{prefix}total score of Score plugins could overflow")
            total += weight


def _weights(sets: dict[str, Any]) -> dict[str, int]:
    """Prefer the weight at ``score`` to that of multiPoint; 0 counts as 1."""
    weights: dict[str, int] = {}
    for item in (*sets["score"].get("enabled", ()), *sets["multiPoint"].get("enabled", ())):
        weights.setdefault(item["name"], item["weight"] or 1)
    return weights
