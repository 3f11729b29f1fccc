"""Write a lesson: its text in an editor, and beside it the lesson that runs."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sandbox.changes.opening import open_written
from sandbox.content.drafts import ELEMENTS, NEW, start_text
from sandbox.content.shelf import shelf
from sandbox.runtime.local import local
from sandbox.web.access import public_form
from sandbox.web.numbers import whole_number
from sandbox.web.schema.lessons import lesson_digests
from sandbox.web.views.completing import schema_addresses
from sandbox.words.say import say
from sandbox.worker.jobs.teaching import LONGEST_LESSON
from scheduler_engine.errors import Rejected
from scheduler_engine.lesson.format import KIND
from scheduler_engine.versions import DEFAULT

FILE = "file"
"""The start that follows the file of a site on somebody's own machine."""
SEEN = "If-None-Match"
MOST_ERRORS = 50
"""Errors in one answer."""


@require_safe
def write(request: HttpRequest) -> HttpResponse:
    """Show the editor with the start that ``from`` names. The browser keeps a draft for each start."""
    start = request.GET.get("from", NEW)
    follows = start == FILE and local.lesson is not None
    text = "" if follows else start_text(start)
    if text is None:
        raise Http404
    context = {
        "start": start,
        "text": text,
        "elements": ELEMENTS,
        "lessons": shelf("lessons"),
        "file": local.lesson,
        "follows": follows,
        "most": LONGEST_LESSON,
        "schemas": schema_addresses(lesson_digests()),
        "kind": KIND,
        "kubernetes": DEFAULT,
    }
    return render(request, "write.html", context)


@public_form
def run(request: HttpRequest) -> HttpResponse:
    """Create a sandbox of the lesson in ``text``, with the part ``part`` (from 0) open. List errors by line."""
    text, part = request.POST.get("text", ""), whole_number(request.POST.get("part", "0"), 5)
    try:
        sandbox, token, parts = open_written(text, part or 0)
    except Rejected as error:
        errors = error.errors[:MOST_ERRORS]
        context = {"errors": errors, "error_count": len(error.errors), "more_errors": len(error.errors) - len(errors)}
        return render(request, "fragments/written_errors.html", context, status=422)
    return render(request, "fragments/written.html", {"sandbox": sandbox, "token": token, "parts": parts})


@require_safe
def read_file(request: HttpRequest) -> HttpResponse:
    """Return the text of the file that ``LESSON`` names, or 304 if it is as the page has it.

    The page asks several times a second. Only a site for its own machine has the file; any other answers 404.
    """
    if local.lesson is None:
        raise Http404
    try:
        stat = local.lesson.stat()
        tag = f'"{stat.st_mtime_ns}-{stat.st_size}"'
        if request.headers.get(SEEN) == tag:
            return HttpResponse(status=304)
        text = local.lesson.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Rejected(say("write.unreadable", file=local.lesson.name, reason=_reason(error))) from error
    return HttpResponse(text, content_type="text/plain; charset=utf-8", headers={"ETag": tag})


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else error.reason
