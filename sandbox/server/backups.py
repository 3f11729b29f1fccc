"""Copies of a SQLite database: whether one is whole, taking one while the site serves, and going back to one."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from sandbox.server.startup import DATABASE, CannotStart, said_of, serve_alone

CHECK_SECONDS = 20.0
"""How long a start looks for damage. A larger database is only looked at in part; a backup looks at all of it."""
STEPS = 100_000
"""Of SQLite's machine, after which it is asked whether the time is over."""
PAGES = 1000
"""That a backup copies at once: writers go on between two such pieces."""
OURS = "django_migrations"
"""A table that each database of the site has."""
BESIDE = ("", "-wal", "-shm")
"""What belongs to a database, after its name."""


def damage(path: Path, seconds: float | None = None) -> str:
    """What is wrong in a database, "" = nothing that was found within ``seconds``, None: however long it takes."""
    if not path.exists():
        return ""
    over = None if seconds is None else time.monotonic() + seconds
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            if over is not None:
                database.set_progress_handler(lambda: time.monotonic() > over, STEPS)
            (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        # What cannot be opened is told when it is opened to be used.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return str(error) if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) else ""
    return "" if found == "ok" else str(found)


def check(path: Path) -> None:
    """Raises ``CannotStart`` when damage is found."""
    found = damage(path, CHECK_SECONDS)
    if found:
        kind = sqlite3.SQLITE_NOTADB if "not a database" in found else sqlite3.SQLITE_CORRUPT
        raise CannotStart(DATABASE[kind].format(path=path))


def back_up(path: Path, to: Path) -> None:
    """Write a copy, also while the site serves. Raises ``CannotStart`` and leaves nothing when that does not work."""
    if to.exists():
        raise CannotStart(f"{to} already exists. Choose another file name.")
    if not to.absolute().parent.is_dir():
        raise CannotStart(f"There is no folder {to.absolute().parent}.")
    # Loading the settings makes an empty file.
    if not path.exists() or not path.stat().st_size:
        raise CannotStart(f"There is no database {path} yet.")
    _copy(path, to)


def restore(path: Path, copy: Path) -> Path | None:
    """Put a copy in the place of the database; where that one is kept, None if there was none.

    Raises ``CannotStart`` while the site serves, and when the copy is none or is damaged. Nothing is changed then.
    """
    if not copy.is_file():
        raise CannotStart(f"There is no file {copy}.")
    if damage(copy) or not _is_ours(copy):
        raise CannotStart(f"{copy} is damaged, or is not a copy of this site's database. Nothing was changed.")
    held = serve_alone(path, shared=False)
    try:
        ready = path.with_name(f"{path.name}.restored")
        with said_of(ready):
            ready.unlink(missing_ok=True)
        _copy(copy, ready)
        kept = _put_aside(path)
        with said_of(path):
            ready.replace(path)
        return kept
    finally:
        held.close()


def _is_ours(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            return bool(database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (OURS,)).fetchone())
    except sqlite3.Error:
        return False


def _copy(path: Path, to: Path) -> None:
    """Nobody but their owner can read copies, and a part of one is never found under its name."""
    part = to.with_name(f"{to.name}.part")
    with said_of(part):
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with closing(sqlite3.connect(path)) as database, closing(sqlite3.connect(part)) as copy:
            database.backup(copy, pages=PAGES)
            copy.execute("PRAGMA journal_mode=DELETE")
        found = damage(part)
        if found:
            raise CannotStart(f"{path} is damaged, and was not copied: {found}.")
        with said_of(to), open(part, "rb") as whole:
            os.fsync(whole.fileno())
            part.replace(to)
    except sqlite3.Error as error:
        words = DATABASE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, "The database {path} cannot be copied.")
        raise CannotStart(words.format(path=path)) from error
    finally:
        part.unlink(missing_ok=True)


def _put_aside(path: Path) -> Path | None:
    """Rename the database, with what belongs to it, to a name that is free; None where there was none."""
    if not path.exists() or not path.stat().st_size:
        return None
    number = 1
    while (kept := path.with_name(f"{path.name}.before-{number}")).exists():
        number += 1
    with said_of(path):
        # The database goes last: were this interrupted before, its journal would still be told by its name.
        for ending in reversed(BESIDE):
            part = Path(f"{path}{ending}")
            if part.exists():
                part.replace(f"{kept}{ending}")
    return kept
