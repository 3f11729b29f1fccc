"""Errors of a worker that cannot answer. Their texts are for people. Nothing was changed when one is raised."""

from __future__ import annotations

from sandbox.words.say import say
from scheduler_engine.errors import FieldError, Rejected

STOPPED = say("limits.stopped")
BROKE_DOWN = say("limits.broke-down")


class EngineError(Exception):
    """``status``: HTTP status of the answer."""

    status = 503


class Busy(EngineError):
    """Too many commands run or wait."""


class Occupied(EngineError):
    """The sandbox is busy: another command or a replay runs, or others keep changing the log."""

    status = 409


class Stopped(EngineError):
    """Somebody stopped the command, or it reached the time limit."""

    status = 409


class TooLarge(EngineError):
    """The sandbox reached the memory limit."""

    status = 422


class Lost(EngineError):
    """The worker's process ended before it answered."""


class Broken(EngineError):
    """The job raised an unexpected error, which the worker has logged."""

    status = 500


class UnknownName(Rejected):
    """A question names something that does not exist in the field ``field``."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__([FieldError(field, "FieldValueNotFound", message)])
        self.field, self.message = field, message

    def __reduce__(self) -> tuple[type[UnknownName], tuple[str, str]]:
        return UnknownName, (self.field, self.message)


def no_answer(problem: Rejected) -> dict[str, str]:
    """Return why an answer has none: ``problem`` in words, and the field that names something ``unknown``, or ""."""
    if isinstance(problem, UnknownName):
        return {"problem": problem.message, "unknown": problem.field}
    return {"problem": str(problem), "unknown": ""}
