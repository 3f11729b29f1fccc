"""Defaults of a decoded configuration.

Source: seed 004; upstream ``apis/config/v1/defaults.go`` and ``component-base/config/v1alpha1/defaults.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_engine.config.default_plugins import merged_plugins
from scheduler_engine.config.schema import API_VERSION, completed, schema_for
from scheduler_engine.versions import DEFAULT_RULES, Rules

DEFAULT_SCHEDULER_NAME = "default-scheduler"

TOP = {
    "parallelism": 16,
    "percentageOfNodesToScore": 0,
    "podInitialBackoffSeconds": 1,
    "podMaxBackoffSeconds": 10,
    "enableProfiling": True,
}
LEADER_ELECTION = {
    "leaderElect": True,
    "leaseDuration": "15s",
    "renewDeadline": "10s",
    "retryPeriod": "2s",
    "resourceLock": "leases",
    "resourceName": "kube-scheduler",
    "resourceNamespace": "kube-system",
}
CLIENT_CONNECTION = {"contentType": "application/vnd.kubernetes.protobuf", "qps": 50, "burst": 100}
BINDING_TIMEOUT = "10m0s"
"""How long DynamicResources waits for binding conditions."""
RESOURCES = ({"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1})


def set_defaults(decoded: dict[str, Any], rules: Rules = DEFAULT_RULES) -> dict[str, Any]:
    """Return the whole configuration with every default; ``decoded`` comes from ``decode``.

    ``schema.written`` turns the result into its v1 form.
    """
    config = {**TOP, **decoded}
    config.setdefault("enableContentionProfiling", config["enableProfiling"])
    config["leaderElection"] = _filled(config.get("leaderElection", {}), LEADER_ELECTION)
    config["clientConnection"] = _filled(config.get("clientConnection", {}), CLIENT_CONNECTION)
    profiles = [dict(profile) for profile in config.get("profiles", ())] or [{}]
    if len(profiles) == 1:
        profiles[0].setdefault("schedulerName", DEFAULT_SCHEDULER_NAME)
    config["profiles"] = [_profile(profile, rules) for profile in profiles]
    result: dict[str, Any] = completed(config, schema_for(rules).configuration)
    return result


def _filled(fields: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Use ``defaults`` where ``fields`` have nothing or a zero; keep an explicit false."""
    kept = {name: value for name, value in fields.items() if isinstance(value, bool) or value not in ("", 0, "0s")}
    return {**defaults, **kept}


def _profile(profile: dict[str, Any], rules: Rules) -> dict[str, Any]:
    plugins = merged_plugins(profile.get("plugins", {}), rules)
    configs = [_plugin_config(config, rules) for config in profile.get("pluginConfig", ())]
    configured = {config.get("name", "") for config in configs}
    named = {
        item["name"] for plugin_set in plugins.values() for item in plugin_set.get("enabled", ()) if "name" in item
    }
    for name in sorted(named - configured):
        if name in schema_for(rules).plugin_args:
            configs.append(_plugin_config({"name": name, "args": {}}, rules))
    return {**profile, "plugins": plugins, "pluginConfig": configs}


def _plugin_config(config: dict[str, Any], rules: Rules) -> dict[str, Any]:
    """Complete the arguments; unknown ones stay as they are."""
    name, known = config.get("name", ""), schema_for(rules).plugin_args
    if name not in known:
        return config
    args = {"apiVersion": API_VERSION, "kind": f"{name}Args", **config.get("args", {})}
    default = ARGS_DEFAULTS.get(name)
    if default is not None:
        default(args)
    if name == "DynamicResources" and rules.binding_conditions:
        args.setdefault("bindingTimeout", BINDING_TIMEOUT)
    return {"name": name, "args": completed(args, known[name])}


def _coscheduling(args: dict[str, Any]) -> None:
    args.setdefault("permitWaitingTimeSeconds", 60)
    args.setdefault("podGroupBackoffSeconds", 0)
    args.setdefault("podGroupRejectPercentage", 10)


def _default_preemption(args: dict[str, Any]) -> None:
    args.setdefault("minCandidateNodesPercentage", 10)
    args.setdefault("minCandidateNodesAbsolute", 100)


def _dynamic_resources(args: dict[str, Any]) -> None:
    args.setdefault("filterTimeout", "10s")


def _inter_pod_affinity(args: dict[str, Any]) -> None:
    args.setdefault("hardPodAffinityWeight", 1)


def _balanced_allocation(args: dict[str, Any]) -> None:
    args["resources"] = _resources(args.get("resources"))


def _fit(args: dict[str, Any]) -> None:
    strategy = dict(args.get("scoringStrategy", {"type": "LeastAllocated"}))
    strategy["resources"] = _resources(strategy.get("resources"))
    args["scoringStrategy"] = strategy


def _topology_spread(args: dict[str, Any]) -> None:
    args["defaultingType"] = args.get("defaultingType") or "System"


def _volume_binding(args: dict[str, Any]) -> None:
    args.setdefault("bindTimeoutSeconds", 600)


def _resources(resources: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    return [{**item, "weight": item.get("weight") or 1} for item in resources or RESOURCES]


ARGS_DEFAULTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "Coscheduling": _coscheduling,
    "DefaultPreemption": _default_preemption,
    "DynamicResources": _dynamic_resources,
    "InterPodAffinity": _inter_pod_affinity,
    "NodeResourcesBalancedAllocation": _balanced_allocation,
    "NodeResourcesFit": _fit,
    "PodTopologySpread": _topology_spread,
    "VolumeBinding": _volume_binding,
}
