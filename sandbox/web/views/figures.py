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


def drawn(name: str) -> str | None:
    """Return the HTML of an installed figure, None if there is none. Raises ``EngineError``."""
    found = chosen(name)
    if found is None:
        return None
    return engines.of_file(jobs.figure, name, reverse("figure", args=[found[0].slug]).removesuffix("/"), True)


@require_safe
@same_for_all()
def frame(request: HttpRequest, figure: str) -> HttpResponse:
    """Return an installed figure as it begins, or with the choice at the end of its name."""
    return _of(request, drawn(figure))


@reads
def of_lesson(request: HttpRequest, access: Access, figure: str) -> HttpResponse:
    """Return a figure of the sandbox's own lesson. ``figure``: its part, from 1, and a choice: ``2-3-1``."""
    part, dash, choice = figure.partition("-")
    number = whole_number(part, 4)
    html = engines.read(access.sandbox, jobs.lesson_figure, number or 0, dash + choice, f"figure/{number}")
    return _of(request, html)


def _of(request: HttpRequest, html: str | None) -> HttpResponse:
    return problem(request, 404, say("figure.none")) if html is None else HttpResponse(html)


@require_safe
@same_for_all()
def embedded(request: HttpRequest, figure: str) -> HttpResponse:
    """Show a figure as a page for an iframe."""
    found = chosen(figure)
    if found is None:
        return problem(request, 404, say("figure.none"))
    return render(request, "embed_figure.html", {"figure": drawn(figure), "title": found[0].written.title})
