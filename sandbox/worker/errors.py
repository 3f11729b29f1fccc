"""Why an engine gives no answer. Each text is for people; nothing was changed when one of these is raised."""

from __future__ import annotations

STOPPED = "The command was stopped. Nothing was changed."
BROKE_DOWN = "Something went wrong on the server. Nothing was changed. The error is logged."


class EngineError(Exception):
    """``status`` is the HTTP answer."""

    status = 503


class Busy(EngineError):
    """So many commands run, or wait, that this one has no room."""


class Occupied(EngineError):
    """Another command of the same sandbox runs, and takes its time."""

    status = 409


class Stopped(EngineError):
    """Somebody stopped the command, or it took longer than one may."""

    status = 409


class TooLarge(EngineError):
    """The sandbox needs more memory than one may have."""

    status = 422


class Lost(EngineError):
    """The process ended before it answered."""


class Broken(EngineError):
    """The engine broke down; its process has logged the error."""

    status = 500
