"""A lesson opens only tabs that the page has: each lesson of the site, and each that somebody brings."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.content.shelf import lessons
from sandbox.panels import TABS
from sandbox.pool import engines
from sandbox.worker import jobs
from scheduler_engine.errors import Rejected
from scheduler_engine.lesson import problems_of

BROUGHT = """
kind: Lesson
title: Tabs
{tab}
parts:
- text: {text}
  look: {look}
"""


@pytest.mark.parametrize("slug", lessons())
def test_a_lesson_of_the_site_opens_tabs_of_the_page(slug: str) -> None:
    assert problems_of(lessons()[slug].lesson, TABS) == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"tab": "tab: filters"}, "tab"),
        ({"look": "{tab: filters}"}, "parts[0].look.tab"),
        ({"text": "'[the table](tab:filters)'"}, "parts[0].text"),
    ],
    ids=["as the first tab", "to look at", "to point at"],
)
def test_a_lesson_that_opens_another_tab_is_refused_at_its_line(wrong: dict[str, Any], path: str) -> None:
    text = BROUGHT.format(**{"tab": "tab: filter", "look": "{tab: scores}", "text": "'[scores](tab:scores)'"} | wrong)
    with pytest.raises(Rejected) as refusal:
        engines.of_file(jobs.lesson_read, text, "mine.yaml")
    (error,) = refusal.value.errors
    assert f"{path}: there is no tab 'filters'; use one of filter, scores, " in str(error)
