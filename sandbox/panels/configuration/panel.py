"""The configuration in force: the effective plugins of every stage, what differs from the default, and its YAML."""

from __future__ import annotations

from typing import Any

from sandbox.panels.configuration.differences import Plugins, defaults, differences, moved, titled
from sandbox.panels.configuration.extenders import shown
from sandbox.panels.facts.version import rules_in
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import short_name
from sandbox.words.say import say
from sandbox.words.yaml_text import written
from scheduler_engine.apiserver.admission import LIMIT_TOPOLOGY, SWITCHED
from scheduler_engine.config.schema import API_VERSION, KIND
from scheduler_engine.framework.extension_points import EXTENSION_POINTS
from scheduler_engine.trace.events import Configured
from scheduler_engine.versions import RELEASES, VERSIONS, Rules, known_gates, release_of

FIRST = ("apiVersion", "kind", "percentageOfNodesToScore", "profiles")
DEFAULT = f"apiVersion: {API_VERSION}\nkind: {KIND}\n"
"""The shortest configuration that leaves everything at its default."""
SAYS = {
    "preEnqueue": "configuration.pre-enqueue",
    "queueSort": "configuration.queue-sort",
    "preFilter": "configuration.pre-filter",
    "filter": "configuration.filter",
    "postFilter": "configuration.post-filter",
    "preScore": "configuration.pre-score",
    "score": "configuration.score",
    "reserve": "configuration.reserve",
    "permit": "configuration.permit",
    "preBind": "configuration.pre-bind",
    "bind": "configuration.bind",
    "postBind": "configuration.post-bind",
}
ADMISSION = {LIMIT_TOPOLOGY: "configuration.limit-topology"}


def stats(world: World, view: View) -> dict[str, Any]:
    configured = world.configured
    if configured is None:
        return {"has": False}
    profiles: list[tuple[str, Plugins]] = [(name, dict(points)) for name, points in configured.profiles]
    rules, all_settings = rules_in(configured), configured.configuration
    default = defaults(rules).profiles[0].plugins
    return {
        "has": True,
        "profiles": [name for name, _ in profiles],
        "points": [_point(point, profiles, default) for point in EXTENSION_POINTS],
        "differs": differences(all_settings, profiles, rules),
        "changed": world.moment_of(world.latest.get(Configured, 0)).command > 0,
        "default": DEFAULT,
        "at": str(view.at or ""),
        # What people look for first is at the top.
        "yaml": written({key: all_settings[key] for key in (*FIRST, *all_settings) if key in all_settings}),
        "extenders": shown(all_settings),
        "standing": _standing(world, configured),
        "version": _version(rules),
        "admission": [
            {"plugin": plugin, "enabled": plugin in world.admission_plugins, "says": say(ADMISSION[plugin])}
            for plugin in SWITCHED
        ],
    }


def _version(rules: Rules) -> dict[str, Any]:
    """Return the version in force, those to choose from, and its feature gates."""
    changed = dict(rules.feature_gates)
    return {
        "name": rules.kubernetes,
        "release": release_of(rules.kubernetes),
        "choices": [*zip(VERSIONS, RELEASES, strict=True)],
        "gates": [
            {"name": name, "on": changed.get(name, on), "default": on, "locked": locked}
            for name, (on, locked) in known_gates(rules.kubernetes).items()
        ],
        "changed": len(changed),
    }


def _standing(world: World, configured: Configured) -> dict[str, Any] | None:
    """Return the running cycle if it began with another configuration."""
    cycle = world.cycle
    if cycle is None or cycle.outcome or cycle.configured is None or cycle.configured is configured:
        return None
    return {"number": cycle.number, "pod": short_name(cycle.pod), "stage": cycle.last_stage or "Pop"}


def _point(point: str, profiles: list[tuple[str, Plugins]], default: Plugins) -> dict[str, Any]:
    first = profiles[0][1].get(point, ())
    return {
        "name": titled(point),
        "says": say(SAYS[point]),
        "cells": [
            {"same": index > 0 and points.get(point, ()) == first, **_cell(points.get(point, ()), default[point])}
            for index, (_, points) in enumerate(profiles)
        ],
    }


def _cell(plugins: tuple[tuple[str, int], ...], default: tuple[tuple[str, int], ...]) -> dict[str, Any]:
    """Return the plugins of one profile at one point. ``off``: default plugins that do not run here."""
    weights = dict(default)
    names = [name for name, _ in plugins]
    return {
        "plugins": [
            {
                "place": place,
                "name": name,
                "weight": weight,
                "new": name not in weights,
                "other": name in weights and weights[name] != weight,
                "was": weights.get(name),
            }
            for place, (name, weight) in enumerate(plugins, 1)
        ],
        "off": [name for name, _ in default if name not in names],
        "moved": bool(moved(names, weights)),
    }
