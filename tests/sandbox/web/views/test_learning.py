"""The pages for learning: the course and its path, the gallery, the challenges."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.test import Client

from sandbox.content import shelf
from sandbox.storage.models import Sandbox

pytestmark = pytest.mark.django_db
PAGES = {"course": "lessons", "misconceptions": "misconceptions", "challenges": "challenges"}


def page(name: str) -> str:
    answer = Client().get(f"/{name}/")
    assert answer.status_code == 200
    return answer.content.decode()


def begun(text: str) -> list[str]:
    """Return the lessons that a page's buttons begin."""
    return re.findall(r'name="lesson" value="([^"]+)"', text)


@pytest.mark.parametrize(("name", "kind"), PAGES.items())
def test_a_page_begins_each_of_its_lessons_in_their_order(name: str, kind: str) -> None:
    slugs = [lesson.slug for lesson in shelf.shelf(kind)]
    begun_lessons = [slug for slug in begun(page(name)) if slug != "daily"]
    assert sorted({*begun_lessons}) == sorted(slugs)
    if name != "misconceptions":
        assert begun_lessons[-len(slugs) :] == slugs


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_name_one_another_and_open_nothing_by_being_read(name: str) -> None:
    text = page(name)
    assert all(f'href="/{other}/"' in text for other in PAGES)
    assert Sandbox.objects.count() == 0


def test_the_first_page_leads_to_all_three() -> None:
    text = Client().get("/").content.decode()
    assert all(f'href="/{name}/"' in text for name in PAGES)


def test_the_gallery_shows_belief_and_truth() -> None:
    text = page("misconceptions")
    assert len(shelf.shelf("misconceptions")) >= 20
    assert text.count("<blockquote>") == text.count("What is true</summary>") == len(shelf.shelf("misconceptions"))


def test_the_challenge_of_the_day_is_named_with_its_day_and_par() -> None:
    text = page("challenges")
    assert datetime.now(UTC).strftime("%B %Y") in text
    assert f"Par {shelf.daily_challenge().lesson.par}." in text
    assert begun(text)[0] == "daily"


@pytest.mark.parametrize("slug", ["three-queues", "limits-count", "free-a-node", "daily"])
def test_a_button_opens_a_sandbox_with_the_lesson(slug: str) -> None:
    answer = Client().post("/new/", {"lesson": slug})
    assert answer.status_code == 302
    text = Client().get(answer["Location"]).content.decode()
    assert 'id="panel-lesson"' in text


def test_a_missing_lesson_opens_nothing() -> None:
    answer = Client().post("/new/", {"lesson": "no-such-lesson"})
    assert answer.status_code in (404, 422)
    assert Sandbox.objects.count() == 0
