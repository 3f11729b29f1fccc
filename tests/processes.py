"""The processes that a process has started: list them, and stop them for a while."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def children(pid: int) -> list[int]:
    """Return the processes that a process has started, from any of its threads."""
    return [int(child) for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()]


def descendants(pid: int) -> list[int]:
    """Return the children of a process, their children, and so on."""
    return [one for child in children(pid) for one in (child, *descendants(child))]


@contextmanager
def stopped(pids: list[int]) -> Iterator[None]:
    """Stop processes in the block, as a debugger does."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):  # The block has ended it.
                os.kill(pid, signal.SIGCONT)
