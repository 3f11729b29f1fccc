"""Adding objects: by form, with a preview of the YAML it makes, or as pasted or uploaded manifests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.changes import store
from sandbox.limits.quotas import check_size, check_text
from sandbox.pool import engines
from sandbox.web.access import Access, edits, who
from sandbox.web.forms import FORMS, AddForm
from sandbox.web.forms.drafts import TEXT_LEADS, Draft, drafted
from sandbox.worker import jobs
from scheduler_engine.api.checking import Checked
from scheduler_engine.api.warning_rules import warnings_about
from scheduler_engine.errors import FieldError, Rejected

MOST_ROWS = 200
"""Errors that one answer lists, and warnings."""

MOST_TOLD = 4
"""Warnings that a notice tells after all is applied."""


@edits
def apply(request: HttpRequest, access: Access) -> HttpResponse:
    text = _text(request)
    made, checked = engines.read(access.sandbox, jobs.check, text)
    if checked.errors:
        return _problems(request, checked, 422)
    try:
        store.execute(access.sandbox, {"kind": "apply", "manifests": made}, who(request))
    except Rejected as error:
        errors = engines.read(access.sandbox, jobs.locate, text, error.errors)
        return _problems(request, replace(checked, errors=errors), 422)
    return applied(request, checked.warnings)


@edits
def check(request: HttpRequest, access: Access) -> HttpResponse:
    """The same list as ``apply`` gives, of a text that is being mended. Nothing is applied."""
    _, checked = engines.read(access.sandbox, jobs.check, _text(request))
    return _problems(request, checked, 200)


@edits
def add(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    draft = drafted(_form(kind), request.POST, access.sandbox)
    if draft.right:
        try:
            store.execute(access.sandbox, {"kind": "apply", "manifests": draft.made}, who(request))
        except Rejected as error:
            draft.tell(engines.read(access.sandbox, jobs.locate, draft.text, error.errors))
    if not draft.right:
        return refused(request, draft)
    return applied(request, warnings_about(draft.made[0]))


@edits
def preview(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    draft = drafted(_form(kind), request.POST, access.sandbox)
    tried = []
    if draft.right and draft.made:
        tried = engines.read(access.sandbox, jobs.trial, {"kind": "apply", "manifests": draft.made})
    return previewed(request, draft, tried)


def previewed(request: HttpRequest, draft: Draft, tried: list[str]) -> HttpResponse:
    """The text that the form makes, or the form that shows the text; and what it would come to."""
    return render(request, "fragments/draft.html", {**_told(request, draft), "tried": tried})


def refused(request: HttpRequest, draft: Draft, anew: bool = False) -> HttpResponse:
    """The form with its errors, and those of the text beside it. ``anew``: a new object in its place may have them."""
    context = {**_told(request, draft), "refused": True, "anew": anew}
    return render(request, "fragments/draft_refused.html", context, status=422)


def _told(request: HttpRequest, draft: Draft) -> dict[str, Any]:
    """Errors have their lines, and the labels of the form's fields where there are some."""
    leads = request.POST.get("leads") == TEXT_LEADS
    errors, labelled = draft.errors[:MOST_ROWS], draft.form.told()
    return {"draft": draft, "form": draft.form, "errors": errors, "labelled": labelled, "text_leads": leads}


def _form(kind: str) -> type[AddForm]:
    if kind not in FORMS:
        raise Http404
    return FORMS[kind]


def _text(request: HttpRequest) -> str | bytes:
    """The uploaded file, else the text. Raises ``OverQuota``."""
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


def applied(request: HttpRequest, warnings: list[FieldError]) -> HttpResponse:
    """The page closes the drawer; warnings are told in a notice."""
    if not warnings:
        return HttpResponse(status=204, headers={"HX-Trigger": "applied"})
    context = {"warnings": warnings[:MOST_TOLD], "more": len(warnings[MOST_TOLD:])}
    response = render(request, "fragments/apply_warnings.html", context)
    for header, value in (("HX-Trigger", "applied"), ("HX-Retarget", "#notice"), ("HX-Reswap", "innerHTML")):
        response[header] = value
    return response
