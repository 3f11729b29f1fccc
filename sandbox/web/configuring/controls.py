"""The content of the controls of a configuration, for ``fragments/configuration_controls.html``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.panels.configuration.differences import differences, titled
from sandbox.web.configuring import extenders
from sandbox.web.configuring.edits import SETTINGS, Usual, strategy_of, usual
from sandbox.web.configuring.expressions import shown
from sandbox.web.presets.expressions import EXAMPLES
from sandbox.web.presets.extenders import EXTENDERS
from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine.config import Configuration, Profile
from scheduler_engine.config.validation_pluginargs import SCORING_STRATEGIES
from scheduler_engine.errors import FieldError
from scheduler_engine.versions import Rules

SAYS = {
    "percentageOfNodesToScore": "configuration.percentage",
    "podInitialBackoffSeconds": "configuration.initial-backoff",
    "podMaxBackoffSeconds": "configuration.max-backoff",
}
STRATEGY_SAYS = {
    "LeastAllocated": "configuration.least-allocated",
    "MostAllocated": "configuration.most-allocated",
    "RequestedToCapacityRatio": "configuration.ratio",
}


HINTS = {
    "preFilter": "configuration.of-pre-filter",
    "filter": "configuration.of-filter",
    "message": "configuration.of-message",
    "messageExpression": "configuration.of-message-expression",
    "score": "configuration.of-score",
    "permit": "configuration.of-permit",
    "permitTimeoutSeconds": "configuration.of-permit-timeout",
    "prioritize": "configuration.of-prioritize",
    "preempt": "configuration.of-preempt",
    "bind": "configuration.of-bind",
    "failure": "configuration.of-failure",
    "answersAfterSeconds": "configuration.of-answers-after",
}
"""Field of a plugin or an extender → what belongs there."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A value that the engine refused, and the errors to show beside its control."""

    value: str
    errors: tuple[FieldError, ...]


def controls(configuration: Configuration, index: int, refusals: Mapping[str, Refusal], rules: Rules) -> dict[str, Any]:
    """Return the content of the controls. ``index``: the profile in view; the last one if there are fewer.

    ``refusals``: by control.
    """
    index = max(0, min(index, len(configuration.profiles) - 1))
    profile = configuration.profiles[index]
    known = usual(rules)
    strategy = strategy_of(configuration, index, known)
    return {
        "index": index,
        "profiles": [other.scheduler_name for other in configuration.profiles],
        "settings": [
            {"name": name, "value": configuration.defaulted[name], "says": say(SAYS[name])} for name in SETTINGS
        ],
        "percentage": profile.percentage_of_nodes_to_score,
        "strategies": SCORING_STRATEGIES,
        "strategy": {
            "type": strategy["type"],
            "says": say(STRATEGY_SAYS[strategy["type"]]),
            "resources": strategy["resources"],
            "shape": strategy.get("requestedToCapacityRatio", {}).get("shape", []),
        },
        "plugins": [_plugin(profile, name, known) for name in known.points],
        "own": own_plugins(configuration.source, index, profile),
        "examples": EXAMPLES,
        "hints": {field: say(key) for field, key in HINTS.items()},
        "extenders": extenders.shown(configuration.source or {}),
        "extender_examples": EXTENDERS,
        "differs": differences(
            configuration.defaulted, [(other.scheduler_name, other.plugins) for other in configuration.profiles], rules
        ),
        "refusals": refusals,
    }


def own_plugins(manifest: Any, index: int, profile: Profile) -> list[dict[str, Any]]:
    """Return the controls of the plugins that a profile declares by expressions."""
    running = {name: 0 for plugins in profile.plugins.values() for name, _ in plugins} | dict(profile.plugins["score"])
    profiles = (manifest or {}).get("profiles") or [{}]
    return shown(profiles[index] or {}, running)


def _plugin(profile: Profile, name: str, known: Usual) -> dict[str, Any]:
    """Return the controls of a plugin. ``weight`` is None if the plugin does not run at Score."""
    running = [point for point, plugins in profile.plugins.items() if name in dict(plugins)]
    shown = [titled(point) for point in running or known.points[name]]
    off = [titled(point) for point in known.points[name] if point not in running]
    return {
        "name": name,
        "on": bool(running),
        "points": listed(shown, len(shown)),
        "off": say("configuration.not-at", points=listed(off, len(off))) if running and off else "",
        "weighs": name in known.weights,
        "weight": dict(profile.plugins["score"]).get(name),
        "usual": known.weights.get(name),
    }
