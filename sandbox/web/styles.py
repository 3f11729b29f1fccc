"""Styles of panels: ``static/css/panels/<id>.css``, for each panel that needs its own."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from django.contrib.staticfiles import finders


def styled(panels: Iterable[str]) -> list[str]:
    """Return the panels that have a stylesheet, in order."""
    return [panel for panel in panels if _has_styles(panel)]


@cache
def _has_styles(panel: str) -> bool:
    return finders.find(f"css/panels/{panel}.css") is not None
