"""The lesson of a sandbox, and predictions. They are not in the trace."""

from __future__ import annotations

from typing import Any, Protocol


class Teacher(Protocol):
    """Reads the lesson and looks into the simulation, but only when asked. The answers here are those without both."""

    def part(self) -> dict[str, Any] | None:
        """Return the open part of the lesson, None in a sandbox without a lesson."""
        return None

    def prediction(self) -> dict[str, Any] | None:
        """Return the current question, the result of the last prediction, and the score."""
        return None


class Alone(Teacher):
    """A sandbox without a lesson or questions."""
