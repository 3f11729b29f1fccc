"""Set faults of plugins."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.panels.faults import LASTING
from sandbox.pool import engines
from sandbox.web.access import Access, edits, reads, who
from sandbox.web.executing import execute
from sandbox.words.say import say
from sandbox.worker import jobs
from scheduler_engine.errors import Rejected

FORM = "fragments/fault_form.html"


@reads
def form(request: HttpRequest, access: Access) -> HttpResponse:
    """Return the form with the plugins that can fail at the chosen extension point and profile."""
    return render(request, FORM, _filled_in(request.GET.dict(), access))


@edits
def set_fault(request: HttpRequest, access: Access) -> HttpResponse:
    data = request.POST.dict()
    named = {name: data[name] for name in ("plugin", "point", "answer", "profile") if data.get(name)}
    try:
        execute(access.sandbox, {"kind": "fault", **named, "seconds": _seconds(data)}, who(request))
    except Rejected as error:
        return render(request, FORM, _filled_in(data, access) | {"error": str(error)}, status=422)
    return HttpResponse(status=204, headers={"HX-Trigger": "fault-set"})


def _seconds(data: dict[str, str]) -> float:
    """Return how long the fault lasts, 0 for faults without a length. Raise ``Rejected`` if it is not a number."""
    if data.get("answer") not in LASTING:
        return 0
    try:
        return float(data.get("seconds", ""))
    except ValueError:
        raise Rejected(say("errors.number", name="seconds")) from None


def _filled_in(data: dict[str, str], access: Access) -> dict[str, Any]:
    """Return the choices of the form, and the values chosen so far."""
    offered = engines.read(access.sandbox, jobs.fault_choices, data.get("point", ""), data.get("profile", ""))
    return offered | {name: data[name] for name in ("plugin", "answer", "seconds") if data.get(name)}
