"""The sandboxes whose home is this web process: where its last change left each of them.

So the next change needs no query for the place. The change itself checks if the sandbox is still there.

The web process that changes a sandbox is its home. The proxy sends all requests and live lines of a sandbox to one web
process. When processes are added or removed, it moves some sandboxes, once: the new home replays them. Live lines stay
where they are connected, though. So after a few changes by another web process, they are closed, and connect again by
way of the proxy. If changes still come from elsewhere, the proxy does not do its part, and the log says so.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from uuid import UUID

from sandbox.storage.models import Sandbox
from sandbox.storage.records import Place

log = logging.getLogger(__name__)

MOST = 10_000
"""Sandboxes that are remembered. The least recently changed one makes room."""
MOVES_AFTER, ASTRAY_AFTER = 3, 10
"""Changes by other web processes to one sandbox after which its live lines move, and after which the log has a warning.
"""
WITHIN_SECONDS = 600.0
"""Only changes within this time count together. In it the live lines of a sandbox move once, and one warning is logged.
"""
ASTRAY = (
    "several web processes change the same sandbox; each replays the changes of the others, which about doubles the "
    "CPU time. Let the proxy choose the web process by the id in the path, for pages, API and live lines alike: see "
    "“Behind nginx” in docs/scaling-out.md"
)


@dataclass(slots=True)
class Home:
    """A sandbox that this process changed or shows. ``place``: after its last change here, None = it did not change it.

    ``strays``: number of changes by others since ``since``, up to ``revision``. ``moved``: when its live lines moved.
    """

    place: Place | None = None
    strays: int = 0
    since: float = 0.0
    revision: int = 0
    moved: float = float("-inf")


_homes: OrderedDict[UUID, Home] = OrderedDict()
_guard = Lock()
_warned = float("-inf")


def note_change(sandbox_id: UUID, place: Place) -> None:
    """Remember the place of a sandbox after a change by this process."""
    with _guard:
        _home(sandbox_id).place = place


def newest_place(sandbox: Sandbox) -> Place:
    """Return the newest known place of a sandbox: as its row was read, or as a change by this process left it."""
    read = Place.of(sandbox)
    with _guard:
        home = _homes.get(sandbox.pk)
        if home is None or home.place is None:
            return read
        if home.place.revision < read.revision:
            _count(home, read.revision)
            return read
        return home.place


def note_stray(sandbox_id: UUID, revision: int, connected: float) -> bool:
    """Note a change by another web process to a sandbox that has a live line here, connected at ``connected``.

    Return True if the live line should move: connect again by way of the proxy.
    """
    with _guard:
        home = _home(sandbox_id)
        _count(home, revision)
        if home.strays < MOVES_AFTER:
            return False
        now = time.monotonic()
        if now - home.moved > WITHIN_SECONDS:
            home.moved = now
        return connected < home.moved


def _home(sandbox_id: UUID) -> Home:
    home = _homes.setdefault(sandbox_id, Home())
    _homes.move_to_end(sandbox_id)
    if len(_homes) > MOST:
        _homes.popitem(last=False)
    return home


def _count(home: Home, revision: int) -> None:
    """Count a change by another web process, once for all who notice it. Warn if there are too many."""
    global _warned
    if revision <= home.revision:
        return
    now, home.revision = time.monotonic(), revision
    if now - home.since > WITHIN_SECONDS:
        home.strays, home.since = 0, now
    home.strays += 1
    if home.strays >= ASTRAY_AFTER and now - _warned > WITHIN_SECONDS:
        _warned = now
        log.warning(ASTRAY)
