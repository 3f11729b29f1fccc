"""Scale workloads."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from sandbox.pool import engines
from sandbox.web.access import Access, edits, who
from sandbox.web.executing import execute
from sandbox.words.say import say
from sandbox.worker import jobs
from scheduler_engine.errors import Rejected


@edits
def scale(request: HttpRequest, access: Access) -> HttpResponse:
    """Scale a workload to ``replicas``, or ``by`` a number more than it has now. An error is shown at the field."""
    try:
        execute(access.sandbox, _scaled(request.POST, access), who(request))
    except Rejected as error:
        return render(request, "fragments/workloads_refused.html", {"message": error.errors[0].message}, status=422)
    return HttpResponse("")  # An empty answer removes an earlier error.


def _scaled(data: QueryDict, access: Access) -> dict[str, Any]:
    """Return the command that scales. Raise ``Rejected`` for an unknown workload or an invalid number."""
    kind, key = data.get("kind", ""), data.get("key", "")
    manifest = engines.read(access.sandbox, jobs.manifest, kind, key)
    if manifest is None:
        raise Rejected(say("errors.no-such-object", kind=kind, key=key) if kind else say("errors.no-workload", key=key))
    now = (manifest.get("spec") or {}).get("replicas", 1)
    text = data.get("by") if "by" in data else data.get("replicas", "")
    try:
        number = int(str(text).strip())
    except ValueError:
        raise Rejected(say("errors.whole-number", name="replicas")) from None
    replicas = now + number if "by" in data else number
    return {"kind": "scale", "object_kind": kind, "key": key, "replicas": replicas}
