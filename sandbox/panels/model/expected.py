"""Expectations of a run, by people and by its scenario. They are not in the trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

HERE, BEHIND, AHEAD, UNDONE = PLACES = ("here", "behind", "ahead", "undone")
"""Where an expectation is, seen from the moment in view; undone: in no part of the log any more."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An expectation, and whether the exported test would find it true.

    ``key``: identifies it for removal, 0 for an expectation of the scenario, which is at ``path`` in the file.
    ``text``: as in a file. ``n``: number of the command that it follows. ``moment``: its address, "" if not known yet.
    ``place``: one of ``PLACES``. ``counts``: an export of the moment in view contains it. ``wrong``: what such a test
    would find instead at the expectation's own moment, in words. ``differs``: what is different at the moment in view;
    None: that could not be checked.
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
        """Return True if the exported test would fail."""
        return self.counts and bool(self.wrong)


class Watch(Protocol):
    """Checks expectations, but only when asked. The answers here are those without expectations."""

    def outcomes(self) -> list[Outcome]:
        """Return the outcomes of all expectations, in the order of their moments."""
        return []

    def red(self) -> int:
        """Return how many expectations make the exported test fail."""
        return 0


class Nothing(Watch):
    """A watch without expectations."""
