"""Lines that fit into a terminal of 80 columns."""

from __future__ import annotations

from textwrap import wrap

WIDTH = 80


def wrapped(text: str, start: str, width: int = WIDTH, rest: str | None = None) -> list[str]:
    """Return the text in lines that fit. ``start`` begins the first one, ``rest`` the others; None: they align with it.

    No word is broken: a name may be copied.
    """
    others = " " * len(start) if rest is None else rest
    return wrap(
        text, width, initial_indent=start, subsequent_indent=others, break_long_words=False, break_on_hyphens=False
    )
