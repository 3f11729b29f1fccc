"""Validation of a defaulted configuration.

Source: seed 004; upstream ``apis/config/validation/validation.go`` and ``component-base/config/validation``.
"""

from __future__ import annotations

from typing import Any

from scheduler_engine.api.validation.names import qualified_name
from scheduler_engine.api.validation.problems import duplicate, in_version, invalid, required, worded
from scheduler_engine.config.schema import API_VERSION, RAW, declares_expressions, go_form, schema_for
from scheduler_engine.config.validation_expressions import declared, too_many_expressions
from scheduler_engine.config.validation_pluginargs import validators
from scheduler_engine.config.validation_simulated import validate_simulated
from scheduler_engine.durations import parse_duration
from scheduler_engine.errors import FieldError
from scheduler_engine.versions import DEFAULT_RULES, Rules

REMOVED_PLUGINS = ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits")


def validate(config: dict[str, Any], rules: Rules = DEFAULT_RULES) -> list[FieldError]:
    """Return all errors in ``config`` (from ``set_defaults``), in Kubernetes' order."""
    errors = _leader_election(config["leaderElection"])
    if config["clientConnection"]["burst"] < 0:
        errors.insert(0, invalid("clientConnection.burst", config["clientConnection"]["burst"], "must be non-negative"))
    if config["parallelism"] <= 0:
        errors.append(invalid("parallelism", config["parallelism"], "should be an integer value greater than zero"))
    errors += _profiles(config["profiles"], rules)
    errors += too_many_expressions(config["profiles"])
    errors += _percentage("percentageOfNodesToScore", config["percentageOfNodesToScore"])
    first, last = config["podInitialBackoffSeconds"], config["podMaxBackoffSeconds"]
    if first <= 0:
        errors.append(invalid("podInitialBackoffSeconds", first, "must be greater than 0"))
    if last < first:
        detail = "must be greater than or equal to PodInitialBackoffSeconds"
        errors.append(invalid("podMaxBackoffSeconds", last, detail))
    errors += validate_extenders(config.get("extenders", []))
    errors += validate_simulated(config.get("extenders", []))
    return list({str(error): error for error in in_version(errors, rules)}.values())


def _leader_election(config: dict[str, Any]) -> list[FieldError]:
    path = "leaderElection"
    if not config["leaderElect"]:
        return []
    errors = [
        invalid(f"{path}.{name}", config[name], "must be greater than zero")
        for name in ("leaseDuration", "renewDeadline", "retryPeriod")
        if parse_duration(config[name]) <= 0
    ]
    if parse_duration(config["leaseDuration"]) <= parse_duration(config["renewDeadline"]):
        detail = "must be greater than `RenewDeadline`"
        errors.append(invalid(f"{path}.leaseDuration", config["renewDeadline"], detail))
    if config["resourceLock"] != "leases":
        errors.append(invalid(f"{path}.resourceLock", config["resourceLock"], 'resourceLock value must be "leases"'))
    return errors


def _percentage(path: str, value: int | None) -> list[FieldError]:
    if value is None or 0 <= value <= 100:
        return []
    return [invalid(path, value, "not in valid range [0-100]")]


def _profiles(profiles: list[dict[str, Any]], rules: Rules) -> list[FieldError]:
    errors: list[FieldError] = []
    names: dict[str, None] = {}
    for index, profile in enumerate(profiles):
        path = f"profiles[{index}]"
        name = profile["schedulerName"]
        if not name:
            errors.append(required(f"{path}.schedulerName"))
        errors += _percentage(f"{path}.percentageOfNodesToScore", profile.get("percentageOfNodesToScore"))
        errors += _removed_plugins(f"{path}.plugins", profile["plugins"], rules)
        errors += _plugin_config(path, profile.get("pluginConfig", []), rules)
        if name in names:
            errors.append(duplicate(f"{path}.schedulerName", {}))
        names[name] = None
    return errors + _queue_sort(profiles, rules)


def _removed(path: str, name: str) -> FieldError:
    return invalid(path, name, f'was invalid in version "v1" (KubeSchedulerConfiguration is version "{API_VERSION}")')


