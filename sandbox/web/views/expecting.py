"""“Expect this”: a fact of the page becomes an expectation of the sandbox, or is taken back."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import path

from sandbox.changes import expectations
from sandbox.panels.model.moment import Moment
from sandbox.panels.view import View
from sandbox.web.access import Access, edits, problem, who
from sandbox.words.say import say
from sandbox.worker.expecting import written

KEY_DIGITS = 18


def _about(form: QueryDict) -> dict[str, Any]:
    """What a fact is about. Raises ``ValueError`` with a sentence that begins with the field."""
    view = View.from_mapping(form.dict())
    about: dict[str, Any] = {"pod": view.pod, "node": view.node, "plugin": view.plugin}
    given = form.get("attempt", "")
    if given and not (given.isascii() and given.isdigit() and int(given[:10]) > 0 and len(given) < 10):
        raise ValueError("attempt must be a whole number, 1 or more.")
    return about | ({"attempt": int(given)} if given else {})


@edits
def expect(request: HttpRequest, access: Access) -> HttpResponse:
    given = request.POST.get("at", "")
    at = Moment.read(given)
    if given and at is None:
        return problem(request, 400, "at must be a moment such as 12.40.")
    try:
        about = _about(request.POST)
    except ValueError as error:
        return problem(request, 400, str(error))
    kept = expectations.expect(access.sandbox, request.POST.get("fact", ""), about, at, who(request))
    context = {"key": kept.pk, "text": written(json.loads(kept.expectation))}
    return render(request, "fragments/expected.html", context)


@edits
def take_back(request: HttpRequest, access: Access) -> HttpResponse:
    key = request.POST.get("key", "")
    if not (key.isascii() and key.isdigit() and len(key) <= KEY_DIGITS):
        return problem(request, 400, "key must be a number.")
    if not expectations.take_back(access.sandbox, int(key)):
        return problem(request, 404, say("expectations.no-such"))
    return HttpResponse("")


urlpatterns = [
    path("expect/", expect, name="expect"),
    path("take-back/", take_back, name="take-back"),
]
