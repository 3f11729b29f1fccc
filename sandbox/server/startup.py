"""Steps and checks before the site is served, with a sentence for each failure."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import resource
import secrets
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sandbox.limits.server import Limits, from_environment

log = logging.getLogger(__name__)

MOST_FILES = 65_536
BACKLOG = 1024
"""Connections that may wait to be accepted, as when a class arrives at the same time."""
OTHERS = 0o077
"""Permissions of everybody but the owner of a file."""
SHORTEST_KEY = 32
"""Characters of a secret key. A shorter one is left by an interrupted start."""

DISK = {
    errno.ENOSPC: "The disk of {path} is full. Free some space and start again; nothing was lost.",
    errno.EDQUOT: "The quota of the disk of {path} is used up. Free some space and start again; nothing was lost.",
    errno.EFBIG: "{path} cannot grow as large as needed: this process has a file size limit (ulimit -f).",
    errno.EROFS: "{path} is on a disk that is read-only. Set VAR_DIR to a folder that can be written.",
    errno.EACCES: "This user may not write {path}. Change its permissions, or set VAR_DIR to another folder.",
    errno.EPERM: "This user may not write {path}. Change its permissions, or set VAR_DIR to another folder.",
    errno.ENOENT: "The folder of {path} does not exist. Create it, or set VAR_DIR or DATABASE_URL to another place.",
    errno.ENOTDIR: "{path} cannot be created: part of it is a file, not a folder. Set VAR_DIR to another folder.",
    errno.EEXIST: "{path} is a file, not a folder. Move it away, or set VAR_DIR to another folder.",
}
DATABASE = {
    sqlite3.SQLITE_NOTADB: "{path} is not a SQLite database. Move it away, or set DATABASE_URL to another one.",
    sqlite3.SQLITE_CORRUPT: "The database {path} is damaged. Run: python manage.py restore COPY, or move it away.",
    sqlite3.SQLITE_FULL: "The disk of {path} is full. Free some space and start again; nothing was lost.",
    sqlite3.SQLITE_IOERR: "The disk of {path} has an error or is full. Nothing was changed.",
    sqlite3.SQLITE_READONLY: "This user may not write the database {path}. Change its permissions or its folder's.",
    sqlite3.SQLITE_CANTOPEN: "The database {path} cannot be opened. Check that its folder exists and can be written.",
    sqlite3.SQLITE_BUSY: "Another program has locked the database {path}. Stop that program and start again.",
}
ANOTHER_SERVES = (
    "Another process already serves {database}. Without REDIS_URL, browsers would miss the changes of the other one. "
    "Stop it, or start all processes with DATABASE_URL and REDIS_URL (docs/scaling-out.md)."
)
ADVISORY_LOCK = 7_246_383_321
"""Number of the lock in PostgreSQL. Nothing else in a database of this site locks it."""
LONGEST_NAME = 63
"""Bytes of a connection's name in PostgreSQL."""


class CannotStart(Exception):
    """The server cannot start. The message is one or two sentences for the person who starts it."""


@contextmanager
def report_os_errors(path: Path | str) -> Iterator[None]:
    """Raise ``CannotStart`` with a sentence for an ``OSError`` in the block, about its file or else ``path``."""
    try:
        yield
    except OSError as error:
        words = DISK.get(error.errno or 0, "{path} cannot be used: {reason}.")
        raise CannotStart(words.format(path=error.filename or path, reason=error.strerror)) from error


def limits() -> Limits:
    """Return the server's limits: those of the environment, reduced to the files that this process may open.

    First increase the number of open files to what the system allows. Raises ``CannotStart`` for an invalid limit.
    """
    try:
        configured = from_environment()
    except ValueError as error:
        raise CannotStart(str(error)) from error
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        # Some systems allow less than their hard limit. The old limit stays valid then.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
            soft = allowed
    return configured.within(MOST_FILES if soft == resource.RLIM_INFINITY else soft)


def listener(host: str, port: int) -> socket.socket:
    """Return a listening socket, on which connections wait until they are served. Raises ``CannotStart``."""
    host = host.strip("[]")
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.setblocking(False)
    try:
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listening.close()
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            words = (
                f"Port {port} of {host} is in use. Stop the program there, or choose another port: PORT=8001 make run."
            )
        else:
            words = f"The server cannot listen on port {port} of {host}: {getattr(error, 'strerror', None) or error}."
        raise CannotStart(words) from error
    return listening


def create_folder(path: Path) -> Path:
    """Create a folder if it does not exist, and return it. Others can open files in it, but not list them."""
    with report_os_errors(path):
        path.mkdir(mode=0o711, parents=True, exist_ok=True)
    return path


