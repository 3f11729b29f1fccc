"""Values of controls that the engine refused: they stay on the page, and are tried again after each change."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.web.configuring.edits import SETTINGS
from sandbox.web.configuring.extenders import EXTENDER_EDITS

MOST_KEPT = 50
"""Refused values that one page keeps."""
CHANGES_PROFILES = frozenset(("add-profile", "remove-profile"))
OF_ROWS = {
    "remove-expression": ("expression", "expression-name", "expression-weight"),
    "remove-extender": tuple(name for name in EXTENDER_EDITS if not name.startswith(("add-", "remove-"))),
    "remove-resource": ("resource-name", "resource-weight"),
    "remove-point": ("point-utilization", "point-score"),
}
"""Control that removes a row → the controls of such rows: ``name:row`` or ``name:row.field``."""


def after_removal(control: str, kept: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the refused values that are left when ``control`` has been pressed, with the new numbers of their rows."""
    pressed, _, gone = control.partition(":")
    for name, value in kept:
        kind, colon, argument = name.partition(":")
        row, dot, field = argument.partition(".")
        if kind not in OF_ROWS.get(pressed, ()) or not (row.isdecimal() and gone.isdecimal()):
            yield name, value
        elif int(row) != int(gone):
            yield f"{kind}{colon}{int(row) - (int(row) > int(gone))}{dot}{field}", value


def of_a_profile(kept: list[tuple[str, str]]) -> bool:
    """Return True if a refused value belongs to the profile in view, and not to the whole configuration."""
    kinds = [name.partition(":")[0] for name, _ in kept]
    return any(kind not in SETTINGS and kind not in EXTENDER_EDITS for kind in kinds)
