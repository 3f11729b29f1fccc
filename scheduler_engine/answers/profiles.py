"""How two configurations differ: which plugins a profile runs, where, with which weights and arguments; settings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scheduler_engine.trace.events import Configured
from scheduler_engine.versions import gates_text

SCORE = "score"
VERSION = "kubernetes"
"""The path of the version among the settings."""


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting or an argument of a plugin that differs. ``path``: such as ``scoringStrategy.type``.

    The values as JSON, "" = it is not set.
    """

    path: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class PluginChange:
    """A plugin that differs. ``first`` and ``second``: the extension points at which it runs, () = it is off.

    ``weights``: its weight at ``score`` in each, 0 if it does not score. ``arguments``: those that
    differ, of a plugin that runs in both.
    """

    plugin: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    weights: tuple[int, int]
    arguments: tuple[SettingChange, ...]


def changes_between(first: Configured, second: Configured, profile: str) -> tuple[PluginChange, ...]:
    """Return the plugins of a profile that differ; none if one of the configurations lacks the profile."""
    mine, theirs = dict(first.profiles).get(profile), dict(second.profiles).get(profile)
    if mine is None or theirs is None:
        return ()
    before, after = _running(mine), _running(theirs)
    arguments = _arguments(first, profile), _arguments(second, profile)
    changes = []
    for name in {**before, **after}:
        points, other_points = before.get(name, {}), after.get(name, {})
        differ = (*_differing(arguments[0].get(name), arguments[1].get(name)),) if points and other_points else ()
        if points != other_points or differ:
            weights = points.get(SCORE, 0), other_points.get(SCORE, 0)
            changes.append(PluginChange(name, tuple(points), tuple(other_points), weights, differ))
    return tuple(changes)


def settings_between(first: Configured, second: Configured, profile: str) -> tuple[SettingChange, ...]:
    """Return the settings beside plugins and arguments that differ: of the scheduler, of a profile (with its name), the
    rules of the queue, and the extension points at which the same plugins run in another order.
    """
    changes: list[SettingChange] = []
    for path, own in ((profile, _of_profile), ("", _of_scheduler)):
        changes += _differing(own(first, profile), own(second, profile), path)
    orders = [dict(dict(item.profiles).get(profile, ())) for item in (first, second)]
    for point, plugins in orders[0].items():
        mine, theirs = ([name for name, _ in order] for order in (plugins, orders[1].get(point, ())))
        if mine != theirs and sorted(mine) == sorted(theirs):
            changes += _differing(mine, theirs, f"{profile}.{point}")
    return tuple(changes)


def _of_scheduler(configured: Configured, profile: str) -> dict[str, Any]:
    settings = {key: value for key, value in configured.configuration.items() if key != "profiles"}
    version = {VERSION: configured.kubernetes, "featureGates": gates_text(dict(configured.feature_gates))}
    return {**settings, "queueRules": configured.queue_rules, **version}


def _of_profile(configured: Configured, profile: str) -> dict[str, Any]:
    profiles = (item for item in configured.configuration["profiles"] if item["schedulerName"] == profile)
    own = ("plugins", "pluginConfig")
    return {key: value for item in profiles for key, value in item.items() if key not in own}


def _running(points: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]) -> dict[str, dict[str, int]]:
    """Return plugin → extension point → weight."""
    by_plugin: dict[str, dict[str, int]] = {}
    for point, plugins in points:
        for name, weight in plugins:
            by_plugin.setdefault(name, {})[point] = weight
    return by_plugin


def _arguments(configured: Configured, profile: str) -> dict[str, Any]:
    """Return plugin → its arguments, with their defaults."""
    for item in configured.configuration["profiles"]:
        if item["schedulerName"] == profile:
            return {entry["name"]: entry["args"] for entry in item["pluginConfig"]}
    return {}


def _differing(first: Any, second: Any, path: str = "") -> Iterator[SettingChange]:
    """Yield the smallest parts of two arguments that differ; a list is one part."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in {**first, **second}:
            yield from _differing(first.get(key), second.get(key), f"{path}.{key}" if path else key)
    elif first != second:
        yield SettingChange(path, *("" if value is None else json.dumps(value) for value in (first, second)))
