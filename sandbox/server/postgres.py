"""Backups of a PostgreSQL database, with its own programs ``pg_dump`` and ``pg_restore``."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from sandbox.server.copies import check_copy, check_new, complete_file, name_to_save
from sandbox.server.startup import CannotStart, lock_database

OURS = " TABLE public django_migrations "
"""A line of the contents of every copy of the site's database has this."""
ENVIRONMENT = {"HOST": "PGHOST", "PORT": "PGPORT", "USER": "PGUSER", "PASSWORD": "PGPASSWORD", "NAME": "PGDATABASE"}
OPTIONS = {"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY"}
"""Django's names → the variables of the programs. Other users could read a password on a command line."""
NOT_INSTALLED = (
    "{program} is not on the PATH. Install the client programs of PostgreSQL, of the server's version or newer "
    "(Debian: postgresql-client)."
)
FAILED = "{program} failed, and nothing was changed: {reason}"
KEPT = ("--no-owner", "--no-privileges")
"""Leave out owners and rights: the copy may be restored by another user."""


def back_up(database: dict[str, Any], to: Path) -> None:
    """Write a copy of a database, even while the site serves. Raises ``CannotStart``, and leaves no file then.

    ``database``: its settings, as Django has them.
    """
    check_new(to)
    with complete_file(to) as part:
        _run(database, "pg_dump", "--format=custom", *KEPT, f"--file={part}")
        if not _is_ours(part):
            raise CannotStart(f"The database {database['NAME']} has no tables of this site.")


def restore(database: dict[str, Any], copy: Path) -> Path | None:
    """Replace the tables of a database by those of a copy, in one transaction.

    Return the file in which the old ones were saved, beside the copy; None if there were none. Raises ``CannotStart``
    while the site serves, or if the copy is invalid. Nothing is changed then.
    """
    check_copy(copy, _is_ours)
    lock = lock_database(None, shared=False)
    try:
        saved = _save(database, lock, copy)
        whole = ("--clean", "--if-exists", "--single-transaction", "--exit-on-error")
        _run(database, "pg_restore", *whole, *KEPT, f"--dbname={database['NAME']}", str(copy))
        return saved
    finally:
        lock.close()


def _save(database: dict[str, Any], connection: Any, copy: Path) -> Path | None:
    """Back up the present tables, if there are any, to a free name beside ``copy``."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('public.django_migrations') IS NULL")
        if cursor.fetchone()[0]:
            return None
    saved = name_to_save(copy)
    back_up(database, saved)
    return saved


def _is_ours(copy: Path) -> bool:
    done = subprocess.run([_program("pg_restore"), "--list", str(copy)], capture_output=True, text=True, check=False)
    return done.returncode == 0 and OURS in done.stdout


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise CannotStart(NOT_INSTALLED.format(program=name))
    return path


def _run(database: dict[str, Any], program: str, *arguments: str) -> None:
    names = {variable: database.get(name) for name, variable in ENVIRONMENT.items()}
    names |= {variable: database.get("OPTIONS", {}).get(name) for name, variable in OPTIONS.items()}
    environment = os.environ | {name: str(value) for name, value in names.items() if value}
    command = [_program(program), *arguments, "--no-password"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = next(iter(done.stderr.strip().splitlines()), f"exit status {done.returncode}")
        raise CannotStart(FAILED.format(program=program, reason=reason))
