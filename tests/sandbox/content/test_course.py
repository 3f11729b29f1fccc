"""The path of the course: its chapters, the numbers of its lessons, and what each builds on."""

from __future__ import annotations

from sandbox.content.course import chapters_of
from sandbox.content.shelf import shelf
from scheduler_engine.lesson import read_lesson
from scheduler_engine.lesson.model import Lesson

HEAD = "apiVersion: scheduler-sandbox/v1\nkind: Lesson\nabout: x\n"


def lesson(slug: str, group: str, *after: str) -> Lesson:
    text = f'{HEAD}title: "{slug.title()}"\ngroup: {group}\nafter: [{", ".join(after)}]\nparts: [{{text: x}}]\n'
    return read_lesson(text, f"{slug}.yaml")


def test_chapters_name_what_they_build_on_once_and_without_themselves() -> None:
    lessons = [
        lesson("a", "One"),
        lesson("b", "One", "a"),
        lesson("c", "Two", "b", "a"),
        lesson("d", "Three", "c", "a", "gone"),
        lesson("e", "Three", "d", "b"),
    ]
    chapters = chapters_of(lessons)
    assert [(chapter.title, chapter.after) for chapter in chapters] == [
        ("One", ()),
        ("Two", ("One",)),
        ("Three", ("One", "Two")),
    ]
    cards = [card for chapter in chapters for card in chapter.cards]
    assert [card.number for card in cards] == [1, 2, 3, 4, 5]
    assert [card.after for card in cards] == [
        (),
        ((1, "A"),),
        ((1, "A"), (2, "B")),
        ((1, "A"), (3, "C")),
        ((2, "B"), (4, "D")),
    ]


def test_a_course_without_lessons_is_empty() -> None:
    assert chapters_of([]) == ()


def test_no_lesson_of_the_course_comes_before_one_that_leads_to_it() -> None:
    for chapter in chapters_of(shelf("lessons")):
        for card in chapter.cards:
            assert all(number < card.number for number, _ in card.after)
