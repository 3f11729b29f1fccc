"""The API itself, and what becomes of errors: one shape for all of them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from math import ceil
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from sandbox import storage
from sandbox.engines.errors import EngineError
from sandbox.live import ReplayFailed
from sandbox.quotas import OverQuota, quotas
from scheduler_engine import ENGINE_VERSION
from scheduler_engine.errors import FieldError, Rejected

log = logging.getLogger(__name__)


class Late(Exception):
    """Somebody asks too often, and must wait for so many seconds."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = ceil(seconds)


api = NinjaAPI(
    title="Scheduler Sandbox",
    version=ENGINE_VERSION,
    description="Create sandboxes of the Kubernetes scheduler, change and step them, and read what the page shows.",
    docs_url=None,
    openapi_url=None,
    urls_namespace="api",
)


def field_problem(error: FieldError) -> dict[str, Any]:
    return {
        "path": error.path,
        "type": error.kind,
        "message": error.message,
        "object": error.object_name,
        "document": error.document + 1,
        "line": error.line or None,
        "column": error.column or None,
    }


def refusal(status: int, message: str, errors: list[dict[str, Any]] | None = None) -> HttpResponse:
    return HttpResponse(
        json.dumps({"message": message, "errors": errors or []}), status=status, content_type="application/json"
    )


def _late(request: HttpRequest, error: Late) -> HttpResponse:
    response = refusal(429, str(error))
    response["Retry-After"] = str(error.seconds)
    return response


def _rejected(request: HttpRequest, error: Rejected) -> HttpResponse:
    if len(error.errors) == 1 and not error.errors[0].path:
        return refusal(422, error.errors[0].message)
    return refusal(422, "Nothing was changed.", [field_problem(one) for one in error.errors])


def _of_the_server(request: HttpRequest, error: OverQuota | EngineError) -> HttpResponse:
    return refusal(error.status, str(error))


def _misshapen(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Of a body or a parameter that the document does not allow."""
    errors = [
        FieldError(
            ".".join(str(part) for part in one["loc"][2 if one["loc"][0] == "body" else 1 :]), "Invalid", one["msg"]
        )
        for one in error.errors
    ]
    return refusal(422, "The request does not match the API document.", [field_problem(one) for one in errors])


def _stuck(request: HttpRequest, error: ReplayFailed) -> HttpResponse:
    return refusal(409, f"This sandbox cannot be replayed to its end: {error}. Go back first.")


def _not_taken(request: HttpRequest, error: OperationalError | InterfaceError) -> HttpResponse:
    log.exception("the database did not take a change")
    return refusal(*storage.refusal(error))


def _too_large(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    return refusal(413, f"The request is too large. The limit for manifests is {quotas().manifest_bytes:,} bytes.")


def _refused(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Our own words; the library's are about bodies that it cannot read."""
    return refusal(error.status_code, "The request body is not valid JSON." if error.status_code == 400 else str(error))


def _broke_down(request: HttpRequest, error: Exception) -> HttpResponse:
    log.exception("a request of the API broke down")
    return refusal(500, "Something went wrong on the server. Nothing was changed. The error is logged.")


HANDLERS: dict[type[Exception], Callable[[HttpRequest, Any], HttpResponse]] = {
    Late: _late,
    Rejected: _rejected,
    OverQuota: _of_the_server,
    EngineError: _of_the_server,
    ReplayFailed: _stuck,
    OperationalError: _not_taken,
    InterfaceError: _not_taken,
    RequestDataTooBig: _too_large,
    ValidationError: _misshapen,
    HttpError: _refused,
    Http404: lambda request, error: refusal(404, "There is nothing here."),
    Exception: _broke_down,
}
for kind, handler in HANDLERS.items():
    api.add_exception_handler(kind, handler)
