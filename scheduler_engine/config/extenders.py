"""Build the extenders of a valid configuration, and what they change in it.

Source: upstream ``scheduler.go`` (buildExtenders) and ``extender.go`` (NewHTTPExtender).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.durations import parse_duration
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.framework.extender import Extender
from scheduler_engine.framework.extender_calls import Address, ExtenderCalls
from scheduler_engine.plugins.expressions import VERBS, SimulatedExtender
from scheduler_engine.words import say

DEFAULT_TIMEOUT = "5s"
FIT = "NodeResourcesFit"


def extender_problem(config: Mapping[str, Any]) -> str:
    """Return why the extenders cannot be built, "" if they can."""
    for extender in config.get("extenders", ()):
        tls = extender.get("tlsConfig", {})
        if tls.get("insecure") and (tls.get("caFile") or tls.get("caData")):
            return "specifying a root certificates file with the insecure flag is not allowed"
    configured = [{item["name"] for item in profile["pluginConfig"]} for profile in config["profiles"]]
    if ignored_resources(config) and not all(FIT in names for names in configured):
        return "can't find NodeResourcesFitArgs in plugin config"
    return ""


def ignored_resources(config: Mapping[str, Any]) -> list[str]:
    """Return the resources that only extenders check."""
    managed = (item for extender in config.get("extenders", ()) for item in extender.get("managedResources", ()))
    return [resource["name"] for resource in managed if resource.get("ignoredByScheduler")]


def profiles_for_extenders(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the profiles. In place of its own list, NodeResourcesFit ignores what only extenders check."""
    profiles: list[dict[str, Any]] = config["profiles"]
    ignored = ignored_resources(config)
    if not ignored:
        return profiles
    return [
        {**item, "pluginConfig": [_ignoring(entry, ignored) for entry in item["pluginConfig"]]} for item in profiles
    ]


def _ignoring(entry: dict[str, Any], ignored: Sequence[str]) -> dict[str, Any]:
    return {**entry, "args": {**entry["args"], "ignoredResources": [*ignored]}} if entry["name"] == FIT else entry


def build_extenders(config: Mapping[str, Any], calls: ExtenderCalls) -> tuple[Extender, ...]:
    """Return the extenders in the order in which they are asked: those that are ignorable come last.

    Raises Rejected for those that are neither simulated nor reached by ``calls``.
    """
    listed: Sequence[Mapping[str, Any]] = config.get("extenders", ())
    real = [(place, item["urlPrefix"]) for place, item in enumerate(listed) if "simulated" not in item]
    if real and not calls.transports:
        raise Rejected([_not_asked("extenders", "refusals.extenders-not-asked")])
    unknown = [place for place, url in real if not calls.reaches(url)]
    if unknown:
        raise Rejected([_not_asked(f"extenders[{place}].urlPrefix", "refusals.extender-unknown") for place in unknown])
    built = [_built(item, calls) for item in listed]
    return tuple(sorted(built, key=lambda extender: extender.ignorable))


def _not_asked(path: str, key: str) -> FieldError:
    return FieldError(path, "FieldValueForbidden", f"Forbidden: {say(key)}")


def timeout_of(config: Mapping[str, Any]) -> str:
    """Return how long an answer of an extender may take; 0 stands for the default."""
    timeout: str = config["httpTimeout"]
    return timeout if parse_duration(timeout) else DEFAULT_TIMEOUT


def _built(config: Mapping[str, Any], calls: ExtenderCalls) -> Extender:
    return Extender(
        Address(
            config["urlPrefix"],
            parse_duration(timeout_of(config)),
            config.get("enableHTTPS", False),
            config.get("tlsConfig", {}),
        ),
        _simulated(config) if "simulated" in config else calls,
        filter_verb=config.get("filterVerb", ""),
        prioritize_verb=config.get("prioritizeVerb", ""),
        preempt_verb=config.get("preemptVerb", ""),
        bind_verb=config.get("bindVerb", ""),
        weight=config.get("weight", 0),
        node_cache_capable=config.get("nodeCacheCapable", False),
        managed=frozenset(resource["name"] for resource in config.get("managedResources", ())),
        ignorable=config.get("ignorable", False),
    )


def _simulated(config: Mapping[str, Any]) -> SimulatedExtender:
    verbs = {config[verb]: field for verb, field in VERBS.items() if config.get(verb)}
    return SimulatedExtender(config["urlPrefix"], parse_duration(timeout_of(config)), verbs, config["simulated"])
