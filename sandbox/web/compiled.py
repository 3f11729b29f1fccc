"""Compiled templates on disk: a process that finds them starts a second sooner.

They are in a folder of the user in the system's folder for temporary files, which nobody else may write to.
"""

from __future__ import annotations

import logging
from hashlib import sha256
from pathlib import Path

from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket

from sandbox.words.say import ROWS

log = logging.getLogger(__name__)

COMPILER = Path(__file__).with_name("jinja2.py")


class CompiledTemplates(FileSystemBytecodeCache):
    """A compiled template holds sentences, too: it is used only with the same template, sentences and compiler."""

    def __init__(self) -> None:
        super().__init__()
        self.others = sha256(repr(ROWS).encode() + COMPILER.read_bytes()).hexdigest()

    def get_source_checksum(self, source: str) -> str:
        return sha256(f"{self.others}{source}".encode()).hexdigest()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store a template. If the disk is full, the next process compiles it again."""
        try:
            super().dump_bytecode(bucket)
        except OSError as error:
            log.warning("a compiled template could not be stored: %s", error)


def compiled_templates() -> CompiledTemplates | None:
    """Return the stored templates; None if there is no safe place for them."""
    try:
        return CompiledTemplates()
    except (OSError, RuntimeError) as error:
        log.warning("templates are compiled at each start: %s", error)
        return None
