"""A sandbox's metrics, for a Prometheus that scrapes its URL."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from sandbox import rendering
from sandbox.access import Access, reads
from scheduler_engine.metrics import CONTENT_TYPE, render


@reads
def metrics(request: HttpRequest, access: Access) -> HttpResponse:
    with rendering.present_live(access.sandbox) as simulation:
        text = render(simulation.simulation)
    return HttpResponse(text, content_type=CONTENT_TYPE)
