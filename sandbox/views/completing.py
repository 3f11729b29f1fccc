"""What editors complete from: the schemas, which are the same for all, and the tables of one cluster."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from sandbox.access import Access, reads
from sandbox.api.routes import api
from sandbox.engines import site
from sandbox.schema.document import DIGEST, TEXT
from sandbox.shared import same_for_all
from scheduler_engine.scenario.schema import FILE as SCENARIO_SCHEMA

KEPT = "public, max-age=31536000, immutable"
FOR_AN_HOUR = "public, max-age=3600"
"""What the address of a version does not say, another one may soon say otherwise."""


@require_safe
def schema(request: HttpRequest, digest: str) -> HttpResponse:
    """The schema of this version. Only under its own digest may a browser keep it."""
    headers = {"Cache-Control": KEPT} if digest == DIGEST else {}
    return HttpResponse(TEXT, content_type="application/json", headers=headers)


@require_safe
def scenario_schema(request: HttpRequest) -> HttpResponse:
    """The JSON Schema of scenario files, for editors that people have on their own machines."""
    headers = {"Cache-Control": FOR_AN_HOUR}
    return HttpResponse(SCENARIO_SCHEMA.read_bytes(), content_type="application/schema+json", headers=headers)


@require_safe
@same_for_all(control=FOR_AN_HOUR)
def api_document(request: HttpRequest) -> HttpResponse:
    """What the API takes and answers, as OpenAPI."""
    return JsonResponse(api.get_openapi_schema())


@reads
def offers(request: HttpRequest, access: Access) -> HttpResponse:
    """Names, labels and taints of the cluster as it is now, which is what a manifest is applied to."""
    return JsonResponse(site.read(access.sandbox, "offers"))
