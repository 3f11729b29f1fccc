"""The sandbox as a file: scenario, manifests, snapshot, trace; and the dialog that shows it before it is taken."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from sandbox.panels import TABLES
from sandbox.panels.view import View
from sandbox.pool import engines
from sandbox.web.access import Access, problem, reads
from sandbox.web.files import FILES, attached, file_name, plain_name
from sandbox.worker import jobs
from sandbox.worker.jobs.exporting import EXPECT, FORMS, NONE, Exported, ExportOptions

MOST_SHOWN = 20_000
"""Characters that the dialog shows."""
COMMANDS_DIGITS = 9


def wanted(form: str, query: Mapping[str, str]) -> ExportOptions:
    """What a query asks for. Raises ``ValueError`` with a sentence that begins with the field."""
    start, expect = query.get("from", ""), query.get("expect", NONE)
    if start and not (start.isascii() and start.isdigit() and len(start) <= COMMANDS_DIGITS):
        raise ValueError("from must be a whole number of commands.")
    if expect not in EXPECT:
        raise ValueError(f"expect must be one of {', '.join(EXPECT)}.")
    said = {name: query.get(name) == "1" for name in ("added", "kwok", "compact")}
    return ExportOptions(form, int(start) if start else None, expect, **said)


@reads
def shown(request: HttpRequest, access: Access) -> HttpResponse:
    """What a file would be: its beginning, how to take it, and what to do with it."""
    form = request.GET.get("form", "scenario")
    if form not in FORMS:
        raise Http404
    try:
        asked = wanted(form, request.GET)
    except ValueError as error:
        return problem(request, 400, str(error))
    at = View.from_mapping(request.GET.dict()).at
    made = _made(access, asked, request, MOST_SHOWN)
    query = {"from": made.setup, "expect": asked.expect} if form == "scenario" else {}
    query |= {name: "1" for name in ("added", "kwok") if form == "manifests" and getattr(asked, name)}
    query |= {"at": str(at)} if at else {}
    name = file_name(form, access.sandbox.title)
    context = {
        "form": form,
        "made": made,
        "whole": made.size <= MOST_SHOWN,
        "name": name,
        "lines": [line.format(name) for line in FILES[form].lines],
        "href": f"export/{form}/?{urlencode(query)}" if query else f"export/{form}/",
    }
    return render(request, "fragments/exported.html", context)


@reads
def download(request: HttpRequest, access: Access, form: str) -> HttpResponse:
    if form not in FORMS:
        raise Http404
    try:
        asked = wanted(form, request.GET)
    except ValueError as error:
        return problem(request, 400, str(error))
    return attached(_made(access, asked, request, None), form, access.sandbox.title)


@reads
def csv(request: HttpRequest, access: Access, panel: str) -> HttpResponse:
    """A table of the page, of what the query looks at."""
    if panel not in TABLES:
        raise Http404
    view = View.from_mapping(request.GET.dict())
    text = engines.read(access.sandbox, jobs.csv, panel, view)
    name = f"{plain_name(access.sandbox.title)}-{panel}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type="text/csv; charset=utf-8; header=present", headers=headers)


def _made(access: Access, asked: ExportOptions, request: HttpRequest, most: int | None) -> Exported:
    at = View.from_mapping(request.GET.dict()).at
    arguments = (asked, access.sandbox.title, at, most)
    found: Exported = engines.read(access.sandbox, jobs.export, *arguments)
    return found


urlpatterns = [
    path("export/", shown, name="export"),
    path("export/<str:form>/", download, name="export"),
    path("csv/<str:panel>/", csv, name="csv"),
]
