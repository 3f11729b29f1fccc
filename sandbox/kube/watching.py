"""Watches: what happened to the objects of a resource since a resource version.

The trace has every change of an object, in the order of their versions. If somebody went back, a watch sends how the
present objects differ from those that its client knows. Source: upstream
``apiserver/pkg/endpoints/handlers/watch.go`` and ``apiserver/pkg/storage/cacher``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandbox.kube import tables
from sandbox.kube.events import recorded_event, recorded_events
from sandbox.kube.reading import AS_TABLE, Request, Target, selected, target
from sandbox.kube.resources import ONLY_READ, READS
from sandbox.kube.statuses import failure, not_allowed
from sandbox.kube.versions import STEP, Told, Versions, with_version
from sandbox.panels.model.world import World
from scheduler_engine.trace.events import Entry, ObjectAdded, ObjectDeleted, ObjectModified

Manifest = Mapping[str, Any]
Objects = dict[str, Any]
"""Key → manifest."""

ADDED, MODIFIED, DELETED, BOOKMARK, ERROR = "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
MOST_BEHIND = 20_000
"""Changes that a watch may be behind. Beyond that its client must list again."""
CHANGES = (ObjectAdded, ObjectModified, ObjectDeleted)


@dataclass(frozen=True, slots=True)
class News:
    """What a watch sends next, a line for each event, and the number up to which its client knows everything then.

    ``over``: it ends after them.
    """

    lines: tuple[str, ...]
    seen: int
    over: bool = False


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of one object. ``before`` and ``after``: None if it did not exist, or does not any more."""

    number: int
    before: Manifest | None
    after: Manifest | None


def news(
    world: World, request: Request, turns: str = "", seen: int | None = None, earlier: Sequence[Told] = ()
) -> News:
    """Return what a watch sends. Raises ``Refused``.

    ``turns``: as ``models.Sandbox.turns``. ``seen``: up to which number its client knows everything, None = the watch
    begins. ``earlier``: histories that somebody left by going back.
    """
    wanted = target(request.path)
    if wanted.name or wanted.subresource or "watch" not in ONLY_READ.get(wanted.resource.kind, READS):
        raise not_allowed()
    of_events = wanted.resource.kind == "Event"
    versions = (Versions.of_trace if of_events else Versions.of_objects)(world, turns)
    if seen is None:
        asked, initial = request.query.get("resourceVersion", ""), request.query.get("sendInitialEvents") == "true"
        if initial or asked in ("", "0"):
            kept = filter(selected(wanted, request.query), _objects(world, wanted).values())
            lines = [_line(world, request, wanted, ADDED, versions.object(item)) for item in kept]
            if initial:
                lines.append(_bookmark(wanted, versions.here, {INITIAL_EVENTS_END: "true"}))
            return News(tuple(lines), versions.here)
        seen = request.number("resourceVersion")
    if (version := versions.known(seen)) is not None:
        if versions.now - version > MOST_BEHIND:
            return _expired(seen, versions)
        since = _events_since(world, wanted, version) if of_events else _changes_since(world, wanted, version)
        numbered = [replace(change, number=versions.shown(change.number)) for change in since]
        return News(tuple(_lines(world, request, wanted, numbered)), versions.here)
    told = next((one for one in earlier if one.knows(seen, of_events)), None)
    if told is None:
        return _expired(seen, versions)
    return _after_turn(world, request, wanted, versions, _objects_at(told.world, wanted, seen % STEP))


def _expired(seen: int, versions: Versions) -> News:
    """End a watch of which nobody knows any longer what its client knows."""
    status = failure(410, f"too old resource version: {seen} ({versions.here})")
    return News((_event(ERROR, status),), versions.here, over=True)


def _after_turn(world: World, request: Request, wanted: Target, versions: Versions, old: Objects) -> News:
    """Return how the present objects differ from those that a client knows, because somebody went back."""
    # Those that were changed after the turn come last: a client can go on from their numbers.
    differing = sorted(_differences(old, _objects(world, wanted), versions), key=lambda change: change.number)
    lines = [*_lines(world, request, wanted, differing)]
    if request.query.get("allowWatchBookmarks") == "true":
        lines.append(_bookmark(wanted, versions.here, {}))
    return News(tuple(lines), versions.here)


