"""Single fragments that the page asks for: a panel, an object's manifest."""

from __future__ import annotations

import yaml
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox import rendering
from sandbox.access import Access, reads
from sandbox.panels import PANELS
from sandbox.panels.view import View


@reads
def panel(request: HttpRequest, access: Access, panel_id: str) -> HttpResponse:
    if panel_id not in PANELS:
        raise Http404
    view = View.from_mapping(request.GET.dict())
    found = rendering.fragments(access.sandbox, view, [panel_id], access.can_edit)
    return HttpResponse(found[panel_id].html)


@reads
def manifest(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    """The manifest of the object ``kind``/``key`` (``namespace/name``, or the name of what has no namespace)."""
    with rendering.present(access.sandbox) as world:
        found = world.objects.get(kind, {}).get(request.GET.get("key", ""))
    if found is None:
        raise Http404
    text = yaml.safe_dump(found, sort_keys=False, allow_unicode=True)
    return render(request, "fragments/yaml_preview.html", {"yaml": text, "errors": []})
