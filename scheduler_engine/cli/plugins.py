"""The option for plugins of other authors, for every command that plays scenarios."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from scheduler_engine.own_plugins import OwnPlugins, load
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import Configured
from scheduler_engine.words import say


def with_plugins(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command the option ``--plugin``, and its function the argument ``plugins``."""

    @click.option(
        "--plugin",
        "places",
        metavar="MODULE:CLASS",
        multiple=True,
        help="Use this plugin of your own. You can repeat it. If the scenario has no configuration, it is enabled.",
    )
    @wraps(function)
    def with_loaded(*arguments: Any, places: Sequence[str], **options: Any) -> int:
        return function(*arguments, plugins=loaded(places), **options)

    return with_loaded


def note_unused(simulation: Simulation, own: OwnPlugins) -> None:
    """Say on standard error which of the plugins that somebody named were never enabled."""
    configured = (entry.event for entry in simulation.recorder.entries if isinstance(entry.event, Configured))
    enabled = {
        name for event in configured for _, points in event.profiles for _, plugins in points for name, _ in plugins
    }
    for plugin in own.named:
        if plugin.name not in enabled:
            click.echo(say("notes.plugin-not-enabled", plugin=plugin.name), err=True)


def loaded(places: Sequence[str]) -> OwnPlugins:
    """Return the plugins at these places, looked for in the working folder first, and the installed ones.

    Raises Rejected.
    """
    here = str(Path.cwd())
    if places and here not in sys.path:
        sys.path.insert(0, here)
    return load(places)
