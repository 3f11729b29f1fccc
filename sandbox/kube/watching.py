"""Watches: what happened to the objects of a resource since a resource version.

The trace has every change of an object, in the order of their versions. If somebody went back, a watch sends how the
present objects differ from those that its client knows. Source: upstream
``apiserver/pkg/endpoints/handlers/watch.go`` and ``apiserver/pkg/storage/cacher``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sandbox.kube import tables
from sandbox.kube.history import MOST_BEHIND, Change, Manifest, Objects, changes_since, objects_at, objects_of
from sandbox.kube.list_options import check_reached, check_watch
from sandbox.kube.reading import AS_TABLE, TRUE, Request, Target, selected, target
from sandbox.kube.resources import ONLY_READ, READS
from sandbox.kube.statuses import failure, not_allowed
from sandbox.kube.versions import STEP, Told, Versions, with_version
from sandbox.panels.facts.version import rules_in
from sandbox.panels.model.world import World

ADDED, MODIFIED, DELETED, BOOKMARK, ERROR = "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"
INITIAL_EVENTS_END = "k8s.io/initial-events-end"


@dataclass(frozen=True, slots=True)
class News:
    """What a watch sends next, a line for each event, and the number up to which its client knows everything then.

    ``over``: it ends after them.
    """

    lines: tuple[str, ...]
    seen: int
    over: bool = False


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
        check_watch(request.query)
        seen = request.number("resourceVersion")
        if _begins_with_all(request.query, seen):
            check_reached(seen, versions)
            return _all(world, request, wanted, versions)
        seen = seen or versions.here
    if (version := versions.known(seen)) is not None:
        if versions.now - version > MOST_BEHIND:
            return _expired(seen, versions)
        since = changes_since(world, wanted.resource, version)
        numbered = [replace(change, number=versions.shown(change.number)) for change in since]
        return News(tuple(_lines(world, request, wanted, numbered)), versions.here)
    told = next((one for one in earlier if one.knows(seen, of_events)), None)
    if told is None:
        return _expired(seen, versions)
    return _after_turn(world, request, wanted, versions, objects_at(told.world, wanted.resource, seen % STEP))


def _begins_with_all(query: Mapping[str, str], number: int) -> bool:
    """Return True if a watch begins with all present objects. ``number``: the version that it asks for, 0 = none."""
    asked = query.get("sendInitialEvents")
    return not number if asked is None else asked.lower() not in ("0", "false")


def _all(world: World, request: Request, wanted: Target, versions: Versions) -> News:
    """Return the present objects as additions, and where they end if the client wants bookmarks."""
    kept = filter(selected(wanted, request.query, rules_in(world.configured)), _objects(world, wanted).values())
    lines = [_line(world, request, wanted, ADDED, versions.object(item)) for item in kept]
    if _wants_bookmarks(request):
        lines.append(_bookmark(wanted, versions.here, {INITIAL_EVENTS_END: "true"}))
    return News(tuple(lines), versions.here)


def _wants_bookmarks(request: Request) -> bool:
    return request.query.get("allowWatchBookmarks", "").lower() in TRUE


def _expired(seen: int, versions: Versions) -> News:
    """End a watch of which nobody knows any longer what its client knows."""
    status = failure(410, f"too old resource version: {seen} ({versions.here})")
    return News((_event(ERROR, status),), versions.here, over=True)


def _after_turn(world: World, request: Request, wanted: Target, versions: Versions, old: Objects) -> News:
    """Return how the present objects differ from those that a client knows, because somebody went back."""
    # Those that were changed after the turn come last: a client can go on from their numbers.
    differing = sorted(_differences(old, _objects(world, wanted), versions), key=lambda change: change.number)
    lines = [*_lines(world, request, wanted, differing)]
    if _wants_bookmarks(request):
        lines.append(_bookmark(wanted, versions.here, {}))
    return News(tuple(lines), versions.here)


def _differences(old: Objects, new: Objects, versions: Versions) -> Iterator[Change]:
    """Yield a change for each object that differs. One that another took the place of goes first."""
    turn = versions.shown(0)
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        number = turn if after is None else versions.shown(int(after["metadata"]["resourceVersion"]))
        if before is None or after is None:
            yield Change(number, key, before, after)
        elif before["metadata"].get("uid") != after["metadata"].get("uid"):
            yield Change(turn, key, before, None)
            yield Change(number, key, None, after)
        elif before is not after and with_version(before, 0) != with_version(after, 0):
            yield Change(number, key, before, after)


def _lines(world: World, request: Request, wanted: Target, changes: Iterable[Change]) -> Iterator[str]:
    """Yield a line for each change that enters, stays in or leaves the selection."""
    keeps = selected(wanted, request.query, rules_in(world.configured))
    for change in changes:
        before = change.before is not None and keeps(change.before)
        after = change.after is not None and keeps(change.after)
        if before or after:
            kind = (MODIFIED if before else ADDED) if after else DELETED
            manifest = (change.after if after else change.before) or {}
            yield _line(world, request, wanted, kind, with_version(manifest, change.number))


def _objects(world: World, wanted: Target) -> Objects:
    """Return the objects of a resource by key, in the order of a list."""
    return dict(sorted(objects_of(world, wanted.resource).items()))


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
