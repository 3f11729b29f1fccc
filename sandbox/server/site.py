"""The site's database and static files, as they must be before it is served."""

from __future__ import annotations

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
from sandbox.server.startup import CannotStart, in_words, said_of, serve_alone


def database_path() -> Path | None:
    """Of a SQLite database in a file."""
    name = str(connection.settings_dict["NAME"])
    return Path(name) if connection.vendor == "sqlite" else None


@contextmanager
def said_of_database() -> Iterator[None]:
    try:
        yield
    except DatabaseError as error:
        raise CannotStart(in_words(error, str(connection.settings_dict["NAME"]))) from error


def hold() -> Any:
    """Take the database for this process; keep what is returned. Raises ``CannotStart`` if another one serves it."""
    with said_of_database():
        return serve_alone(database_path(), shared=settings.REDIS_URL is not None)


def check_database(migrate: bool) -> None:
    """Bring the tables up to date, or see that they are. Raises ``CannotStart``."""
    path = database_path()
    if path is not None:
        check(path)
    with said_of_database():
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
        # What opens without a word may still be damaged, or on a disk that takes nothing.
        connection.close()


class Collect(collectstatic.Command):
    """Trusts nothing that lies there: a start that was killed leaves files that are new and cut off."""

    def delete_file(self, path: str, prefixed_path: str, source_storage: Any) -> bool:
        self.storage.delete(prefixed_path)
        return True


def collect() -> None:
    """Collect static files unless those that lie there come from the same sources. Raises ``CannotStart``."""
    root = Path(settings.STATIC_ROOT)
    mark = root / ".collected"
    with said_of(root):
        sources = _fingerprint()
        if mark.is_file() and mark.read_text() == sources:
            return
        root.mkdir(parents=True, exist_ok=True)
        mark.unlink(missing_ok=True)
        (root / "staticfiles.json").unlink(missing_ok=True)
        call_command(Collect(), interactive=False, verbosity=0)
        mark.write_text(sources)


def _fingerprint() -> str:
    """Changes with any file that would be collected, and with how."""
    found = [django.__version__, repr(settings.STORAGES)]
    for finder in get_finders():
        for path, storage in finder.list(None):
            state = os.stat(storage.path(path))
            found.append(f"{getattr(storage, 'prefix', '')}/{path} {state.st_size} {state.st_mtime_ns}")
    return sha256("\n".join(found).encode()).hexdigest()


def check_static() -> None:
    """Raises ``CannotStart`` when pages would not find their files."""
    try:
        missing = not settings.DEBUG and getattr(staticfiles_storage, "hashed_files", None) == {}
    except ValueError:
        missing = True
    if missing:
        raise CannotStart("The static files are not collected. Run: python manage.py collectstatic")
