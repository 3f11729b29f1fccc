"""Pages whose answer takes seconds: first a page that waits, then the answer in its place.

The page that waits asks for the answer itself, and every second for its progress. If it is left, or its button stops
the request, the worker stops, too. While something else runs in the sandbox, the page asks again: it never takes a
place among the requests that wait, so many open pages do not keep people from their commands. Programs and browsers
without scripts get the answer in one page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ParamSpec
from zlib import crc32

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from sandbox.pool import engines, turns
from sandbox.web.access import ANSWER, PART, Access
from sandbox.words.say import say
from sandbox.worker.errors import Occupied
from sandbox.worker.job import Job
from sandbox.worker.so_far import SoFar

P = ParamSpec("P")

SO_FAR, STOPPED, WHOLE = "so-far", "stopped", "whole"
"""Parts of a page, besides ``ANSWER``: the progress, the place of an answer that was stopped, all in one page."""

SHOWN = "shown"
"""Field of a query: the digest of the parts that the page that waits shows."""


@dataclass(frozen=True, slots=True)
class Page:
    """The page of an answer. ``template`` shows it, with the answer as ``found``; ``parts`` shows what is found so far,
    "" = nothing. ``heading`` and ``subject``: what the page that waits is about. ``back``: the address it leads to.
    ``scripts``: modules that the answer needs.
    """

    template: str
    heading: str
    subject: str
    back: str
    parts: str = ""
    scripts: tuple[str, ...] = ()
    context: dict[str, Any] = field(default_factory=dict)


def answer(
    request: HttpRequest, access: Access, page: Page, job: Job[P, dict[str, Any]], *args: P.args, **kwargs: P.kwargs
) -> HttpResponse:
    """Return the part of an answer's page that the query names, or the page that waits to a browser that opens it."""
    query = request.GET.copy()
    part, shown = (query.pop(name, [""])[0] for name in (PART, SHOWN))
    context = _context(access, page, query.urlencode())
    if part == SO_FAR:
        return _so_far(request, page, context, shown, engines.so_far(access.sandbox, job, *args, **kwargs))
    if part == STOPPED:
        return render(request, "fragments/stopped.html", context)
    if not part and "text/html" in request.headers.get("Accept", ""):
        return render(request, "waiting.html", context | {"text": say("progress.working"), "shown": ""})
    if part == ANSWER and turns.is_taken(access.sandbox.pk):
        return _ask_again(request, context)
    try:
        found = engines.read(access.sandbox, job, *args, **kwargs)
    except Occupied:
        if part != ANSWER:
            raise
        return _ask_again(request, context)
    context, status = context | {"found": found}, 404 if found.get("unknown") else 200
    if part != ANSWER:
        return render(request, page.template, context, status=status)
    response = render(request, page.template, context | {"layout": "bare.html"}, status=status)
    # A refusal stays below the heading; the answer replaces it.
    response["HX-Retarget"], response["HX-Reswap"] = "#answer", "outerHTML"
    return response


def show(request: HttpRequest, access: Access, page: Page, found: dict[str, Any]) -> HttpResponse:
    """Return the page with an answer that needs no job, such as that the query names something that does not exist."""
    context = _context(access, page, "") | {"found": found}
    return render(request, page.template, context, status=404 if found.get("unknown") else 200)


def _context(access: Access, page: Page, query: str) -> dict[str, Any]:
    return {
        "sandbox": access.sandbox,
        "can_edit": access.can_edit,
        "page": page,
        "query": query,
        **page.context,
    }


def _ask_again(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Let the page ask again in a second. Its place is another one then, so a click on Stop ends that, too."""
    waits = {"text": say("progress.turn"), "shown": "", "delay": "1s"}
    response = render(request, "fragments/asking.html", context | waits)
    response["HX-Reswap"] = "outerHTML"
    return response


def _so_far(
    request: HttpRequest, page: Page, context: dict[str, Any], shown: str, so_far: SoFar | None
) -> HttpResponse:
    """Return the progress. Parts that the page shows already do not come again: somebody may be using them."""
    if so_far is None:
        return HttpResponse(status=204)
    parts = ""
    if page.parts and so_far.found is not None:
        parts = render_to_string(page.parts, context | {"found": so_far.found}, request)
    digest = str(crc32(parts.encode()))
    news = parts if digest != shown else ""
    return render(request, "fragments/so_far.html", context | {"text": so_far.text, "shown": digest, "parts": news})
