"""What copies of a database have in common, SQLite or PostgreSQL: their files and names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.server.startup import CannotStart, report_os_errors


def check_new(to: Path) -> None:
    """Raise ``CannotStart`` if a copy cannot be written to ``to``: the file exists, or its folder does not."""
    if to.exists():
        raise CannotStart(f"{to} already exists. Choose another file name.")
    if not to.absolute().parent.is_dir():
        raise CannotStart(f"The folder {to.absolute().parent} does not exist. Create it first.")


def check_copy(copy: Path, is_valid: Callable[[Path], bool]) -> None:
    """Raise ``CannotStart`` if a copy does not exist or is invalid."""
    if not copy.is_file():
        raise CannotStart(f"The file {copy} does not exist.")
    if not is_valid(copy):
        raise CannotStart(f"{copy} is damaged, or is not a copy of this site's database. Nothing was changed.")


@contextmanager
def complete_file(to: Path) -> Iterator[Path]:
    """Yield an empty file that only its owner can read. It gets its name after the block, or is removed if that fails.

    Raises ``CannotStart`` if the disk refuses it.
    """
    part = to.with_name(f"{to.name}.part")
    with report_os_errors(part):
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        yield part
        with report_os_errors(to), open(part, "rb") as whole:
            os.fsync(whole.fileno())
            part.replace(to)
    finally:
        part.unlink(missing_ok=True)


def name_to_save(path: Path) -> Path:
    """Return a free name beside ``path`` for what a restore replaces."""
    number = 1
    while (saved := path.with_name(f"{path.name}.before-{number}")).exists():
        number += 1
    return saved
