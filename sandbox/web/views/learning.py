"""The pages that lead to lessons: the course, the gallery of misconceptions, the challenges."""

from __future__ import annotations

import secrets
from datetime import UTC, date, datetime
from itertools import groupby

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from sandbox.content.course import chapters_of
from sandbox.content.shelf import daily_challenge, shelf
from sandbox.web.drawings import drawing
from sandbox.web.shared import same_for_all
from sandbox.words.phrases import listed
from scheduler_engine.lesson.costs import PRICES
from scheduler_engine.lesson.practice import LEVELS, PARTS, TOPICS, round_of, topic_about, topic_title

SEEDS = 1_000_000
"""Rounds of a topic and a level, from which one is drawn for a visitor."""


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


@require_safe
@same_for_all(_today)
def practice(request: HttpRequest) -> HttpResponse:
    """List the topics, the levels and today's challenge. What a visitor has answered is only in the browser."""
    topics = [(name, topic_title(name), topic_about(name)) for name in TOPICS]
    today = {"day": _today(), "daily": daily_challenge().lesson, "drawing": drawing}
    return render(request, "practice.html", {"topics": topics, "levels": LEVELS, "parts": PARTS, **today})


@require_safe
def practice_round(request: HttpRequest, name: str) -> HttpResponse:
    """Offer one round: the same address always has the same questions."""
    drawn = round_of(f"practice-{name}")
    if drawn is None:
        raise Http404
    context = {"drawn": drawn, "title": topic_title(drawn.topic), "about": topic_about(drawn.topic), "parts": PARTS}
    return render(request, "practice_round.html", context)


def chosen_round(request: HttpRequest) -> str:
    """Return the name of a new round of the topic and level in a form, "" if it has no topic."""
    topic, level = request.POST.get("topic", ""), request.POST.get("level", str(LEVELS[0]))
    return f"practice-{topic}-{level}-{secrets.randbelow(SEEDS)}" if topic else ""
