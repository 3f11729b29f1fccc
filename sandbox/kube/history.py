"""The objects of a resource now, earlier, and what changed between: from the trace, in the order of versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandbox.kube.events import event_key, recorded_event, recorded_events
from sandbox.kube.resources import Resource
from sandbox.kube.revisions import KIND, controller_revisions
from sandbox.panels.model.world import World
from scheduler_engine.trace.events import Entry, ObjectAdded, ObjectDeleted, ObjectModified

Manifest = Mapping[str, Any]
Objects = dict[str, Any]
"""Key → manifest."""

MOST_BEHIND = 20_000
"""Changes that a client may be behind. Beyond that it must list again."""
CHANGES = (ObjectAdded, ObjectModified, ObjectDeleted)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one object. ``before`` and ``after``: None if it did not exist, or does not any more."""

    number: int
    key: str
    before: Manifest | None
    after: Manifest | None


def objects_of(world: World, resource: Resource) -> Mapping[str, Manifest]:
    """Return the present objects of a resource by key."""
    if resource.kind == "Event":
        return recorded_events(world, resource.group)
    if resource.kind == KIND:
        return controller_revisions(world)
    return world.objects.get(resource.kind, {})


def objects_at(world: World, resource: Resource, version: int) -> Objects:
    """Return the objects of a resource as they were at a version of a history."""
    objects = dict(objects_of(world, resource))
    for change in reversed(changes_since(world, resource, version)):
        if change.before is None:
            objects.pop(change.key, None)
        else:
            objects[change.key] = change.before
    return objects


def changes_since(world: World, resource: Resource, version: int) -> Sequence[Change]:
    """Return the changes of a resource after a version, oldest first."""
    if resource.kind == "Event":
        return _events_since(world, version, resource.group)
    return _objects_since(world, version, resource.kind)


def _backwards(world: World) -> Iterator[tuple[int, Entry]]:
    """Yield version and entry of each change, the newest first."""
    version = world.object_changes
    for entry in reversed(world.entries):
        if isinstance(entry.event, CHANGES):
            yield version, entry
            version -= 1


def _objects_since(world: World, version: int, kind: str) -> Sequence[Change]:
    """Return the changes of a kind after a version, oldest first. One pass back finds what was before them."""
    found = list[Change]()
    lacking: dict[str, int] = {}
    """Key → the place in ``found`` of its change that has no ``before`` yet."""
    for number, entry in _backwards(world):
        if number <= version and not lacking:
            break
        event = entry.event
        if not isinstance(event, CHANGES) or event.kind != kind:
            continue
        after = None if isinstance(event, ObjectDeleted) else event.manifest
        if (place := lacking.pop(event.key, None)) is not None:
            found[place] = replace(found[place], before=after)
        if number > version:
            if not isinstance(event, ObjectAdded):
                lacking[event.key] = len(found)
            found.append(Change(number, event.key, None, after))
    return found[::-1]


def _events_since(world: World, length: int, group: str) -> Sequence[Change]:
    """Return the Kubernetes events recorded since the trace had this length. One that repeats is modified."""
    changes: list[Change] = []
    for number in range(len(world.kube_events), 0, -1):
        recorded = world.kube_events[number - 1]
        if recorded.last <= length:
            break
        after = recorded_event(world, number, group)
        changes.append(Change(recorded.last, event_key(after), after if recorded.first <= length else None, after))
    return changes[::-1]