def make_private(path: Path) -> Path:
    """Create a SQLite database if it does not exist, and let only its owner read it and the files beside it.

    Errors are ignored here: opening the database reports them.
    """
    for file in (path, *(path.with_name(path.name + ending) for ending in ("-wal", "-shm"))):
        with suppress(OSError):
            if file == path and not file.exists():
                os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600))
            elif file.exists() and file.stat().st_mode & OTHERS:
                file.chmod(0o600)
    return path


def secret_key(path: Path) -> str:
    """Return the secret key in ``path``. Create it if the file has no complete key, as on the first start."""
    key = _stored_key(path)
    if key:
        return key
    with report_os_errors(path.parent):
        lock = os.open(create_folder(path.parent), os.O_RDONLY)
        try:
            # Two processes that start at once must get the same key.
            fcntl.flock(lock, fcntl.LOCK_EX)
            key = _stored_key(path) or secrets.token_urlsafe(48)
            new = path.with_name(f"{path.name}.new")
            new.unlink(missing_ok=True)
            with open(new, "x", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                file.write(key)
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
            os.fsync(lock)
        finally:
            os.close(lock)
    return key


def _stored_key(path: Path) -> str:
    with report_os_errors(path):
        try:
            key = path.read_bytes().decode(errors="replace").strip()
        except (FileNotFoundError, NotADirectoryError):
            return ""
    return key if len(key) >= SHORTEST_KEY and key.isascii() and key.isprintable() else ""


def lock_database(path: Path | None, shared: bool) -> Any:
    """Lock the database for this process while the returned object exists. ``shared``: allow others with ``shared``.

    ``path``: the SQLite database, None for PostgreSQL. Raises ``CannotStart`` if another process has the lock.
    """
    if path is None:
        return _advisory_lock(shared)
    lock_path = path.with_name(f"{path.name}.serving")
    with report_os_errors(lock_path):
        file = open(lock_path, "a+b")  # noqa: SIM115 - closing it would give the lock back
    try:
        # lockf locks for this process alone, not for children that survive when it is killed.
        fcntl.lockf(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise CannotStart(ANOTHER_SERVES.format(database=path)) from error
    return file


def _advisory_lock(shared: bool) -> Any:
    connection = own_connection()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_try_advisory_lock{'_shared' if shared else ''}(%s)", [ADVISORY_LOCK])
        is_ours = cursor.fetchone()[0]
    if not is_ours:
        connection.close()
        raise CannotStart(ANOTHER_SERVES.format(database=connection.settings_dict["NAME"]))
    return connection


def own_connection() -> Any:
    """Return a connection to PostgreSQL outside of the pool. Its locks last as long as it is open."""
    from django.db import connections

    connection = connections.create_connection("default")
    options = {name: value for name, value in connection.settings_dict["OPTIONS"].items() if name != "pool"}
    # By its name, ``check_neighbours`` finds the web processes of this machine.
    options["application_name"] = socket.gethostname()[:LONGEST_NAME]
    connection.settings_dict = connection.settings_dict | {"OPTIONS": options}
    # ``holding`` asks it in another thread.
    connection.inc_thread_sharing()
    return connection


NEIGHBOURS = """
SELECT count(*), count(*) FILTER (WHERE application_name = current_setting('application_name'))
FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND ((classid::bigint << 32) | objid::bigint) = %s
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
"""Count the web processes that serve the database: all, and those of this machine."""
SEVERAL = (
    "%d web processes serve this database. The proxy must choose the web process by the id in the path: see “Behind "
    "nginx” in docs/scaling-out.md"
)
TOO_MANY_WORKERS = (
    "%d web processes run on this machine, but WEB_PROCESSES is %d, so together they start more workers than it has "
    "cores and memory for. Start each with WEB_PROCESSES=%d"
)


def check_neighbours(lock: Any, expected: int) -> None:
    """Log what several web processes need. ``lock``: from ``lock_database``. ``expected``: processes on this machine.

    With SQLite there is nothing to count.
    """
    if not hasattr(lock, "cursor"):
        return
    with lock.cursor() as cursor:
        cursor.execute(NEIGHBOURS, [ADVISORY_LOCK])
        everywhere, here = cursor.fetchone()
    if everywhere > 1:
        log.info(SEVERAL, everywhere)
    if here > expected:
        log.warning(TOO_MANY_WORKERS, here, expected, here)


def database_error_text(error: Exception, database: str) -> str:
    """Return a sentence for a ``django.db.Error`` at the start."""
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error) and hasattr(cause, "sqlite_errorcode"):
        # The lowest byte is the kind, the others are details.
        words = DATABASE.get(cause.sqlite_errorcode & 0xFF, "The database {path} cannot be used: {error}.")
    else:
        words = "The database {path} cannot be used: {error}."
    return words.format(path=database, error=str(error).strip().split("\n")[0].rstrip("."))
