"""A moment: a place in the trace at which the engine stood between two steps, and its address."""

from __future__ import annotations

import re
from dataclasses import dataclass

WRITTEN = re.compile(r"(\d{1,9})\.(\d{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Moment:
    """After so many ``entries`` of the trace of command ``command``. Command 0 is what a sandbox begins with."""

    command: int
    entries: int

    def __str__(self) -> str:
        return f"{self.command}.{self.entries}"

    @classmethod
    def read(cls, text: str) -> Moment | None:
        """As it is written; None: it is none."""
        found = WRITTEN.fullmatch(text)
        return cls(int(found[1]), int(found[2])) if found else None
