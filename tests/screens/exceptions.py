"""Intended findings of `measure.js`. Each row says why. Delete a row that nothing needs any more."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Allowed:
    rule: str
    where: str
    """A selector of the element, or of one that contains it."""
    reason: str


EXCEPTIONS: tuple[Allowed, ...] = (
    Allowed("reach", "#panel-ribbon", "the ribbon scrolls to the present stage automatically"),
    Allowed("reach", "#scroll-time", "the timeline scrolls to the present automatically"),
    Allowed("reach", ".tree-s", "the nodeTree is as wide as its largest zone"),
    Allowed("reach", "#scroll-nd-list", "on a phone the list of nodes is one line to swipe"),
    Allowed("reach", "#configuration-drawer .presets", "on a phone the presets are one line to swipe"),
    Allowed("reach", ".mx.grpd, .mx.sc", "on a phone one swipes a table of numbers; its first column stays"),
    Allowed("short", ".bar .scenario", "a press on it shows the whole title"),
    Allowed("headings", ".zone-h h3", "zones differ at the end of their names, so the beginning is cut"),
)
