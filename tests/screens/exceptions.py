"""What a rule of `measure.js` finds and is meant so. Each row says why; a row that nothing needs any more has to go."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Allowed:
    rule: str
    where: str
    """A selector of the element, or of one that holds it."""
    reason: str


EXCEPTIONS: tuple[Allowed, ...] = (
    Allowed("reach", "#panel-ribbon", "the ribbon scrolls to the stage that is now by itself"),
    Allowed("reach", "#scroll-time", "the timeline scrolls to the present by itself"),
    Allowed("reach", ".tree-s", "the nodeTree is as wide as its largest zone has nodes"),
    Allowed("reach", "#scroll-nd-list", "on a phone the list of nodes is one line, to be swiped"),
    Allowed("reach", "#configuration-drawer .presets", "on a phone the presets are one line, to be swiped"),
    Allowed("reach", ".mx.grpd, .mx.sc", "on a phone a table of numbers is swiped; its first column stays"),
    Allowed("short", ".bar .scenario", "a press on it shows the title whole"),
    Allowed("headings", ".zone-h h3", "zones differ at the end of their names: what is cut is the beginning"),
)
