"""Prepares and checks the database and the static files before the site is served."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.management.commands import collectstatic
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from sandbox.server.backups import check
from sandbox.server.combinations import hold_key
from sandbox.server.startup import CannotStart, database_error_text, lock_database, report_os_errors

MARK = ".collected"
"""The file that says from which sources the static files were collected."""


def database_path() -> Path | None:
    """Return the path of a SQLite database, None for PostgreSQL."""
    name = str(connection.settings_dict["NAME"])
    return Path(name) if connection.vendor == "sqlite" else None


@contextmanager
def report_database_errors() -> Iterator[None]:
    try:
        yield
    except DatabaseError as error:
        raise CannotStart(database_error_text(error, str(connection.settings_dict["NAME"]))) from error


def hold() -> Any:
    """Lock the database for this process while the result exists. Raises ``CannotStart`` if another one serves it."""
    path = database_path()
    with report_database_errors():
        lock = lock_database(path, shared=settings.REDIS_URL is not None)
        if path is None:
            hold_key(lock)
        return lock


def check_database(migrate: bool) -> None:
    """Check the database for damage, and its tables for the present version. Raises ``CannotStart``.

    ``migrate``: bring the tables up to date if they are older.
    """
    path = database_path()
    if path is not None:
        check(path)
    with report_database_errors():
        executor = MigrationExecutor(connection)
        newer = [
            name
            for app, name in executor.loader.applied_migrations
            if (app, name) not in executor.loader.disk_migrations
        ]
        if newer:
            raise CannotStart(
                f"The database is from a newer version of the site ({max(newer)}). Install that version, or set "
                "DATABASE_URL to another database."
            )
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            if not migrate:
                raise CannotStart("The database is from an older version of the site. Run: python manage.py migrate")
            call_command("migrate", interactive=False, verbosity=0)
        # A damaged database or a full disk may only show when the connection closes.
        connection.close()


class Collect(collectstatic.Command):
    """Replaces all existing files: a killed start may leave files that are new but incomplete."""

    def delete_file(self, path: str, prefixed_path: str, source_storage: Any) -> bool:
        self.storage.delete(prefixed_path)
        return True


def collect() -> None:
    """Collect static files, unless they were collected from the same sources. Raises ``CannotStart``."""
    root = Path(settings.STATIC_ROOT)
    with report_os_errors(root):
        sources = _fingerprint()
        if _are_collected(root, sources):
            return
        root.mkdir(parents=True, exist_ok=True)
        lock = os.open(root, os.O_RDONLY)
        try:
            # Of processes that start at the same moment one collects, and the others find it done.
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not _are_collected(root, sources):
                _collect(root, sources)
        finally:
            os.close(lock)


def _are_collected(root: Path, sources: str) -> bool:
    mark = root / MARK
    return mark.is_file() and mark.read_text() == sources


def _collect(root: Path, sources: str) -> None:
    for name in (MARK, "staticfiles.json"):
        (root / name).unlink(missing_ok=True)
    call_command(Collect(), interactive=False, verbosity=0)
    (root / MARK).write_text(sources)


def _fingerprint() -> str:
    """Return a digest of the static files' names, sizes and times, and of the way they are collected."""
    lines = [django.__version__, repr(settings.STORAGES)]
    for finder in get_finders():
        for path, storage in finder.list(None):
            state = os.stat(storage.path(path))
            lines.append(f"{getattr(storage, 'prefix', '')}/{path} {state.st_size} {state.st_mtime_ns}")
    return sha256("\n".join(lines).encode()).hexdigest()


def check_static() -> None:
    """Raise ``CannotStart`` if the static files are not collected."""
    try:
        missing = not settings.DEBUG and getattr(staticfiles_storage, "hashed_files", None) == {}
    except ValueError:
        missing = True
    if missing:
        raise CannotStart("The static files are not collected. Run: python manage.py collectstatic")
