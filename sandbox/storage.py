"""What it means to a visitor that the database or the disk did not take a change."""

from __future__ import annotations

import errno
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
ROOM = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS))
"""Errors of files that a disk gives which takes nothing more."""
FULL = "The server's disk is full or cannot be written. Nothing was changed; what is there can be looked at."


def no_room(error: OSError) -> str:
    """The sentence for a disk that takes nothing more. Raises any other error again."""
    if error.errno not in ROOM:
        raise error
    return FULL


def refusal(error: DatabaseError) -> tuple[int, str]:
    """Status and sentence: 507 when the disk takes nothing, else 503. Either way nothing was changed."""
    cause = error.__cause__
    # SQLite's lowest byte is the kind, the others only say where.
    code = getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorcode", 0) & 0xFF
    if code in DISK:
        return 507, FULL
    return 503, "The server is busy with other sandboxes. Nothing was changed; try again."
