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
    digests: dict[str, bytes],
    expected_at: int | None = None,
    at_hand: bool = False,
) -> dict[str, Fragment]:
    """Return panel → fragment at ``position``, without its HTML if the browser's digest in ``digests`` is the same.

    ``expected_at``: that of the place, None = unknown. ``at_hand``: raise ``StateGone`` instead of replaying.
    """
    if at_hand and not live.is_at(position):
        raise StateGone(position)
    live.look_up_expected(expected_at)
    drawn = rendering.fragments(live, position, view, panels, can_edit, follow)
    return {panel: fragment.unless(digests.get(panel)) for panel, fragment in drawn.items()}
