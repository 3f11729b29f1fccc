"""What editors complete from: the schemas, which are the same for all, and the tables of one cluster."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from sandbox.pool import engines
from sandbox.web.access import Access, reads
from sandbox.web.schema.document import DIGEST, TEXT
from sandbox.web.shared import FOR_AN_HOUR
from sandbox.worker import jobs
from scheduler_engine.scenario.schema import FILE as SCENARIO_SCHEMA

KEPT = "public, max-age=31536000, immutable"


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


@reads
def offers(request: HttpRequest, access: Access) -> HttpResponse:
    """Names, labels and taints of the cluster as it is now, which is what a manifest is applied to."""
    return JsonResponse(engines.read(access.sandbox, jobs.offers))
