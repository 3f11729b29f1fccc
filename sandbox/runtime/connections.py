"""The pool of PostgreSQL connections of a web process.

A thread takes a connection with its first statement, and gives it back at the end of its request or when it waits.
Connections are not checked before each use. When one turns out to be broken, all idle ones are checked.
"""

from __future__ import annotations

from django.db import connection


def give_back() -> None:
    """Give the connection of this thread back to the pool, because the thread is about to wait.

    Keep it within a transaction, and without a pool: SQLite's connections belong to their threads.
    """
    if getattr(connection, "pool", None) and not connection.in_atomic_block:
        connection.close()


def renew() -> None:
    """Drop the broken connection of this thread. Check the idle ones of the pool, which are likely broken too."""
    if not connection.in_atomic_block:
        connection.close()
    if pool := getattr(connection, "pool", None):
        pool.check()
