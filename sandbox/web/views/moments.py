"""Go back to a past moment, continue from it in a new sandbox, list and reopen branches."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from sandbox.changes import copies, store
from sandbox.panels.model.moment import Moment
from sandbox.pool import engines
from sandbox.storage import branches
from sandbox.storage.commands import summary
from sandbox.web.access import Access, edits, limited, problem, reads
from sandbox.web.numbers import KEY_DIGITS, whole_number
from sandbox.words.say import say
from sandbox.worker import jobs


@edits
def go_back(request: HttpRequest, access: Access) -> HttpResponse:
    moment = Moment.read(request.POST.get("at", ""))
    if moment is None:
        return problem(request, 400, say("errors.moment-of-log"))
    store.go_to_moment(access.sandbox, moment)
    return HttpResponse(status=204)


@reads
def story(request: HttpRequest, access: Access) -> HttpResponse:
    """Return the steps of command ``n`` with a sentence each, which the page tells one after another."""
    number = whole_number(request.GET.get("n", ""), KEY_DIGITS)
    if number is None:
        return problem(request, 400, say("errors.command"))
    steps, end = engines.read(access.sandbox, jobs.story, number)
    return render(request, "fragments/story.html", {"steps": steps, "end": end})


@reads
def list_branches(request: HttpRequest, access: Access) -> HttpResponse:
    rows = [{"branch": branch, "first": summary(branch.first)} for branch in branches.branches_of(access.sandbox)]
    context = {"branches": rows, "can_edit": access.can_edit, "at": Moment.read(request.GET.get("at", ""))}
    return render(request, "fragments/branches.html", context)


@edits
def reopen(request: HttpRequest, access: Access) -> HttpResponse:
    key = whole_number(request.POST.get("branch", ""), KEY_DIGITS)
    if key is None:
        return problem(request, 400, say("errors.branch"))
    if store.reopen(access.sandbox, key) is None:
        return problem(request, 404, say("errors.no-branch"))
    return HttpResponse(status=204)


@limited
@edits
def fork(request: HttpRequest, access: Access) -> HttpResponse:
    at = request.POST.get("at", "")
    moment = Moment.read(at)
    if at and moment is None:
        return problem(request, 400, say("errors.moment-of-log"))
    address = reverse("workbench", args=copies.fork(access.sandbox, moment, anew="anew" in request.POST))
    return HttpResponse(status=204, headers={"HX-Redirect": address})
