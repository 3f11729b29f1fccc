"""The scheduler's configuration: show, edit and apply it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.limits.quotas import check_text
from sandbox.storage.records import last_command
from sandbox.web.access import Access, edits, reads, who
from sandbox.web.configuring.controls import Refusal
from sandbox.web.configuring.controls import controls as controls_of
from sandbox.web.configuring.edits import edit
from sandbox.web.configuring.refused import CHANGES_PROFILES, MOST_KEPT, after_removal, of_a_profile
from sandbox.web.configuring.version import rules_of
from sandbox.web.executing import execute
from sandbox.web.numbers import whole_number
from sandbox.web.presets.configurations import DEFAULT
from sandbox.words.say import say
from sandbox.words.yaml_text import rewritten, written
from scheduler_engine.api.loading import read_documents
from scheduler_engine.config import Configuration, load_configuration
from scheduler_engine.errors import Rejected
from scheduler_engine.versions import Rules


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

    An invalid text has the same list of errors as in ``configure``. An invalid value stays in its control: the page
    sends it again with each change, as ``refused`` and ``refused_value``, and it is tried again.
    """
    text, profile = request.POST.get("configuration", ""), request.POST.get("profile", "")
    control, value = request.POST.get("control", ""), request.POST.get("value", "").strip()
    kept = [*zip(request.POST.getlist("refused"), request.POST.getlist("refused_value"), strict=False)][:MOST_KEPT]
    check_text(text + value + "".join(given for _, given in kept))
    rules = rules_of(access.sandbox)
    index = whole_number(profile, 4) or 0
    try:
        configuration = load_configuration(text, rules)
    except Rejected as error:
        return render(request, "fragments/configuration_errors.html", {"errors": error.errors})
    edited = _Edited(text, configuration, index, rules)
    if control in CHANGES_PROFILES and of_a_profile(kept):
        edited.refuse(control, value, Rejected(say("errors.mend-first")))
    elif control and edited.accepts(control, value):
        kept = [*after_removal(control, kept)]
    for name, given in kept:
        edited.accepts(name, given)
    if control == "add-profile" and control not in edited.refusals:
        index = len(edited.configuration.profiles) - 1
    context = {
        **controls_of(edited.configuration, index, edited.refusals, rules),
        "text": edited.text if edited.changed else None,
    }
    return render(request, "fragments/configuration_controls.html", context)


@dataclass(slots=True)
class _Edited:
    """A text that controls change one after the other. ``refusals``: control → why its value was refused."""

    text: str
    configuration: Configuration
    index: int
    rules: Rules
    refusals: dict[str, Refusal] = field(default_factory=dict)
    changed: bool = False

    def accepts(self, control: str, value: str) -> bool:
        """Try a value in a control. Return True if the engine accepts the new text, which is then the text."""
        manifest = _manifest(self.text)
        try:
            text = rewritten(self.text, manifest, edit(manifest, self.index, control, value, self.rules))
            self.configuration = load_configuration(text, self.rules)
        except Rejected as error:
            self.refuse(control, value, error)
            return False
        self.text, self.changed = text, True
        return True

    def refuse(self, control: str, value: str, error: Rejected) -> None:
        self.refusals[control] = Refusal(value, tuple(error.errors))


def _manifest(text: str) -> dict[str, Any]:
    """Return the manifest in a text that the engine accepts."""
    return next(document.data for document in read_documents(text) if document.data is not None)
