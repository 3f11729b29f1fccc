"""The lesson of a sandbox, and predictions, as they are known beside the trace."""

from __future__ import annotations

from typing import Any, Protocol


class Teacher(Protocol):
    """Looks into the simulation only when somebody asks."""

    def part(self) -> dict[str, Any] | None:
        """The part of the lesson that is open; None where there is no lesson."""

    def prediction(self) -> dict[str, Any] | None:
        """What can be predicted now, what became of the last prediction, and the score."""


class Alone:
    """There is no lesson, and nothing is asked."""

    def part(self) -> dict[str, Any] | None:
        return None

    def prediction(self) -> dict[str, Any] | None:
        return None
