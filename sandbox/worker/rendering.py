"""Draws panels as HTML, once per state of a sandbox and parameters, for any number of browsers."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from threading import RLock
from typing import Any
from uuid import UUID

from django.conf import settings
from django.template.loader import render_to_string

from sandbox.panels import PANELS
from sandbox.panels.facts.stages import tab_for
from sandbox.panels.model.world import World
from sandbox.panels.view import View
from sandbox.storage.records import Position
from sandbox.words.say import say
from sandbox.worker.expecting import JudgedExpectations
from sandbox.worker.lessons.desk import Desk
from sandbox.worker.live import Live
from sandbox.worker.witness import LiveWitness

log = logging.getLogger(__name__)

MOST_LOOKS = 4
"""Views of one sandbox that are remembered, to draw ahead what their browsers will ask for."""
AHEAD_SECONDS = 0.03
"""CPU seconds. A view that took longer is not drawn ahead: its next drawing then counts for the one who asks."""
MOST_DRAWN = 16
"""Panels of one simulation that are cached while their data does not change."""
NOT_SHOWN = '<section id="panel-{panel}" class="panel"><p class="err" role="alert">{sentence}</p></section>'


@dataclass(frozen=True, slots=True)
class Fragment:
    """A panel's HTML and its digest, which tells if a browser already has this HTML."""

    html: str
    digest: bytes

    @classmethod
    def of(cls, html: str) -> Fragment:
        return cls(html, blake2b(html.encode(), digest_size=16).digest())

    def unless(self, digest: bytes | None) -> Fragment:
        """Return the fragment, without its HTML if the browser's ``digest`` is the same."""
        return Fragment("", self.digest) if self.digest == digest else self


class FragmentCache:
    """A cache of the most recently used fragments, limited by their characters."""

    def __init__(self) -> None:
        self.fragments: OrderedDict[tuple[Any, ...], Fragment] = OrderedDict()
        self.size = 0
        self.lock = RLock()

    def get(self, key: tuple[Any, ...]) -> Fragment | None:
        with self.lock:
            fragment = self.fragments.get(key)
            if fragment is not None:
                self.fragments.move_to_end(key)
            return fragment

    def forget(self, sandbox_id: UUID) -> None:
        """Drop the fragments of one sandbox, and count again: a signal may have interrupted ``put``."""
        with self.lock:
            others = {key: fragment for key, fragment in self.fragments.items() if key[0] != sandbox_id}
            self.fragments = OrderedDict(others)
            self.size = sum(len(fragment.html) for fragment in others.values())

    def put(self, key: tuple[Any, ...], fragment: Fragment, limit: int) -> None:
        with self.lock:
            old = self.fragments.pop(key, None)
            self.size += len(fragment.html) - (len(old.html) if old else 0)
            self.fragments[key] = fragment
            while self.size > limit and len(self.fragments) > 1:
                self.size -= len(self.fragments.popitem(last=False)[1].html)


cache = FragmentCache()


def render_panel(panel_id: str, world: World, view: View, can_edit: bool) -> str:
    """Return the HTML of a panel of a world."""
    stats = PANELS[panel_id].stats(world, view)
    return render_to_string(f"panels/{panel_id}.html", {**stats, "can_edit": can_edit})


def fragments(
    live: Live, position: Position, view: View, panels: Iterable[str], can_edit: bool, follow: bool = False
) -> dict[str, Fragment]:
    """Return panel id → fragment, all of the state at ``position``. Raises ``StateGone``.

    ``follow``: add the tab that shows the current stage.
    """
    look = (view, tuple(panel for panel in panels if panel in PANELS), can_edit, follow)
    cached = _cached(live, position, *look)
    start = time.thread_time()
    drawn = cached or _draw_all(live, position, *look)
    _, before = live.looks.pop(look, (position, 0.0))
    live.looks[look] = position, before if cached else time.thread_time() - start
    if len(live.looks) > MOST_LOOKS:
        del live.looks[next(iter(live.looks))]
    return drawn


