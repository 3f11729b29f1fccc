"""The pages from which one begins to learn: the course, the gallery of misconceptions, the challenges."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import groupby

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sandbox.drawings import drawing
from sandbox.lessons import course as maps
from sandbox.lessons.shelf import shelf
from scheduler_engine.lesson.daily import daily, seed_of


def today() -> date:
    """One day for everybody, wherever they are."""
    return datetime.now(UTC).date()


@require_safe
def course(request: HttpRequest) -> HttpResponse:
    lessons = shelf("lessons")
    minutes = sum(lesson.minutes for lesson in lessons)
    return render(
        request, "course.html", {"map": maps.drawn(lessons), "lessons": lessons, "hours": round(minutes / 60)}
    )


@require_safe
def misconceptions(request: HttpRequest) -> HttpResponse:
    found = shelf("misconceptions")
    groups = [
        (title, list(entries))
        for title, entries in groupby(sorted(found, key=lambda entry: entry.group), lambda entry: entry.group)
    ]
    return render(request, "misconceptions.html", {"groups": groups, "count": len(found)})


@require_safe
def challenges(request: HttpRequest) -> HttpResponse:
    day = today()
    context = {"day": day, "daily": daily(seed_of(day)), "challenges": shelf("challenges"), "drawing": drawing}
    return render(request, "challenges.html", context)
