"""Backups of a SQLite database: check for damage, copy it while the site serves, and restore a copy."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from sandbox.server.copies import check_copy, check_new, complete_file, name_to_save
from sandbox.server.startup import DATABASE, CannotStart, lock_database, report_os_errors

CHECK_SECONDS = 20.0
"""How long a start checks for damage. A large database is only checked in part; a backup checks all of it."""
STEPS = 100_000
"""Instructions of SQLite's virtual machine between two checks of the time."""
PAGES = 1000
"""Pages that a backup copies at a time. Writers can write in between."""
OURS = "django_migrations"
"""A table that every database of the site has."""
BESIDE = ("", "-wal", "-shm")
"""Endings of the files of one database."""


def damage(path: Path, seconds: float | None = None) -> str:
    """Return the damage in a database, "" if none. ``seconds``: stop checking after that, None = check all of it."""
    if not path.exists():
        return ""
    over = None if seconds is None else time.monotonic() + seconds
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            if over is not None:
                database.set_progress_handler(lambda: time.monotonic() > over, STEPS)
            (result,) = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        # If it cannot be opened, the error is reported when the site opens it.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return str(error) if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) else ""
    return "" if result == "ok" else str(result)


def check(path: Path) -> None:
    """Raise ``CannotStart`` if a database is damaged."""
    error = damage(path, CHECK_SECONDS)
    if error:
        kind = sqlite3.SQLITE_NOTADB if "not a database" in error else sqlite3.SQLITE_CORRUPT
        raise CannotStart(DATABASE[kind].format(path=path))


def back_up(path: Path, to: Path) -> None:
    """Write a copy of a database, even while the site serves. Raises ``CannotStart``, and leaves no file then."""
    check_new(to)
    # Loading the settings creates an empty file.
    if not path.exists() or not path.stat().st_size:
        raise CannotStart(f"The database {path} does not exist yet.")
    _copy(path, to)


def restore(path: Path, copy: Path) -> Path | None:
    """Replace the database by a copy. Return the path where the old one was saved, None if there was none.

    Raises ``CannotStart`` while the site serves, or if the copy is invalid or damaged. Nothing is changed then.
    """
    check_copy(copy, lambda file: not damage(file) and _is_ours(file))
    lock = lock_database(path, shared=False)
    try:
        ready = path.with_name(f"{path.name}.restored")
        with report_os_errors(ready):
            ready.unlink(missing_ok=True)
        _copy(copy, ready)
        saved = _move_away(path)
        with report_os_errors(path):
            ready.replace(path)
        return saved
    finally:
        lock.close()


def _is_ours(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            return bool(database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (OURS,)).fetchone())
    except sqlite3.Error:
        return False


def _copy(path: Path, to: Path) -> None:
    """Copy a database to a file that only its owner can read, and that gets its name when it is complete."""
    with complete_file(to) as part:
        try:
            with closing(sqlite3.connect(path)) as database, closing(sqlite3.connect(part)) as copy:
                database.backup(copy, pages=PAGES)
                copy.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.Error as error:
            words = DATABASE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "The database {path} cannot be copied.")
            raise CannotStart(words.format(path=path)) from error
        error_text = damage(part)
        if error_text:
            raise CannotStart(f"{path} is damaged, and was not copied: {error_text}.")


def _move_away(path: Path) -> Path | None:
    """Rename the files of a database to a free name, and return it. Return None if there is no database."""
    if not path.exists() or not path.stat().st_size:
        return None
    saved = name_to_save(path)
    with report_os_errors(path):
        # Move the database last: if this is interrupted before, its name still matches the saved journal.
        for ending in reversed(BESIDE):
            part = Path(f"{path}{ending}")
            if part.exists():
                part.replace(f"{saved}{ending}")
    return saved
