"""A log that cannot be replayed to its end: where it stops, and why."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.words.say import say


@dataclass(frozen=True, slots=True)
class Stuck:
    """The number of the first ``command`` that fails, and the engine's ``reason``. The page shows what precedes it.

    ``differs``: the command works, but is decided differently than before.
    """

    command: int
    reason: str
    differs: bool = False

    @property
    def text(self) -> str:
        """Return in words which command stops the log, and why."""
        key = "decided-differently" if self.differs else "cannot-be-repeated"
        return f"{say(f'sentence.{key}', command=self.command)} {self.reason.removesuffix('.')}."
