"""The sentences of the page, by key. They are in ``en/<table>.yaml``, where they can be translated together.

``say("stages.only-one-fits", node="n1", looked=3)`` takes the row ``only-one-fits`` of ``stages.yaml`` and puts ``n1``
in its place ``{node}``. A row with ``one`` and ``other`` is chosen by ``count``, which is also the place ``{count}``.

A row of a template may mark **bold** words and `code` as Markdown does: ``say_html`` of ``sandbox/web/jinja2.py`` makes
elements of them, and takes markup in its places.
"""

from __future__ import annotations

from pathlib import Path

from scheduler_engine.words import Row, read_tables, row_for

GAP = "\x00"


ROWS: dict[str, Row] = read_tables(Path(__file__).parent / "en")


def rows(table: str) -> dict[str, Row]:
    """Return the rows of a table by key, for a script."""
    return {key: row for key, row in ROWS.items() if key.startswith(f"{table}.")}


def pattern(key: str, places: dict[str, object]) -> str:
    """Return the row of a key; if it has ``one`` and ``other``, the one for ``count``."""
    return row_for(ROWS, key, places)


def say(key: str, /, **places: object) -> str:
    """Return the sentence with its places filled. Raises ``KeyError`` for a missing key or place."""
    row = pattern(key, places)
    return row.format_map(places) if places else row


def around(key: str, gap: str, /, **places: object) -> tuple[str, str]:
    """Return the text before and after one place, which the template fills with a button or a mark."""
    before, _, after = say(key, **places, **{gap: GAP}).partition(GAP)
    return before, after
