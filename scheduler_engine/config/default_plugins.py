"""The default list of plugins, and how a profile's own lists change it.

Source: seed 004; upstream ``apis/config/v1/default_plugins.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.config.schema import schema_for
from scheduler_engine.versions import DEFAULT_RULES, Rules

DEFAULT_PLUGINS: tuple[tuple[str, int], ...] = (
    ("SchedulingGates", 0),
    ("PrioritySort", 0),
    ("NodeUnschedulable", 0),
    ("NodeName", 0),
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodePorts", 0),
    ("NodeResourcesFit", 1),
    ("VolumeRestrictions", 0),
    ("NodeVolumeLimits", 0),
    ("VolumeBinding", 0),
    ("VolumeZone", 0),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("DynamicResources", 0),
    ("DefaultPreemption", 0),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
    ("DefaultBinder", 0),
)
"""(plugin, weight) of ``multiPoint``, in running order; no other extension point has defaults."""

PluginSet = dict[str, list[dict[str, Any]]]


def default_plugins(rules: Rules = DEFAULT_RULES) -> tuple[tuple[str, int], ...]:
    """Return (plugin, weight) of ``multiPoint`` under these rules."""
    weights = {**dict(DEFAULT_PLUGINS), "DynamicResources": rules.dynamic_resources_weight}
    return (*weights.items(), *((("NodeDeclaredFeatures", 0),) if rules.checks_declared_features else ()))


def merged_plugins(custom: Mapping[str, Any], rules: Rules = DEFAULT_RULES) -> dict[str, PluginSet]:
    """Return the plugin sets of a profile: the defaults, overridden by ``custom`` (its ``plugins``)."""
    result = {name: merge_plugin_set((), custom.get(name, {})) for name in schema_for(rules).plugin_sets}
    defaults = [{"name": name, "weight": weight} for name, weight in default_plugins(rules)]
    result["multiPoint"] = merge_plugin_set(defaults, custom.get("multiPoint", {}))
    return result


def merge_plugin_set(defaults: Sequence[dict[str, Any]], custom: Mapping[str, Any]) -> PluginSet:
    """Merge: a default named again gets its new weight but keeps its place; a disabled one goes to the end."""
    disabled = [{"name": item.get("name", "")} for item in custom.get("disabled", ())]
    enabled: list[dict[str, Any]] = list(custom.get("enabled", ()))
    off = {item["name"] for item in disabled}
    last = {item.get("name", ""): index for index, item in enumerate(enabled)}
    replacing: set[int] = set()
    merged: list[dict[str, Any]] = []
    for default in () if "*" in off else defaults:
        if default["name"] in off:
            continue
        index = last.get(default["name"])
        if index is not None:
            replacing.add(index)
        merged.append(default if index is None else enabled[index])
    merged += [item for index, item in enumerate(enabled) if index not in replacing]
    return {key: items for key, items in (("enabled", merged), ("disabled", disabled)) if items}
