"""Files on their way into a sandbox. Nothing is ever stored as it came.

While it arrives, a file has no name: it ends with the request, whatever happens. What an engine keeps of it is a draft
below ``VAR_DIR``, until it is opened, for an hour at most, for whoever has the key in the address. A draft is named by
digests of the address that brought it and of its key, so that a list of the folder opens nothing.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.utils.crypto import salted_hmac

from sandbox.limits.quotas import OverQuota
from sandbox.storage import tokens

KEPT_SECONDS = 3600
MOST_BYTES = 1024 * 1024 * 1024
"""Of all drafts."""
MOST_OF_ONE = MOST_BYTES // 16
"""Of the drafts that one address brought: a class of 200 with a cluster of 100 nodes each."""
LEAST_BYTES = 4096
"""That a draft counts for, as a disk does."""
KEY = re.compile(r"[A-Za-z0-9_-]{32}")
FULL = "This server holds too many imports. Nothing was saved; try again in an hour."
FULL_OF_ONE = (
    "Your address has uploaded too many clusters that nobody has opened. Nothing was saved. Open one, or try "
    "again in an hour."
)


class Nameless(FileUploadHandler):
    """Writes an upload to a file that has no name, so that nobody finds it and nothing of it stays."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.file = _file()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        _write(self.file, raw_data)

    def file_complete(self, file_size: int) -> UploadedFile:
        self.file.seek(0)
        return UploadedFile(self.file, self.file_name, size=file_size)


def pasted(text: str) -> UploadedFile:
    """An upload from the text of a form. Raises ``OSError`` if the disk is full."""
    content, file = text.encode(errors="replace"), _file()
    _write(file, content)
    file.seek(0)
    return UploadedFile(file, "pasted.yaml", size=len(content))


def _file() -> IO[bytes]:
    """It is closed with the request. Without a buffer: an engine reads it, too, and closing it cannot fail."""
    return tempfile.TemporaryFile(buffering=0)


def _write(file: IO[bytes], content: bytes) -> None:
    """Raises ``OSError`` if the disk is full; then the file is closed."""
    rest = memoryview(content)
    try:
        while rest:
            rest = rest[file.write(rest) :]
    except OSError:
        file.close()
        raise


def place_of(file: UploadedFile) -> str:
    """The path under which an engine of this machine opens an upload while its request lasts."""
    return f"/proc/{os.getpid()}/fd/{file.fileno()}"


def folder() -> Path:
    found = Path(settings.VAR_DIR) / "imports"
    found.mkdir(mode=0o700, parents=True, exist_ok=True)
    return found


def path_of(key: str) -> Path | None:
    """The draft of a key; None if there is none any more."""
    if not KEY.fullmatch(key):
        return None
    sweep()
    return next(folder().glob(f"*-{tokens.digest(key)}"), None)


def new_draft(address: str) -> tuple[str, Path]:
    """The key and the path of a draft to be written. Raises ``OverQuota`` if there is no room for one."""
    sweep()
    check_room(address)
    key = tokens.new_token()
    return key, folder() / f"{_owner(address)}-{tokens.digest(key)}"


def check_room(address: str) -> None:
    """Raises ``OverQuota`` if all drafts, or those of the address, take more than they may."""
    sizes = dict(_sizes())
    if sum(sizes.values()) > MOST_BYTES:
        raise OverQuota(FULL, 507)
    if sum(size for name, size in sizes.items() if name.startswith(_owner(address))) > MOST_OF_ONE:
        raise OverQuota(FULL_OF_ONE, 429)


def sweep() -> None:
    """Remove drafts that are too old."""
    oldest = time.time() - KEPT_SECONDS
    for path in folder().iterdir():
        try:
            if path.stat().st_mtime < oldest:
                path.unlink()
        except FileNotFoundError:
            continue  # Another worker was quicker.


def _owner(address: str) -> str:
    return salted_hmac("sandbox.uploads", address).hexdigest()[:16]


def _sizes() -> Iterator[tuple[str, int]]:
    for path in folder().iterdir():
        try:
            yield path.name, max(path.stat().st_size, LEAST_BYTES)
        except FileNotFoundError:
            continue  # It went meanwhile.
