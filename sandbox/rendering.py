"""Panels as HTML, rendered once per state of a sandbox and parameters, however many browsers look on."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string

from sandbox.live import Live, Position, StateGone, live
from sandbox.models import Sandbox
from sandbox.panels import PANELS
from sandbox.panels.view import View
from sandbox.panels.world import World

log = logging.getLogger(__name__)

NOT_SHOWN = (
    '<section id="panel-{panel}" class="panel"><p class="err" role="alert">'
    "This panel cannot be shown for the present state. The error is logged; the other panels work.</p></section>"
)


@dataclass(frozen=True, slots=True)
class Fragment:
    """A panel's HTML and a digest of it, by which a browser's stock is compared."""

    html: str
    digest: bytes


class FragmentCache:
    """The most recently used fragments, up to ``limit`` characters in all."""

    def __init__(self) -> None:
        self.fragments: OrderedDict[tuple[Any, ...], Fragment] = OrderedDict()
        self.size = 0
        self.lock = Lock()

    def get(self, key: tuple[Any, ...]) -> Fragment | None:
        with self.lock:
            fragment = self.fragments.get(key)
            if fragment is not None:
                self.fragments.move_to_end(key)
            return fragment

    def put(self, key: tuple[Any, ...], fragment: Fragment, limit: int) -> None:
        with self.lock:
            old = self.fragments.pop(key, None)
            self.size += len(fragment.html) - (len(old.html) if old else 0)
            self.fragments[key] = fragment
            while self.size > limit and len(self.fragments) > 1:
                self.size -= len(self.fragments.popitem(last=False)[1].html)


cache = FragmentCache()


def render_panel(panel_id: str, simulation: Live, view: View, can_edit: bool) -> str:
    """One panel of the world as it stands."""
    stats = PANELS[panel_id].stats(simulation.world, view)
    return render_to_string(f"panels/{panel_id}.html", {**stats, "can_edit": can_edit})


def fragments(
    sandbox: Sandbox, view: View, panels: Iterable[str], can_edit: bool, at: Position | None = None
) -> dict[str, Fragment]:
    """Panel id → fragment, all of one state: ``at`` if all of them are still in the cache, else the present one."""
    panels = [panel for panel in panels if panel in PANELS]
    if at is not None:
        known = {panel: cache.get(_key(sandbox, at, panel, view, can_edit)) for panel in panels}
        if all(known.values()):
            return {panel: fragment for panel, fragment in known.items() if fragment}
    simulation = live(sandbox)
    with simulation.lock:
        position = _move_to_present(sandbox, simulation)
        return {panel: _fragment(sandbox, position, panel, simulation, view, can_edit) for panel in panels}


def _move_to_present(sandbox: Sandbox, simulation: Live) -> Position:
    while True:
        sandbox.refresh_from_db(fields=["state", "head", "length", "revision"])
        position = Position.of(sandbox)
        try:
            simulation.move_to(position)
        except StateGone:
            continue  # Another worker was quicker: the row tells the new present.
        return position


def _fragment(
    sandbox: Sandbox, position: Position, panel: str, simulation: Live, view: View, can_edit: bool
) -> Fragment:
    key = _key(sandbox, position, panel, view, can_edit)
    fragment = cache.get(key)
    if fragment is None:
        try:
            html = render_panel(panel, simulation, view, can_edit)
        except Exception:
            log.exception("panel %s of sandbox %s cannot be shown at command %s", panel, sandbox.pk, position.head)
            html = NOT_SHOWN.format(panel=panel)
        fragment = Fragment(html, blake2b(html.encode(), digest_size=16).digest())
        cache.put(key, fragment, settings.FRAGMENT_CACHE_CHARACTERS)
    return fragment


def _key(sandbox: Sandbox, position: Position, panel: str, view: View, can_edit: bool) -> tuple[Any, ...]:
    chosen = tuple(getattr(view, field) for field in PANELS[panel].depends_on_view)
    return (sandbox.pk, position, panel, chosen, can_edit)


@contextmanager
def present_live(sandbox: Sandbox) -> Iterator[Live]:
    """The simulation as it is now; while it is held, nobody in this process changes it but the holder."""
    simulation = live(sandbox)
    with simulation.lock:
        _move_to_present(sandbox, simulation)
        yield simulation


@contextmanager
def present(sandbox: Sandbox) -> Iterator[World]:
    """The world of ``present_live``."""
    with present_live(sandbox) as simulation:
        yield simulation.world
