"""The lesson beside the workbench, and the predictions that somebody makes of his own accord."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.world import World
from sandbox.panels.view import View


def stats(world: World, view: View) -> dict[str, Any]:
    """``lesson``: the open part, None in a sandbox without a lesson. ``prediction``: None while nobody predicts."""
    lesson = world.lesson.part()
    predicts = bool(view.predict) and world.present is None
    return {
        "lesson": lesson,
        "prediction": world.lesson.prediction() if predicts else None,
        "past": world.present is not None,
    }
