"""Fold entries into the result of the last apply command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandbox.panels.model.applied import Applied
from sandbox.panels.model.base import Models
from sandbox.panels.model.folding.eviction_log import record
from scheduler_engine.trace import events as ev


def commanded(world: Models, entry: ev.Entry, event: ev.CommandGiven) -> None:
    world.last_apply = Applied() if event.kind == "apply" else None
    if world.last_apply is not None:
        record(world, entry, "applied", world.last_apply)


def added(world: Models, entry: ev.Entry, event: ev.ObjectAdded) -> None:
    if world.last_apply is not None:
        world.last_apply.written[event.kind, event.key] = "added"


def modified(world: Models, entry: ev.Entry, event: ev.ObjectModified) -> None:
    if world.last_apply is not None:
        world.last_apply.written.setdefault((event.kind, event.key), "changed")


def applied(world: Models, entry: ev.Entry, event: ev.ObjectApplied) -> None:
    if world.last_apply is not None:
        identity = event.kind, event.key
        world.last_apply.objects[identity] = world.last_apply.written.get(identity, "unchanged")


APPLIERS: dict[type[ev.Event], Callable[[Models, ev.Entry, Any], None]] = {
    ev.CommandGiven: commanded,
    ev.ObjectAdded: added,
    ev.ObjectModified: modified,
    ev.ObjectApplied: applied,
}
