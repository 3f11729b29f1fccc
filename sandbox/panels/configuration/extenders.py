"""The extenders of a configuration: when each is asked, and which settings and expressions it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.panels.configuration.differences import in_one_line
from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine.config.extenders import timeout_of

WHEN = {
    "filterVerb": "configuration.asked-after-filter",
    "prioritizeVerb": "configuration.asked-for-scores",
    "preemptVerb": "configuration.asked-about-candidates",
    "bindVerb": "configuration.asked-to-bind",
}
APART = ("urlPrefix", *WHEN)
"""Fields that are not among the settings: the name and what is said in words."""


def shown(configuration: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the extenders in the order in which they are asked: those that are ignorable come last."""
    extenders = sorted(configuration.get("extenders", ()), key=lambda item: bool(item.get("ignorable")))
    return [_shown(item) for item in extenders]


def _shown(extender: Mapping[str, Any]) -> dict[str, Any]:
    when = [say(key) for verb, key in WHEN.items() if extender.get(verb)]
    rest = {name: value for name, value in extender.items() if name not in (*APART, "simulated")}
    settings = {**extender.get("simulated", {}), **rest, "httpTimeout": timeout_of(extender)}
    return {
        "name": extender["urlPrefix"],
        "when": say("configuration.asked", when=listed(when, len(when))) if when else say("configuration.never-asked"),
        "settings": [
            (name, value if isinstance(value, str) else in_one_line(value)) for name, value in settings.items()
        ],
    }
