"""Lessons in a sandbox, predictions in any sandbox, and uploaded lessons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from sandbox.changes import study
from sandbox.changes.opening import read_lesson
from sandbox.changes.study import LONGEST_NAME, MOST_ANSWERS
from sandbox.limits.quotas import OverQuota
from sandbox.web.access import Access, edits, public_form, who
from sandbox.web.numbers import whole_number
from sandbox.web.views.importing import with_errors
from sandbox.words.say import say
from sandbox.worker.jobs.teaching import LONGEST_LESSON
from scheduler_engine.errors import FieldError, Rejected

BYTES_A_LETTER = 4


def _part(request: HttpRequest) -> int:
    """Return the number of the part in the form. Raise ``Rejected`` if it is not a number."""
    number = whole_number(request.POST.get("part", ""), 5)
    if number is None:
        raise Rejected([FieldError("part", "FieldValueInvalid", say("lesson.number"))])
    return number


def _answers(request: HttpRequest) -> list[str] | None:
    """Return the answers in the form; None if the visitor looks without guessing."""
    if request.POST.get("look"):
        return None
    return [name[:LONGEST_NAME] for name in request.POST.getlist("named")[:MOST_ANSWERS]]


VERBS: Mapping[str, Callable[[HttpRequest, Access], None]] = {
    "step": lambda request, access: study.step(access.sandbox, _part(request), who(request)),
    "turn": lambda request, access: study.turn_to(access.sandbox, _part(request), who(request)),
    "hint": lambda request, access: study.hint(access.sandbox),
    "catch-up": lambda request, access: study.catch_up(access.sandbox, who(request)),
    "answer": lambda request, access: study.answer(access.sandbox, _answers(request), who=who(request)),
}


@edits
def lesson(request: HttpRequest, access: Access, verb: str) -> HttpResponse:
    if verb not in VERBS:
        raise Http404
    VERBS[verb](request, access)
    return HttpResponse(status=204)


@edits
def predict(request: HttpRequest, access: Access) -> HttpResponse:
    key = request.POST.get("question", "")[:LONGEST_NAME]
    study.answer(access.sandbox, _answers(request), predicts=True, who=who(request), key=key)
    return HttpResponse(status=204)


@public_form
@partial(with_errors, page="lesson_refused.html")
def open_own(request: HttpRequest) -> HttpResponse:
    """Create a sandbox of an uploaded lesson (``file``, or its text in ``text``)."""
    text, name = uploaded_lesson(request)
    sandbox, token = study.open_learned(read_lesson(text, name), text=text)
    return redirect("workbench", sandbox.pk, token)


def uploaded_lesson(request: HttpRequest) -> tuple[str, str]:
    """Return the text and the name of the lesson file in a form. Raise ``OverQuota`` or ``Rejected``."""
    file, text = request.FILES.get("file"), request.POST.get("text", "")
    if file is not None:
        if (file.size or 0) > BYTES_A_LETTER * LONGEST_LESSON:
            raise OverQuota(say("lesson.large", most=BYTES_A_LETTER * LONGEST_LESSON), 413)
        try:
            text = file.read().decode()
        except UnicodeDecodeError:
            raise Rejected(say("lesson.no-text")) from None
    if not text.strip():
        raise Rejected(say("lesson.no-file"))
    return text, (file.name if file is not None else None) or "lesson.yaml"
