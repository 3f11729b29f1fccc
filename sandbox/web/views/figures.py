"""Figures: small clusters whose values a reader changes. Each choice has an address."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from sandbox.content.figures import chosen
from sandbox.pool import engines
from sandbox.web.access import Access, problem, reads
from sandbox.web.numbers import whole_number
from sandbox.web.shared import same_for_all
from sandbox.words.say import say
from sandbox.worker import jobs


def drawn(name: str) -> str:
    """Return the HTML of an installed figure. Raises ``KeyError`` if there is none, or ``EngineError``."""
    found = chosen(name)
    if found is None:
        raise KeyError(name)
    base = reverse("figure", args=[found[0].slug]).removesuffix("/")
    html = engines.of_file(jobs.figure, name, base, True)
    assert html is not None, "workers have the same figures"
    return html


@require_safe
@same_for_all()
def frame(request: HttpRequest, figure: str) -> HttpResponse:
    """Return an installed figure as it begins, or with the choice at the end of its name."""
    try:
        return HttpResponse(drawn(figure))
    except KeyError:
        return problem(request, 404, say("figure.none"))


@reads
def of_lesson(request: HttpRequest, access: Access, figure: str) -> HttpResponse:
    """Return a figure of the sandbox's own lesson. ``figure``: its part, from 1, and a choice: ``2-3-1``."""
    part, dash, choice = figure.partition("-")
    number = whole_number(part, 4)
    html = engines.read(access.sandbox, jobs.lesson_figure, number or 0, dash + choice, f"figure/{number}")
    return problem(request, 404, say("figure.none")) if html is None else HttpResponse(html)


@require_safe
@same_for_all()
def embedded(request: HttpRequest, figure: str) -> HttpResponse:
    """Show a figure as a page for an iframe."""
    found = chosen(figure)
    if found is None:
        return problem(request, 404, say("figure.none"))
    return render(request, "embed_figure.html", {"figure": drawn(figure), "title": found[0].written.title})
