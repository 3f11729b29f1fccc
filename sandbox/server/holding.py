"""Holds the lock on the database while the site serves.

In PostgreSQL the lock ends with its connection, as when PostgreSQL is restarted. Then the database would look unused: a
second web process without Redis would start, and ``restore`` would replace the tables under the site.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

from django.db import Error as DatabaseError

from sandbox.server.startup import CannotStart

log = logging.getLogger(__name__)

CHECK_SECONDS = 5.0
"""Seconds between two checks of the lock."""
HELD = "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"


class Holder:
    """Checks a lock, and locks again with ``hold`` once it is lost. ``lock``: what ``hold`` returned first."""

    def __init__(self, lock: Any, hold: Callable[[], Any]) -> None:
        self.lock, self.hold = lock, hold
        self.ended = Event()
        self.lost = False
        self.thread = Thread(target=self._check_often, name="lock", daemon=True)
        # A file is locked as long as the process runs.
        if hasattr(lock, "cursor"):
            self.thread.start()

    def _check_often(self) -> None:
        while not self.ended.wait(CHECK_SECONDS):
            self.check()

    def check(self) -> None:
        """Lock the database again if the lock is lost. If that is not possible, try at the next check."""
        if not self.lost:
            if self._is_held():
                return
            self.lost = True
            log.warning("the connection with the lock on the database was lost; locking again")
            self.lock.close()
        try:
            self.lock = self.hold()
        except CannotStart as error:
            log.info("cannot lock the database again yet: %s", error)
            return
        self.lost = False
        log.warning("the database is locked again")

    def _is_held(self) -> bool:
        try:
            with self.lock.cursor() as cursor:
                cursor.execute(HELD)
                return bool(cursor.fetchone()[0])
        except DatabaseError:
            return False

    def close(self) -> None:
        """Stop checking, and give the lock back."""
        self.ended.set()
        if self.thread.is_alive():
            self.thread.join(CHECK_SECONDS)
        self.lock.close()
