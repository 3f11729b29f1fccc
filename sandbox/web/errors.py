"""One table of what each kind of error means to the page, the API and imports: a status, a sentence, fields."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from django.core.exceptions import BadRequest, DisallowedHost, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.multipartparser import MultiPartParserError
from ninja.errors import HttpError, ValidationError

from sandbox.limits.quotas import OverQuota, quotas
from sandbox.runtime import measures
from sandbox.storage import failures
from sandbox.storage.models import Sandbox, Study
from sandbox.web.access import problem
from sandbox.words.say import say
from sandbox.worker.errors import BROKE_DOWN, EngineError
from sandbox.worker.live import ReplayFailed
from scheduler_engine.errors import FieldError, NothingToDo, Rejected

log = logging.getLogger(__name__)


class RateExceeded(Exception):
    """A client sends too many requests, and must wait ``seconds``."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = ceil(seconds)


class BadQuery(Exception):
    """A question of a program lacks a field, or names something that does not exist. ``kind`` as in ``FieldError``."""

    def __init__(self, status: int, field: str, kind: str, message: str) -> None:
        super().__init__(message)
        self.status, self.field, self.kind = status, field, kind


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer to an error: an HTTP status, a sentence, and the invalid fields.

    ``calm``: nothing is wrong, and the page removes the message after a while. ``wait``: seconds until it may work.
    """

    status: int
    message: str
    errors: Sequence[FieldError] = ()
    calm: bool = False
    wait: int | None = None


def _over_quota(error: OverQuota) -> Refusal:
    measures.REFUSED.labels("quota").inc()
    return Refusal(error.status, str(error))


def _rejected(error: Rejected) -> Refusal:
    if len(error.errors) == 1 and not error.errors[0].path and not error.errors[0].line:
        return Refusal(422, error.errors[0].message)
    return Refusal(422, say("errors.unchanged"), error.errors)


def _invalid_request(error: ValidationError) -> Refusal:
    """Return the refusal of a body or a parameter that does not match the API document."""
    errors = [
        FieldError(
            ".".join(str(part) for part in one["loc"][2 if one["loc"][0] == "body" else 1 :]), "Invalid", one["msg"]
        )
        for one in error.errors
    ]
    return Refusal(422, say("errors.not-as-documented"), errors)


def _database_error(error: OperationalError | InterfaceError) -> Refusal:
    log.error("the database refused a change", exc_info=error)
    return Refusal(*failures.refusal(error))


def _file_error(error: OSError) -> Refusal:
    if error.errno not in failures.ROOM:
        return _unexpected(error)
    log.error("a file could not be written", exc_info=error)
    return Refusal(507, failures.FULL)


def _unexpected(error: Exception) -> Refusal:
    log.error("a request failed", exc_info=error)
    return Refusal(500, BROKE_DOWN)


def _unreadable(error: Exception) -> Refusal:
    """Return the refusal of a request that Django does not read: its host, its body, or its many fields."""
    return Refusal(400, say("errors.unreadable-or-large"))


def _http_error(error: HttpError) -> Refusal:
    """Return the refusal of an error from Ninja. Its own 400 always means a body that is not valid JSON."""
    return Refusal(error.status_code, say("errors.not-json") if error.status_code == 400 else str(error))


REFUSALS: dict[type[Exception], Callable[[Any], Refusal]] = {
    OverQuota: _over_quota,
    EngineError: lambda error: Refusal(error.status, str(error)),
    NothingToDo: lambda error: Refusal(422, str(error), calm=True),
    Rejected: _rejected,
    ReplayFailed: lambda error: Refusal(409, say("errors.no-replay", error=error)),
    OperationalError: _database_error,
    InterfaceError: _database_error,
    OSError: _file_error,
    BadQuery: lambda error: Refusal(error.status, str(error), [FieldError(error.field, error.kind, str(error))]),
    RateExceeded: lambda error: Refusal(429, str(error), wait=error.seconds),
    RequestDataTooBig: lambda error: Refusal(413, say("errors.request-too-large", most=quotas().manifest_bytes)),
    DisallowedHost: lambda error: Refusal(400, say("errors.other-host")),
    **dict.fromkeys((SuspiciousOperation, BadRequest, MultiPartParserError), _unreadable),
    ValidationError: _invalid_request,
    HttpError: _http_error,
    Http404: lambda error: Refusal(404, say("errors.nothing-here")),
    # It was deleted during the request.
    Sandbox.DoesNotExist: lambda error: Refusal(404, say("errors.no-sandbox")),
    Study.DoesNotExist: lambda error: Refusal(404, say("errors.no-sandbox")),
    Exception: _unexpected,
}
"""Class of an error → its refusal. The row of the nearest base class counts."""
BY_DJANGO = (Http404, BadRequest, SuspiciousOperation, MultiPartParserError)
"""Errors for which Django calls the handlers of ``urls.py``."""


def refusal_of(error: Exception) -> Refusal:
    """Return the refusal for an error. Log it if the operator must act."""
    return next(REFUSALS[kind] for kind in type(error).__mro__ if kind in REFUSALS)(error)


class ErrorMiddleware:
    """Answer every error of a view or its decorators with a sentence."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        # Django's own answer is an empty page.
        return wrong_method(request, response["Allow"]) if isinstance(response, HttpResponseNotAllowed) else response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return the answer to an error, or None for those that Django answers itself."""
        if isinstance(error, BY_DJANGO):
            return None
        refusal = refusal_of(error)
        response = problem(request, refusal.status, refusal.message, list(refusal.errors), refusal.calm)
        if refusal.wait is not None:
            response["Retry-After"] = str(refusal.wait)
        return response


def wrong_method(request: HttpRequest, allowed: str) -> HttpResponse:
    """Return the answer 405. ``allowed``: the methods that the address knows."""
    response = problem(request, 405, say("errors.wrong-method"))
    response["Allow"] = allowed
    return response


def line_of(error: FieldError) -> str:
    """Return an error in one line: ``line 7, column 3: path: message``."""
    text = f"{error.object_name}: {error}" if error.object_name else str(error)
    if error.column:
        return say("errors.at-column", line=error.line, column=error.column, problem=text)
    return say("errors.at-line", line=error.line, problem=text) if error.line else text
