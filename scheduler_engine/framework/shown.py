"""Values of somebody's own plugin as texts that are the same in each run, and that a trace can hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
"""Where something is in memory, which is different in each run."""


def shown(how: Callable[[Any], str], value: Any) -> str:
    """Return what ``how``, ``str`` or ``repr``, says about a value; the name of its class if that fails."""
    try:
        return as_utf_8(ADDRESS.sub("", how(value)))
    except Exception:  # noqa: BLE001 – A class of a plugin's author may do anything.
        return type(value).__name__


def as_utf_8(text: str) -> str:
    """Return a text with half surrogate pairs written as escapes."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()