def _removed_plugins(path: str, plugins: dict[str, Any], rules: Rules) -> list[FieldError]:
    """Check every extension point, but ignore ``multiPoint``."""
    return [
        _removed(f"{path}.{point}.enabled[{index}]", item["name"])
        for point in schema_for(rules).plugin_sets
        if point != "multiPoint"
        for index, item in enumerate(plugins[point].get("enabled", ()))
        if item["name"] in REMOVED_PLUGINS
    ]


def _plugin_config(path: str, configs: list[dict[str, Any]], rules: Rules) -> list[FieldError]:
    errors: list[FieldError] = []
    names: dict[str, None] = {}
    known = validators(rules)
    for index, config in enumerate(configs):
        place, name = f"{path}.pluginConfig[{index}]", config["name"]
        if name in names:
            errors.append(duplicate(place, name))
        names[name] = None
        if name in REMOVED_PLUGINS:
            errors.append(_removed(place, name))
        elif name in known:
            errors += known[name](f"{place}.args", config["args"])
        elif declares_expressions(config["args"]):
            errors += declared(place, name, config["args"], rules)
    return errors


def _queue_sort(profiles: list[dict[str, Any]], rules: Rules) -> list[FieldError]:
    """Check that all profiles sort the queue in the same way, because they share it."""
    errors: list[FieldError] = []
    first = profiles[0]
    canon = first["plugins"]["queueSort"]
    enabled = canon.get("enabled", [])
    name = enabled[0]["name"] if enabled else ""
    if len(enabled) > 1:
        detail = "only one queue sort plugin can be enabled"
        errors.append(invalid("profiles[0].plugins.queueSort.Enabled", len(enabled), detail))
    args = None
    for config in first.get("pluginConfig", ()):
        if name and config["name"] == name:
            args = config["args"]
    for index, profile in enumerate(profiles[1:], 1):
        current = profile["plugins"]["queueSort"]
        if current != canon:
            path = f"profiles[{index}].plugins.queueSort"
            errors.append(invalid(path, _go_plugin_set(current), "must be the same for all profiles"))
        for config in profile.get("pluginConfig", ()):
            if config["name"] == name and config["args"] != args:
                path = f"profiles[{index}].pluginConfig.args"
                shown = go_form(config["args"], schema_for(rules).plugin_args.get(name, RAW))
                errors.append(invalid(path, shown, "queueSort must be the same for all profiles"))
    return errors


def _go_plugin_set(plugin_set: dict[str, Any]) -> dict[str, Any]:
    """Return the set with Go's field names, as the error shows it."""
    return {
        key.capitalize(): [{"Name": item["name"], "Weight": item["weight"]} for item in plugin_set[key]]
        if key in plugin_set
        else None
        for key in ("enabled", "disabled")
    }


def validate_extenders(extenders: list[dict[str, Any]]) -> list[FieldError]:
    """Return errors in extenders (completed): weights, what they manage, and that at most one of them binds."""
    errors: list[FieldError] = []
    managed: dict[str, None] = {}
    for index, extender in enumerate(extenders):
        path = f"extenders[{index}]"
        weight = extender.get("weight", 0)
        if extender.get("prioritizeVerb") and weight <= 0:
            errors.append(invalid(f"{path}.weight", weight, "must have a positive weight applied to it"))
        for position, resource in enumerate(extender.get("managedResources", ())):
            place, name = f"{path}.managedResources[{position}].name", resource["name"]
            for problem in _extended_resource_problems(name):
                errors += worded(place, name, problem)
            if name in managed:
                errors.append(invalid(place, name, "duplicate extender managed resource name"))
            managed[name] = None
    binders = sum(1 for extender in extenders if extender.get("bindVerb"))
    if binders > 1:
        text = f"found {binders} extenders implementing bind"
        errors.append(invalid("extenders", text, "only one extender can implement bind"))
    return errors


def _extended_resource_problems(name: str) -> list[str]:
    """Check that an extended resource has a prefix outside ``kubernetes.io``."""
    problems = qualified_name(name)
    if problems:
        return problems
    native = "/" not in name or "kubernetes.io/" in name
    if native or name.startswith("requests.") or qualified_name(f"requests.{name}"):
        return ["is an invalid extended resource name"]
    return []
