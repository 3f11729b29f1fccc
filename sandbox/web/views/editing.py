"""Editing an object that is there: by single controls, or by its form and its YAML. Each change is one patch."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.changes import store
from sandbox.pool import engines
from sandbox.web.access import Access, edits, problem, reads, who
from sandbox.web.forms import Object, form_of
from sandbox.web.forms.drafts import Draft, blank, drafted, editable, patch_of
from sandbox.web.forms.manifests import Manifest
from sandbox.web.views.adding import applied, previewed, refused
from sandbox.words.yaml_text import written
from sandbox.worker import jobs
from scheduler_engine.api.warning_rules import warnings_about
from scheduler_engine.errors import FieldError, Rejected


@reads
def pane(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    """The part of the drawer in which the object ``key`` is edited."""
    if not access.can_edit:
        raise Http404
    edited = Object(kind, request.GET.get("key", ""))
    manifest = engines.read(access.sandbox, jobs.manifest, *edited)
    if manifest is None:
        return problem(request, 404, f"{edited.kind} {edited.key} no longer exists.")
    shown = editable(manifest)
    context = {"form": blank(edited, shown), "yaml": written(shown)}
    return render(request, "fragments/edit_pane.html", context)


@edits
def edit(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    """What was changed there, carried out."""
    edited = Object(kind, request.GET.get("key", ""))
    draft = drafted(form_of(edited.kind), request.POST, access.sandbox, edited)
    command = _command(request, draft, edited)
    if draft.right and not command:
        return problem(request, 409, "There is no change to apply.", calm=True)
    anew = False
    if draft.right:
        try:
            if request.POST.get("anew") == "1" and _same_pod(edited, draft.made[0]):
                command = {"kind": "replace", "object_kind": edited.kind, "key": edited.key, "manifest": draft.made[0]}
            store.execute(access.sandbox, command, who(request))
        except Rejected as error:
            spec = _spec(access, edited)
            anew = edited.kind == "Pod" and bool(spec) and not spec.get("nodeName")
            draft.tell(engines.read(access.sandbox, jobs.locate, draft.text, error.errors))
    if not draft.right:
        return refused(request, draft, anew=anew)
    return applied(request, warnings_about(draft.made[0]))


def _same_pod(edited: Object, made: Manifest) -> bool:
    """Whether a new pod would stand in the place of the one that is edited; else a patch says what is wrong."""
    metadata = made["metadata"]
    return edited == ("Pod", f"{metadata.get('namespace')}/{metadata['name']}") and made["kind"] == "Pod"


@edits
def preview(request: HttpRequest, access: Access, kind: str) -> HttpResponse:
    edited = Object(kind, request.GET.get("key", ""))
    draft = drafted(form_of(kind), request.POST, access.sandbox, edited)
    command = _command(request, draft, edited)
    tried = engines.read(access.sandbox, jobs.trial, command) if draft.right and command else []
    return previewed(request, draft, tried)


def _command(request: HttpRequest, draft: Draft, edited: Object) -> dict[str, Any]:
    """What the text changes, {} for nothing. It must stay one object, of the same name."""
    if not draft.right:
        return {}
    if len(draft.made) != 1:
        draft.tell([FieldError("", "Invalid", f"Only one object can be edited here; the text has {len(draft.made)}.")])
        return {}
    try:
        return patch_of(edited, request.POST.get("original", ""), draft.text)
    except Rejected as error:
        draft.tell(error.errors)
        return {}


# --- single controls ---


@edits
def label(request: HttpRequest, access: Access) -> HttpResponse:
    """A label of any object, or without it."""
    name, value = request.POST.get("key", "").strip(), request.POST.get("value", "").strip()
    changes = {"metadata": {"labels": {name: value if request.POST.get("on") == "1" else None}}}
    return _patch(request, access, Object(request.POST.get("kind", ""), request.POST.get("object", "")), changes)


@edits
def ungate(request: HttpRequest, access: Access) -> HttpResponse:
    """A pod without one of its scheduling gates."""
    edited = Object("Pod", request.POST.get("pod", ""))
    gates = (_spec(access, edited)).get("schedulingGates") or ()
    left = [gate for gate in gates if gate["name"] != request.POST.get("gate")]
    return _patch(request, access, edited, {"spec": {"schedulingGates": left or None}})


@edits
def unfinalize(request: HttpRequest, access: Access) -> HttpResponse:
    """An object without one of its finalizers; one that was to go, and that nothing else holds, is gone."""
    edited = Object(request.POST.get("kind", ""), request.POST.get("object", ""))
    held = _metadata(access, edited).get("finalizers") or ()
    left = [name for name in held if name != request.POST.get("finalizer")]
    return _patch(request, access, edited, {"metadata": {"finalizers": left or None}})


@edits
def resize(request: HttpRequest, access: Access) -> HttpResponse:
    """What a container of a pod asks for."""
    edited = Object("Pod", request.POST.get("pod", ""))
    containers = []
    for container in _spec(access, edited).get("containers") or ():
        resources = dict(container.get("resources") or {})
        if container["name"] == request.POST.get("container"):
            given = {name: request.POST.get(name, "").strip() for name in ("cpu", "memory")}
            kept = {name: amount for name, amount in (resources.get("requests") or {}).items() if name not in given}
            resources["requests"] = kept | {name: amount for name, amount in given.items() if amount}
        containers.append({"name": container["name"], "resources": resources})
    return _patch(request, access, edited, {"spec": {"containers": containers}}, "resize")


def _spec(access: Access, edited: Object) -> dict[str, Any]:
    return (engines.read(access.sandbox, jobs.manifest, *edited) or {}).get("spec") or {}


def _metadata(access: Access, edited: Object) -> dict[str, Any]:
    return (engines.read(access.sandbox, jobs.manifest, *edited) or {}).get("metadata") or {}


def _patch(
    request: HttpRequest, access: Access, edited: Object, changes: dict[str, Any], subresource: str = ""
) -> HttpResponse:
    command = {"kind": "patch", "object_kind": edited.kind, "key": edited.key, "changes": changes}
    store.execute(access.sandbox, command | ({"subresource": subresource} if subresource else {}), who(request))
    return HttpResponse(status=204)
