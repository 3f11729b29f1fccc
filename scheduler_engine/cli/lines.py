"""Lines that fit into the terminal, and have 80 columns at most."""

from __future__ import annotations

import textwrap
from shutil import get_terminal_size

WIDEST = 80


def width() -> int:
    """Return how long a line may be: as wide as the terminal, at most 80."""
    return min(WIDEST, get_terminal_size((WIDEST, 0)).columns)


def wrap(text: str) -> list[str]:
    """Return the text in lines that fit."""
    return textwrap.wrap(text, width())


def wrapped(text: str, start: str, most: int | None = None, rest: str | None = None) -> list[str]:
    """Return the text in lines that fit, and have ``most`` columns at most.

    ``start`` begins the first one, ``rest`` the others; None: they align with it. No word is broken, so that names can
    be copied.
    """
    others = " " * len(start) if rest is None else rest
    return textwrap.wrap(
        text,
        width() if most is None else most,
        initial_indent=start,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )
