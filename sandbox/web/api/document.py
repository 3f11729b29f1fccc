"""The OpenAPI document of the API."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from sandbox.web.api.routes import api
from sandbox.web.shared import FOR_AN_HOUR, same_for_all


@require_safe
@same_for_all(control=FOR_AN_HOUR)
def api_document(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI document."""
    return JsonResponse(api.get_openapi_schema())
