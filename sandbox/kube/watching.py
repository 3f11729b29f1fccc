"""Watches: what happened to the objects of a resource since a resource version.

The trace has every change of an object, in the order of their resource versions. Source: upstream
``apiserver/pkg/endpoints/handlers/watch.go`` and ``apiserver/pkg/storage/cacher``.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandbox.kube import tables
from sandbox.kube.reading import AS_TABLE, Request, Target, recorded_event, recorded_events, selected, target
from sandbox.kube.statuses import failure, not_allowed
from sandbox.panels.model.world import World
from scheduler_engine.trace.events import Entry, ObjectAdded, ObjectDeleted, ObjectModified

Manifest = Mapping[str, Any]

ADDED, MODIFIED, DELETED, BOOKMARK, ERROR = "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
MOST_BEHIND = 20_000
"""Changes that a watch may be behind. Beyond that its client must list again."""
CHANGES = (ObjectAdded, ObjectModified, ObjectDeleted)


@dataclass(frozen=True, slots=True)
class Seen:
    """How far a watch has come. ``version``: the resource version; of events, the length of the trace.

    ``last``: a checksum of the change that made this version, to notice if the history has become another one.
    """

    version: int
    last: int = 0


@dataclass(frozen=True, slots=True)
class News:
    """What a watch sends next, a line for each event, and how far it has come then. ``over``: it ends after them."""

    lines: tuple[str, ...]
    seen: Seen
    over: bool = False


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of one object. ``before`` and ``after``: None if it did not exist, or does not any more."""

    version: int
    before: Manifest | None
    after: Manifest | None


def news(world: World, request: Request, resource_version: int, seen: Seen | None) -> News:
    """Return what a watch sends. ``seen``: how far it has come, None = it begins. Raises ``Refused``."""
    wanted = target(request.path)
    if wanted.name or wanted.subresource:
        raise not_allowed()
    of_events = wanted.resource.kind == "Event"
    now = len(world.entries) if of_events else resource_version
    lines: list[str] = []
    if seen is None:
        asked = request.query.get("resourceVersion", "")
        begins = request.query.get("sendInitialEvents") == "true" or asked in ("", "0")
        if begins:
            lines = [_line(world, request, wanted, ADDED, item) for item in _present(world, request, wanted)]
            if request.query.get("sendInitialEvents") == "true":
                lines.append(_bookmark(wanted, now, {INITIAL_EVENTS_END: "true"}))
            return News(tuple(lines), _seen(world, now, now, of_events))
        seen = Seen(request.number("resourceVersion"))
    elif seen.version > now or seen.last != _seen(world, seen.version, now, of_events).last:
        return _expired(seen.version, now)
    if seen.version > now or now - seen.version > MOST_BEHIND:
        return _expired(seen.version, now)
    since = _events_since(world, seen.version) if of_events else _changes_since(world, wanted, seen.version, now)
    keeps = selected(wanted, request.query)
    for change in since:
        before = change.before is not None and keeps(change.before)
        after = change.after is not None and keeps(change.after)
        if before or after:
            kind = (MODIFIED if before else ADDED) if after else DELETED
            manifest = change.after if after else {**(change.before or {}), "metadata": _at(change)}
            lines.append(_line(world, request, wanted, kind, manifest or {}))
    return News(tuple(lines), _seen(world, now, now, of_events))


def _expired(version: int, now: int) -> News:
    """End a watch whose history is gone: somebody went back, and did something else."""
    status = failure(410, f"too old resource version: {version} ({now})")
    return News((_event(ERROR, status),), Seen(now), over=True)


def _at(change: _Change) -> Manifest:
    """Return the metadata of a deleted object, whose resource version is that of its deletion."""
    return {**(change.before or {}).get("metadata", {}), "resourceVersion": str(change.version)}


def _present(world: World, request: Request, wanted: Target) -> Iterator[Manifest]:
    keeps = selected(wanted, request.query)
    items = recorded_events(world) if wanted.resource.kind == "Event" else world.objects.get(wanted.resource.kind, {})
    return (manifest for _, manifest in sorted(items.items()) if keeps(manifest))


# --- from the trace ---


def _backwards(world: World, now: int) -> Iterator[tuple[int, Entry]]:
    """Yield resource version and entry of each change, the newest first."""
    version = now
    for entry in reversed(world.entries):
        if isinstance(entry.event, CHANGES):
            yield version, entry
            version -= 1


def _seen(world: World, version: int, now: int, of_events: bool) -> Seen:
    """Return how far a watch at ``version`` has come in the present history."""
    if of_events:
        entry = world.entries[version - 1] if version else None
        return Seen(version, _checksum(entry))
    found = next((entry for number, entry in _backwards(world, now) if number <= version), None)
    return Seen(version, _checksum(found))


def _checksum(entry: Entry | None) -> int:
    return 0 if entry is None else zlib.crc32(f"{entry.at_us} {entry.command} {entry.event!r}".encode())


def _changes_since(world: World, wanted: Target, version: int, now: int) -> Sequence[_Change]:
    """Return the changes of a resource after a version, oldest first. One pass back finds what was before them."""
    kind, found = wanted.resource.kind, list[_Change]()
    lacking: dict[str, int] = {}
    """Key → the place in ``found`` of its change that has no ``before`` yet."""
    for number, entry in _backwards(world, now):
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


def _events_since(world: World, length: int) -> Sequence[_Change]:
    """Return the Kubernetes events recorded since the trace had this length. One that repeats is modified."""
    changes: list[_Change] = []
    for number in range(len(world.kube_events), 0, -1):
        recorded = world.kube_events[number - 1]
        if recorded.last <= length:
            break
        after = recorded_event(world, number)
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
