"""The job that draws panels."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.panels.view import View
from sandbox.storage.records import Position
from sandbox.worker import rendering
from sandbox.worker.job import reading
from sandbox.worker.live import Live, StateGone
from sandbox.worker.rendering import Fragment


@reading
def fragments(
    live: Live,
    position: Position,
    view: View,
    panels: Sequence[str],
    can_edit: bool,
    follow: bool,
    held: dict[str, bytes],
    expected_at: int | None = None,
    at_hand: bool = False,
) -> dict[str, Fragment]:
    """Panel → fragment, of ``position``; one whose digest is ``held`` comes without its HTML.

    ``expected_at``: of the place that is shown, None = not known. ``at_hand``: raise ``StateGone`` rather than replay.
    """
    if at_hand and not live.stands_at(position):
        raise StateGone(position)
    live.look_up_expected(expected_at)
    found = rendering.fragments(live, position, view, panels, can_edit, follow)
    return {panel: made.unless(held.get(panel)) for panel, made in found.items()}
