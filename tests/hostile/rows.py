"""The rows of one sandbox and of one room in a server's database, to see that a refused input changed nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

OF_SANDBOX = {
    "sandbox_sandbox": "id = ?",
    **{
        f"sandbox_{table}": "sandbox_id = ?"
        for table in ("key", "branch", "commandrecord", "expectation", "study", "guess")
    },
}
"""Table → the rows that belong to a sandbox."""
QUESTIONS = "question_id IN (SELECT id FROM workshop_question WHERE workshop_id = ?)"
SEATS = "id IN (SELECT sandbox_id FROM workshop_seat WHERE workshop_id = ?)"
OF_ROOM = {
    "workshop_workshop": "id = ?",
    **{
        f"workshop_{table}": "workshop_id = ?"
        for table in ("participant", "seat", "question", "ownlesson", "sending", "assistant")
    },
    "workshop_answer": QUESTIONS,
    "sandbox_sandbox": SEATS,
    "sandbox_key": f"sandbox_{SEATS}",
}
"""Table → the rows that belong to a room."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Read rows of a database that a server uses."""

    database: Path

    def of(self, sandbox: str, room: str) -> dict[str, Sequence[Any]]:
        """Return the rows of a sandbox and of a room by id, all at one moment."""
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            return {
                f"{table} {whose}": reader.execute(f"SELECT * FROM {table} WHERE {where}", [UUID(key).hex]).fetchall()
                for whose, key, wheres in (("of the sandbox", sandbox, OF_SANDBOX), ("of the room", room, OF_ROOM))
                for table, where in wheres.items()
            }


def changes(before: dict[str, Sequence[Any]], after: dict[str, Sequence[Any]]) -> list[str]:
    """Return what changed, for a message."""
    return [
        f"{table}: {[row for row in before[table] if row not in after[table]]} became "
        f"{[row for row in after[table] if row not in before[table]]}"[:400]
        for table in before
        if before[table] != after[table]
    ]
