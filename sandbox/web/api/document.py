"""The OpenAPI document, for programs that are written against the API."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from sandbox.web.api.routes import api
from sandbox.web.shared import FOR_AN_HOUR, same_for_all


@require_safe
@same_for_all(control=FOR_AN_HOUR)
def api_document(request: HttpRequest) -> HttpResponse:
    """What the API takes and answers, as OpenAPI."""
    return JsonResponse(api.get_openapi_schema())
