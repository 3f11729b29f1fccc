"""The pages that lead to lessons: the course, the gallery of misconceptions, the challenges."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import groupby

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sandbox.content.course import chapters_of
from sandbox.content.shelf import daily_challenge, shelf
from sandbox.web.drawings import drawing
from sandbox.web.shared import same_for_all
from sandbox.words.phrases import listed
from scheduler_engine.lesson.costs import PRICES


@require_safe
@same_for_all()
def course(request: HttpRequest) -> HttpResponse:
    lessons = shelf("lessons")
    hours = max(1, round(sum(lesson.minutes for lesson in lessons) / 60))
    chapters = [(chapter, listed([*chapter.after], len(chapter.after))) for chapter in chapters_of(lessons)]
    return render(request, "course.html", {"chapters": chapters, "lessons": lessons, "hours": hours})


@require_safe
@same_for_all()
def misconceptions(request: HttpRequest) -> HttpResponse:
    lessons = shelf("misconceptions")
    groups = [
        (title, list(entries))
        for title, entries in groupby(sorted(lessons, key=lambda entry: entry.group), lambda entry: entry.group)
    ]
    return render(request, "misconceptions.html", {"groups": groups, "count": len(lessons)})


def _today() -> date:
    return datetime.now(UTC).date()


@require_safe
@same_for_all(_today)
def challenges(request: HttpRequest) -> HttpResponse:
    lists = {"day": _today(), "daily": daily_challenge().lesson, "challenges": shelf("challenges")}
    context = lists | {"drawing": drawing, "prices": PRICES}
    return render(request, "challenges.html", context)
