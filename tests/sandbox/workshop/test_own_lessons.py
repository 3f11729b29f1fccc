"""A trainer's own lessons: checked as everywhere, sent to all or one, corrected, saved in the room's file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from sandbox.storage.models import Study
from sandbox.workshop import board, files, lessons
from sandbox.workshop.models import Seat, Workshop
from tests.sandbox.web.views.test_lessons import LESSON
from tests.sandbox.workshop.conftest import Person
from tests.sandbox.workshop.test_files import opened

pytestmark = pytest.mark.django_db
Joined = Callable[..., Person]
SECOND = LESSON.replace("A pod and two nodes", "Another one").replace("Look at", "See")


def bring(trainer: Person, text: str, instead: str = "") -> Any:
    file = SimpleUploadedFile("my.lesson.yaml", text.encode())
    return trainer.post("lessons/", file=file, instead=instead)


def progress(trainer: Person) -> dict[str, str]:
    return {row.name: f"{row.sandbox}: {row.lesson.text if row.lesson else ''}" for row in board.rows(trainer.room)}


def titles(trainer: Person) -> list[str]:
    return list(trainer.room.lessons.order_by("number").values_list("title", flat=True))


def test_an_own_lesson_is_sent_to_all_or_one_and_the_board_shows_part_and_tasks(
    trainer: Person, joined: Joined
) -> None:
    ada, ben = joined("Ada"), joined("Ben")
    assert bring(trainer, LESSON).status_code == 204
    assert bring(trainer, SECOND).status_code == 204
    assert 'value="own:2"' in trainer.get().content.decode()
    assert trainer.post("send/", scenario="own:1").status_code == 204
    trainer.post("send/", scenario="own:2", to=[str(ben.now().pk)])
    sandbox, bens = ada.sit(), ben.sit()
    late = joined("Late")
    late.sit()
    assert progress(trainer) == {
        "Ada": "A pod and two nodes: part 1 of 4, 0 of 1 task",
        "Ben": "Another one: part 1 of 4, 0 of 1 task",
        "Late": "A pod and two nodes: part 1 of 4, 0 of 1 task",
    }
    study = Study.objects.get(sandbox=sandbox)
    study.part, study.progress = 4, json.dumps(json.loads(study.progress) | {"done": [0, 1, 2, 3]})
    study.save()
    assert progress(trainer)["Ada"] == "A pod and two nodes: finished, 1 of 1 task"
    assert "part 1 of 4" in trainer.get().content.decode()
    assert "See" in Study.objects.get(sandbox=bens).text
    assert not any("Look at" in seat.source for seat in Seat.objects.all()), "seats do not repeat the text"
    assert trainer.post("send/", scenario="own:3").status_code == 422


def test_progress_is_saved_as_the_lesson_continues(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    bring(trainer, LESSON)
    trainer.post("send/", scenario="own:1")
    ada.sit()
    page = ada.get().content.decode()
    path = page.split('title="Your sandbox" src="')[1].split('"')[0]
    assert Client().post(f"{path}lesson/turn/", {"part": "1"}).status_code == 204
    assert progress(trainer)["Ada"].endswith("part 2 of 4, 0 of 1 task")


def test_an_error_is_reported_by_line_and_nothing_is_saved(trainer: Person) -> None:
    answer = bring(trainer, LESSON.replace("pod:default/web", "pod:default/wbe"))
    assert answer.status_code == 422
    assert "This lesson has errors" in answer.content.decode()
    assert "wbe" in answer.content.decode()
    answer = bring(trainer, LESSON.replace("say: web is on", "sya: web is on"))
    assert "line 28" in answer.content.decode()
    assert ":28:" not in answer.content.decode(), "the place is named twice"
    assert bring(trainer, "").status_code == 422
    assert trainer.post("lessons/").status_code == 422
    assert not titles(trainer)


def test_two_lessons_with_one_title_are_distinct_and_a_corrected_version_keeps_its_place(
    trainer: Person, joined: Joined
) -> None:
    ada = joined("Ada")
    bring(trainer, LESSON)
    bring(trainer, LESSON)
    assert titles(trainer) == ["A pod and two nodes", "A pod and two nodes (2)"]
    trainer.post("send/", scenario="own:1")
    first = ada.sit()
    corrected = LESSON.replace("Look at", "Read about")
    assert bring(trainer, corrected, instead="1").status_code == 204
    assert titles(trainer) == ["A pod and two nodes", "A pod and two nodes (2)"]
    assert "Look at" in Study.objects.get(sandbox=first).text
    assert "Read about" in Study.objects.get(sandbox=joined("Late").sit()).text
    trainer.post("send/", scenario="own:1")
    assert "Read about" in Study.objects.get(sandbox=ada.sit()).text
    assert bring(trainer, corrected, instead="7").status_code == 422


def test_a_room_has_an_end_of_lessons(trainer: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(trainer, LESSON)
    monkeypatch.setattr(lessons, "MOST_LESSONS", 1)
    answer = bring(trainer, SECOND)
    assert answer.status_code == 422
    assert "Replace one of them" in answer.content.decode()
    assert bring(trainer, SECOND, instead="1").status_code == 204
    monkeypatch.setattr(lessons, "MOST_BYTES", len(SECOND.encode()))
    assert bring(trainer, SECOND + "# longer", instead="1").status_code == 422


def test_the_rooms_file_carries_own_lessons_and_opens_again(trainer: Person, joined: Joined) -> None:
    bring(trainer, LESSON)
    bring(trainer, SECOND)
    text = files.write(trainer.room)
    assert yaml.safe_load(text)["lessons"] == [LESSON, SECOND]
    assert 'title: "Another one"' in text, "as in its own file"
    again = opened(text)
    assert titles(again) == ["A pod and two nodes", "Another one"]
    assert files.write(again.room) == text
    again.post("send/", scenario="own:2")
    assert joined("Ada", again.room).sit().title == "Another one"


def test_a_room_may_begin_with_an_own_lesson(db: None, joined: Joined) -> None:
    trainer = opened(LESSON)
    assert trainer.room.title == "A pod and two nodes"
    assert Study.objects.get(sandbox=trainer.seat().sandbox).text == LESSON
    assert joined("Ada", trainer.room).sit().title == "A pod and two nodes"
    text = files.write(trainer.room)
    assert yaml.safe_load(text)["begin"] == {"own": 1}
    again = opened(text)
    assert again.room.title == "A pod and two nodes"
    assert files.write(again.room) == text


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("begin: {own: 1}", "begin.own"),
        ("begin: {own: x}", "must be a whole number"),
        ("lessons: ['kind: Lesson']", "lessons[0]"),
        ("lessons: [" + "x, " * 21 + "]", "Too many: 21"),
    ],
)
def test_an_error_in_lessons_of_a_rooms_file_is_reported_at_its_line(line: str, wrong: str) -> None:
    answer = Client().post("/workshop/open/", {"text": f"kind: Workshop\n{line}\n"})
    assert answer.status_code == 422
    page = answer.content.decode().replace("&#39;", "'")
    assert wrong in page
    assert "workshop.yaml:2" in page
    assert not Workshop.objects.exists()


def test_only_the_trainer_uploads_lessons(trainer: Person, joined: Joined) -> None:
    assert bring(joined("Ada"), LESSON).status_code == 403
