"""Change nodes: taints, usage, and the configuration of their kubelets."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox.limits.quotas import check_text
from sandbox.web.access import Access, edits, who
from sandbox.web.executing import execute
from sandbox.web.numbers import whole_number
from sandbox.words.say import say
from scheduler_engine.api.loading import read_documents
from scheduler_engine.commands import AMOUNTS
from scheduler_engine.errors import FieldError, Rejected

ERRORS = "fragments/nodes_errors.html"
MOST_DIGITS = 6
"""Digits of a number of seconds."""


@edits
def taint(request: HttpRequest, access: Access) -> HttpResponse:
    """Add or remove a taint. Errors of a new taint are shown below its form."""
    named = {name: request.POST.get(name, "").strip() for name in ("node", "key", "effect", "value")}
    on = request.POST.get("on") == "1"
    try:
        execute(access.sandbox, {"kind": "taint", **named, "on": on}, who(request))
    except Rejected as error:
        if not on:
            raise
        return _errors(request, error.errors)
    return HttpResponse("" if on else None, status=200 if on else 204)  # An empty answer removes an earlier error.


@edits
def usage(request: HttpRequest, access: Access) -> HttpResponse:
    """Set one or several amounts; empty fields change nothing. A slider sends ``slide``, ``amount`` and ``unit``."""
    amounts = {name: request.POST[name].strip() for name in AMOUNTS if request.POST.get(name, "").strip()}
    if request.POST.get("amount") in AMOUNTS and request.POST.get("slide"):
        amounts[request.POST["amount"]] = request.POST["slide"] + request.POST.get("unit", "")
    if not amounts:
        return _errors(request, [FieldError("", "Required", say("errors.amount"))])
    target = {name: request.POST[name] for name in ("pod", "node") if request.POST.get(name)}
    try:
        execute(access.sandbox, {"kind": "usage", **target, **amounts}, who(request))
    except Rejected as error:
        return _errors(request, error.errors)
    return HttpResponse(status=204)


@edits
def kubelet(request: HttpRequest, access: Access) -> HttpResponse:
    """Apply a KubeletConfiguration in YAML. An empty text means the default, an empty grace that of v1.34.1."""
    text = request.POST.get("configuration", "")
    check_text(text)
    node, grace = request.POST.get("node", ""), request.POST.get("hard_eviction_grace", "")
    try:
        extra = {"hard_eviction_grace": _seconds(grace)} if grace else {}
        command = {"kind": "kubelet", "node": node, "configuration": _configuration(text), **extra}
        execute(access.sandbox, command, who(request))
    except Rejected as error:
        return _errors(request, error.errors)
    return HttpResponse(status=204)


def _configuration(text: str) -> dict[str, Any] | None:
    """Return the configuration in a text, None for an empty text. Raise ``Rejected``."""
    manifests = [document.data for document in read_documents(text) if document.data is not None]
    if len(manifests) > 1:
        raise Rejected(say("errors.one-kubelet"))
    if manifests and not isinstance(manifests[0], dict):
        raise Rejected(say("errors.kubelet-mapping"))
    return manifests[0] if manifests else None


def _seconds(text: str) -> int:
    """Return a text as a number of seconds. Raise ``Rejected`` if it is not one."""
    number = whole_number(text, MOST_DIGITS)
    if number is None:
        raise Rejected(say("errors.grace"))
    return number


def _errors(request: HttpRequest, errors: list[FieldError]) -> HttpResponse:
    return render(request, ERRORS, {"errors": errors}, status=422)
