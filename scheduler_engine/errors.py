"""Errors that reach a person: complete, in Kubernetes' form, with a place.

Source: upstream ``apimachinery/pkg/util/validation/field/errors.go`` (kinds and wording).
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.words import say

MOST_ERRORS = 1000
"""The number of errors listed per text or command, and of warnings. After one more, the search stops."""

LONGEST_NAME = 253
"""The most characters of an object's name in its errors."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong field.

    ``path`` is Kubernetes' field path (``spec.tolerations[0].operator``; "" for the whole document), ``kind`` its error
    type (``FieldValueInvalid`` …), ``message`` the text after the path. ``document`` counts from 0; ``line``/``column``
    from 1, 0 = unknown.
    """

    path: str
    kind: str
    message: str
    document: int = 0
    line: int = 0
    column: int = 0
    object_name: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class Rejected(Exception):
    """A command was refused; nothing has changed. ``errors`` lists all errors, up to ``MOST_ERRORS``."""

    def __init__(self, errors: list[FieldError] | str) -> None:
        self.errors = [FieldError("", "Invalid", errors)] if isinstance(errors, str) else list(errors[:MOST_ERRORS])
        if len(errors) > MOST_ERRORS and not isinstance(errors, str):
            self.errors.append(FieldError("", "TooMany", say("refusals.first-errors", most=MOST_ERRORS)))
        super().__init__("; ".join(str(error) for error in self.errors))


class NothingToDo(Rejected):
    """A stepping command has no error, but there is nothing to step now."""


class OverBudget(Rejected):
    """A command was refused while running, because it would exceed the limits of ``effort.py``."""
