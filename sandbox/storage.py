"""What it means to a visitor that the database did not take a change."""

from __future__ import annotations

import sqlite3

from django.db import DatabaseError

DISK = frozenset(
    (
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        # PostgreSQL's: disk_full, read_only_sql_transaction.
        "53100",
        "25006",
    )
)


def refusal(error: DatabaseError) -> tuple[int, str]:
    """Status and sentence: 507 when the disk takes nothing, else 503. Either way nothing was changed."""
    cause = error.__cause__
    # SQLite's lowest byte is the kind, the others only say where.
    code = getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorcode", 0) & 0xFF
    if code in DISK:
        return (
            507,
            "The server's disk is full or cannot be written. Nothing was changed; what is there can be looked at.",
        )
    return 503, "The server is busy with other sandboxes. Nothing was changed; try again."