def _differences(old: Objects, new: Objects, versions: Versions) -> Iterator[_Change]:
    """Yield a change for each object that differs. One that another took the place of goes first."""
    turn = versions.shown(0)
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        number = turn if after is None else versions.shown(int(after["metadata"]["resourceVersion"]))
        if before is None or after is None:
            yield _Change(number, before, after)
        elif before["metadata"].get("uid") != after["metadata"].get("uid"):
            yield _Change(turn, before, None)
            yield _Change(number, None, after)
        elif before is not after and with_version(before, 0) != with_version(after, 0):
            yield _Change(number, before, after)


def _lines(world: World, request: Request, wanted: Target, changes: Iterable[_Change]) -> Iterator[str]:
    """Yield a line for each change that enters, stays in or leaves the selection."""
    keeps = selected(wanted, request.query)
    for change in changes:
        before = change.before is not None and keeps(change.before)
        after = change.after is not None and keeps(change.after)
        if before or after:
            kind = (MODIFIED if before else ADDED) if after else DELETED
            manifest = (change.after if after else change.before) or {}
            yield _line(world, request, wanted, kind, with_version(manifest, change.number))


def _objects(world: World, wanted: Target) -> Objects:
    """Return the objects of a resource by key, in the order of a list."""
    resource = wanted.resource
    of_events = resource.kind == "Event"
    items = recorded_events(world, resource.group) if of_events else world.objects.get(resource.kind, {})
    return dict(sorted(items.items()))


# --- from the trace ---


def _objects_at(world: World, wanted: Target, version: int) -> Objects:
    """Return the objects of a resource as they were at a version of a history."""
    objects = _objects(world, wanted)
    of_events = wanted.resource.kind == "Event"
    since = _events_since(world, wanted, version) if of_events else _changes_since(world, wanted, version)
    for change in reversed(since):
        key = _key(change.before or change.after or {})
        if change.before is None:
            objects.pop(key, None)
        else:
            objects[key] = change.before
    return objects


def _key(manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


def _backwards(world: World) -> Iterator[tuple[int, Entry]]:
    """Yield version and entry of each change, the newest first."""
    version = world.object_changes
    for entry in reversed(world.entries):
        if isinstance(entry.event, CHANGES):
            yield version, entry
            version -= 1


def _changes_since(world: World, wanted: Target, version: int) -> Sequence[_Change]:
    """Return the changes of a resource after a version, oldest first. One pass back finds what was before them."""
    kind, found = wanted.resource.kind, list[_Change]()
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
            found.append(_Change(number, None, after))
    return found[::-1]


def _events_since(world: World, wanted: Target, length: int) -> Sequence[_Change]:
    """Return the Kubernetes events recorded since the trace had this length. One that repeats is modified."""
    changes: list[_Change] = []
    for number in range(len(world.kube_events), 0, -1):
        recorded = world.kube_events[number - 1]
        if recorded.last <= length:
            break
        after = recorded_event(world, number, wanted.resource.group)
        changes.append(_Change(recorded.last, after if recorded.first <= length else None, after))
    return changes[::-1]


# --- lines ---


def _line(world: World, request: Request, wanted: Target, kind: str, manifest: Manifest) -> str:
    if AS_TABLE not in request.accept:
        return _event(kind, manifest)
    include = request.query.get("includeObject", "Metadata")
    return _event(kind, tables.table(wanted.resource.kind, [manifest], world.clock_us, include))


def _bookmark(wanted: Target, version: int, annotations: Mapping[str, str]) -> str:
    metadata = {"resourceVersion": str(version), "annotations": dict(annotations)}
    resource = wanted.resource
    return _event(BOOKMARK, {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata})


def _event(kind: str, manifest: Manifest) -> str:
    return json.dumps({"type": kind, "object": manifest}, separators=(",", ":")) + "\n"
