"""Where people are stuck: how many are in each part, how long, and what it cost them. No sandbox is asked for it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sandbox.changes import study
from sandbox.changes.copies import fork
from sandbox.content import shelf
from sandbox.pool import engines
from sandbox.storage.models import Guess, Sandbox, Study
from sandbox.workshop import board, parts
from sandbox.workshop.parts import Heat, duration
from sandbox.workshop.results import results_csv
from tests.sandbox.workshop.conftest import Person
from tests.sandbox.workshop.test_own_lessons import LESSON, bring

pytestmark = pytest.mark.django_db
Joined = Callable[..., Person]
CYCLE = "a-scheduling-cycle"
PASSES = 2
"""The part of this lesson that asks which nodes pass, before the step that shows it."""


def heat(trainer: Person) -> list[Heat]:
    return parts.heat_maps(parts.places(board.seats_of(trainer.room).values()))


def learner(trainer: Person, joined: Joined, name: str, lesson: str = CYCLE) -> Sandbox:
    person = joined(name)
    trainer.post("send/", scenario=f"lesson:{lesson}", to=[str(person.now().pk)])
    return person.sit()


def saved(sandbox: Sandbox, **fields: Any) -> None:
    """Change the stored progress of a study."""
    row = Study.objects.get(sandbox=sandbox)
    row.part = fields.pop("part", row.part)
    row.progress = json.dumps(json.loads(row.progress) | fields)
    row.save()


def to_question(sandbox: Sandbox) -> None:
    for part in range(PASSES):
        study.step(sandbox, part)
        study.turn_to(sandbox, part + 1)


def test_a_room_without_a_lesson_shows_no_parts(trainer: Person, joined: Joined) -> None:
    joined("Ada").sit()
    joined("Ben")
    assert heat(trainer) == []
    assert 'id="stuck" class="board is-none"' in trainer.get().content.decode()


def test_each_part_shows_who_is_in_it_and_what_it_cost(trainer: Person, joined: Joined) -> None:
    sandboxes = [learner(trainer, joined, name) for name in ("Ada", "Ben", "Cyd")]
    ada, ben, cyd = sandboxes
    saved(ada, part=1, opened=[1, 1000], spent={"0": 40}, done=[0])
    saved(ben, part=1, opened=[1, 900], spent={"0": 200}, skipped=[0], hints={"1": 2})
    total = len(shelf.lessons()[CYCLE].lesson.parts)
    everything = {"spent": {str(part): 600 for part in range(total)}, "done": [*range(total)]}
    saved(cyd, part=total, opened=[total, 900], **everything)
    (lesson,) = heat(trainer)
    assert (lesson.title, lesson.people, lesson.finished) == ("A scheduling cycle", 3, 1)
    first, second, third = lesson.rows[:3]
    assert (first.number, first.name) == (1, "Pop: take web-1 from the queue")
    assert (first.here.count, first.done, first.skipped, first.minutes, first.longest) == (0, 2, 1, "3 min", None)
    assert (second.here.count, second.here.shade, second.done, second.minutes) == (2, 4, 1, "10 min")
    assert second.longest is not None
    assert second.longest.seat.participant is not None
    assert second.longest.seat.participant.name == "Ben"
    assert (second.hints.count, second.hints.shade) == (2, 4)
    assert (third.name, third.here.shade, third.wrong.count) == ("Which nodes pass for web-1?", 0, 0)
    page = trainer.get().content.decode()
    assert "3 people, 1 at the end" in page
    assert '<time data-since="900.0">' in page


def test_the_lesson_with_most_people_comes_first(trainer: Person, joined: Joined) -> None:
    learner(trainer, joined, "Ada", "backoff")
    for name in ("Ben", "Cyd"):
        learner(trainer, joined, name)
    assert [(lesson.title, lesson.people) for lesson in heat(trainer)] == [("A scheduling cycle", 2), ("Backoff", 1)]


def test_people_who_left_and_earlier_sandboxes_do_not_count(trainer: Person, joined: Joined) -> None:
    person = joined("Ada")
    trainer.post("send/", scenario=f"lesson:{CYCLE}")
    person.sit()
    assert len(heat(trainer)) == 1
    trainer.post("send/", scenario="node-selector")
    person.sit()
    assert heat(trainer) == []
    trainer.post("send/", scenario="lesson:backoff")
    person.sit()
    trainer.post("remove/", who=str(person.now().pk))
    assert heat(trainer) == []


def test_time_in_a_part_is_noted_when_it_is_left_and_adds_up(trainer: Person, joined: Joined) -> None:
    ada = learner(trainer, joined, "Ada")
    began = json.loads(Study.objects.get(sandbox=ada).progress)["opened"]
    saved(ada, opened=[0, began[1] - 50])
    study.turn_to(ada, 1)
    now = json.loads(Study.objects.get(sandbox=ada).progress)
    assert now["opened"][0] == 1
    assert now["spent"].keys() == {"0"}
    assert now["spent"]["0"] >= 50
    study.turn_to(ada, 0)
    saved(ada, opened=[0, now["opened"][1] - 70])
    study.turn_to(ada, 1)
    assert json.loads(Study.objects.get(sandbox=ada).progress)["spent"]["0"] >= 120


def test_a_study_of_an_older_version_has_no_times(trainer: Person, joined: Joined) -> None:
    ada = learner(trainer, joined, "Ada")
    Study.objects.filter(sandbox=ada).update(progress="{}", part=2)
    row = heat(trainer)[0].rows[2]
    assert (row.here.count, row.longest, row.minutes) == (1, None, "")
    assert "<small>1 person, 0 at the end</small>" in trainer.get().content.decode()
    study.turn_to(ada, 1)
    assert "2" not in json.loads(Study.objects.get(sandbox=ada).progress).get("spent", {})


def test_an_own_lesson_shows_its_tasks_without_reading_the_file(trainer: Person, joined: Joined) -> None:
    bring(trainer, LESSON)
    trainer.post("send/", scenario="own:1")
    joined("Ada").sit()
    (lesson,) = heat(trainer)
    assert [(row.number, row.name) for row in lesson.rows] == [(1, ""), (2, ""), (3, ""), (4, "Task")]


@pytest.mark.parametrize("way", ["the lesson's button", "another step, then the next part"])
def test_a_prediction_counts_as_wrong_once_the_scheduler_has_answered(
    trainer: Person, joined: Joined, way: str
) -> None:
    ada = learner(trainer, joined, "Ada")
    to_question(ada)
    study.answer(ada, ["node-a1"])
    assert heat(trainer)[0].rows[PASSES].wrong.count == 0, "it is not known yet"
    if way == "the lesson's button":
        study.step(ada, PASSES)
    else:
        study.store.execute(ada, {"kind": "stage"})
        study.turn_to(ada, PASSES + 1)
    row = heat(trainer)[0].rows[PASSES]
    assert (row.wrong.count, row.wrong.shade) == (1, 4)
    assert Guess.objects.get().right is False


def test_a_right_answer_costs_nothing_and_every_wrong_attempt_counts(trainer: Person, joined: Joined) -> None:
    ada = learner(trainer, joined, "Ada")
    to_question(ada)
    for named in (["node-a1"], None, ["node-a1", "node-b1"]):
        study.answer(ada, named)
        study.step(ada, PASSES)
        assert heat(trainer)[0].rows[PASSES].wrong.count == Guess.objects.filter(right=False).count()
        study.catch_up(ada)  # Whoever goes back to the start of the part can answer again.
    verdicts = list(Guess.objects.order_by("pk").values_list("right", flat=True))
    assert verdicts == [False, False, True]


def test_a_copied_lesson_starts_its_times_and_attempts_anew(trainer: Person, joined: Joined) -> None:
    ada = learner(trainer, joined, "Ada")
    to_question(ada)
    study.answer(ada, ["node-a1"])
    study.step(ada, PASSES)
    copy, _ = fork(ada, None)
    progress = json.loads(Study.objects.get(sandbox=copy).progress)
    assert (progress["opened"][0], progress["spent"]) == (PASSES, {})
    assert not Guess.objects.filter(sandbox=copy, right=False).exists()


def test_forty_people_cost_as_many_queries_as_two_and_no_engine(
    trainer: Person, joined: Joined, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = []
    for names in ("AB", "CDEFGHIJ"):
        for name in names:
            learner(trainer, joined, name)
        with monkeypatch.context() as patched, CaptureQueriesContext(connection) as queries:
            patched.setattr(engines, "ask", lambda *_: pytest.fail("an engine was asked"))
            assert heat(trainer)[0].people in (2, 10)
        costs.append(len(queries))
    assert costs[0] == costs[1]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (89, "89 s"), (90, "2 min"), (149, "2 min"), (3600, "60 min")]
)
def test_a_time_is_as_people_say_it(seconds: int, text: str) -> None:
    assert duration(seconds) == text


def test_the_results_have_the_attempts_and_the_time_of_each_part(trainer: Person, joined: Joined) -> None:
    ada = learner(trainer, joined, "Ada")
    saved(ada, part=2, opened=[2, 1000], spent={"0": 40, "1": 7}, done=[0], skipped=[1], hints={"1": 2})
    rows = [row for row in csv.DictReader(StringIO(results_csv(trainer.room))) if row["part"]]
    columns = ("participant", "asked", "part", "answer", "wrong", "hints", "seconds")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("Ada", "A scheduling cycle: Pop: take web-1 from the queue", "1", "done", "0", "0", "40"),
        ("Ada", "A scheduling cycle: Run Snapshot and PreFilter", "2", "skipped", "0", "2", "7"),
        ("Ada", "A scheduling cycle: Which nodes pass for web-1?", "3", "open", "0", "0", ""),
    ]
    assert Client().get(f"/w/{trainer.room.pk}/{trainer.token}/results.csv").status_code == 200
