"""Uploaded files and the drafts of imports. An uploaded file is never stored itself.

An upload has no name in the file system, so it disappears with its request, whatever happens. A worker writes what it
needs of the file to a draft below ``VAR_DIR``. The draft stays until it is opened, for an hour at most. Its key, which
is part of the page's address, grants access. The name of a draft has digests of the client's address and of the key,
so that a list of the folder opens nothing.
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
from sandbox.words.say import say

KEPT_SECONDS = 3600
MOST_BYTES = 1024 * 1024 * 1024
"""The limit for all drafts together."""
MOST_OF_ONE = MOST_BYTES // 16
"""The limit for the drafts of one address: a class of 200, with a cluster of 100 nodes each."""
LEAST_BYTES = 4096
"""The size that a draft counts for at least, as on a disk."""
KEY = re.compile(r"[A-Za-z0-9_-]{32}")


class NamelessUploadHandler(FileUploadHandler):
    """Write an upload to a file without a name, which nobody else can open and which disappears when it is closed."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.file = _file()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        _write(self.file, raw_data)

    def file_complete(self, file_size: int) -> UploadedFile:
        self.file.seek(0)
        return UploadedFile(self.file, self.file_name, size=file_size)


def upload_of_text(text: str) -> UploadedFile:
    """Return the text of a form as an upload. Raise ``OSError`` if the disk is full."""
    content, file = text.encode(errors="replace"), _file()
    _write(file, content)
    file.seek(0)
    return UploadedFile(file, "pasted.yaml", size=len(content))


def _file() -> IO[bytes]:
    """Return a new file without a name. It has no buffer: a worker reads it too, and closing it must not fail."""
    return tempfile.TemporaryFile(buffering=0)


def _write(file: IO[bytes], content: bytes) -> None:
    """Write to a file. If the disk is full, close the file and raise ``OSError``."""
    rest = memoryview(content)
    try:
        while rest:
            rest = rest[file.write(rest) :]
    except OSError:
        file.close()
        raise


def descriptor_path(file: UploadedFile) -> str:
    """Return the path at which a worker on this machine can open an upload while its request runs."""
    return f"/proc/{os.getpid()}/fd/{file.fileno()}"


def folder() -> Path:
    """Return the folder of drafts, and create it if it is missing."""
    path = Path(settings.VAR_DIR) / "imports"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def draft_path(key: str) -> Path | None:
    """Return the path of a draft; None if it is gone."""
    if not KEY.fullmatch(key):
        return None
    sweep()
    return next(folder().glob(f"*-{tokens.digest(key)}"), None)


def new_draft(address: str) -> tuple[str, Path]:
    """Return the key and the path of a new draft, which the caller writes. Raise ``OverQuota`` without space for it."""
    sweep()
    check_space(address)
    key = tokens.new_token()
    return key, folder() / f"{_owner(address)}-{tokens.digest(key)}"


def check_space(address: str) -> None:
    """Raise ``OverQuota`` if all drafts, or those of the address, are larger than their limit."""
    sizes = dict(_sizes())
    if sum(sizes.values()) > MOST_BYTES:
        raise OverQuota(say("import.full"), 507)
    if sum(size for name, size in sizes.items() if name.startswith(_owner(address))) > MOST_OF_ONE:
        raise OverQuota(say("import.full-for-address"), 429)


def sweep() -> None:
    """Remove drafts that are too old."""
    oldest = time.time() - KEPT_SECONDS
    for path in folder().iterdir():
        try:
            if path.stat().st_mtime < oldest:
                path.unlink()
        except FileNotFoundError:
            continue  # Another process removed it first.


def _owner(address: str) -> str:
    """Return the start of the names of an address's drafts."""
    return salted_hmac("sandbox.uploads", address).hexdigest()[:16]


def _sizes() -> Iterator[tuple[str, int]]:
    """Yield the name and the size in bytes of each draft."""
    for path in folder().iterdir():
        try:
            yield path.name, max(path.stat().st_size, LEAST_BYTES)
        except FileNotFoundError:
            continue  # It was removed meanwhile.
