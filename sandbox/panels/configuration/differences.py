"""What differs from the default configuration, in sentences: both are compared as they are in force, with all defaults.

The comparison knows no setting by name, so that none is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Any

import yaml

from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine.config import Configuration, load_configuration

Plugins = Mapping[str, tuple[tuple[str, int], ...]]
"""Extension point → ((plugin, weight), …) in running order; the weight counts at ``score`` only."""


@dataclass(frozen=True, slots=True)
class Differences:
    """``called`` is the profile's heading, or that of what holds for all profiles; ``says`` is never empty."""

    called: str
    says: tuple[str, ...]


@cache
def defaults() -> Configuration:
    """What is in force when nobody configures anything."""
    return load_configuration(None)


def differences(configuration: Mapping[str, Any], profiles: Iterable[tuple[str, Plugins]]) -> list[Differences]:
    """``configuration`` is defaulted, ``profiles`` have their effective plugins. Empty: all is as by default."""
    running = dict(profiles)
    usual = defaults().defaulted
    whole = [*_changed(_settings(configuration), _settings(usual)), *_missing(list(running))]
    found = [Differences(say("configuration.whole"), tuple(whole))]
    for profile in configuration["profiles"]:
        name = profile["schedulerName"]
        found.append(Differences(say("configuration.profile", name=name), tuple(_of_profile(profile, running))))
    return [part for part in found if part.says]


def titled(point: str) -> str:
    """The extension point as its interface is called."""
    return f"{point[0].upper()}{point[1:]}"


def moved(given: Iterable[str], usual: Iterable[str]) -> list[str]:
    """Those of both whose place among the others is another one: as few as a comparison of the lists finds."""
    now, before = list(given), list(usual)
    now, before = [name for name in now if name in before], [name for name in before if name in now]
    blocks = SequenceMatcher(None, before, now, autojunk=False).get_matching_blocks()
    stayed = {name for block in blocks for name in now[block.b : block.b + block.size]}
    return [name for name in now if name not in stayed]


def _missing(names: list[str]) -> Iterator[str]:
    for usual in (profile.scheduler_name for profile in defaults().profiles):
        if usual not in names:
            yield say("configuration.no-profile", name=usual)


def _of_profile(profile: Mapping[str, Any], running: Mapping[str, Plugins]) -> Iterator[str]:
    name, usual = profile["schedulerName"], defaults().profiles[0]
    if name != usual.scheduler_name:
        yield say("configuration.profile-added")
    own = {key: value for key, value in profile.items() if key not in ("schedulerName", "plugins", "pluginConfig")}
    yield from _changed(own, {})
    yield from _plugins(running[name], usual.plugins)
    given = _arguments(profile)
    usual_arguments = _arguments(defaults().defaulted["profiles"][0])
    # A plugin that is off has no arguments, and that it is off is said already.
    yield from _changed(_flat(given), _flat({plugin: usual_arguments.get(plugin, {}) for plugin in given}))


def _plugins(given: Plugins, usual: Plugins) -> Iterator[str]:
    before, now = _points(usual), _points(given)
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
    yield from _weights(dict(given["score"]), dict(usual["score"]))
    yield from _order(given, usual)


def _points(plugins: Plugins) -> dict[str, tuple[str, ...]]:
    """Plugin → the extension points at which it runs."""
    found: dict[str, tuple[str, ...]] = {}
    for point, running in plugins.items():
        for name, _ in running:
            found[name] = (*found.get(name, ()), point)
    return found


def _weights(given: Mapping[str, int], usual: Mapping[str, int]) -> Iterator[str]:
    for plugin, weight in given.items():
        if plugin in usual and usual[plugin] != weight:
            yield say("configuration.weight", plugin=plugin, weight=weight, usual=usual[plugin])


def _order(given: Plugins, usual: Plugins) -> Iterator[str]:
    places: dict[str, list[str]] = {}
    for point, running in given.items():
        for plugin in moved((name for name, _ in running), (name for name, _ in usual[point])):
            places.setdefault(plugin, []).append(titled(point))
    for plugin, points in places.items():
        yield say("configuration.moved", plugin=plugin, points=listed(points, len(points)))


def _settings(configuration: Mapping[str, Any]) -> dict[str, Any]:
    return _flat({key: value for key, value in configuration.items() if key != "profiles"})


def _arguments(profile: Mapping[str, Any]) -> dict[str, Any]:
    return {config["name"]: config.get("args") or {} for config in profile.get("pluginConfig") or ()}


def _flat(tree: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Path → value; lists count as one value, and an empty mapping says nothing."""
    found: dict[str, Any] = {}
    for key, value in tree.items():
        place = f"{path}.{key}" if path else str(key)
        found |= _flat(value, place) if isinstance(value, Mapping) else {place: value}
    return found


def _changed(given: Mapping[str, Any], usual: Mapping[str, Any]) -> Iterator[str]:
    for path in dict.fromkeys((*given, *usual)):
        new, old = given.get(path), usual.get(path)
        if new == old:
            continue
        if old is None:
            yield say("configuration.set", path=path, new=_short(new))
        elif new is None:
            yield say("configuration.unset", path=path, old=_short(old))
        else:
            yield say("configuration.changed", path=path, new=_short(new), old=_short(old))


def _short(value: Any) -> str:
    """As YAML on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False)
    return text.removesuffix("...\n").strip()
