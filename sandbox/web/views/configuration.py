"""The scheduler's configuration: show, edit and apply it."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.limits.quotas import check_text
from sandbox.storage.records import last_command
from sandbox.web.access import Access, edits, reads, who
from sandbox.web.configuring.controls import Refusal
from sandbox.web.configuring.controls import controls as controls_of
from sandbox.web.configuring.edits import edit
from sandbox.web.configuring.version import rules_of
from sandbox.web.executing import execute
from sandbox.web.numbers import whole_number
from sandbox.web.presets.configurations import DEFAULT
from sandbox.words.yaml_text import rewritten, written
from scheduler_engine.api.loading import read_documents
from scheduler_engine.config import load_configuration
from scheduler_engine.errors import Rejected


@reads
def current(request: HttpRequest, access: Access) -> HttpResponse:
    """Return the configuration in force as YAML text, as it was applied, without defaults."""
    last = last_command(access.sandbox, "configure")
    manifest = last["configuration"] if last is not None else json.loads(access.sandbox.configuration)
    text = DEFAULT.text if manifest is None else written(manifest)
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@edits
def configure(request: HttpRequest, access: Access) -> HttpResponse:
    """Apply a configuration. If it has errors, return them with their lines."""
    text = request.POST.get("configuration", "")
    check_text(text)
    try:
        load_configuration(text, rules_of(access.sandbox))
        execute(access.sandbox, {"kind": "configure", "configuration": _manifest(text)}, who(request))
    except Rejected as error:
        return render(request, "fragments/configuration_errors.html", {"errors": error.errors}, status=422)
    return HttpResponse(status=204, headers={"HX-Trigger": "configured"})


@edits
def controls(request: HttpRequest, access: Access) -> HttpResponse:
    """Return the controls for a text, and the new text if the form changes one of them. Nothing is applied.

    An invalid text has the same list of errors as in ``configure``. An invalid value stays in its control.
    """
    text, profile = request.POST.get("configuration", ""), request.POST.get("profile", "")
    control, value = request.POST.get("control", ""), request.POST.get("value", "").strip()
    check_text(text + value)
    rules = rules_of(access.sandbox)
    index = whole_number(profile, 4) or 0
    try:
        configuration = load_configuration(text, rules)
    except Rejected as error:
        return render(request, "fragments/configuration_errors.html", {"errors": error.errors})
    refusal, changed = Refusal(), None
    if control:
        try:
            manifest = _manifest(text)
            changed = rewritten(text, manifest, edit(manifest, index, control, value, rules))
            configuration = load_configuration(changed, rules)
        except Rejected as error:
            refusal, changed = Refusal(control, value, tuple(error.errors)), None
    if control == "add-profile" and changed is not None:
        index = len(configuration.profiles) - 1
    context = {**controls_of(configuration, index, refusal, rules), "text": changed}
    return render(request, "fragments/configuration_controls.html", context)


def _manifest(text: str) -> dict[str, Any]:
    """Return the manifest in a text that the engine accepts."""
    return next(document.data for document in read_documents(text) if document.data is not None)
