"""The change of each control in a manifest. A control changes only its own part; the engine judges the result."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass

from sandbox.panels.configuration.differences import defaults
from sandbox.web.configuring.expressions import EXPRESSION_EDITS
from sandbox.web.configuring.extenders import EXTENDER_EDITS
from sandbox.web.configuring.manifests import Manifest, append_named, named, number, put_member, put_named, set_member
from sandbox.words.say import say
from scheduler_engine.config import Configuration, load_configuration
from scheduler_engine.config.default_plugins import default_plugins
from scheduler_engine.config.defaults import DEFAULT_SCHEDULER_NAME
from scheduler_engine.config.schema import schema_for
from scheduler_engine.errors import Rejected
from scheduler_engine.versions import Rules

FIT = "NodeResourcesFit"
RATIO = "RequestedToCapacityRatio"
SHAPE = ({"utilization": 0, "score": 0}, {"utilization": 100, "score": 10})
"""The initial shape of the strategy, which must have one: fuller nodes score higher."""

ROWS = tuple(str(row) for row in range(1000))


@dataclass(frozen=True, slots=True)
class Usual:
    """What the default profile has under some rules. ``points``: plugin → the extension points at which it runs.

    ``weights``: plugin → its weight at ``score``. ``strategy``: the scoring strategy of NodeResourcesFit. ``sets``: the
    lists of plugins that a profile may have.
    """

    points: Mapping[str, tuple[str, ...]]
    weights: Mapping[str, int]
    strategy: Manifest
    sets: tuple[str, ...]


def usual(rules: Rules) -> Usual:
    """Return what is usual under these rules."""
    profile = defaults(rules).profiles[0]
    points = {
        name: tuple(point for point, running in profile.plugins.items() if name in dict(running))
        for name, _ in default_plugins(rules)
    }
    sets = schema_for(rules).plugin_sets
    return Usual(points, dict(profile.plugins["score"]), profile.args[FIT]["scoringStrategy"], sets)


def edit(manifest: Manifest, profile: int, control: str, value: str, rules: Rules) -> Manifest:
    """Return a manifest with ``value`` in ``control`` (``name`` or ``name:argument``), for one profile or for all.

    ``manifest`` is one that the engine accepts; it is not changed. An empty value means the default. Raise ``Rejected``
    for an unknown control or profile.
    """
    result, known = deepcopy(manifest), usual(rules)
    name, _, argument = control.partition(":")
    profiles = _profiles(result)
    if not 0 <= profile < len(profiles):
        raise Rejected(say("errors.no-profile"))
    if name in SETTINGS:
        set_member(result, name, value, before=("profiles",))
        return result
    if name in EXTENDER_EDITS:
        EXTENDER_EDITS[name](result, argument, value)
        return result
    if name in PROFILE_EDITS:
        PROFILE_EDITS[name](profiles, profile, value)
    elif name in PLUGIN_EDITS and argument in known.points:
        PLUGIN_EDITS[name](profiles[profile], argument, value, known)
    elif name in EXPRESSION_EDITS:
        EXPRESSION_EDITS[name](profiles[profile], argument, value)
    elif name in STRATEGY_EDITS:
        strategy = strategy_of(load_configuration(manifest, rules), profile, known)
        try:
            STRATEGY_EDITS[name](strategy, ROWS.index(argument or "0"), value)
        except (ValueError, IndexError):
            raise Rejected(say("errors.no-row")) from None
        _put_strategy(profiles[profile], strategy, known)
    else:
        raise Rejected(say("errors.no-control"))
    if profiles != _profiles(manifest):
        result["profiles"] = profiles
    return result


def strategy_of(configuration: Configuration, profile: int, known: Usual) -> Manifest:
    """Return the scoring strategy in force, with its defaults; the default one if NodeResourcesFit does not run."""
    args = configuration.profiles[profile].args.get(FIT)
    return deepcopy(args["scoringStrategy"] if args else known.strategy)


SETTINGS = ("percentageOfNodesToScore", "podInitialBackoffSeconds", "podMaxBackoffSeconds")


def _profiles(manifest: Manifest) -> list[Manifest]:
    return [profile or {} for profile in manifest.get("profiles") or [{}]]


def _rename(profiles: list[Manifest], index: int, value: str) -> None:
    put_member(profiles[index], "schedulerName", value, tuple(profiles[index]))


def _add_profile(profiles: list[Manifest], _index: int, value: str) -> None:
    """Add a profile. The first one then gets a name, because only a single profile may have none."""
    if "schedulerName" not in profiles[0]:
        _rename(profiles, 0, DEFAULT_SCHEDULER_NAME)
    profiles.append({"schedulerName": value})


PROFILE_EDITS: dict[str, Callable[[list[Manifest], int, str], object]] = {
    "schedulerName": _rename,
    "add-profile": _add_profile,
    "remove-profile": lambda profiles, index, _: profiles.pop(index),
    "profile-percentage": lambda profiles, index, value: set_member(
        profiles[index], "percentageOfNodesToScore", value, before=("plugins", "pluginConfig")
    ),
}


def _is_off(profile: Manifest, point: str, *names: str) -> bool:
    return any(item.get("name") in names for item in named(profile, point, "disabled"))


def _switch(profile: Manifest, plugin: str, value: str, known: Usual) -> None:
    """Turn a plugin off for an empty value, else on at all of its default extension points."""
    removed = "disabled" if value else "enabled"
    for point in known.sets:
        items = [item for item in named(profile, point, removed) if item.get("name") != plugin]
        put_named(profile, point, removed, items)
    if not value:
        if not _is_off(profile, "multiPoint", plugin, "*"):
            append_named(profile, "multiPoint", "disabled", {"name": plugin})
        return
    for point in ("multiPoint", *known.points[plugin]):
        on = any(item.get("name") == plugin for item in named(profile, point, "enabled"))
        if _is_off(profile, point, "*") and not on:
            append_named(profile, point, "enabled", _entry(plugin, point, known))


def _entry(plugin: str, point: str, known: Usual) -> Manifest:
    """Return the entry of a plugin, with its default weight where weights count: without one it would be 1."""
    weighs = plugin in known.weights and point in ("multiPoint", "score")
    return {"name": plugin} | ({"weight": known.weights[plugin]} if weighs else {})


def _weigh(profile: Manifest, plugin: str, value: str, known: Usual) -> None:
    """Set the weight at ``score`` if the plugin is listed there, because that one wins; else at ``multiPoint``."""
    weight = number(value) if value else known.weights.get(plugin, 1)
    at_score = any(item.get("name") == plugin for item in named(profile, "score", "enabled"))
    point = "score" if at_score else "multiPoint"
    items = named(profile, point, "enabled")
    if not any(item.get("name") == plugin for item in items):
        items.append({"name": plugin})
    items = [{**item, "weight": weight} if item.get("name") == plugin else item for item in items]
    if point == "multiPoint" and not _is_off(profile, point, plugin, "*"):
        items = [item for item in items if item != _entry(plugin, point, known)]
    put_named(profile, point, "enabled", items)


PLUGIN_EDITS: dict[str, Callable[[Manifest, str, str, Usual], None]] = {"plugin": _switch, "weight": _weigh}


def _put_strategy(profile: Manifest, strategy: Manifest, known: Usual) -> None:
    """Write a strategy without its defaults. Remove the plugin's arguments if they become empty."""
    default = known.strategy
    left = {key: item for key, item in strategy.items() if key == "type" or item != default.get(key)}
    configs = [config or {} for config in profile.get("pluginConfig") or ()]
    entry = next((config for config in configs if config.get("name") == FIT), None)
    if entry is None:
        entry = {"name": FIT}
        configs.append(entry)
    args = {**(entry.get("args") or {}), "scoringStrategy": left}
    if left == {"type": default["type"]}:
        del args["scoringStrategy"]
    entry["args"] = args
    profile["pluginConfig"] = [config for config in configs if config is not entry or args]
    if not profile["pluginConfig"]:
        del profile["pluginConfig"]


