"""The API object, and the shape of all of its errors."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.operation import Operation

from sandbox.web.errors import REFUSALS, refusal_of
from sandbox.words.say import say
from scheduler_engine import ENGINE_VERSION
from scheduler_engine.errors import FieldError


class Api(NinjaAPI):
    """An API in which operations have the names of their functions."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__


api = Api(
    title=say("api.title"),
    version=ENGINE_VERSION,
    description=say("api.about"),
    docs_url=None,
    openapi_url=None,
    urls_namespace="api",
)


def field_problem(error: FieldError) -> dict[str, Any]:
    """Return an error as a ``FieldProblem``."""
    return {
        "path": error.path,
        "type": error.kind,
        "message": error.message,
        "object": error.object_name,
        "document": error.document + 1,
        "line": error.line or None,
        "column": error.column or None,
    }


def _answer(request: HttpRequest, error: Any) -> HttpResponse:
    refusal = refusal_of(error)
    body = {"message": refusal.message, "errors": [field_problem(one) for one in refusal.errors]}
    response = HttpResponse(json.dumps(body), status=refusal.status, content_type="application/json")
    if refusal.wait is not None:
        response["Retry-After"] = str(refusal.wait)
    return response


for kind in REFUSALS:
    api.add_exception_handler(kind, _answer)
