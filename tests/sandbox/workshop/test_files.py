"""A room as a file: it names nobody, opens again as a room, and errors are reported by line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from sandbox.workshop import files, plan
from sandbox.workshop.models import Question, Workshop
from tests.sandbox.workshop.conftest import Person

pytestmark = pytest.mark.django_db
Joined = Callable[..., Person]
ROOM = """\
apiVersion: scheduler-sandbox/v1
kind: Workshop
title: "Half a day"
begin: {lesson: three-queues}
questions:
- {ask: "Which queue?", choices: [activeQ, backoffQ], right: [activeQ]}
- {ask: "Which of them?", choices: [a, b, c], right: [a, b], many: true}
- {predict: winner}
- {predict: lane, pod: default/web-9}
"""
SCENARIO = "kind: Scenario\ntitle: Mine\nsetup: []\n"


def opened(text: str, **fields: str) -> Person:
    answer = Client().post("/workshop/open/", {"text": text, **fields})
    assert answer.status_code == 302, answer.content.decode()
    *_, room, token, _ = answer["Location"].split("/")
    return Person(Workshop.objects.get(pk=room), token)


def refused(text: str) -> str:
    answer = Client().post("/workshop/open/", {"text": text})
    assert answer.status_code == 422
    assert not Workshop.objects.exists()
    return answer.content.decode().replace("&quot;", '"').replace("&#34;", '"')


def test_a_file_opens_as_a_room_with_its_questions_to_be_put() -> None:
    trainer = opened(ROOM)
    room = Workshop.objects.get()
    page = trainer.get().content.decode()
    assert room.title == "Half a day"
    assert re.findall(r'aria-label="Go: Ask “(.*?)”"', page) == [
        "Which queue?",
        "Which of them?",
        "Which node does the next pod get?",
        "Where is web-9 when this attempt is over?",
    ]
    assert trainer.post("planned/", number="1").status_code == 204
    asked = Question.objects.get()
    assert (asked.ask, asked.choices, asked.right, asked.many) == ("Which of them?", '["a","b","c"]', '["a","b"]', True)
    assert trainer.post("planned/", number="3").status_code == 422, "there is no web-9"
    assert [trainer.post("planned/", number=number).status_code for number in ("4", "-1", "x", "")] == [404] * 4


def test_a_file_may_be_chosen_and_a_title_of_the_form_goes_before_its_own() -> None:
    fields = {"file": SimpleUploadedFile("workshop.yaml", ROOM.encode()), "title": "Today"}
    assert Client().post("/workshop/open/", fields).status_code == 302
    assert Workshop.objects.get().title == "Today"
    for empty in (b"", b" \n"):
        answer = Client().post("/workshop/open/", {"file": SimpleUploadedFile("workshop.yaml", empty)})
        assert (answer.status_code, "The file is empty." in answer.content.decode()) == (422, True)
    bad = {"file": SimpleUploadedFile("workshop.yaml", b"\xff")}
    assert "not valid UTF-8 text" in Client().post("/workshop/open/", bad).content.decode()


def test_the_exported_room_names_nobody_and_opens_again(crowded: Person, joined: Joined) -> None:
    joined("Ada", crowded.room)
    crowded.post("ask/", ask="Which queue?", choices="*activeQ\nbackoffQ")
    crowded.post("predict/", kind="winner")
    text = files.write(crowded.room)
    assert "Ada" not in text
    written = yaml.safe_load(text)
    assert len(written.pop("state")["questions"]) == 2
    assert written == {
        "apiVersion": "scheduler-sandbox/v1",
        "kind": "Workshop",
        "title": crowded.room.title,
        "begin": {"scenario": "three-zones-one-gpu-pool"},
    }
    again = opened(text, anew="1")
    text = files.write(again.room)
    assert yaml.safe_load(text)["plan"] == [
        {"ask": "Which queue?", "choices": ["activeQ", "backoffQ"], "right": ["activeQ"]},
        {"predict": "winner", "pod": "default/payments-1"},
    ]
    again.post("planned/", number="1")
    again.room.refresh_from_db()
    again.post("ask/", ask="Which zone?", choices="a\nb")
    third = opened(files.write(again.room), anew="1")
    assert [row.get("ask") for row in plan.rows_of(third.room)] == ["Which queue?", None, "Which zone?"]


@pytest.mark.parametrize(
    "begin", [SCENARIO, ROOM.replace("{lesson: three-queues}", "{file: 'kind: Scenario\n\n  title: In a room'}")]
)
def test_an_own_scenario_is_stored_in_the_file(begin: str) -> None:
    trainer = opened(begin)
    kept = yaml.safe_load(files.write(trainer.room))
    assert "title:" in kept["begin"]["file"]
    assert files.write(opened(files.write(trainer.room)).room) == files.write(trainer.room)


def test_an_empty_room_is_a_file_too() -> None:
    trainer = opened("kind: Workshop")
    assert yaml.safe_load(files.write(trainer.room)) == {
        "apiVersion": "scheduler-sandbox/v1",
        "kind": "Workshop",
        "title": "Empty sandbox",
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("begin: {lesson: no-such}", "begin.lesson: "),
        ("begin: {lesson: backoff, scenario: x}", "only one is allowed"),
        ("begin: {file: '- 1'}", "begin.file: "),
        ("starts: 5", 'unknown field "starts"'),
        ("questions: [{ask: x, choices: []}]", "Required value: at least 2"),
        ("questions: [{ask: x, choices: [a]}]", "Required value: at least 2"),
        ("questions: [{ask: x, choices: [a, b], right: [c]}]", 'Invalid value: "c": must be one of the choices'),
        ("questions: [{ask: x, choices: [a, b], pod: default/p}]", "cannot be combined with ask"),
        ("questions: [{predict: winner, choices: [a, b]}]", "cannot be combined with predict"),
        ("questions: [{predict: refuses}]", "questions[0].predict"),
        ("questions: [" + "{predict: winner}, " * 201 + "]", "Too many: 201"),
        ("plan: [{title: Break}]", "one of lesson, own, scenario, predict, ask, minutes"),
        (
            "plan: [{lesson: backoff, scenario: nothing-fits}]",
            "plan[0].scenario: Forbidden: cannot be combined with lesson",
        ),
        ("plan: [{lesson: no-such}]", "plan[0].lesson: "),
        ("plan: [{scenario: no-such}]", "plan[0].scenario: "),
        ("plan: [{own: 1}]", "plan[0].own: "),
        ("plan: [{own: 0}]", "plan[0].own: "),
        ("plan: [{minutes: 0}]", "plan[0].minutes: "),
        ("plan: [{minutes: 601}]", "plan[0].minutes: "),
        ("plan: [{ask: x, right: [a]}]", 'Invalid value: "a": must be one of the choices'),
        ("plan: [{minutes: 5, pod: default/p}]", "plan[0].pod: Forbidden: cannot be combined with minutes"),
        ("plan: [" + "{minutes: 1}, " * 201 + "]", "Too many: 201"),
        ("apiVersion: scheduler-sandbox/v2", "apiVersion"),
        ("title: [", "workshop.yaml:3"),
    ],
)
def test_an_error_in_a_file_is_reported_at_its_line(line: str, message: str) -> None:
    page = refused(f"kind: Workshop\n{line}\n")
    assert message in page
    assert "workshop.yaml:" in page


def test_other_files_are_not_rooms() -> None:
    assert "kind" in refused("kind: Party\n")
    assert not files.is_room("title: x\nabout: |\n  kind: Workshop\n")


def test_the_room_of_the_documents_opens(db: None) -> None:
    document = (Path(__file__).resolve().parents[3] / "docs/workshops.md").read_text()
    (text,) = re.findall(r"```yaml\n(.*?)```", document, re.DOTALL)
    trainer = opened(text)
    rows = plan.rows_of(trainer.room)
    minutes = re.findall(r"^\| (\d+) \| (?!runs)", document, re.MULTILINE)
    assert sum(row["minutes"] for row in rows) == sum(map(int, minutes)) == 210, "the table plans as much time"
    for number in range(len(rows) - 5):
        assert trainer.post("planned/", number=str(number), after=str(number)).status_code == 204