def _strategy_type(strategy: Manifest, _row: int, value: str) -> None:
    strategy["type"] = value
    if value == RATIO:
        strategy.setdefault("requestedToCapacityRatio", {"shape": deepcopy(list(SHAPE))})
    else:
        strategy.pop("requestedToCapacityRatio", None)


def _shape(strategy: Manifest) -> list[Manifest]:
    return strategy.get("requestedToCapacityRatio", {}).get("shape", [])


def _add_point(strategy: Manifest, _row: int, value: str) -> None:
    """Add a point at its place by utilization, with the score of the point before it."""
    points, utilization = _shape(strategy), number(value)
    place = len(points)
    if isinstance(utilization, int):
        place = bisect_left([point["utilization"] for point in points], utilization)
    score = points[place - 1]["score"] if place else 0
    points.insert(place, {"utilization": utilization, "score": score})


STRATEGY_EDITS: dict[str, Callable[[Manifest, int, str], object]] = {
    "strategy": _strategy_type,
    "resource-name": lambda strategy, row, value: strategy["resources"][row].update(name=value),
    "resource-weight": lambda strategy, row, value: set_member(strategy["resources"][row], "weight", value),
    "add-resource": lambda strategy, _, value: strategy["resources"].append({"name": value, "weight": 1}),
    "remove-resource": lambda strategy, row, _: strategy["resources"].pop(row),
    "point-utilization": lambda strategy, row, value: _shape(strategy)[row].update(utilization=number(value or "0")),
    "point-score": lambda strategy, row, value: _shape(strategy)[row].update(score=number(value or "0")),
    "add-point": _add_point,
    "remove-point": lambda strategy, row, _: _shape(strategy).pop(row),
}
