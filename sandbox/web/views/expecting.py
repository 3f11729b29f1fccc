"""“Expect this”: save a fact of the page as an expectation of the sandbox, or remove it again."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from sandbox.changes import expectations
from sandbox.panels.model.moment import Moment
from sandbox.panels.view import View
from sandbox.web.access import Access, edits, problem, who
from sandbox.web.numbers import KEY_DIGITS, whole_number
from sandbox.words.say import say
from sandbox.worker.expecting import written


def _about(form: QueryDict) -> dict[str, Any]:
    """Return what a fact is about. Raise ``ValueError`` with a sentence that starts with the name of the field."""
    view = View.from_mapping(form.dict())
    about: dict[str, Any] = {"pod": view.pod, "node": view.node, "plugin": view.plugin}
    text = form.get("attempt", "")
    attempt = whole_number(text, 9)
    if text and not attempt:
        raise ValueError(say("errors.attempt"))
    return about | ({"attempt": attempt} if attempt else {}) | ({"cycle": view.cycle} if view.cycle else {})


@edits
def expect(request: HttpRequest, access: Access) -> HttpResponse:
    text = request.POST.get("at", "")
    at = Moment.read(text)
    if text and at is None:
        return problem(request, 400, say("errors.moment"))
    try:
        about = _about(request.POST)
    except ValueError as error:
        return problem(request, 400, str(error))
    saved = expectations.expect(access.sandbox, request.POST.get("fact", ""), about, at, who(request))
    context = {"key": saved.pk, "text": written(json.loads(saved.expectation))}
    return render(request, "fragments/expected.html", context)


@edits
def remove(request: HttpRequest, access: Access) -> HttpResponse:
    key = whole_number(request.POST.get("key", ""), KEY_DIGITS)
    if key is None:
        return problem(request, 400, say("errors.key"))
    if not expectations.take_back(access.sandbox, key):
        return problem(request, 404, say("expectations.no-such"))
    return HttpResponse("")
