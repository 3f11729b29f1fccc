"""What differs from the default configuration, in sentences; both are compared as in force, with all defaults.

The comparison knows no setting by name, so that none is missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

import yaml

from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine.config import Configuration, load_configuration
from scheduler_engine.config.schema import TYPE_META, declares_expressions
from scheduler_engine.versions import Rules

Plugins = Mapping[str, tuple[tuple[str, int], ...]]
"""Extension point → ((plugin, weight), …) in running order; weights matter only at ``score``."""

EXTENDERS = "extenders"
MOST_KEPT = 16
"""Versions with gates whose defaults are kept."""


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences of one part, a sentence each. ``called`` is the heading: a profile, or what holds for all."""

    called: str
    says: tuple[str, ...]


@lru_cache(maxsize=MOST_KEPT)
def defaults(rules: Rules) -> Configuration:
    """Return the configuration in force under some rules when nobody configures anything."""
    return load_configuration(None, rules)


def differences(
    configuration: Mapping[str, Any], profiles: Iterable[tuple[str, Plugins]], rules: Rules
) -> list[Differences]:
    """Return the differences from the defaults of a version, none if there are none.

    ``configuration`` has its defaults filled in, ``profiles`` have their effective plugins.
    """
    running, default = dict(profiles), defaults(rules)
    missing = [profile.scheduler_name for profile in default.profiles if profile.scheduler_name not in running]
    whole = [*_changed(_settings(configuration), _settings(default.defaulted))]
    whole += [say("configuration.no-profile", name=name) for name in missing]
    whole += [say("configuration.extender-added", name=item["urlPrefix"]) for item in configuration.get(EXTENDERS, ())]
    parts = [Differences(say("configuration.whole"), tuple(whole))]
    for profile in configuration["profiles"]:
        name = profile["schedulerName"]
        says = tuple(_of_profile(profile, running, default))
        parts.append(Differences(say("configuration.profile", name=name), says))
    return [part for part in parts if part.says]


def titled(point: str) -> str:
    """Return the name of the extension point's interface."""
    return f"{point[0].upper()}{point[1:]}"


def moved(current: Iterable[str], default: Iterable[str]) -> list[str]:
    """Return the names of both lists that changed their place: as few as comparing the lists allows."""
    now, before = list(current), list(default)
    now, before = [name for name in now if name in before], [name for name in before if name in now]
    blocks = SequenceMatcher(None, before, now, autojunk=False).get_matching_blocks()
    stayed = {name for block in blocks for name in now[block.b : block.b + block.size]}
    return [name for name in now if name not in stayed]


def _of_profile(profile: Mapping[str, Any], running: Mapping[str, Plugins], whole: Configuration) -> Iterator[str]:
    name, default = profile["schedulerName"], whole.profiles[0]
    if name != default.scheduler_name:
        yield say("configuration.profile-added")
    own = {key: value for key, value in profile.items() if key not in ("schedulerName", "plugins", "pluginConfig")}
    yield from _changed(own, {})
    yield from _plugins(running[name], default.plugins)
    arguments = _arguments(profile)
    default_arguments = _arguments(whole.defaulted["profiles"][0])
    # A plugin that is off has no arguments, and a sentence says already that it is off.
    yield from _changed(_flat(arguments), _flat({plugin: default_arguments.get(plugin, {}) for plugin in arguments}))


def _plugins(current: Plugins, default: Plugins) -> Iterator[str]:
    before, now = _points(default), _points(current)
    for plugin in dict.fromkeys((*before, *now)):
        was, runs = before.get(plugin, ()), now.get(plugin, ())
        off = [titled(point) for point in was if point not in runs]
        on = [titled(point) for point in runs if point not in was]
        if not runs:
            yield say("configuration.off", plugin=plugin)
        elif off:
            yield say("configuration.off-at", plugin=plugin, points=listed(off, len(off)))
        if on:
            yield say("configuration.on-at", plugin=plugin, points=listed(on, len(on)))
    usual = dict(default["score"])
    for plugin, weight in current["score"]:
        if usual.get(plugin, weight) != weight:
            yield say("configuration.weight", plugin=plugin, weight=weight, usual=usual[plugin])
    yield from _order(current, default)


def _points(plugins: Plugins) -> dict[str, tuple[str, ...]]:
    """Return plugin → the extension points at which it runs."""
    points_of: dict[str, tuple[str, ...]] = {}
    for point, running in plugins.items():
        for name, _ in running:
            points_of[name] = (*points_of.get(name, ()), point)
    return points_of


def _order(current: Plugins, default: Plugins) -> Iterator[str]:
    places: dict[str, list[str]] = {}
    for point, running in current.items():
        for plugin in moved((name for name, _ in running), (name for name, _ in default[point])):
            places.setdefault(plugin, []).append(titled(point))
    for plugin, points in places.items():
        yield say("configuration.moved", plugin=plugin, points=listed(points, len(points)))


def _settings(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return what holds for all profiles. The panel lists extenders, with all their fields."""
    return _flat({key: value for key, value in configuration.items() if key not in ("profiles", EXTENDERS)})


def _arguments(profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return plugin → its arguments; of one that expressions declare, only these."""
    return {config["name"]: _told(config.get("args") or {}) for config in profile.get("pluginConfig") or ()}


def _told(args: Mapping[str, Any]) -> Mapping[str, Any]:
    if not declares_expressions(args):
        return args
    return {name: value for name, value in args.items() if name not in TYPE_META}


def _flat(tree: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return path → value; a list is one value, and an empty mapping has none."""
    values: dict[str, Any] = {}
    for key, value in tree.items():
        place = f"{path}.{key}" if path else str(key)
        values |= _flat(value, place) if isinstance(value, Mapping) else {place: value}
    return values


def _changed(current: Mapping[str, Any], default: Mapping[str, Any]) -> Iterator[str]:
    for path in dict.fromkeys((*current, *default)):
        new, old = current.get(path), default.get(path)
        if new == old:
            continue
        if old is None:
            yield say("configuration.set", path=path, new=in_one_line(new))
        elif new is None:
            yield say("configuration.unset", path=path, old=in_one_line(old))
        else:
            yield say("configuration.changed", path=path, new=in_one_line(new), old=in_one_line(old))


def in_one_line(value: Any) -> str:
    """Return the value as YAML on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False, allow_unicode=True)
    return text.removesuffix("...\n").strip()
