"""Edit existing objects: with single controls, or with a form and YAML. Each change is one patch."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.pool import engines
from sandbox.web.access import Access, edits, problem, reads, who
from sandbox.web.executing import execute
from sandbox.web.forms import Object, form_of
from sandbox.web.forms.drafts import Draft, blank, editable, patch_of, read_draft
from sandbox.web.forms.manifests import Manifest
from sandbox.web.views.adding import render_applied, render_errors, render_preview
from sandbox.words.say import say
from sandbox.words.yaml_text import written
from sandbox.worker import jobs
from scheduler_engine.errors import FieldError, Rejected


@reads
def pane(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    """Return the part of the drawer that edits the object ``key``."""
    if not access.can_edit:
        raise Http404
    edited = Object(kind, request.GET.get("key", ""))
    manifest = engines.read(access.sandbox, jobs.manifest, *edited)
    if manifest is None:
        return problem(request, 404, say("errors.no-object", kind=edited.kind, key=edited.key))
    shown = editable(manifest)
    context = {"form": blank(edited, shown), "yaml": written(shown)}
    return render(request, "fragments/edit_pane.html", context)


@edits
def edit(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    """Apply the changes of a form."""
    edited = Object(kind, request.GET.get("key", ""))
    draft = read_draft(form_of(edited.kind), request.POST, access.sandbox, edited)
    command = _command(request, draft, edited)
    if draft.valid and not command:
        return problem(request, 409, say("errors.no-change"), calm=True)
    recreate = False
    if draft.valid:
        try:
            if request.POST.get("recreate") == "1" and _same_pod(edited, draft.manifests[0]):
                manifest = draft.manifests[0]
                command = {"kind": "replace", "object_kind": edited.kind, "key": edited.key, "manifest": manifest}
            execute(access.sandbox, command, who(request))
        except Rejected as error:
            spec = _part(access, edited)
            recreate = edited.kind == "Pod" and bool(spec) and not spec.get("nodeName")
            draft.add_errors(engines.read(access.sandbox, jobs.locate, draft.text, error.errors))
    if not draft.valid:
        return render_errors(request, draft, recreate=recreate)
    return render_applied(request, draft.checked.warnings)


def _same_pod(edited: Object, manifest: Manifest) -> bool:
    """Return True if the manifest is of the pod that is edited, so that it may replace it."""
    metadata = manifest["metadata"]
    return edited == ("Pod", f"{metadata.get('namespace')}/{metadata['name']}") and manifest["kind"] == "Pod"


@edits
def preview(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    edited = Object(kind, request.GET.get("key", ""))
    draft = read_draft(form_of(kind), request.POST, access.sandbox, edited)
    command = _command(request, draft, edited)
    tried = engines.read(access.sandbox, jobs.trial, command) if draft.valid and command else []
    return render_preview(request, draft, tried)


def _command(request: HttpRequest, draft: Draft, edited: Object) -> dict[str, Any]:
    """Return the command for the changes of a draft, or {}. Add an error if its text is not exactly one object."""
    if not draft.valid:
        return {}
    if len(draft.manifests) != 1:
        draft.add_errors([FieldError("", "Invalid", say("errors.one-object", count=len(draft.manifests)))])
        return {}
    try:
        return patch_of(edited, request.POST.get("original", ""), draft.text)
    except Rejected as error:
        draft.add_errors(error.errors)
        return {}


# --- single controls ---


@edits
def label(request: HttpRequest, access: Access) -> HttpResponse:
    """Set or remove a label of any object."""
    name, value = request.POST.get("key", "").strip(), request.POST.get("value", "").strip()
    changes = {"metadata": {"labels": {name: value if request.POST.get("on") == "1" else None}}}
    return _patch(request, access, Object(request.POST.get("kind", ""), request.POST.get("object", "")), changes)


@edits
def ungate(request: HttpRequest, access: Access) -> HttpResponse:
    """Remove a scheduling gate of a pod."""
    edited = Object("Pod", request.POST.get("pod", ""))
    gates = _part(access, edited).get("schedulingGates") or ()
    left = [gate for gate in gates if gate["name"] != request.POST.get("gate")]
    return _patch(request, access, edited, {"spec": {"schedulingGates": left or None}})


@edits
def unfinalize(request: HttpRequest, access: Access) -> HttpResponse:
    """Remove a finalizer of an object. An object that waits for its deletion is deleted with its last finalizer."""
    edited = Object(request.POST.get("kind", ""), request.POST.get("object", ""))
    finalizers = _part(access, edited, "metadata").get("finalizers") or ()
    left = [name for name in finalizers if name != request.POST.get("finalizer")]
    return _patch(request, access, edited, {"metadata": {"finalizers": left or None}})


@edits
def resize(request: HttpRequest, access: Access) -> HttpResponse:
    """Change the requests of a container."""
    edited = Object("Pod", request.POST.get("pod", ""))
    containers = []
    for container in _part(access, edited).get("containers") or ():
        resources = dict(container.get("resources") or {})
        if container["name"] == request.POST.get("container"):
            typed = {name: request.POST.get(name, "").strip() for name in ("cpu", "memory")}
            others = {name: amount for name, amount in (resources.get("requests") or {}).items() if name not in typed}
            resources["requests"] = others | {name: amount for name, amount in typed.items() if amount}
        containers.append({"name": container["name"], "resources": resources})
    return _patch(request, access, edited, {"spec": {"containers": containers}}, "resize")


def _part(access: Access, edited: Object, name: str = "spec") -> dict[str, Any]:
    return (engines.read(access.sandbox, jobs.manifest, *edited) or {}).get(name) or {}


def _patch(
    request: HttpRequest, access: Access, edited: Object, changes: dict[str, Any], subresource: str = ""
) -> HttpResponse:
    command = {"kind": "patch", "object_kind": edited.kind, "key": edited.key, "changes": changes}
    execute(access.sandbox, command | ({"subresource": subresource} if subresource else {}), who(request))
    return HttpResponse(status=204)
