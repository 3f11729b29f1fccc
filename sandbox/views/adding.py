"""Adding objects: by form, with a preview of the YAML it makes, or as pasted or uploaded manifests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox import store
from sandbox.access import Access, edits, who
from sandbox.engines import site
from sandbox.forms import FORMS, AddForm
from sandbox.quotas import check_size, check_text
from sandbox.yaml_text import written
from scheduler_engine.api.checking import Checked
from scheduler_engine.api.validation import validate
from scheduler_engine.api.warning_rules import warnings_about
from scheduler_engine.errors import FieldError, Rejected

SHOWN = 3
"""Copies that a preview shows."""

MOST_ROWS = 200
"""Errors that one answer lists, and warnings."""

MOST_TOLD = 4
"""Warnings that a notice tells after all is applied."""


@edits
def apply(request: HttpRequest, access: Access) -> HttpResponse:
    text = _text(request)
    made, checked = site.read(access.sandbox, "check", text)
    if checked.errors:
        return _problems(request, checked, 422)
    try:
        store.execute(access.sandbox, {"kind": "apply", "manifests": made}, who(request))
    except Rejected as error:
        errors = site.read(access.sandbox, "locate", text, error.errors)
        return _problems(request, replace(checked, errors=errors), 422)
    return _applied(request, checked.warnings)


@edits
def check(request: HttpRequest, access: Access) -> HttpResponse:
    """The same list as ``apply`` gives, of a text that is being mended. Nothing is applied."""
    _, checked = site.read(access.sandbox, "check", _text(request))
    return _problems(request, checked, 200)


@edits
def add(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    form = _form(request, kind)
    warnings: list[FieldError] = []
    if form.is_valid():
        warnings = _add(form, access, who(request))
    if form.errors:
        return render(request, f"fragments/{form.template}.html", {"form": form}, status=422)
    return _applied(request, warnings)


@edits
def preview(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    form = _form(request, kind)
    made = _made(form, access) if form.is_valid() else []
    text = written(*made[:SHOWN])
    if len(made) > SHOWN:
        text += f"# and {len(made) - SHOWN} more like these\n"
    form.add_engine_errors(error for manifest in made[:1] for error in validate(manifest, 0))
    errors = form.told()
    warnings = warnings_about(made[0]) if made and not errors else []
    tried = site.read(access.sandbox, "trial", made) if made and not errors else []
    context = {"yaml": text, "errors": errors, "warnings": warnings, "tried": tried}
    return render(request, "fragments/yaml_preview.html", context)


def _add(form: AddForm, access: Access, label: str) -> list[FieldError]:
    """Execute what the form stands for, or tell it what is wrong. The warnings are those of the first copy."""
    made = _made(form, access)
    if not made:
        return []
    try:
        store.execute(access.sandbox, {"kind": "apply", "manifests": made}, label)
    except Rejected as error:
        form.add_engine_errors(error.errors)
        return []
    return warnings_about(made[0])


def _made(form: AddForm, access: Access) -> list[dict[str, Any]]:
    """The manifests with names that are free; none where the name that is wanted is not, which the form tells."""
    names = site.read(access.sandbox, "names", form.makes(), form.scope())
    if message := form.taken(names):
        form.add_error("name", message)
        return []
    return form.manifests(names)


def _form(request: HttpRequest, kind: str) -> AddForm:
    if kind not in FORMS:
        raise Http404
    return FORMS[kind](request.POST)


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


def _applied(request: HttpRequest, warnings: list[FieldError]) -> HttpResponse:
    """The page closes the drawer; warnings are told in a notice."""
    if not warnings:
        return HttpResponse(status=204, headers={"HX-Trigger": "applied"})
    context = {"warnings": warnings[:MOST_TOLD], "more": len(warnings[MOST_TOLD:])}
    response = render(request, "fragments/apply_warnings.html", context)
    for header, value in (("HX-Trigger", "applied"), ("HX-Retarget", "#notice"), ("HX-Reswap", "innerHTML")):
        response[header] = value
    return response
