"""Fragments that the page fetches: a panel, a manifest, the results of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.content.scenarios import scenarios
from sandbox.panels import PANELS, TABS
from sandbox.panels.facts.finding import LONGEST_WANTED, Hit, for_readers
from sandbox.panels.model.moment import Moment
from sandbox.panels.view import View
from sandbox.pool import engines
from sandbox.web.access import Access, reads
from sandbox.web.glossary import TERMS
from sandbox.worker import jobs
from sandbox.worker.job import Job
from scheduler_engine.metrics import CONTENT_TYPE

T = TypeVar("T")

MOST_NAMED = 8


@reads
def panel(request: HttpRequest, access: Access, panel_id: str) -> HttpResponse:
    if panel_id not in PANELS:
        raise Http404
    view = View.from_mapping(request.GET.dict())
    fragments = engines.read(access.sandbox, jobs.fragments, view, [panel_id], access.can_edit, False, {})
    return HttpResponse(fragments[panel_id].html)


@reads
def dump(request: HttpRequest, access: Access) -> HttpResponse:
    """Return the scheduler's cache and queue as text, as a real scheduler logs them on SIGUSR2."""
    view = View.from_mapping(request.GET.dict())
    return HttpResponse(engines.read(access.sandbox, jobs.cache_dump, view), content_type="text/plain; charset=utf-8")


@reads
def metrics(request: HttpRequest, access: Access) -> HttpResponse:
    """Return the metrics of the scheduler as Prometheus scrapes them."""
    return HttpResponse(engines.read(access.sandbox, jobs.prometheus), content_type=CONTENT_TYPE)


@reads
def find(request: HttpRequest, access: Access) -> HttpResponse:
    """Return what matches the text ``q``: things of the sandbox, tabs, terms and scenarios."""
    wanted = request.GET.get("q", "").strip()[:LONGEST_WANTED]
    hits, more = list[Hit](), 0
    if wanted:
        at = View.from_mapping(request.GET.dict()).at
        hits, more = engines.read(access.sandbox, jobs.find, wanted, at)
        if not access.can_edit:
            hits = for_readers(hits)
    low = wanted.casefold()

    def named(things: Iterable[Any], name: Callable[[Any], str]) -> list[Any]:
        return [thing for thing in things if wanted and low in name(thing).casefold()][:MOST_NAMED]

    context = {
        "wanted": wanted,
        "hits": hits,
        "more": more,
        "tabs": named(TABS.values(), lambda panel: panel.title),
        "terms": named(TERMS, lambda term: term.name),
        "scenarios": named(scenarios().values(), lambda scenario: scenario.title),
    }
    return render(request, "fragments/hits.html", context)


@reads
def manifest(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    """Return the manifest of an object. ``key`` is ``namespace/name``, or just the name if it has no namespace."""
    text = _about(request, access, jobs.manifest_text, kind)
    return render(request, "fragments/yaml_preview.html", {"yaml": text, "errors": []})


@reads
def admission(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    """Return what the API server changed in the applied manifest of the object ``kind``/``key``."""
    return render(request, "fragments/admission.html", {"lines": _about(request, access, jobs.admission, kind)})


def _about(request: HttpRequest, access: Access, job: Job[[str, str, Moment | None], T | None], kind: str) -> T:
    """Return the result of a job about one object at the moment in view. Raise ``Http404`` if the result is None."""
    at = View.from_mapping(request.GET.dict()).at
    result = engines.read(access.sandbox, job, kind, request.GET.get("key", ""), at)
    if result is None:
        raise Http404
    return result
