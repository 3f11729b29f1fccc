"""Workloads: their scale, and a restart of their pods, one after the other."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import URLPattern, path

from sandbox.changes import store
from sandbox.pool import engines
from sandbox.web.access import Access, edits, who
from sandbox.worker import jobs
from scheduler_engine.errors import Rejected


@edits
def scale(request: HttpRequest, access: Access) -> HttpResponse:
    """To ``replicas``, or ``by`` so many more than there are to be at the moment. A refusal goes to the field."""
    try:
        store.execute(access.sandbox, _scaled(request.POST, access), who(request))
    except Rejected as error:
        return render(request, "fragments/workloads_refused.html", {"message": error.errors[0].message}, status=422)
    return HttpResponse("")  # It takes the place of an earlier refusal.


@edits
def rollout(request: HttpRequest, access: Access) -> HttpResponse:
    """New pods of the same template, one after the other."""
    named = {"object_kind": request.POST.get("kind", ""), "key": request.POST.get("key", "")}
    store.execute(access.sandbox, {"kind": "rollout-restart", **named}, who(request))
    return HttpResponse(status=204)


def _scaled(data: QueryDict, access: Access) -> dict[str, Any]:
    """Raises ``Rejected``."""
    kind, key = data.get("kind", ""), data.get("key", "")
    manifest = engines.read(access.sandbox, jobs.manifest, kind, key)
    if manifest is None:
        raise Rejected(f"There is no {kind or 'workload'} {key}.")
    now = (manifest.get("spec") or {}).get("replicas", 1)
    given = data.get("by") if "by" in data else data.get("replicas", "")
    try:
        number = int(str(given).strip())
    except ValueError:
        raise Rejected("replicas must be a whole number") from None
    replicas = now + number if "by" in data else number
    return {"kind": "scale", "object_kind": kind, "key": key, "replicas": replicas}


urlpatterns: list[URLPattern] = [path("scale/", scale, name="scale"), path("rollout/", rollout, name="rollout")]
