"""What becomes of the errors of views: an answer in words, with nothing changed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError

from sandbox import storage
from sandbox.access import problem
from sandbox.engines.errors import EngineError
from sandbox.live import ReplayFailed
from sandbox.quotas import OverQuota
from scheduler_engine.errors import NothingToDo, Rejected

log = logging.getLogger(__name__)


class InWords:
    """Middleware, so that no view and no decorator of one can fail outside of it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """None: Django answers, with 4xx."""
        answer = next(ANSWERS[kind] for kind in type(error).__mro__ if kind in ANSWERS)
        return answer(request, error)


def _by_django(request: HttpRequest, error: Exception) -> None:
    return None


def _refused(request: HttpRequest, error: OverQuota | EngineError) -> HttpResponse:
    return problem(request, error.status, str(error))


def _rejected(request: HttpRequest, error: Rejected) -> HttpResponse:
    if len(error.errors) == 1 and not error.errors[0].path:
        return problem(request, 422, error.errors[0].message)
    return problem(request, 422, "Nothing was changed.", error.errors)


def _stuck(request: HttpRequest, error: ReplayFailed) -> HttpResponse:
    return problem(request, 409, f"This sandbox cannot be replayed to its end: {error}. Go back first.")


def _not_taken(request: HttpRequest, error: OperationalError | InterfaceError) -> HttpResponse:
    log.error("the database did not take a change", exc_info=error)
    return problem(request, *storage.refusal(error))


def _not_written(request: HttpRequest, error: OSError) -> HttpResponse:
    if error.errno not in storage.ROOM:
        return _broke_down(request, error)
    log.error("the disk did not take a file", exc_info=error)
    return problem(request, 507, storage.FULL)


def _broke_down(request: HttpRequest, error: Exception) -> HttpResponse:
    log.error("a command broke down", exc_info=error)
    return problem(request, 500, "Something went wrong on the server. Nothing was changed. The error is logged.")


ANSWERS: dict[type[Exception], Callable[[HttpRequest, Any], HttpResponse | None]] = {
    Http404: _by_django,
    BadRequest: _by_django,
    SuspiciousOperation: _by_django,
    MultiPartParserError: _by_django,
    OverQuota: _refused,
    EngineError: _refused,
    NothingToDo: lambda request, error: problem(request, 422, str(error), calm=True),
    Rejected: _rejected,
    ReplayFailed: _stuck,
    OperationalError: _not_taken,
    InterfaceError: _not_taken,
    OSError: _not_written,
    Exception: _broke_down,
}
