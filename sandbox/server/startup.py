"""What must hold before the site is served, and the sentence when it does not."""

from __future__ import annotations

import errno
import fcntl
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

MOST_FILES = 65_536
BACKLOG = 1024
"""Connections that wait to be accepted: a class that arrives at once."""
OTHERS = 0o077
"""Permissions of everybody but the owner of a file."""
SHORTEST_KEY = 32
"""Characters of a secret key. A shorter one is what a start that was interrupted has left."""

DISK = {
    errno.ENOSPC: "The disk of {path} is full. Free some space and start again; nothing was lost.",
    errno.EDQUOT: "The quota of the disk of {path} is used up. Free some space and start again; nothing was lost.",
    errno.EFBIG: "{path} cannot grow as large as needed: this process has a file size limit (ulimit -f).",
    errno.EROFS: "{path} is on a disk that is read-only. Set VAR_DIR to a folder that can be written.",
    errno.EACCES: "{path} may not be written by this user. Change its permissions, or set VAR_DIR to another folder.",
    errno.EPERM: "{path} may not be written by this user. Change its permissions, or set VAR_DIR to another folder.",
    errno.ENOENT: "The folder of {path} does not exist. Create it, or set VAR_DIR or DATABASE_URL to another place.",
    errno.ENOTDIR: "{path} cannot be created: part of it is a file, not a folder. Set VAR_DIR to another folder.",
    errno.EEXIST: "{path} is a file, not a folder. Move it away, or set VAR_DIR to another folder.",
}
DATABASE = {
    sqlite3.SQLITE_NOTADB: "{path} is not a SQLite database. Move it away, or set DATABASE_URL to another one.",
    sqlite3.SQLITE_CORRUPT: "The database {path} is damaged. Run: python manage.py restore COPY, or move it away.",
    sqlite3.SQLITE_FULL: "The disk of {path} is full. Free some space and start again; nothing was lost.",
    sqlite3.SQLITE_IOERR: "The disk of {path} does not work or is full. Nothing was changed.",
    sqlite3.SQLITE_READONLY: "The database {path} may not be written. Change its permissions or those of its folder.",
    sqlite3.SQLITE_CANTOPEN: "The database {path} cannot be opened. Check that its folder exists and can be written.",
    sqlite3.SQLITE_BUSY: "The database {path} is locked by another program. Stop that one and start again.",
}
ANOTHER_SERVES = (
    "Another process already serves {database}. Without REDIS_URL, browsers would miss the changes that the other one "
    "makes: stop it, or start all with DATABASE_URL and REDIS_URL (docs/scaling-out.md)."
)
ADVISORY_LOCK = 7_246_383_321
"""Any number that nothing else locks in a PostgreSQL database of this site."""


class CannotStart(Exception):
    """Why, in one or two sentences for who starts the server."""


@contextmanager
def said_of(path: Path | str) -> Iterator[None]:
    """An ``OSError`` inside is about ``path`` unless it names another one; raises ``CannotStart`` with a sentence."""
    try:
        yield
    except OSError as error:
        words = DISK.get(error.errno or 0, "{path} cannot be used: {reason}.")
        raise CannotStart(words.format(path=error.filename or path, reason=error.strerror)) from error


def limits() -> Limits:
    """Those of the environment, within what the system allows after asking it for as many files as it gives."""
    try:
        wanted = from_environment()
    except ValueError as error:
        raise CannotStart(str(error)) from error
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        # Some systems allow less than they say. What was allowed before still is.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
    return wanted.within(MOST_FILES if soft == resource.RLIM_INFINITY else soft)


def listener(host: str, port: int) -> socket.socket:
    """A socket that listens there; connections wait until they are served."""
    host = host.strip("[]")
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.setblocking(False)
    try:
        found.bind((host, port))
        found.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        found.close()
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            words = f"Port {port} of {host} is in use. Stop what listens there, or choose another: PORT=8001 make run."
        else:
            words = f"The server cannot listen on port {port} of {host}: {getattr(error, 'strerror', None) or error}."
        raise CannotStart(words) from error
    return found


def folder(path: Path) -> Path:
    """Make the folder unless it is there. Others can go through a new one, as to static files, and list nothing."""
    with said_of(path):
        path.mkdir(mode=0o711, parents=True, exist_ok=True)
    return path


def private(path: Path) -> Path:
    """Let nobody but its owner read a database, which is made if it is not there, and what SQLite keeps beside it.

    What cannot be made or changed here is told when it is opened.
    """
    for found in (path, *(path.with_name(path.name + ending) for ending in ("-wal", "-shm"))):
        with suppress(OSError):
            if found == path and not found.exists():
                os.close(os.open(found, os.O_CREAT | os.O_WRONLY, 0o600))
            elif found.exists() and found.stat().st_mode & OTHERS:
                found.chmod(0o600)
    return path


def secret_key(path: Path) -> str:
    """The key in ``path``. It is made on the first start, and again where an interrupted start left none or a part."""
    key = _kept_key(path)
    if key:
        return key
    with said_of(path.parent):
        lock = os.open(folder(path.parent), os.O_RDONLY)
        try:
            # Two that start at once must not end up with a key each.
            fcntl.flock(lock, fcntl.LOCK_EX)
            key = _kept_key(path) or secrets.token_urlsafe(48)
            made = path.with_name(f"{path.name}.new")
            made.unlink(missing_ok=True)
            with open(made, "x", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                file.write(key)
                file.flush()
                os.fsync(file.fileno())
            made.replace(path)
            os.fsync(lock)
        finally:
            os.close(lock)
    return key


def _kept_key(path: Path) -> str:
    with said_of(path):
        try:
            key = path.read_bytes().decode(errors="replace").strip()
        except (FileNotFoundError, NotADirectoryError):
            return ""
    return key if len(key) >= SHORTEST_KEY and key.isascii() and key.isprintable() else ""


def serve_alone(path: Path | None, shared: bool) -> Any:
    """Hold the database for this process as long as what is returned is kept, beside others only if ``shared``.

    ``path``: of the SQLite database; None for PostgreSQL. Raises ``CannotStart`` if the others do not agree.
    """
    if path is None:
        return _advisory_lock(shared)
    lock_path = path.with_name(f"{path.name}.serving")
    with said_of(lock_path):
        file = open(lock_path, "a+b")  # noqa: SIM115 - closing it would give the lock back
    try:
        # Of this process alone, not of children that it may leave behind when it is killed.
        fcntl.lockf(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise CannotStart(ANOTHER_SERVES.format(database=path)) from error
    return file


def _advisory_lock(shared: bool) -> Any:
    from django.db import connections

    # Its own connection: the lock lasts as long as that does.
    connection = connections.create_connection("default")
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_try_advisory_lock{'_shared' if shared else ''}(%s)", [ADVISORY_LOCK])
        if not cursor.fetchone()[0]:
            raise CannotStart(ANOTHER_SERVES.format(database=connection.settings_dict["NAME"]))
    return connection


def in_words(error: Exception, database: str) -> str:
    """What a ``django.db.Error`` at the start means."""
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error) and hasattr(cause, "sqlite_errorcode"):
        # The lowest byte is the kind, the others only say where.
        words = DATABASE.get(cause.sqlite_errorcode & 0xFF, "The database {path} cannot be used: {error}.")
    else:
        words = "The database {path} cannot be used: {error}."
    return words.format(path=database, error=str(error).strip().split("\n")[0].rstrip("."))
