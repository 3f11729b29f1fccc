"""Routes that list what is installed: scenarios, lessons, misconceptions, challenges, panels."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router

from sandbox.content.scenarios import scenarios
from sandbox.content.shelf import DAILY, daily_challenge, shelf
from sandbox.panels import PANELS
from sandbox.web.api import shapes
from sandbox.web.api.access import PROBLEMS
from sandbox.words.say import say
from scheduler_engine.lesson import Lesson

LESSONS = {200: list[shapes.ListedLesson], **PROBLEMS}

router = Router(tags=["Content"])


@router.get("/scenarios", response={200: list[shapes.ListedScenario], **PROBLEMS}, summary=say("api.list-scenarios"))
def list_scenarios(request: HttpRequest) -> Any:
    return [
        {
            "name": name,
            "title": scenario.title,
            "about": scenario.about,
            "group": scenario.group,
            "steps": len(scenario.then),
            "level": scenario.level,
            "shows": scenario.shows,
            "kubernetes": scenario.kubernetes,
        }
        for name, scenario in scenarios().items()
    ]


@router.get("/lessons", response=LESSONS, summary=say("api.list-lessons"))
def list_lessons(request: HttpRequest) -> Any:
    """List the lessons of the course, in its order."""
    return _listed("lessons")


@router.get("/misconceptions", response=LESSONS, summary=say("api.list-misconceptions"))
def list_misconceptions(request: HttpRequest) -> Any:
    """List the common misconceptions. The truth about each comes at the end of its lesson."""
    return _listed("misconceptions")


@router.get("/challenges", response=LESSONS, summary=say("api.list-challenges"))
def list_challenges(request: HttpRequest) -> Any:
    """List the challenges. The first one, ``daily``, is another one each day (UTC)."""
    return [_row(DAILY, DAILY, daily_challenge().lesson), *_listed("challenges")]


def _listed(name: str) -> list[dict[str, Any]]:
    return [_row(name, lesson.slug, lesson) for lesson in shelf(name)]


def _row(shelf_name: str, name: str, lesson: Lesson) -> dict[str, Any]:
    return {
        "name": name,
        "title": lesson.title,
        "about": lesson.about,
        "shelf": shelf_name,
        "group": lesson.group,
        "minutes": lesson.minutes,
        "after": [*lesson.after],
        "belief": lesson.belief,
        "par": lesson.par,
        "parts": len(lesson.parts),
        "tasks": [number for number, part in enumerate(lesson.parts) if part.task],
        "kubernetes": lesson.scenario.kubernetes,
    }


@router.get("/panels", response={200: list[shapes.Panel], **PROBLEMS}, summary=say("api.list-panels"))
def panels(request: HttpRequest) -> Any:
    return [{"id": panel.id, "title": panel.title} for panel in PANELS.values()]
