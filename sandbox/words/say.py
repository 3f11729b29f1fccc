"""The sentences of the page, by key. They are in ``en/<table>.yaml``, where they can be translated together.

``say("stages.only-one-fits", node="n1", looked=3)`` takes the row ``only-one-fits`` of ``stages.yaml`` and puts ``n1``
in its place ``{node}``. A row with ``one`` and ``other`` is chosen by ``count``, which is also the place ``{count}``.

A row of a template may mark **bold** words and `code` as Markdown does: ``say_html`` of ``sandbox/web/jinja2.py`` makes
elements of them, and takes markup in its places.
"""

from __future__ import annotations

from pathlib import Path

import yaml

Row = str | dict[str, str]
FOLDER = Path(__file__).parent / "en"
GAP = "\x00"


ROWS: dict[str, Row] = {
    f"{path.stem}.{key}": row
    for path in sorted(FOLDER.glob("*.yaml"))
    # This loader reads every scalar as a string: "on" and "no" are words here.
    for key, row in yaml.load(path.read_text(), yaml.CBaseLoader).items()
}


def rows(table: str) -> dict[str, Row]:
    """Return the rows of a table by key, for a script."""
    return {key: row for key, row in ROWS.items() if key.startswith(f"{table}.")}


def pattern(key: str, places: dict[str, object]) -> str:
    """Return the row of a key; if it has ``one`` and ``other``, the one for ``count``."""
    row = ROWS[key]
    if isinstance(row, dict):
        row = row["one" if places["count"] == 1 else "other"]
    return row


def say(key: str, /, **places: object) -> str:
    """Return the sentence with its places filled. Raises ``KeyError`` for a missing key or place."""
    row = pattern(key, places)
    return row.format_map(places) if places else row


def around(key: str, gap: str, /, **places: object) -> tuple[str, str]:
    """Return the text before and after one place, which the template fills with a button or a mark."""
    before, _, after = say(key, **places, **{gap: GAP}).partition(GAP)
    return before, after
