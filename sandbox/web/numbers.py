"""Whole numbers in forms and queries."""

from __future__ import annotations

KEY_DIGITS = 18
"""The longest primary key."""


def whole_number(text: str, digits: int) -> int | None:
    """Return a number of at most ``digits`` ASCII digits, None if the text is anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None
