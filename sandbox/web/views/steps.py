"""Run a step of the scenario of a sandbox."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from sandbox.content import scenarios
from sandbox.pool import engines
from sandbox.web.access import Access, edits, problem, who
from sandbox.web.executing import execute
from sandbox.web.numbers import whole_number
from sandbox.words.say import say
from sandbox.worker import jobs


@edits
def step(request: HttpRequest, access: Access) -> HttpResponse:
    """Run a step, unless it has already run: two people, or two clicks, may mean the same step."""
    number = whole_number(request.POST.get("n", ""), 5) or 0
    command = scenarios.command(access.sandbox.scenario, access.sandbox.story, number)
    if command is None:
        return problem(request, 400, say("errors.no-step"))
    if number > engines.read(access.sandbox, jobs.steps_done):
        execute(access.sandbox, command, who(request))
    return HttpResponse(status=204)
