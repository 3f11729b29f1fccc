"""Files of YAML with one document: a scenario or a lesson. Errors are reported with their lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from scheduler_engine import commands
from scheduler_engine.api.loading import read_documents
from scheduler_engine.api.parsing import Document, Limits, Place
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.shapes import inside
from scheduler_engine.words import say


@dataclass(frozen=True, slots=True)
class FileError(FieldError):
    """A wrong field of a file, with its place: ``name.yaml:12:5: then[2].advance.seconds: …``."""

    file: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.path}: {self.message}" if self.path else f"{place}: {self.message}"


FILE_LIMITS = Limits(size=64 * 1024 * 1024, nodes=5_000_000)
"""Wider than for pasted text: only the person who names a file waits for it."""


def document_in(text: str | bytes, name: str, limits: Limits, kind: str) -> Document:
    """Return the one document of a file that holds a ``kind``. Raises Rejected with all errors and their lines."""
    try:
        documents = read_documents(text, limits)
    except Rejected as refusal:
        raise Rejected([_in_file(error, name) for error in refusal.errors]) from refusal
    if not documents or documents[0].data is None:
        raise Rejected([FileError("", "FieldValueRequired", say("scenario-errors.empty-file"), file=name)])
    if len(documents) > 1:
        place = documents[1].place
        text = say("scenario-errors.several-documents", kind=kind, number=len(documents))
        raise Rejected([FileError("", "FieldValueTooMany", text, 1, place.line, place.column, file=name)])
    document = documents[0]
    if not isinstance(document.data, dict):
        message = say("scenario-errors.without-title", kind=kind)
        place = document.place
        raise Rejected([FileError("", "FieldValueTypeInvalid", message, 0, place.line, place.column, file=name)])
    if document.duplicates:
        raise Rejected([_in_file(error, name) for error in document.duplicates])
    return document


def _in_file(error: FieldError, name: str) -> FileError:
    return FileError(error.path, error.kind, error.message, 0, error.line, error.column, error.object_name, name)


def at_lines(errors: Iterable[FieldError], root: Place, name: str) -> list[FieldError]:
    """Return the errors at the lines of their paths."""
    return [_at_line(error, root, name) for error in errors]


def _at_line(error: FieldError, root: Place, name: str) -> FileError:
    place = root.find(error.path)
    return FileError(error.path, error.kind, error.message, 0, place.line, place.column, error.object_name, name)


def rename_on(steps: Any, root: Place, path: str) -> None:
    """Rename the key true to ``on``: YAML 1.1 reads a bare ``on`` as true, and a command may have a field ``on``."""
    for number, step in enumerate(steps if isinstance(steps, list) else ()):
        for kind, fields in step.items() if isinstance(step, dict) else ():
            known = commands.COMMANDS[kind].rows if kind in commands.COMMANDS else {}
            if isinstance(fields, dict) and "true" in fields and "on" in known and "on" not in fields:
                fields["on"] = fields.pop("true")
                children = root.find(inside(f"{path}[{number}]", kind)).children
                if "true" in children:
                    children["on"] = children.pop("true")


def slug_of(name: str, endings: Iterable[str]) -> str:
    """Return a file's slug: without the number that orders the list, and without its endings."""
    stem = name.rpartition(".")[0] or name
    for ending in endings:
        stem = stem.removesuffix(ending)
    return stem.split("-", 1)[1] if stem[:2].isdigit() and "-" in stem else stem
