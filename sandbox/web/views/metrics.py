"""A sandbox's metrics, at a URL that Prometheus can scrape."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from sandbox.pool import engines
from sandbox.web.access import Access, reads
from sandbox.worker import jobs
from scheduler_engine.metrics import CONTENT_TYPE


@reads
def metrics(request: HttpRequest, access: Access) -> HttpResponse:
    return HttpResponse(engines.read(access.sandbox, jobs.prometheus), content_type=CONTENT_TYPE)
