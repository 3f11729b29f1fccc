"""What is expected of a run, as it is known beside the trace: by those who look at it, and by its scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

HERE, BEHIND, AHEAD, UNDONE = PLACES = ("here", "behind", "ahead", "undone")
"""Where an expectation stands, seen from the moment that is looked at; undone: in no part of the log any more."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An expectation, and whether the exported test would find that it holds.

    ``key``: by which it is removed, 0 for one of the scenario, whose place in the file is ``path``. ``text``: as in a
    file. ``moment``: where it stands, "" where nothing is known of that yet. ``counts``: an export of the moment that
    is looked at has it. ``wrong``: what such a test finds instead, at the expectation's own moment, in words.
    ``differs``: what is otherwise at the moment that is looked at; None: it could not be looked at.
    """

    key: int
    path: str
    text: str
    n: int
    moment: str
    place: str
    wrong: tuple[str, ...]
    who: str = ""
    counts: bool = True
    differs: tuple[str, ...] | None = ()

    @property
    def red(self) -> bool:
        """The exported test would fail."""
        return self.counts and bool(self.wrong)


class Watch(Protocol):
    """Looks at expectations only when somebody asks."""

    def outcomes(self) -> list[Outcome]:
        """All of them, in the order of their moments."""

    def red(self) -> int:
        """How many make the exported test fail."""


class Nothing:
    """Nothing is expected."""

    def outcomes(self) -> list[Outcome]:
        return []

    def red(self) -> int:
        return 0
