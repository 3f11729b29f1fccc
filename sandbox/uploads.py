"""Files on their way into a sandbox: kept for an hour below ``VAR_DIR``, for whoever has the key in the address.

A file is named by the digest of its key, so that a list of the folder opens nothing.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from sandbox import tokens
from sandbox.quotas import OverQuota

KEPT_SECONDS = 3600
MOST_BYTES = 1024 * 1024 * 1024
"""Of all files that are kept."""
KEY = re.compile(r"[A-Za-z0-9_-]{32}")


def folder() -> Path:
    found = Path(settings.VAR_DIR) / "imports"
    found.mkdir(mode=0o700, parents=True, exist_ok=True)
    return found


def path_of(key: str) -> Path | None:
    """The file of a key; None when there is none any more."""
    if not KEY.fullmatch(key):
        return None
    found = folder() / tokens.digest(key)
    return found if found.exists() else None


def keep(file: UploadedFile) -> tuple[str, Path]:
    """Write an upload down; its key and its place. Raises ``OverQuota``."""
    check_size(file.size or 0)
    sweep()
    if sum(_size(path) for path in folder().iterdir()) + (file.size or 0) > MOST_BYTES:
        raise OverQuota("This server holds too many imports at once. Nothing was read; try again in an hour.", 507)
    key = tokens.new_token()
    path = folder() / tokens.digest(key)
    with path.open("xb") as kept:
        path.chmod(0o600)
        for chunk in file.chunks():
            kept.write(chunk)
    return key, path


def check_size(size: int) -> None:
    """Raises ``OverQuota`` for a file of more than may be sent."""
    most: int = settings.IMPORT_BYTES
    if size > most:
        raise OverQuota(f"The file is {size:,} bytes long; the limit is {most:,} bytes. Pack it with gzip.", 413)


def sweep() -> None:
    """Files that are too old go."""
    oldest = time.time() - KEPT_SECONDS
    for path in folder().iterdir():
        try:
            if path.stat().st_mtime < oldest:
                path.unlink()
        except FileNotFoundError:
            continue  # Another worker was quicker.


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0  # It went meanwhile.
