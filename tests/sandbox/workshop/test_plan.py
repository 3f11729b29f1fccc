"""The plan of a room: what each row does, that Next runs it once, and whether the trainer is behind."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from sandbox.workshop import files, plan
from sandbox.workshop.models import Workshop
from tests.sandbox.workshop.conftest import Person
from tests.sandbox.workshop.test_files import opened
from tests.sandbox.workshop.test_own_lessons import LESSON

pytestmark = pytest.mark.django_db
Joined = Callable[..., Person]
ROWS: list[dict[str, Any]] = [
    {"lesson": "backoff", "minutes": 30},
    {"title": "Break", "minutes": 15},
    {"scenario": "nothing-fits", "title": "Why here?", "minutes": 10},
    {"predict": "winner"},
    {"ask": "Which queue?", "choices": ["activeQ", "backoffQ"], "right": ["activeQ"]},
    {"own": 1},
]
NEXT = re.compile(r'id="plan-next".*?<button[^>]*>(.*?)</button>', re.DOTALL)


@pytest.fixture
def planner() -> Person:
    """Return the trainer of a room with a plan."""
    return opened(yaml.dump({"kind": "Workshop", "title": "Day", "plan": ROWS, "lessons": [LESSON]}))


def run(trainer: Person, number: int, after: int | str = "") -> int:
    return trainer.post("planned/", number=str(number), after=str(after)).status_code


def now(trainer: Person) -> Workshop:
    trainer.room = Workshop.objects.get(pk=trainer.room.pk)
    return trainer.room


def titles(trainer: Person, person: Person) -> list[str]:
    return [yaml.safe_load(seat.source)["title"] for seat in person.now().seats.order_by("number")]


def named_next(trainer: Person) -> str:
    found = NEXT.search(trainer.get().content.decode())
    return found[1] if found else ""


def test_next_names_what_it_does_and_does_it(planner: Person, joined: Joined) -> None:
    ada = joined("Ada", planner.room)
    assert named_next(planner) == "Next: Send “Backoff” to all"
    assert run(planner, 0, 0) == 204
    assert titles(planner, ada)[1:] == ["Backoff"]
    assert named_next(planner) == "Next: Start a timer of 15 min <small>Break</small>"
    assert run(planner, 1, 1) == 204
    assert now(planner).timer_ends is not None
    assert named_next(planner) == "Next: Send “Nothing fits: five nodes, five reasons” to all <small>Why here?</small>"
    assert run(planner, 2, 2) == 204
    assert now(planner).timer_ends is None, "a row's timer ends with it"
    assert titles(planner, ada)[2:] == ["Nothing fits: five nodes, five reasons"]
    assert titles(planner, joined("Late", planner.room)) == ["Nothing fits: five nodes, five reasons"]
    assert named_next(planner) == "Next: Ask “Which node does the next pod get?”"
    assert run(planner, 4, 3) == 204, "another row than the next one"
    question = planner.room.questions.get()
    assert (question.ask, question.over, question.away) == ("Which queue?", None, False)
    assert named_next(planner) == "Next: Send “A pod and two nodes” to all"
    assert run(planner, 5, 4) == 204
    question.refresh_from_db()
    assert question.over
    assert question.away, "a row's question ends with it"
    assert titles(planner, ada)[3:] == ["A pod and two nodes"]
    assert "The plan has no more rows." in planner.get().content.decode()


def test_the_page_shows_what_is_done_now_and_to_come(planner: Person) -> None:
    run(planner, 0)
    run(planner, 2)
    page = planner.get().content.decode()
    assert re.findall(r'id="plan-(\d)" class="is-(\w+)"', page) == [
        ("0", "done"),
        ("1", "ahead"),
        ("2", "now"),
        ("3", "ahead"),
        ("4", "ahead"),
        ("5", "ahead"),
    ]
    assert "Plan, 55 min" in page
    assert "<b>Now: Why here?</b>" in page


def test_two_clicks_on_next_send_once(planner: Person, joined: Joined) -> None:
    ada = joined("Ada", planner.room)
    assert [run(planner, 0, 0) for _ in range(3)] == [204] * 3
    assert titles(planner, ada)[1:] == ["Backoff"]
    assert run(planner, 4, 1) == 204
    assert run(planner, 4, 1) == 204, "another page of the trainer, with the same button"
    assert planner.room.questions.count() == 1
    refused = planner.post("planned/", number="1", after="1")
    assert (refused.status_code, now(planner).timer_ends) == (422, None), "this page shows an older plan"
    assert "Another row of the plan was run meanwhile" in refused.content.decode()
    assert run(planner, 4, 2) == 204, "its own button asks it again"
    assert planner.room.questions.count() == 2


def test_a_row_that_is_refused_has_not_run(planner: Person) -> None:
    sandbox = planner.seat().sandbox
    assert sandbox is not None
    assert planner.post("predict/", kind="winner").status_code == 422, "no pod waits in an empty cluster"
    assert run(planner, 3, 0) == 422
    assert plan.state_of(now(planner)) == plan.PlanState()
    assert named_next(planner) == "Next: Send “Backoff” to all"


@pytest.mark.parametrize("number", ["6", "-1", "x", ""])
def test_a_row_that_does_not_exist_is_not_found(planner: Person, number: str) -> None:
    assert planner.post("planned/", number=number, after="0").status_code == 404


def at(trainer: Person, number: int, seconds: float) -> None:
    """Run a row, ``seconds`` after the first one."""
    run(trainer, number)
    room = now(trainer)
    state = plan.state_of(room)
    state.at[str(number)] = state.first + seconds
    Workshop.objects.filter(pk=room.pk).update(plan_state=state.to_text())


@pytest.mark.parametrize(
    ("rows", "minutes"),
    [
        pytest.param([(0, 0)], 30, id="the first row should end after its minutes"),
        pytest.param([(0, 0), (1, 10)], 45, id="a row that begins early has more time"),
        pytest.param([(0, 0), (1, 40)], 45, id="a row that begins late has less"),
        pytest.param([(0, 0), (2, 30)], 55, id="a row that was left out saves its minutes"),
        pytest.param([(0, 0), (1, 10), (0, 30)], 30, id="a row that is run again is late"),
        pytest.param([(3, 0)], 55, id="a row without minutes should be over at once"),
    ],
)
def test_the_plan_says_when_the_row_of_now_should_end(
    planner: Person, rows: list[tuple[int, int]], minutes: int
) -> None:
    for number, minute in rows:
        at(planner, number, minute * 60)
    room = now(planner)
    due = plan.overview(room).due
    assert due is not None
    assert due.timestamp() == pytest.approx(plan.state_of(room).first + minutes * 60)


def test_a_plan_without_minutes_is_never_late() -> None:
    trainer = opened("kind: Workshop\nplan: [{lesson: backoff}, {scenario: nothing-fits}]")
    assert run(trainer, 0) == 204
    shown = plan.overview(now(trainer))
    assert (shown.due, shown.minutes) == (None, "")
    assert "data-due" not in trainer.get().content.decode()


def test_the_file_of_a_room_has_the_plan(planner: Person) -> None:
    assert yaml.safe_load(files.write(planner.room))["plan"] == ROWS
    run(planner, 4)
    again = opened(files.write(now(planner)), anew="1")
    assert plan.rows_of(again.room) == ROWS
    assert plan.state_of(again.room).count == 0


def test_a_room_of_an_older_version_keeps_its_questions() -> None:
    trainer = opened("kind: Workshop")
    Workshop.objects.update(rows="", plan='[{"ask": "Which?", "choices": ["a", "b"]}]')
    assert named_next(trainer) == "Next: Ask “Which?”"
    assert run(trainer, 0, 0) == 204
    assert trainer.room.questions.get().ask == "Which?"


def test_a_closed_room_shows_no_plan(planner: Person) -> None:
    planner.post("close/")
    assert run(planner, 0, 0) == 410
    assert "plan-next" not in planner.get().content.decode()
