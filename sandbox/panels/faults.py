"""Faults that were injected and have not happened yet, with who injected them; and faults that can be injected."""

from __future__ import annotations

from typing import Any

from sandbox.panels.facts.faulty import POINTS, pending_fault
from sandbox.panels.model.state import Fault
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.words.amounts import seconds, short_name
from sandbox.words.say import say
from scheduler_engine.framework.faults import ANSWERS, NORMALIZE, OPEN_TO_ALL

WORDS = {"error": "faults.error", "deny": "faults.deny", "wait": "faults.wait", "late": "faults.late"}
LASTING = ("wait", "late")
"""Answers that have a duration."""
DELAYS = {"wait": "faults.holds-up", "late": "faults.not-heard-of"}
DEFAULT_SECONDS = 10


def stats(world: World, view: View) -> dict[str, Any]:
    return {"faults": [_row(world, fault) for fault in world.faults.values()]}


def _row(world: World, fault: Fault) -> dict[str, Any]:
    wish = fault.wish
    left = seconds(max(0, fault.until_us - world.clock_us))
    delay = say(DELAYS.get(wish.answer, DELAYS["wait"]), pod=short_name(fault.pod), left=left)
    return {
        "number": wish.number,
        "plugin": wish.plugin,
        "text": pending_fault(fault),
        "held": delay if fault.pod else "",
        "who": world.people.get(wish.number, ""),
    }


def choices(world: World, point: str, profile: str) -> dict[str, Any]:
    """Return what the form offers for an extension point of a profile; unknown names become the first one.

    Permit and PostBind can be broken with any plugin of the profile: the default one has none there.
    """
    profiles = dict(world.configured.profiles) if world.configured else {}
    profile = profile if profile in profiles else next(iter(profiles), "")
    points = {name: [plugin for plugin, _ in plugins] for name, plugins in profiles.get(profile, ())}
    normalizing = world.configured.normalizing if world.configured else ()
    points[NORMALIZE] = [plugin for plugin in points.get("score", ()) if plugin in normalizing]
    all_plugins = dict.fromkeys(plugin for plugins in points.values() for plugin in plugins)
    plugins_at = {name: points.get(name) or (list(all_plugins) if name in OPEN_TO_ALL else []) for name in ANSWERS}
    point = point if point in ANSWERS else "bind"
    return {
        "profiles": list(profiles),
        "profile": profile,
        "points": [(name, title) for name, title in POINTS.items() if plugins_at[name]],
        "point": point,
        "plugins": plugins_at[point],
        "answers": [(answer, say(WORDS[answer])) for answer in ANSWERS[point]],
        "seconds": DEFAULT_SECONDS,
        "binders": points.get("bind", []),
        "permitters": points.get("permit") or list(points.get("filter", [])),
    }
