"""Sentences for visitors when the database or the disk refuses a change."""

from __future__ import annotations

import errno
import logging
import sqlite3
from collections.abc import Callable
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from sandbox.runtime.connections import renew
from sandbox.words.say import say

log = logging.getLogger(__name__)

T = TypeVar("T")

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
POOL = "psycopg_pool"
"""The package of the pool's own errors. Nothing of PostgreSQL is imported here: a site with SQLite does without."""


def is_lost(error: DatabaseError | InterfaceError) -> bool:
    """Return True if the connection was lost, so that it is unknown if the last statement was committed."""
    cause = error.__cause__
    # psycopg has None if the server did not answer. Its pool has None if all connections were in use.
    code = "" if type(cause).__module__.startswith(POOL) else getattr(cause, "sqlstate", "")
    return code is None or code.startswith(LOST)


def read_again(question: Callable[[], T]) -> T:
    """Return the answer of a question that only reads. If the connection turns out to be lost, ask on a new one.

    In a transaction it is asked once: what the transaction did before is lost too.
    """
    try:
        return question()
    except (InterfaceError, OperationalError) as error:
        if connection.in_atomic_block or not is_lost(error):
            raise
        log.warning("a connection to the database was lost; using a new one")
        renew()
    return question()


def refusal(error: DatabaseError | InterfaceError) -> tuple[int, str]:
    """Return the HTTP status and the sentence: 507 if the disk is full or cannot be written, else 503.

    Nothing was changed, unless the connection was lost: then it is unknown if the last statement was committed. It is
    replaced.
    """
    if is_lost(error):
        renew()
        return 503, say("limits.database-lost")
    cause = error.__cause__
    # SQLite's lowest byte is the kind, the others are details.
    code = getattr(cause, "sqlstate", "") or getattr(cause, "sqlite_errorcode", 0) & 0xFF
    if code in DISK:
        return 507, FULL
    return 503, say("limits.database-busy")
