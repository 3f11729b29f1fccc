"""Adding objects: by form, with a preview of the YAML it makes, or as pasted or uploaded manifests."""

from __future__ import annotations

import yaml
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox import rendering, store
from sandbox.access import Access, edits, who
from sandbox.forms import FORMS, AddForm
from sandbox.panels.world import World
from sandbox.quotas import check_text
from scheduler_engine.api.loading import Manifest, load_manifests, located
from scheduler_engine.api.validation import validate
from scheduler_engine.errors import Rejected

SHOWN = 3
"""Copies that a preview shows."""


@edits
def apply(request: HttpRequest, access: Access) -> HttpResponse:
    manifests: list[Manifest] = []
    try:
        manifests += load_manifests(_text(request))
        if not manifests:
            raise Rejected("There is no manifest in this text.")
        command = {"kind": "apply", "manifests": [manifest.data for manifest in manifests]}
        store.execute(access.sandbox, command, who(request))
    except Rejected as error:
        errors = located(error.errors, manifests)
        return render(request, "fragments/apply_errors.html", {"errors": errors}, status=422)
    return _applied()


@edits
def add(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    form = _form(request, kind)
    if form.is_valid():
        with rendering.present(access.sandbox) as world:
            _add(form, world, access, who(request))
    if form.errors:
        return render(request, f"fragments/{kind}_form.html", {"form": form}, status=422)
    return _applied()


@edits
def preview(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    form = _form(request, kind)
    made = form.manifests() if form.is_valid() else []
    text = yaml.safe_dump_all(made[:SHOWN], sort_keys=False, allow_unicode=True) if made else ""
    if len(made) > SHOWN:
        text += f"# and {len(made) - SHOWN} more like these\n"
    form.add_engine_errors(error for manifest in made[:1] for error in validate(manifest, 0))
    errors = [f"{name}: {message}" for name, messages in form.errors.items() for message in messages]
    return render(request, "fragments/yaml_preview.html", {"yaml": text, "errors": errors})


def _add(form: AddForm, world: World, access: Access, label: str) -> None:
    """Execute what the form stands for, or tell it what is wrong."""
    if message := form.taken(world):
        form.add_error("name", message)
        return
    try:
        store.execute(access.sandbox, {"kind": "apply", "manifests": form.manifests(world)}, label)
    except Rejected as error:
        form.add_engine_errors(error.errors)


def _form(request: HttpRequest, kind: str) -> AddForm:
    if kind not in FORMS:
        raise Http404
    return FORMS[kind](request.POST)


def _text(request: HttpRequest) -> str | bytes:
    """The uploaded file, else the text. Raises ``OverQuota``."""
    file = request.FILES.get("file")
    if file is None:
        text = request.POST.get("manifests", "")
        check_text(len(text.encode(errors="surrogatepass")))
        return text
    check_text(file.size or 0)
    return file.read()


def _applied() -> HttpResponse:
    return HttpResponse(status=204, headers={"HX-Trigger": "applied"})
