"""The base of all trace events."""

from __future__ import annotations

from typing import ClassVar

Verdict = tuple[str, str, tuple[str, ...]]
"""(plugin, code, reasons)"""


class Event:
    """Base of all trace events; the class name is the event's type in JSON.

    ``LATER`` names fields that were added later. JSON has them only where they differ from their default, so that
    earlier traces stay the same.
    """

    __slots__ = ()
    LATER: ClassVar[tuple[str, ...]] = ()
