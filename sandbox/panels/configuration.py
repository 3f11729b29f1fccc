"""The configuration in force: the effective plugins of every stage, what differs from the default, and its YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import yaml

from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.panels.words.amounts import short_name
from sandbox.panels.words.say import say
from scheduler_engine.config import Configuration, load_configuration
from scheduler_engine.framework.extension_points import EXTENSION_POINTS
from scheduler_engine.trace.events import Configured

FIRST = ("apiVersion", "kind", "percentageOfNodesToScore", "profiles")
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
"""Ten times as fast where libyaml is there."""
Plugins = Mapping[str, tuple[tuple[str, int], ...]]
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


@cache
def defaults() -> Configuration:
    """What is in force when nobody configures anything."""
    return load_configuration(None)


def stats(world: World, view: View) -> dict[str, Any]:
    configured = world.configured
    if configured is None:
        return {"has": False}
    profiles = [(name, dict(points)) for name, points in configured.profiles]
    usual = defaults().profiles[0].plugins
    return {
        "has": True,
        "profiles": [name for name, _ in profiles],
        "points": [_point(point, profiles, usual) for point in EXTENSION_POINTS],
        "differs": list(_differences(configured)),
        "yaml": yaml.dump(_arranged(configured.configuration), Dumper=DUMPER, sort_keys=False, allow_unicode=True),
        "standing": _standing(world, configured),
    }


def _arranged(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """What people look for first leads."""
    return {key: configuration[key] for key in (*FIRST, *configuration) if key in configuration}


def _standing(world: World, configured: Configured) -> dict[str, Any] | None:
    """The cycle that stands and began with another configuration."""
    cycle = world.cycle
    if cycle is None or cycle.outcome or cycle.configured is None or cycle.configured is configured:
        return None
    return {"number": cycle.number, "pod": short_name(cycle.pod), "stage": cycle.last_stage or "Pop"}


def _point(point: str, profiles: list[tuple[str, dict[str, Any]]], usual: Plugins) -> dict[str, Any]:
    first = profiles[0][1].get(point, ())
    return {
        "name": f"{point[0].upper()}{point[1:]}",
        "says": say(SAYS[point]),
        "cells": [
            {"same": index > 0 and points.get(point, ()) == first, **_cell(points.get(point, ()), usual[point])}
            for index, (_, points) in enumerate(profiles)
        ],
    }


def _cell(plugins: tuple[tuple[str, int], ...], usual: tuple[tuple[str, int], ...]) -> dict[str, Any]:
    """``off``: what runs here by default and does not in this profile; ``usual`` weights are not worth a mark."""
    weights = dict(usual)
    names = [name for name, _ in plugins]
    kept = [name for name, _ in usual if name in names]
    moved = [name for name in names if name in weights] != kept
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
        "off": [name for name, _ in usual if name not in names],
        "moved": moved,
    }


def _differences(configured: Configured) -> Iterator[dict[str, str]]:
    """Every setting that is not as by default; the plugins themselves are in the table."""
    given, usual = configured.configuration, defaults().defaulted
    yield from _changed("", _settings(given), _settings(usual))
    plain = _arguments(usual["profiles"][0])
    for profile in given.get("profiles") or ():
        name = profile.get("schedulerName", "")
        yield from _changed(name, {"percentageOfNodesToScore": profile.get("percentageOfNodesToScore")}, {})
        yield from _changed(name, _arguments(profile), plain)


def _settings(configuration: Mapping[str, Any]) -> dict[str, Any]:
    return _flat({key: value for key, value in configuration.items() if key != "profiles"})


def _arguments(profile: Mapping[str, Any]) -> dict[str, Any]:
    configs = profile.get("pluginConfig") or ()
    return _flat({config["name"]: config.get("args") or {} for config in configs})


def _flat(tree: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Path → value; lists count as one value."""
    found: dict[str, Any] = {}
    for key, value in tree.items():
        place = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping):
            found |= _flat(value, place)
        else:
            found[place] = value
    return found


def _changed(profile: str, given: Mapping[str, Any], usual: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for path in dict.fromkeys((*given, *usual)):
        new, old = given.get(path), usual.get(path)
        if new != old:
            yield {"profile": profile, "path": path, "new": _short(new), "old": _short(old)}


def _short(value: Any) -> str:
    """As YAML on one line; ``not set`` for nothing."""
    if value is None:
        return say("configuration.not-set")
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False)
    return text.removesuffix("...\n").strip()
