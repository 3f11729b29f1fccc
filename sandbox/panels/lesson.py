"""The lesson beside the workbench, and predictions outside a lesson."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.world import World
from sandbox.panels.view import View


def stats(world: World, view: View) -> dict[str, Any]:
    """Return ``lesson``: the open part, None without a lesson; ``prediction``: None while predicting is off or in the
    past.
    """
    lesson = world.lesson.part()
    predicts = bool(view.predict) and world.present is None
    return {
        "lesson": lesson,
        "prediction": world.lesson.prediction() if predicts else None,
        "past": world.present is not None,
    }
