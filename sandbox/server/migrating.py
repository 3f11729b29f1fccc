"""Lets one process at a time migrate a database. Others wait, and then find it up to date."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.db import connection

from sandbox.server.startup import own_connection, report_os_errors

MIGRATING = 7_246_383_322
"""Number of the lock in PostgreSQL."""


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other process migrates the database. Let no other one begin during the block."""
    if connection.vendor == "postgresql":
        with closing(own_connection()) as lock:
            lock.cursor().execute("SELECT pg_advisory_lock(%s)", [MIGRATING])
            yield
    elif connection.is_in_memory_db():  # type: ignore[attr-defined]
        yield
    else:
        path = Path(f"{connection.settings_dict['NAME']}.migrating")
        with report_os_errors(path):
            lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)
