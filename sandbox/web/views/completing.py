"""Data for completion in editors: the schemas, which are the same for all sandboxes, and names of one cluster."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from sandbox.pool import engines
from sandbox.web.access import Access, reads
from sandbox.web.schema.document import DIGESTS, TEXTS
from sandbox.web.shared import FOR_AN_HOUR, same_for_all
from sandbox.worker import jobs
from scheduler_engine.lesson.schema import SCHEMAS
from scheduler_engine.scenario.schema import text_of
from scheduler_engine.versions import DEFAULT

CACHED_FOREVER = "public, max-age=31536000, immutable"


@require_safe
def schema(request: HttpRequest, digest: str) -> HttpResponse:
    """Return the current schema of a version. A browser may cache it only under its own digest."""
    versions = {each: version for version, each in DIGESTS.items()}
    headers = {"Cache-Control": CACHED_FOREVER} if digest in versions else {}
    return HttpResponse(TEXTS[versions.get(digest, DEFAULT)], content_type="application/json", headers=headers)


@require_safe
@same_for_all(control=FOR_AN_HOUR)
def file_schema(request: HttpRequest, kind: str) -> HttpResponse:
    """Return the JSON Schema of files of a kind, for editors on people's own machines."""
    return HttpResponse(text_of(SCHEMAS[kind]()), content_type="application/schema+json")


@reads
def offers(request: HttpRequest, access: Access) -> HttpResponse:
    """Return names, labels and taints of the cluster as it is now, because a manifest is applied to it."""
    return JsonResponse(engines.read(access.sandbox, jobs.offers))
