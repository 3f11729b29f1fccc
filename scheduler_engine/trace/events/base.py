"""The base of all trace events."""

from __future__ import annotations

Verdict = tuple[str, str, tuple[str, ...]]
"""(plugin, code, reasons)"""


class Event:
    """Base of all trace events; the class name is the event's type in JSON."""

    __slots__ = ()
