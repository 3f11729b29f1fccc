"""Data for completion in editors: the schemas, which are the same for all sandboxes, and names of one cluster."""

from __future__ import annotations

import json
from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from sandbox.pool import engines
from sandbox.web.access import Access, reads
from sandbox.web.schema.document import DIGESTS, TEXTS
from sandbox.web.schema.lessons import lesson_digests, lesson_texts
from sandbox.web.shared import FOR_AN_HOUR, same_for_all
from sandbox.worker import jobs
from scheduler_engine.lesson.schema import SCHEMAS
from scheduler_engine.scenario.schema import text_of
from scheduler_engine.versions import DEFAULT

CACHED_FOREVER = "public, max-age=31536000, immutable"


def schema_addresses(digests: Mapping[str, str]) -> str:
    """Return version → address of its schema, as JSON."""
    return json.dumps({version: reverse("schema", args=[digest]) for version, digest in digests.items()})


@require_safe
def schema(request: HttpRequest, digest: str) -> HttpResponse:
    """Return the current schema of a version. A browser may cache it only under its own digest."""
    text = _with_digest(TEXTS, DIGESTS, digest) or _with_digest(lesson_texts(), lesson_digests(), digest)
    headers = {"Cache-Control": CACHED_FOREVER} if text else {}
    return HttpResponse(text or TEXTS[DEFAULT], content_type="application/json", headers=headers)


def _with_digest(texts: Mapping[str, str], digests: Mapping[str, str], digest: str) -> str:
    return next((texts[version] for version, each in digests.items() if each == digest), "")


@require_safe
@same_for_all(control=FOR_AN_HOUR)
def file_schema(request: HttpRequest, kind: str) -> HttpResponse:
    """Return the JSON Schema of files of a kind, for editors on people's own machines."""
    return HttpResponse(text_of(SCHEMAS[kind]()), content_type="application/schema+json")


@reads
def offers(request: HttpRequest, access: Access) -> HttpResponse:
    """Return names, labels and taints of the cluster as it is now, because a manifest is applied to it."""
    return JsonResponse(engines.read(access.sandbox, jobs.offers))