def draw_ahead(live: Live, before: Position, now: Position) -> None:
    """Draw the panels at ``now`` for the views that were last shown at ``before``: their browsers will ask for them."""
    for look, (shown, seconds) in live.looks.items():
        if shown == before and look[0].at is None and seconds < AHEAD_SECONDS:
            _draw_all(live, now, *look)


def _draw_all(
    live: Live, position: Position, view: View, panels: Sequence[str], can_edit: bool, follow: bool
) -> dict[str, Fragment]:
    live.move_to(position)
    world = world_in_view(live, view)
    if follow:
        tab = Fragment(tab_for(world.cycle_in_view(view.cycle)), b"")
        cache.put(_tab_key(live, position, view), tab, settings.FRAGMENT_CACHE_CHARACTERS)
        panels = _add_tab(panels, tab.html)
    return {panel: _fragment(live, world, position, panel, view, can_edit) for panel in panels}


def world_in_view(live: Live, view: View) -> World:
    """Return the world of the moment in view, with its expectations, witness and lesson."""
    world = live.at(view.at)
    world.look_at(view.replica)
    world.expected = JudgedExpectations(live, world, view.at, live.expecting)
    world.witness = LiveWitness(live, world, view.at)
    world.lesson = Desk(live, world, view.at, live.studied)
    return world


def _cached(
    live: Live, position: Position, view: View, panels: Sequence[str], can_edit: bool, follow: bool
) -> dict[str, Fragment] | None:
    """Return the fragments if all are in the cache, else None."""
    if follow:
        tab = cache.get(_tab_key(live, position, view))
        if tab is None:
            return None
        panels = _add_tab(panels, tab.html)
    keys = {panel: _key(live, position, panel, view, can_edit) for panel in panels}
    cached = {panel: fragment for panel, key in keys.items() if (fragment := cache.get(key))}
    return cached if len(cached) == len(panels) else None


def _tab_key(live: Live, position: Position, view: View) -> tuple[Any, ...]:
    return (live.plan.sandbox_id, position, view.at, view.cycle, view.replica)


def _add_tab(panels: Sequence[str], tab: str) -> Sequence[str]:
    return panels if tab in panels else [*panels, tab]


def _fragment(live: Live, world: World, position: Position, panel: str, view: View, can_edit: bool) -> Fragment:
    key = _key(live, position, panel, view, can_edit)
    fragment = cache.get(key)
    if fragment is None:
        try:
            fragment = _draw(panel, live, world, view, can_edit)
        except MemoryError:
            raise  # The error is about the sandbox, not about the panel.
        except Exception:
            log.exception("panel %s of sandbox %s cannot be shown at command %s", panel, key[0], position.head)
            fragment = Fragment.of(NOT_SHOWN.format(panel=panel, sentence=say("limits.panel")))
        cache.put(key, fragment, settings.FRAGMENT_CACHE_CHARACTERS)
    return fragment


def _draw(panel: str, live: Live, world: World, view: View, can_edit: bool) -> Fragment:
    """Return the panel as it was last drawn if its data has not changed since, else draw it."""
    same_while = PANELS[panel].same_while
    if same_while is None or world is not live.world:
        return Fragment.of(render_panel(panel, world, view, can_edit))
    reads = (panel, _view_key(panel, view), can_edit)
    now = same_while(world, view)
    before = live.drawn.get(reads)
    if before is not None and before[0] == now:
        return before[1]
    fragment = Fragment.of(render_panel(panel, world, view, can_edit))
    if len(live.drawn) >= MOST_DRAWN:
        live.drawn.clear()
    live.drawn[reads] = (now, fragment)
    return fragment


def _view_key(panel: str, view: View) -> tuple[Any, ...]:
    fields = (getattr(view, field) for field in PANELS[panel].depends_on_view)
    return (view.at, view.replica, view.lists_of(panel), *fields)


def _key(live: Live, position: Position, panel: str, view: View, can_edit: bool) -> tuple[Any, ...]:
    expected = (live.expecting, live.studied) if PANELS[panel].tells_expected else ()
    return (live.plan.sandbox_id, position, panel, _view_key(panel, view), can_edit, expected)
