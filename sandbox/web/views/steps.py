"""A step of the scenario that a sandbox was made from."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from sandbox.changes import store
from sandbox.library import scenarios
from sandbox.pool import engines
from sandbox.web.access import Access, edits, problem, who
from sandbox.worker import jobs


@edits
def step(request: HttpRequest, access: Access) -> HttpResponse:
    """One that lies behind is not made again: two people, or two clicks, may mean the same one."""
    given = request.POST.get("n", "")
    number = int(given) if given.isascii() and given.isdigit() and len(given) < 6 else 0
    command = scenarios.command(access.sandbox.scenario, access.sandbox.story, number)
    if command is None:
        return problem(request, 400, "The scenario has no such step.")
    if number > engines.read(access.sandbox, jobs.steps_made):
        store.execute(access.sandbox, command, who(request))
    return HttpResponse(status=204)


urlpatterns: list[URLPattern] = [path("step/", step, name="step")]
