"""A sandbox's metrics, for a Prometheus that scrapes its URL."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from sandbox.access import Access, reads
from sandbox.engines import site
from scheduler_engine.metrics import CONTENT_TYPE


@reads
def metrics(request: HttpRequest, access: Access) -> HttpResponse:
    return HttpResponse(site.read(access.sandbox, "prometheus"), content_type=CONTENT_TYPE)
