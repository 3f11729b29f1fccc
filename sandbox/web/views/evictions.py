"""Evict pods and drain nodes."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import path

from sandbox.changes import store
from sandbox.web.access import Access, edits, who
from scheduler_engine.commands import DRAIN_FLAGS


@edits
def evict(request: HttpRequest, access: Access) -> HttpResponse:
    """Ask the API server to evict a pod. Its answer, also a refusal, reaches every browser with the panels."""
    store.execute(access.sandbox, {"kind": "evict", "pod": request.POST.get("pod", "")}, who(request))
    return HttpResponse(status=204)


@edits
def drain(request: HttpRequest, access: Access) -> HttpResponse:
    ticked = {name: request.POST.get(name) == "1" for name in DRAIN_FLAGS}
    command = {"kind": "drain", "node": request.POST.get("node", ""), "on": request.POST.get("on") == "1", **ticked}
    store.execute(access.sandbox, command, who(request))
    return HttpResponse(status=204)


urlpatterns = [path("evict/", evict, name="evict"), path("drain/", drain, name="drain")]
