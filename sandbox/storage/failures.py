"""Sentences for visitors when the database or the disk refuses a change."""

from __future__ import annotations

import errno
import sqlite3

from django.db import DatabaseError, InterfaceError

from sandbox.words.say import say

# PostgreSQL's are disk_full and read_only_sql_transaction.
DISK = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, "53100", "25006"}
ROOM = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS))
"""``errno`` of a disk that is full or cannot be written."""
FULL = say("limits.disk")


def no_room(error: OSError) -> str:
    """Return the sentence for a disk that is full or cannot be written. Raises any other error again."""
    if error.errno not in ROOM:
        raise error
    return FULL


LOST = ("08", "57P")
"""First characters of PostgreSQL's error codes for a connection that was lost or that the server ends."""


def refusal(error: DatabaseError | InterfaceError) -> tuple[int, str]:
    """Return the HTTP status and the sentence: 507 if the disk is full or cannot be written, else 503.

    Nothing was changed, unless the connection was lost: then it is unknown if the last statement was committed.
    """
    cause = error.__cause__
    # SQLite's lowest byte is the kind, the others are details. psycopg has None if the server did not answer.
    code = getattr(cause, "sqlstate", "") or getattr(cause, "sqlite_errorcode", 0) & 0xFF
    if getattr(cause, "sqlstate", "") is None or str(code).startswith(LOST):
        return 503, say("limits.database-lost")
    if code in DISK:
        return 507, FULL
    return 503, say("limits.database-busy")
