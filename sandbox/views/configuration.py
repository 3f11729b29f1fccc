"""The scheduler's configuration: what was given last, and another one in its place."""

from __future__ import annotations

import json
from typing import Any

import yaml
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from sandbox import store
from sandbox.access import Access, edits, reads, who
from sandbox.models import Sandbox
from sandbox.presets import DEFAULT
from sandbox.quotas import check_text
from sandbox.records import log_of
from scheduler_engine.api.loading import read_documents
from scheduler_engine.config import load_configuration
from scheduler_engine.errors import Rejected

CONFIGURES = '{"kind":"configure"'


@reads
def given(request: HttpRequest, access: Access) -> HttpResponse:
    """The configuration in force as somebody gave it, without defaults, as YAML text."""
    manifest = _given(access.sandbox)
    text = DEFAULT.text if manifest is None else yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True)
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@edits
def configure(request: HttpRequest, access: Access) -> HttpResponse:
    """Errors have the line they stand on; with any of them nothing changes."""
    text = request.POST.get("configuration", "")
    check_text(text)
    try:
        load_configuration(text)
        manifest = next(document.data for document in read_documents(text) if document.data is not None)
        store.execute(access.sandbox, {"kind": "configure", "configuration": manifest}, who(request))
    except Rejected as error:
        return render(request, "fragments/configuration_errors.html", {"errors": error.errors}, status=422)
    return HttpResponse(status=204, headers={"HX-Trigger": "configured"})


def _given(sandbox: Sandbox) -> Any:
    records = log_of(sandbox.pk).filter(n__lte=sandbox.head, command__startswith=CONFIGURES)
    last = records.order_by("-n").values_list("command", flat=True).first()
    return json.loads(last)["configuration"] if last else json.loads(sandbox.configuration)
