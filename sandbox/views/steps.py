"""A step of the scenario that a sandbox was made from."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from sandbox import guide, store
from sandbox.access import Access, edits, problem, who
from sandbox.engines import site


@edits
def step(request: HttpRequest, access: Access) -> HttpResponse:
    """One that lies behind is not made again: two people, or two clicks, may mean the same one."""
    given = request.POST.get("n", "")
    number = int(given) if given.isascii() and given.isdigit() and len(given) < 6 else 0
    command = guide.command(access.sandbox.scenario, access.sandbox.story, number)
    if command is None:
        return problem(request, 400, "The scenario has no such step.")
    if number > site.read(access.sandbox, "steps_made"):
        store.execute(access.sandbox, command, who(request))
    return HttpResponse(status=204)


urlpatterns: list[URLPattern] = [path("step/", step, name="step")]
