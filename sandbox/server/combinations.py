"""Combinations of settings with which the site would lose or reveal something. It does not start with them."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings

from sandbox.runtime.hosts import LOOPBACK
from sandbox.server.startup import CannotStart

log = logging.getLogger(__name__)

SQLITE, IN_MEMORY = "django.db.backends.sqlite3", ":memory:"
MOUNTS = Path("/proc/self/mounts")
OCTAL = re.compile(r"\\([0-7]{3})")
"""How ``MOUNTS`` writes white space and backslashes: a space is ``\\040``."""
ON_THE_NETWORK = frozenset(
    ("9p", "afs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "glusterfs", "lustre", "nfs", "nfs4", "smb3", "smbfs")
)
"""File systems that several machines share. SQLite's processes must be on one machine."""


def file_system(path: Path, mounts: str) -> str:
    """Return the type of the file system that holds ``path``, "" if unknown. ``mounts``: text of /proc/self/mounts."""
    found, longest = "", -1
    for line in mounts.splitlines():
        _, folder, kind = line.split()[:3]
        folder = OCTAL.sub(lambda code: chr(int(code[1], 8)), folder)
        if path.is_relative_to(folder) and len(folder) >= longest:
            found, longest = kind, len(folder)
    return found


def _own_file_system() -> str:
    try:
        mounts = MOUNTS.read_text(errors="surrogateescape")
    except OSError:
        return ""  # Not Linux.
    return file_system(Path(settings.DATABASES["default"]["NAME"]).absolute(), mounts)


def _on_sqlite() -> bool:
    return bool(settings.DATABASES["default"]["ENGINE"] == SQLITE)


def _in_memory() -> bool:
    return _on_sqlite() and IN_MEMORY in str(settings.DATABASES["default"]["NAME"])


def _open_debug() -> bool:
    return settings.DEBUG and not set(settings.ALLOWED_HOSTS) <= set(LOOPBACK)


def _shared_over_a_network() -> bool:
    return bool(settings.REDIS_URL) and _on_sqlite() and _own_file_system() in ON_THE_NETWORK


def _https_without_proxy() -> bool:
    return settings.SECURE_SSL_REDIRECT and not settings.TRUSTED_PROXIES


REFUSED: Sequence[tuple[Callable[[], bool], str]] = (
    (
        _in_memory,
        "DATABASE_URL keeps everything in memory: all sandboxes would be lost at the end. Name a file, or PostgreSQL.",
    ),
    (
        _shared_over_a_network,
        "The SQLite database is on a disk that machines share over a network, and REDIS_URL is set for several web "
        "processes. SQLite would lose changes there. Set DATABASE_URL to PostgreSQL.",
    ),
    (
        _open_debug,
        "DEBUG shows settings and code to visitors, and ALLOWED_HOSTS lets in others than this machine. Turn DEBUG "
        "off, or serve this machine alone.",
    ),
    (
        _https_without_proxy,
        "HSTS_SECONDS sends visitors to https, but TRUSTED_PROXIES is 0, so no request counts as https and all would "
        "be redirected forever. Set TRUSTED_PROXIES to the number of proxies; the first one must do TLS.",
    ),
)
"""Condition → why the site does not start."""


def check() -> None:
    """Raise ``CannotStart`` for settings that would lose or reveal something."""
    for holds, reason in REFUSED:
        if holds():
            raise CannotStart(reason)


OTHER_KEY = (
    "Another web process on this database has another SECRET_KEY. Embedded scenarios and imports would work in one of "
    "them only. Set the same SECRET_KEY for all, then start them again."
)
KEY_CLASS = 7_246_383
"""First number of the advisory locks in PostgreSQL that show which secret key a web process has."""


def hold_key(lock: Any) -> None:
    """Show other web processes which secret key this one has, as long as ``lock`` is open.

    ``lock``: a connection to PostgreSQL. Raises ``CannotStart`` if another process shows another key. Two that start
    at the same moment see each other, because each shows its key before it looks.
    """
    digest = sha256(b"web process " + settings.SECRET_KEY.encode()).digest()
    number = int.from_bytes(digest[:4], "big", signed=True)
    with lock.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock_shared(%s, %s)", [KEY_CLASS, number])
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND classid = %s"
            " AND objid::bigint <> %s AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            [KEY_CLASS, number % 2**32],
        )
        others = cursor.fetchone()[0]
    if others:
        lock.close()
        raise CannotStart(OTHER_KEY)
