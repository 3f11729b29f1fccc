"""How entries tell what a command applied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.panels.model.applied import Applied
from sandbox.panels.model.base import Models
from sandbox.panels.model.folding.eviction_log import tell
from scheduler_engine.trace import events as ev


def commanded(world: Models, entry: ev.Entry, event: ev.CommandGiven) -> None:
    world.given = Applied() if event.kind == "apply" else None
    if world.given is not None:
        tell(world, entry, "applied", world.given)


def added(world: Models, entry: ev.Entry, event: ev.ObjectAdded) -> None:
    if world.given is not None:
        world.given.written[event.kind, event.key] = "added"


def modified(world: Models, entry: ev.Entry, event: ev.ObjectModified) -> None:
    if world.given is not None:
        world.given.written.setdefault((event.kind, event.key), "changed")


def applied(world: Models, entry: ev.Entry, event: ev.ObjectApplied) -> None:
    if world.given is not None:
        named = event.kind, event.key
        world.given.objects[named] = world.given.written.get(named, "unchanged")


APPLIERS: dict[type[ev.Event], Callable[[Models, ev.Entry, Any], None]] = {
    ev.CommandGiven: commanded,
    ev.ObjectAdded: added,
    ev.ObjectModified: modified,
    ev.ObjectApplied: applied,
}
