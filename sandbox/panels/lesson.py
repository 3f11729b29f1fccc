"""The lesson beside the workbench, and predictions outside a lesson."""

from __future__ import annotations

from typing import Any

from sandbox.panels.model.world import World
from sandbox.panels.view import View


def stats(world: World, view: View) -> dict[str, Any]:
    """Return ``lesson``: the open part, None without a lesson; ``prediction``: None while it is off or in the past."""
    predicts = bool(view.predict) and world.present is None
    return {
        "lesson": world.lesson.part(),
        "prediction": world.lesson.prediction() if predicts else None,
        "past": world.present is not None,
    }
