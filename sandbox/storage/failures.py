"""What it means to a visitor that the database or the disk did not take a change."""

from __future__ import annotations

import errno
import sqlite3

from django.db import DatabaseError, InterfaceError

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
FULL = "The server's disk is full or cannot be written. Nothing was changed. You can still view what is there."


def no_room(error: OSError) -> str:
    """The sentence for a disk that takes nothing more. Raises any other error again."""
    if error.errno not in ROOM:
        raise error
    return FULL


LOST = ("08", "57P")
"""How the codes of PostgreSQL begin that say: the connection has ended, or the server ends it."""


def refusal(error: DatabaseError | InterfaceError) -> tuple[int, str]:
    """Status and sentence: 507 when the disk takes nothing, else 503.

    Nothing was changed, unless the connection was lost: then nobody knows what the database did last.
    """
    cause = error.__cause__
    # SQLite's lowest byte is the kind, the others only say where. psycopg has None when there was no answer.
    code = getattr(cause, "sqlstate", "") or getattr(cause, "sqlite_errorcode", 0) & 0xFF
    if getattr(cause, "sqlstate", "") is None or str(code).startswith(LOST):
        return 503, "The server lost its database for a moment. Check whether your change is there. If not, try again."
    if code in DISK:
        return 507, FULL
    return 503, "The server is busy with other sandboxes. Nothing was changed; try again."
