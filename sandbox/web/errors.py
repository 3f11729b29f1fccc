"""Errors in words, with nothing changed: one table of what each says, for the page, the API and imports."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from django.core.exceptions import BadRequest, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from ninja.errors import HttpError, ValidationError

from sandbox.limits.quotas import OverQuota, quotas
from sandbox.storage import failures
from sandbox.web.access import problem
from sandbox.worker.errors import BROKE_DOWN, EngineError
from sandbox.worker.live import ReplayFailed
from scheduler_engine.errors import FieldError, NothingToDo, Rejected

log = logging.getLogger(__name__)


class Late(Exception):
    """Somebody asks too often, and must wait ``seconds``."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = ceil(seconds)


@dataclass(frozen=True, slots=True)
class Refusal:
    """What an error says: an HTTP status, a sentence, and the fields that are wrong.

    ``calm``: nothing is wrong; the page removes it by itself. ``wait``: after so many seconds it may work.
    """

    status: int
    message: str
    errors: Sequence[FieldError] = ()
    calm: bool = False
    wait: int | None = None


def _rejected(error: Rejected) -> Refusal:
    if len(error.errors) == 1 and not error.errors[0].path:
        return Refusal(422, error.errors[0].message)
    return Refusal(422, "Nothing was changed.", error.errors)


def _misshapen(error: ValidationError) -> Refusal:
    """Of a body or a parameter that the API's document does not allow."""
    errors = [
        FieldError(
            ".".join(str(part) for part in one["loc"][2 if one["loc"][0] == "body" else 1 :]), "Invalid", one["msg"]
        )
        for one in error.errors
    ]
    return Refusal(422, "The request does not match the API document.", errors)


def _not_taken(error: OperationalError | InterfaceError) -> Refusal:
    log.error("the database did not take a change", exc_info=error)
    return Refusal(*failures.refusal(error))


def _not_written(error: OSError) -> Refusal:
    if error.errno not in failures.ROOM:
        return _broke_down(error)
    log.error("the disk did not take a file", exc_info=error)
    return Refusal(507, failures.FULL)


def _broke_down(error: Exception) -> Refusal:
    log.error("a request broke down", exc_info=error)
    return Refusal(500, BROKE_DOWN)


def _too_large(error: RequestDataTooBig) -> Refusal:
    return Refusal(413, f"The request is too large. The limit for manifests is {quotas().manifest_bytes:,} bytes.")


def _refused(error: HttpError) -> Refusal:
    """The library's own words are about bodies that it cannot read."""
    return Refusal(error.status_code, "The request body is not valid JSON." if error.status_code == 400 else str(error))


REFUSALS: dict[type[Exception], Callable[[Any], Refusal]] = {
    OverQuota: lambda error: Refusal(error.status, str(error)),
    EngineError: lambda error: Refusal(error.status, str(error)),
    NothingToDo: lambda error: Refusal(422, str(error), calm=True),
    Rejected: _rejected,
    ReplayFailed: lambda error: Refusal(409, f"This sandbox cannot be replayed to its end: {error}. Go back first."),
    OperationalError: _not_taken,
    InterfaceError: _not_taken,
    OSError: _not_written,
    Late: lambda error: Refusal(429, str(error), wait=error.seconds),
    RequestDataTooBig: _too_large,
    ValidationError: _misshapen,
    HttpError: _refused,
    Http404: lambda error: Refusal(404, "There is nothing here."),
    Exception: _broke_down,
}
"""Kind of an error → what it says. The row of the nearest class counts."""
BY_DJANGO = (Http404, BadRequest, SuspiciousOperation, MultiPartParserError)
"""Errors for which Django calls the handlers of ``urls.py``."""


def refusal_of(error: Exception) -> Refusal:
    """Return what an error says, and log it if somebody has to look after it."""
    return next(REFUSALS[kind] for kind in type(error).__mro__ if kind in REFUSALS)(error)


class InWords:
    """Middleware, so that no view and no decorator of one can fail outside of it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """None: Django answers, with 4xx."""
        if isinstance(error, BY_DJANGO):
            return None
        refusal = refusal_of(error)
        return problem(request, refusal.status, refusal.message, list(refusal.errors), refusal.calm)


def line_of(error: FieldError) -> str:
    """``line 7, column 3: path: message``."""
    column = f", column {error.column}" if error.column else ""
    place = f"line {error.line}{column}: " if error.line else ""
    name = f"{error.object_name}: " if error.object_name else ""
    return f"{place}{name}{error}"
