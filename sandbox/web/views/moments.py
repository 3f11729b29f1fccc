"""Moments of the past: to go on from there, in this sandbox or in a new one, and the branches that were left behind."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse

from sandbox.changes import store
from sandbox.panels.model.moment import Moment
from sandbox.storage import branches
from sandbox.storage.commands import summary
from sandbox.web.access import Access, edits, limited, problem, reads

NO_MOMENT = "at must be a moment such as 12.40: the number of a command and of an entry of its trace."


@edits
def go_back(request: HttpRequest, access: Access) -> HttpResponse:
    moment = Moment.read(request.POST.get("at", ""))
    if moment is None:
        return problem(request, 400, NO_MOMENT)
    store.go_to_moment(access.sandbox, moment)
    return HttpResponse(status=204)


@reads
def listed(request: HttpRequest, access: Access) -> HttpResponse:
    found = [{"branch": branch, "first": summary(branch.first)} for branch in branches.branches_of(access.sandbox)]
    return render(request, "fragments/branches.html", {"branches": found, "can_edit": access.can_edit})


@edits
def reopen(request: HttpRequest, access: Access) -> HttpResponse:
    key = request.POST.get("branch", "")
    if not (key.isascii() and key.isdigit() and len(key) < 19):
        return problem(request, 400, "branch must be a number.")
    if store.reopen(access.sandbox, int(key)) is None:
        return problem(request, 404, "This branch no longer exists.")
    return HttpResponse(status=204)


@limited
@edits
def fork(request: HttpRequest, access: Access) -> HttpResponse:
    given = request.POST.get("at", "")
    moment = Moment.read(given)
    if given and moment is None:
        return problem(request, 400, NO_MOMENT)
    response = HttpResponse(status=204)
    response.headers["HX-Redirect"] = reverse("workbench", args=store.fork(access.sandbox, moment))
    return response


urlpatterns = [
    path("go-back/", go_back, name="go-back"),
    path("branches/", listed, name="branches"),
    path("reopen/", reopen, name="reopen"),
    path("fork/", fork, name="fork"),
]
