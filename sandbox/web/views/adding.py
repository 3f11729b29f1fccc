"""Add objects: with a form and a preview of its YAML, or as pasted or uploaded manifests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.limits.quotas import check_size, check_text
from sandbox.pool import engines
from sandbox.web.access import Access, edits, who
from sandbox.web.executing import execute
from sandbox.web.forms import FORMS, AddForm
from sandbox.web.forms.drafts import TEXT_LEADS, Draft, read_draft
from sandbox.worker import jobs
from scheduler_engine.api.checking import Checked
from scheduler_engine.errors import FieldError, Rejected

MOST_ROWS = 200
"""Errors in one answer, and warnings."""

MOST_WARNINGS = 4
"""Warnings in the notice after objects are applied."""


@edits
def apply(request: HttpRequest, access: Access) -> HttpResponse:
    """Apply manifests. If there are errors, list them with their lines."""
    text = _text(request)
    manifests, checked = engines.read(access.sandbox, jobs.check, text)
    if checked.errors:
        return _problems(request, checked, 422)
    try:
        execute(access.sandbox, {"kind": "apply", "manifests": manifests}, who(request))
    except Rejected as error:
        errors = engines.read(access.sandbox, jobs.locate, text, error.errors)
        return _problems(request, replace(checked, errors=errors), 422)
    return render_applied(request, checked.warnings)


@edits
def check(request: HttpRequest, access: Access) -> HttpResponse:
    """Return the same list of errors as ``apply``, without applying anything."""
    _, checked = engines.read(access.sandbox, jobs.check, _text(request))
    return _problems(request, checked, 200)


@edits
def add(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    """Add the objects of a form."""
    draft = read_draft(_form(kind), request.POST, access.sandbox)
    if draft.valid:
        try:
            execute(access.sandbox, {"kind": "apply", "manifests": draft.manifests}, who(request))
        except Rejected as error:
            draft.add_errors(engines.read(access.sandbox, jobs.locate, draft.text, error.errors))
    if not draft.valid:
        return render_errors(request, draft)
    return render_applied(request, draft.checked.warnings)


@edits
def preview(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    draft = read_draft(_form(kind), request.POST, access.sandbox)
    tried = []
    if draft.valid and draft.manifests:
        tried = engines.read(access.sandbox, jobs.trial, {"kind": "apply", "manifests": draft.manifests})
    return render_preview(request, draft, tried)


def render_preview(request: HttpRequest, draft: Draft, tried: list[str]) -> HttpResponse:
    """Return the text of a form, or the form of a text, and ``tried``: what the change would lead to."""
    return render(request, "fragments/draft.html", {**_context(request, draft), "tried": tried})


def render_errors(request: HttpRequest, draft: Draft, recreate: bool = False) -> HttpResponse:
    """Return a form with its errors and those of its text. ``recreate``: offer to replace the object by a new one."""
    context = {**_context(request, draft), "refused": True, "recreate": recreate}
    return render(request, "fragments/draft_refused.html", context, status=422)


def _context(request: HttpRequest, draft: Draft) -> dict[str, Any]:
    """Return the context of a draft. ``errors`` have lines of the text, ``labelled`` have labels of fields."""
    leads = request.POST.get("leads") == TEXT_LEADS
    errors, labelled = draft.errors[:MOST_ROWS], draft.form.labelled_errors()
    return {"draft": draft, "form": draft.form, "errors": errors, "labelled": labelled, "text_leads": leads}


def _form(kind: str) -> type[AddForm]:
    """Return a form by the name in an address. Raise ``Http404`` for an unknown one."""
    if kind not in FORMS:
        raise Http404
    return FORMS[kind]


def _text(request: HttpRequest) -> str | bytes:
    """Return the content of the uploaded file, else the text. Raise ``OverQuota``."""
    file = request.FILES.get("file")
    if file is None:
        text = request.POST.get("manifests", "")
        check_text(text)
        return text
    check_size(file.size or 0)
    return file.read()


def _problems(request: HttpRequest, checked: Checked, status: int) -> HttpResponse:
    context = {
        "rows": MOST_ROWS,
        "errors": checked.errors[:MOST_ROWS],
        "error_count": len(checked.errors),
        "more_errors": len(checked.errors[MOST_ROWS:]),
        "uncounted_errors": checked.more_errors,
        "warnings": checked.warnings[:MOST_ROWS],
        "warning_count": len(checked.warnings),
        "more_warnings": len(checked.warnings[MOST_ROWS:]),
        "uncounted_warnings": checked.more_warnings,
    }
    return render(request, "fragments/apply_errors.html", context, status=status)


def render_applied(request: HttpRequest, warnings: list[FieldError]) -> HttpResponse:
    """Return the answer with which the page closes the drawer. Warnings are shown in a notice."""
    if not warnings:
        return HttpResponse(status=204, headers={"HX-Trigger": "applied"})
    context = {"warnings": warnings[:MOST_WARNINGS], "more": len(warnings[MOST_WARNINGS:])}
    response = render(request, "fragments/apply_warnings.html", context)
    for header, value in (("HX-Trigger", "applied"), ("HX-Retarget", "#notice"), ("HX-Reswap", "innerHTML")):
        response[header] = value
    return response
