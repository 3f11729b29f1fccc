"""Somebody's own plugins: check them, find them by name, and enable them. A site for others never loads any.

Source: upstream ``cmd/kube-scheduler/app`` (out-of-tree registries) and ``framework/runtime/registry.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from random import Random
from typing import Any

from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.cache.snapshot import Snapshot
from scheduler_engine.config.build import not_built
from scheduler_engine.config.schema import API_VERSION, KIND
from scheduler_engine.config.types import Configuration
from scheduler_engine.errors import Rejected
from scheduler_engine.framework.events_registry import queueing_hint_map
from scheduler_engine.framework.extender_calls import NO_CALLS, ExtenderCalls
from scheduler_engine.framework.extension_points import EXTENSION_POINTS
from scheduler_engine.framework.guarding import guard, unguarded
from scheduler_engine.framework.interface import Handle, NoNominations, PluginError
from scheduler_engine.framework.interface import Plugin as AnyPlugin
from scheduler_engine.framework.runtime import Framework
from scheduler_engine.plugin_api import Plugin
from scheduler_engine.plugins.registry import registry_for
from scheduler_engine.trace.events import Recorder
from scheduler_engine.versions import VERSIONS, Rules, rules_for
from scheduler_engine.words import say

GROUP = "scheduler_sandbox.plugins"
"""The group of the entry points of installed plugins."""
IN_TREE = frozenset(name for version in VERSIONS for name in registry_for(rules_for(version)))

PARTNERS = {"reserve": "unreserve"}
"""Method → the method that a plugin with it needs."""


@dataclass(frozen=True, slots=True)
class OwnPlugins:
    """``named``: those that somebody named, by an argument or an option. ``installed``: other entry points.
    ``extenders``: the way to extenders, which are plugins in a process of their own.
    """

    named: tuple[type[AnyPlugin], ...] = ()
    installed: tuple[type[AnyPlugin], ...] = ()
    extenders: ExtenderCalls = NO_CALLS

    @property
    def known(self) -> tuple[type[AnyPlugin], ...]:
        """Return all that a configuration may name."""
        return self.named + self.installed

    def default_configuration(self) -> dict[str, Any] | None:
        """Return the configuration where none is given: it enables the named plugins. None: there are none."""
        return enabling(self.named) if self.named else None


NO_PLUGINS = OwnPlugins()


def checked(plugins: Iterable[type[AnyPlugin]]) -> tuple[type[AnyPlugin], ...]:
    """Return the plugins, each once. Raises Rejected for what is not a plugin, and for a name that is taken."""
    by_name: dict[str, type[AnyPlugin]] = {}
    for plugin in plugins:
        problem = _problem(plugin)
        if problem:
            raise Rejected(problem)
        if by_name.setdefault(plugin.name, plugin) is not plugin:
            raise Rejected(_taken(plugin))
        guard(plugin)  # A decorator or a test may have replaced methods.
    return tuple(by_name.values())


def _problem(plugin: Any) -> str:
    """Return what is wrong with a class as a plugin, "" if nothing is."""
    if not (isinstance(plugin, type) and issubclass(plugin, Plugin)):
        return say("refusals.not-a-plugin", plugin=getattr(plugin, "__qualname__", repr(plugin)))
    title = plugin.__qualname__
    missing = {*plugin.__abstractmethods__, *_missing_partners(plugin)}
    if missing:
        return say("refusals.unfinished-plugin", plugin=title, methods=", ".join(sorted(missing)))
    if others := unguarded(plugin):
        return say("refusals.not-methods", plugin=title, methods=", ".join(others))
    name: Any = plugin.name
    if not (isinstance(name, str) and name):
        return say("refusals.nameless-plugin", plugin=title)
    if plugin.name in IN_TREE:
        return _taken(plugin)
    if not any(hasattr(plugin, method) for method in EXTENSION_POINTS.values()):
        return say("refusals.pointless-plugin", plugin=title)
    return ""


def _missing_partners(plugin: type) -> Iterator[str]:
    """Yield methods that a plugin needs because it has another one."""
    return (needed for method, needed in PARTNERS.items() if hasattr(plugin, method) and not hasattr(plugin, needed))


def _taken(plugin: type[AnyPlugin]) -> str:
    return say("refusals.plugin-name-taken", plugin=plugin.__qualname__, name=plugin.name)


def try_out(configuration: Configuration, api: ApiServer, rules: Rules) -> None:
    """Create all plugins of a configuration once, in vain. Raises Rejected, with Kubernetes' words, if one fails."""
    for profile in configuration.profiles:
        handle = Handle(Snapshot(), api, api, NoNominations(), Recorder(full=False), Random(0), rules=rules)
        try:
            queueing_hint_map(Framework(profile, profile.registry, handle).plugins.values())
        except PluginError as problem:
            raise not_built(profile.scheduler_name, problem) from problem


def enabling(plugins: Sequence[type[AnyPlugin]]) -> dict[str, Any]:
    """Return the default configuration with these plugins enabled at all their extension points, with weight 1."""
    enabled = [{"name": plugin.name} for plugin in plugins]
    profile = {"schedulerName": "default-scheduler", "plugins": {"multiPoint": {"enabled": enabled}}}
    return {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}


def plugin_at(place: str) -> type[AnyPlugin]:
    """Return the plugin at ``module:Class``. Raises Rejected when there is none, and when its module fails."""
    module_name, colon, name = place.partition(":")
    if not (module_name and colon and name):
        raise Rejected(say("refusals.not-a-place", place=repr(place)))
    try:
        found: Any = import_module(module_name)
        for part in name.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as problem:
        raise Rejected(say("refusals.plugin-not-loaded", place=place, problem=_line(problem))) from problem
    problem_text = _problem(found)
    if problem_text:
        raise Rejected(say("refusals.plugin-not-loaded", place=place, problem=problem_text))
    plugin: type[AnyPlugin] = found
    return plugin


def _line(problem: BaseException) -> str:
    """Return an exception in one line."""
    return " ".join(f"{type(problem).__name__}: {problem}".split())


def load(places: Sequence[str]) -> OwnPlugins:
    """Load the plugins at these places, and all installed ones. Raises Rejected."""
    named = checked(map(plugin_at, places))
    found = checked([*named, *(plugin_at(point.value) for point in sorted(entry_points(group=GROUP)))])
    return OwnPlugins(named, found[len(named) :])
