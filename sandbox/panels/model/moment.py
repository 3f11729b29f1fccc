"""A moment: a place in the trace at which the engine stopped between two steps, and its address."""

from __future__ import annotations

import re
from dataclasses import dataclass

WRITTEN = re.compile(r"(\d{1,9})\.(\d{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Moment:
    """The moment after ``entries`` entries of the trace of command ``command``. Command 0 is the start of a sandbox."""

    command: int
    entries: int

    def __str__(self) -> str:
        return f"{self.command}.{self.entries}"

    @classmethod
    def read(cls, text: str) -> Moment | None:
        """Return the moment of a text such as ``12.40``, None if it is not one."""
        match = WRITTEN.fullmatch(text)
        return cls(int(match[1]), int(match[2])) if match else None
