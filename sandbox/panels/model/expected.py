"""What is expected of a run, as it is known beside the trace: by those who look at it, and by its scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

HERE, BEHIND, AHEAD, UNDONE = PLACES = ("here", "behind", "ahead", "undone")
"""Where an expectation stands, seen from the moment that is looked at; undone: in no part of the log any more."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An expectation, and what became of it at the moment that is looked at.

    ``key``: by which it is removed, 0 for one of the scenario, whose place in the file is ``path``. ``text``: as in a
    file. ``moment``: where it stands, "" where nothing is known of that yet. ``wrong``: what was found instead, in
    words; None: it could not be looked at. ``counts``: who looks at this moment should know when it does not hold.
    """

    key: int
    path: str
    text: str
    n: int
    moment: str
    place: str
    wrong: tuple[str, ...] | None
    who: str = ""
    counts: bool = True

    @property
    def red(self) -> bool:
        return bool(self.wrong)


class Watch(Protocol):
    """Looks at expectations only when somebody asks."""

    def outcomes(self) -> list[Outcome]:
        """All of them, in the order of their moments."""

    def red(self) -> int:
        """How many of those that count do not hold."""


class Nothing:
    """Nothing is expected."""

    def outcomes(self) -> list[Outcome]:
        return []

    def red(self) -> int:
        return 0
