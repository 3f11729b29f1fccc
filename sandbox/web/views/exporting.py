"""Export a sandbox as a file: scenario, manifests, snapshot, trace, tables. A dialog shows a preview."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.panels import TABLES
from sandbox.panels.view import View
from sandbox.pool import engines
from sandbox.web.access import Access, RoutedView, problem, reads
from sandbox.web.files import FILES, attachment, file_name, plain_name
from sandbox.web.numbers import whole_number
from sandbox.words.say import say
from sandbox.worker import jobs
from sandbox.worker.jobs.exporting import EXPECT, FORMS, NONE, Exported, ExportOptions

MOST_SHOWN = 20_000
"""Characters in the preview."""
COMMANDS_DIGITS = 9


def read_query(form: str, query: Mapping[str, str]) -> ExportOptions:
    """Return the export in a query. Raise ``ValueError`` with a sentence that starts with the name of the field."""
    text, expect = query.get("from", ""), query.get("expect", NONE)
    start = whole_number(text, COMMANDS_DIGITS)
    if text and start is None:
        raise ValueError(say("errors.from"))
    if expect not in EXPECT:
        raise ValueError(say("errors.expect", values=", ".join(EXPECT)))
    options = {name: query.get(name) == "1" for name in ("added", "kwok", "compact")}
    return ExportOptions(form, start, expect, **options)


def with_options(view: Callable[[HttpRequest, Access, ExportOptions], HttpResponse]) -> RoutedView:
    """Call a view with the export in the query. Answer 404 for an unknown format, 400 for an invalid option."""

    @reads
    @wraps(view)
    def read_options(request: HttpRequest, access: Access, form: str = "") -> HttpResponse:
        form = form or request.GET.get("form", "scenario")
        if form not in FORMS:
            raise Http404
        try:
            options = read_query(form, request.GET)
        except ValueError as error:
            return problem(request, 400, str(error))
        return view(request, access, options)

    return read_options


@with_options
def preview(request: HttpRequest, access: Access, options: ExportOptions) -> HttpResponse:
    """Return the dialog's preview: the beginning of the file, its name and link, and terminal commands."""
    form = options.form
    at = View.from_mapping(request.GET.dict()).at
    exported = _export(access, options, request, MOST_SHOWN)
    query = {"from": exported.setup, "expect": options.expect} if form == "scenario" else {}
    query |= {name: "1" for name in ("added", "kwok") if form == "manifests" and getattr(options, name)}
    query |= {"at": str(at)} if at else {}
    name = file_name(form, access.sandbox.title)
    context = {
        "form": form,
        "exported": exported,
        "whole": exported.size <= MOST_SHOWN,
        "name": name,
        "lines": [line.format(name) for line in FILES[form].lines],
        "href": f"export/{form}/?{urlencode(query)}" if query else f"export/{form}/",
    }
    return render(request, "fragments/exported.html", context)


@with_options
def download(request: HttpRequest, access: Access, options: ExportOptions) -> HttpResponse:
    return attachment(_export(access, options, request, None), options.form, access.sandbox.title)


@reads
def csv(request: HttpRequest, access: Access, panel: str) -> HttpResponse:
    """Return a table of the page as CSV, for the view in the query."""
    if panel not in TABLES:
        raise Http404
    view = View.from_mapping(request.GET.dict())
    text = engines.read(access.sandbox, jobs.csv, panel, view)
    name = f"{plain_name(access.sandbox.title)}-{panel}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type="text/csv; charset=utf-8; header=present", headers=headers)


def _export(access: Access, options: ExportOptions, request: HttpRequest, most: int | None) -> Exported:
    """Return the export at the moment in view, cut after ``most`` characters (None: whole)."""
    at = View.from_mapping(request.GET.dict()).at
    return engines.read(access.sandbox, jobs.export, options, access.sandbox.title, at, most)
