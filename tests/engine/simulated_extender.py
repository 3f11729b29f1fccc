"""Configurations with simulated extenders, for tests."""

from __future__ import annotations

from typing import Any

from tests.engine.own_plugin import KIND

URL = "simulated://racks"
VERBS = {"filter": "filterVerb", "prioritize": "prioritizeVerb", "preempt": "preemptVerb", "bind": "bindVerb"}


def extender(simulated: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return an extender of names of nodes, with a verb for each of its expressions."""
    verbs = {verb: name for name, verb in VERBS.items() if name in simulated}
    weight = {"weight": 2} if "prioritize" in simulated else {}
    base = {"urlPrefix": URL, "nodeCacheCapable": True, **verbs, **weight}
    return base | fields | {"simulated": simulated}


def extended(*extenders: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a configuration with these extenders."""
    return KIND | {"extenders": [*extenders], **more}


def answering(**simulated: Any) -> dict[str, Any]:
    """Return a configuration with one extender."""
    return extended(extender(simulated))
