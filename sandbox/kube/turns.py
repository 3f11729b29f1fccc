"""When somebody went back in a sandbox, and how many commands of its log were left then.

The history after a turn has the commands before it and others. So a number that was given out before it, such as a
resource version, still means the same only if it is of a command that every later turn has left.
"""

from __future__ import annotations

from dataclasses import dataclass

MOST = 50
"""Turns that are stored. Beyond that, the two oldest count as one."""


@dataclass(frozen=True, slots=True)
class Turn:
    """``revision``: that of the sandbox after it. ``left``: how many commands it left in the log."""

    revision: int
    left: int


def read_turns(text: str) -> tuple[Turn, ...]:
    """Return the turns that a text has, oldest first. Each leaves more commands than those before it."""
    pairs = (pair.split(":") for pair in text.split())
    return tuple(Turn(int(revision), int(left)) for revision, left in pairs)


def with_turn(text: str, turn: Turn) -> str:
    """Return the text with one more turn. Those that left as many commands or more do not matter any longer."""
    turns = [*(one for one in read_turns(text) if one.left < turn.left), turn]
    while len(turns) > MOST:
        turns[:2] = [Turn(turns[1].revision, turns[0].left)]
    return " ".join(f"{one.revision}:{one.left}" for one in turns)
