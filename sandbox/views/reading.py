"""Single fragments that the page asks for: a panel, an object's manifest."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.access import Access, reads
from sandbox.engines import site
from sandbox.panels import PANELS
from sandbox.panels.view import View


@reads
def panel(request: HttpRequest, access: Access, panel_id: str) -> HttpResponse:
    if panel_id not in PANELS:
        raise Http404
    view = View.from_mapping(request.GET.dict())
    found = site.read(access.sandbox, "fragments", view, [panel_id], access.can_edit, False, {})
    return HttpResponse(found[panel_id].html)


@reads
def dump(request: HttpRequest, access: Access) -> HttpResponse:
    """The scheduler's cache and queue as text, as a real one logs them on SIGUSR2."""
    at = View.from_mapping(request.GET.dict()).at
    return HttpResponse(site.read(access.sandbox, "cache_dump", at), content_type="text/plain; charset=utf-8")


@reads
def manifest(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    """The manifest of the object ``kind``/``key`` (``namespace/name``, or the name of what has no namespace)."""
    at = View.from_mapping(request.GET.dict()).at
    text = site.read(access.sandbox, "manifest_text", kind, request.GET.get("key", ""), at)
    if text is None:
        raise Http404
    return render(request, "fragments/yaml_preview.html", {"yaml": text, "errors": []})


@reads
def admission(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    """What the API server made of the manifest of the object ``kind``/``key`` that was applied."""
    at = View.from_mapping(request.GET.dict()).at
    lines = site.read(access.sandbox, "admission", kind, request.GET.get("key", ""), at)
    if lines is None:
        raise Http404
    return render(request, "fragments/admission.html", {"lines": lines})
