"""The API object, and the shape of all of its errors."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.operation import Operation

from sandbox.web.access import problem_as_json
from sandbox.web.api.shapes import command_schemas
from sandbox.web.errors import REFUSALS, refusal_of
from sandbox.words.say import say
from scheduler_engine import ENGINE_VERSION


class Api(NinjaAPI):
    """An API in which operations have the names of their functions."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__

    def get_openapi_schema(self, *arguments: Any, **options: Any) -> Any:
        """Return the document, with a schema of its own for each kind of command: generators make a class of each.

        Ninja also copies the examples of a parameter's schema beside it, where a document has a map of others.
        """
        document = super().get_openapi_schema(*arguments, **options)
        document["components"]["schemas"] |= command_schemas()
        for methods in document["paths"].values():
            for operation in methods.values():
                for parameter in operation.get("parameters", ()):
                    parameter.pop("examples", None)
        return document


api = Api(
    title=say("api.title"),
    version=ENGINE_VERSION,
    description=say("api.about"),
    docs_url=None,
    openapi_url=None,
    urls_namespace="api",
)


def _answer(request: HttpRequest, error: Any) -> HttpResponse:
    refusal = refusal_of(error)
    response = problem_as_json(refusal.status, refusal.message, refusal.errors)
    if refusal.wait is not None:
        response["Retry-After"] = str(refusal.wait)
    return response


for kind in REFUSALS:
    api.add_exception_handler(kind, _answer)
