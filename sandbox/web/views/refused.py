"""What is shown for requests that Django answers itself: those it cannot read, and addresses that lead nowhere."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from sandbox.kube.statuses import failure
from sandbox.kube.watches import WATCHED
from sandbox.web.access import API, in_embed, problem
from sandbox.web.errors import refusal_of, wrong_method
from sandbox.web.middleware import with_headers
from sandbox.words.say import say


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the page for a request that Django does not read; JSON for the API, a ``Status`` for kubectl."""
    refusal = refusal_of(exception)
    status, message = refusal.status, refusal.message
    by_program = request.path_info.startswith(API)
    if WATCHED.fullmatch(request.path_info):
        return with_headers(request, JsonResponse(failure(status, message), status=status))
    page = (
        problem(request, status, message)
        if by_program
        else render(request, "400.html", {"message": message}, status=status)
    )
    return with_headers(request, page)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the page for 404; a small one in a frame, JSON below the address of the API."""
    if request.path_info.startswith(API):
        return problem(request, 404, say("errors.nothing-here"))
    if not in_embed(request):
        return render(request, "404.html", status=404)
    linked = request.path_info.startswith("/s/")
    return problem(request, 404, say("errors.no-linked-sandbox") if linked else say("errors.no-page"))


def unsafe_method(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return the answer to a method that the address does not know.

    Django asks for a cookie instead. Views that change anything need none, so only those that are read come here.
    """
    return wrong_method(request, "GET, HEAD")
