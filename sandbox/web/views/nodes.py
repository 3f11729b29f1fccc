"""Nodes in trouble: conditions, usage, and the configuration of their kubelets."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from sandbox.changes import store
from sandbox.limits.quotas import check_text
from sandbox.web.access import Access, edits, who
from scheduler_engine.api.loading import read_documents
from scheduler_engine.commands import AMOUNTS
from scheduler_engine.errors import FieldError, Rejected

ERRORS = "fragments/nodes_errors.html"
MOST_DIGITS = 6
"""Of a number of seconds."""


@edits
def condition(request: HttpRequest, access: Access) -> HttpResponse:
    named = {name: request.POST.get(name, "") for name in ("node", "type", "status")}
    store.execute(access.sandbox, {"kind": "node-condition", **named}, who(request))
    return HttpResponse(status=204)


@edits
def taint(request: HttpRequest, access: Access) -> HttpResponse:
    """Add a taint, or take one away. What is wrong with it is said under the form that adds."""
    named = {name: request.POST.get(name, "").strip() for name in ("node", "key", "effect", "value")}
    on = request.POST.get("on") == "1"
    try:
        store.execute(access.sandbox, {"kind": "taint", **named, "on": on}, who(request))
    except Rejected as error:
        if not on:
            raise
        return _refused(request, error.errors)
    return HttpResponse("" if on else None, status=200 if on else 204)  # An empty one clears an earlier refusal.


@edits
def usage(request: HttpRequest, access: Access) -> HttpResponse:
    """One amount or several; an empty one stays as it is. ``slide`` is the slider's, of ``amount`` in ``unit``."""
    given = {name: request.POST[name].strip() for name in AMOUNTS if request.POST.get(name, "").strip()}
    if request.POST.get("amount") in AMOUNTS and request.POST.get("slide"):
        given[request.POST["amount"]] = request.POST["slide"] + request.POST.get("unit", "")
    if not given:
        return _refused(request, [FieldError("", "Required", "enter an amount: 0 for nothing")])
    whose = {name: request.POST[name] for name in ("pod", "node") if request.POST.get(name)}
    try:
        store.execute(access.sandbox, {"kind": "usage", **whose, **given}, who(request))
    except Rejected as error:
        return _refused(request, error.errors)
    return HttpResponse(status=204)


@edits
def kubelet(request: HttpRequest, access: Access) -> HttpResponse:
    """Another KubeletConfiguration as YAML; an empty text is the default one, an empty grace that of v1.34.1."""
    text = request.POST.get("configuration", "")
    check_text(text)
    node, grace = request.POST.get("node", ""), request.POST.get("hard_eviction_grace", "")
    try:
        told = {"hard_eviction_grace": _seconds(grace)} if grace else {}
        command = {"kind": "kubelet", "node": node, "configuration": _configuration(text), **told}
        store.execute(access.sandbox, command, who(request))
    except Rejected as error:
        return _refused(request, error.errors)
    return HttpResponse(status=204)


def _configuration(text: str) -> dict[str, Any] | None:
    """Raises ``Rejected``."""
    given = [document.data for document in read_documents(text) if document.data is not None]
    if len(given) > 1:
        raise Rejected("must be one KubeletConfiguration, not several")
    if given and not isinstance(given[0], dict):
        raise Rejected("must be a KubeletConfiguration, such as field: value")
    return given[0] if given else None


def _seconds(text: str) -> int:
    """Raises ``Rejected``."""
    if not text.isascii() or not text.isdigit() or len(text) > MOST_DIGITS:
        raise Rejected("the grace of hard evictions must be a whole number of seconds")
    return int(text)


def _refused(request: HttpRequest, errors: list[FieldError]) -> HttpResponse:
    return render(request, ERRORS, {"errors": errors}, status=422)


urlpatterns = [
    path("node-condition/", condition, name="node-condition"),
    path("taint/", taint, name="taint"),
    path("usage/", usage, name="usage"),
    path("kubelet/", kubelet, name="kubelet"),
]
