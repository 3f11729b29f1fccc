"""Breaking things on purpose, and letting a pod go that waits on Permit."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.changes import store
from sandbox.panels.faults import LASTING
from sandbox.pool import engines
from sandbox.web.access import Access, edits, reads, who
from sandbox.worker import jobs
from scheduler_engine.errors import Rejected

FORM = "fragments/fault_form.html"


@reads
def form(request: HttpRequest, access: Access) -> HttpResponse:
    """What can be broken, for the extension point and profile chosen so far."""
    return render(request, FORM, _filled_in(request.GET.dict(), access))


@edits
def set_fault(request: HttpRequest, access: Access) -> HttpResponse:
    given = request.POST.dict()
    named = {name: given[name] for name in ("plugin", "point", "answer", "profile") if given.get(name)}
    try:
        store.execute(access.sandbox, {"kind": "fault", **named, "seconds": _seconds(given)}, who(request))
    except Rejected as error:
        return render(request, FORM, _filled_in(given, access) | {"error": str(error)}, status=422)
    return HttpResponse(status=204, headers={"HX-Trigger": "fault-set"})


@edits
def allow(request: HttpRequest, access: Access) -> HttpResponse:
    store.execute(access.sandbox, {"kind": "allow", "pod": request.POST.get("pod", "")}, who(request))
    return HttpResponse(status=204)


def _seconds(given: dict[str, str]) -> float:
    """Raises ``Rejected``. Only a wait and a delay of the watch have a length."""
    if given.get("answer") not in LASTING:
        return 0
    try:
        return float(given.get("seconds", ""))
    except ValueError:
        raise Rejected("seconds must be a number") from None


def _filled_in(given: dict[str, str], access: Access) -> dict[str, Any]:
    """The form's choices with what was chosen so far."""
    offered = engines.read(access.sandbox, jobs.fault_choices, given.get("point", ""), given.get("profile", ""))
    return offered | {name: given[name] for name in ("plugin", "answer", "seconds") if given.get(name)}
