"""Sentences of the engine by key, in ``en/<table>.yaml``, where they can be translated together.

``say("overrun.repeated", number=3, what="moves")`` takes the row ``repeated`` of ``overrun.yaml`` and fills its places
``{number}`` and ``{what}``. A place may name a field: ``{event.node}``. Of a row with ``one`` and ``other``, ``count``
chooses the sentence.

The words for facts of plugins are in ``wording``, those of the page in ``sandbox/words``. Kubernetes' own messages stay
in the code that follows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

Row = str | dict[str, str]


def read_tables(folder: Path) -> dict[str, Any]:
    """Return the rows of all tables in a folder: ``<table>.<key>`` → row."""
    # This loader reads every scalar as a string: "on" and "no" are words here.
    tables = {path.stem: yaml.load(path.read_text(), yaml.CBaseLoader) for path in sorted(folder.glob("*.yaml"))}
    return {f"{table}.{key}": row for table, rows in tables.items() for key, row in rows.items()}


def row_for(rows: Mapping[str, Row], key: str, places: Mapping[str, object]) -> str:
    """Return the row of a key; if it has ``one`` and ``other``, the one for ``count``."""
    row = rows[key]
    if isinstance(row, dict):
        row = row["one" if places["count"] == 1 else "other"]
    return row


ROWS: dict[str, Row] = read_tables(Path(__file__).parent / "en")


def say(key: str, /, **places: object) -> str:
    """Return the sentence with its places filled. Raises KeyError for a missing key or place."""
    row = ROWS[key]
    if isinstance(row, dict):
        row = row_for(ROWS, key, places)
    return row.format_map(places) if places else row


def keys_of(table: str) -> tuple[str, ...]:
    """Return the keys of a table, in its order and without its name."""
    return tuple(key.removeprefix(f"{table}.") for key in ROWS if key.startswith(f"{table}."))
