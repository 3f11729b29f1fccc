"""Rooms through the API: a trainer and two participants, what each sees, and refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from sandbox.words.say import say
from sandbox.workshop.models import Workshop
from tests.sandbox.authority.world import LESSON, ROOM

pytestmark = pytest.mark.django_db
HERE = "http://testserver"


def send(method: str, address: str, body: Any = None) -> Any:
    path = address.removeprefix(HERE)
    return Client(enforce_csrf_checks=True).generic(method, path, json.dumps(body or {}), "application/json")


def told(address: str, body: Any = None, method: str = "POST", status: int = 200) -> Any:
    answer = send(method, address, body)
    assert answer.status_code == status, answer.content
    return answer.json() if answer.content else None


def read(address: str) -> Any:
    return told(address, method="GET")


def create_room(**body: Any) -> dict[str, Any]:
    created: dict[str, Any] = told("/api/v1/rooms", body, status=201)
    return created


def join(room: dict[str, Any], name: str, **more: Any) -> dict[str, Any]:
    joined: dict[str, Any] = told("/api/v1/rooms/join", {"code": room["code"], "name": name, **more})
    return joined


def test_a_room_is_run_from_its_code_to_its_results() -> None:
    room = create_room(scenario="node-selector", title="Today")
    ada, bea = join(room, "Ada"), join(room, "Bea")
    told(f"{room['api']}/ask", {"ask": "Which?", "choices": ["a", "b"], "right": ["b"]})
    open_question = read(ada["api"])["question"]
    assert (open_question["choices"], open_question["bars"], open_question["chosen"]) == (["a", "b"], [], None)
    told(f"{ada['api']}/answer", {"number": 1, "chosen": ["a"]})
    told(f"{bea['api']}/answer", {"number": 1, "chosen": ["b"]})
    before = read(bea["api"])["question"]
    assert (before["chosen"], before["verdict"], before["answered"]) == (["b"], None, 2)
    board = read(room["api"])["question"]
    assert [(bar["choice"], bar["count"], bar["right"]) for bar in board["bars"]] == [("a", 1, None), ("b", 1, None)]
    told(f"{room['api']}/reveal", {"number": 1})
    assert (read(bea["api"])["question"]["verdict"], read(ada["api"])["question"]["verdict"]) == (True, False)
    results = send("GET", f"{room['api']}/results")
    assert results["Content-Type"].startswith("text/csv")
    assert [line.split(",")[0] for line in results.content.decode().splitlines()[1:3]] == ["Ada", "Bea"]
    assert told(f"{room['api']}/close")["closed"] is True
    assert send("POST", "/api/v1/rooms/join", {"code": room["code"], "name": "Cem"}).status_code == 404
    assert told(f"{ada['api']}/hand", {"on": True}, status=410)["message"]
    told(room["api"], method="DELETE", status=204)
    assert not Workshop.objects.exists()


def test_a_participant_takes_a_sandbox_of_what_the_trainer_sends() -> None:
    room = create_room()
    ada = join(room, "Ada")
    told(f"{room['api']}/lessons", {"file": LESSON})
    assert told(f"{room['api']}/send", {"own": 1}) == {"sent": 1}
    assert [one["addresses"] for one in read(ada["api"])["sandboxes"]] == [None, None]
    mine = told(f"{ada['api']}/take")["sandboxes"][0]
    part = told(f"{mine['addresses']['api']}/lesson/answer", {"answers": ["node-1"]})
    assert (mine["title"], part["question"]["answered"]) == ("A pod and a node", True)
    who = read(f"{room['api']}/board")[0]["who"]
    assert told(f"{room['api']}/step", {"step": "stage", "to": [who]}) == {"done": 1, "failures": []}
    row = read(f"{room['api']}/board?order=steps&find=ada")[0]
    assert (row["name"], row["steps"], row["watch"] != "", row["help"]) == ("Ada", 0, True, "")
    assert read(f"{room['api']}/board?find=nobody") == []


def test_a_participant_who_deleted_a_sandbox_takes_another() -> None:
    room = create_room(scenario="node-selector")
    ada = join(room, "Ada")
    first = told(f"{ada['api']}/take")["sandboxes"][0]["addresses"]
    told(first["api"], method="DELETE", status=204)
    assert read(ada["api"])["sandboxes"][0]["addresses"] is None
    second = told(f"{ada['api']}/take")["sandboxes"][0]["addresses"]
    assert second["id"] != first["id"]
    assert told(f"{room['api']}/step", {"step": "stage"}) == {"done": 1, "failures": []}
    assert told(f"{ada['api']}/take")["sandboxes"][0]["addresses"] == second


def test_a_trainer_whose_sandbox_was_deleted_is_told() -> None:
    room = create_room(scenario="node-selector")
    told(read(room["api"])["sandboxes"][0]["addresses"]["api"], method="DELETE", status=204)
    assert told(f"{room['api']}/take", status=422)["message"] == say("room.no-trainer-sandbox")


def test_help_is_allowed_and_revoked() -> None:
    room = create_room(scenario="node-selector")
    ada = join(room, "Ada")
    told(f"{ada['api']}/help", {"on": True})
    link = read(f"{room['api']}/board")[0]["help"].replace(f"{HERE}/s/", "/api/v1/sandboxes/").rstrip("/")
    told(f"{link}/commands", {"kind": "stage"})
    assert told(f"{ada['api']}/help", {"on": False})["person"]["help"] is False
    assert send("GET", link).status_code == 404


def test_the_room_is_paused_and_continues() -> None:
    room = create_room(scenario="node-selector")
    ada = join(room, "Ada")
    mine = told(f"{ada['api']}/take")["sandboxes"][0]["addresses"]["api"]
    assert told(f"{room['api']}/freeze", {"on": True})["frozen"] is True
    assert send("POST", f"{mine}/commands", {"kind": "stage"}).status_code == 423
    told(f"{room['api']}/freeze", {"on": False})
    told(f"{mine}/commands", {"kind": "stage"})
    assert read(ada["api"])["trainer"] == ""
    told(f"{room['api']}/eyes", {"on": True})
    assert read(ada["api"])["trainer"].startswith(f"{HERE}/s/")
    assert told(f"{room['api']}/timer", {"minutes": 5})["timer_ends"] is not None


def test_the_scheduler_answers_a_prediction_of_the_room() -> None:
    room = create_room(scenario="nothing-fits")
    ada, trainer = join(room, "Ada"), read(room["api"])["sandboxes"][0]["addresses"]["api"]
    asked = told(f"{room['api']}/predict", {"kind": "lane"})["question"]
    assert (asked["waits"] != "", asked["can_reveal"]) == (True, True)
    assert not read(ada["api"])["question"]["can_reveal"], "only the trainer reveals"
    told(f"{ada['api']}/answer", {"number": 1, "chosen": []}, status=422)
    told(f"{ada['api']}/answer", {"number": 1, "chosen": asked["choices"][:1]})
    assert "bars" in read(ada["api"])["question"]
    assert send("POST", f"{room['api']}/reveal", {"number": 1}).status_code == 422
    told(f"{trainer}/commands", {"kind": "run"})
    told(f"{room['api']}/reveal", {"number": 1})
    assert any(bar["right"] for bar in read(ada["api"])["question"]["bars"])


def test_an_answer_without_a_choice_is_given_back_as_it_was_given() -> None:
    room = create_room(scenario="node-selector")
    ada = join(room, "Ada")
    told(f"{room['api']}/ask", {"ask": "Which?", "choices": ["a", "b"], "right": [], "many": True})
    told(f"{ada['api']}/answer", {"number": 1, "chosen": []})
    assert read(ada["api"])["question"]["chosen"] == []


def test_a_room_comes_from_its_file_and_becomes_one() -> None:
    room = create_room(file=ROOM)
    assert read(room["api"])["plan"] == ["Which node?"]
    asked = told(f"{room['api']}/planned", {"number": 0, "after": 0})
    assert (asked["question"]["ask"], asked["plan_now"], asked["plan_count"]) == ("Which node?", 0, 1)
    assert told(f"{room['api']}/planned", {"number": 0, "after": 0})["plan_count"] == 1
    text = send("GET", f"{room['api']}/file").content.decode()
    assert read(create_room(file=text)["api"])["plan"] == ["Which node?"]
    assert read(create_room(file=LESSON)["api"])["lessons"] == [{"number": 1, "title": "A pod and a node"}]


def test_somebody_comes_back_with_their_code() -> None:
    room = create_room()
    ada = join(room, "Ada")
    assert join(room, "ada", back=ada["back"])["api"] == ada["api"]
    wrong = send("POST", "/api/v1/rooms/join", {"code": room["code"], "name": "Ada", "back": "0000x"})
    assert (wrong.status_code, wrong.json()["errors"][0]["path"]) == (422, "back")


@pytest.mark.parametrize(
    ("verb", "body", "status", "words"),
    [
        ("ask", {"ask": "Which?", "choices": ["a"]}, 422, "Nothing was changed"),
        ("ask", {"ask": "Which?", "choices": ["a", "a"]}, 422, "Nothing was changed"),
        ("ask", {"ask": "x" * 301, "choices": ["a", "b"]}, 422, "document"),
        ("reveal", {"number": 9}, 404, "question"),
        ("planned", {"number": 3}, 404, "row"),
        ("send", {"scenario": "nobody-knows"}, 422, "scenario"),
        ("send", {"scenario": "node-selector", "lesson": "backoff"}, 422, "scenario, lesson"),
        ("send", {"to": [999]}, 422, ""),
        ("send", {"at": "1.0"}, 422, "copy_mine"),
        ("step", {"step": "jump"}, 422, "document"),
        ("step", {"step": "stage"}, 422, "Ada"),
        ("rename", {"who": 999, "name": "Bea"}, 404, ""),
        ("timer", {"minutes": -1}, 422, "document"),
        ("freeze", {"on": True, "off": True}, 422, "document"),
    ],
)
def test_what_a_trainer_cannot_do_changes_nothing(verb: str, body: Any, status: int, words: str) -> None:
    room = create_room(scenario="node-selector")
    join(room, "Ada")
    before = read(room["api"])
    answer = send("POST", f"{room['api']}/{verb}", body)
    assert (answer.status_code, words in answer.json()["message"]) == (status, True), answer.content
    assert read(room["api"]) == before


@pytest.mark.parametrize("name", ["", " ", "ada", "ÀDA"])
def test_a_name_that_is_empty_or_taken_is_refused(name: str) -> None:
    room = create_room()
    join(room, "Ada")
    answer = send("POST", "/api/v1/rooms/join", {"code": room["code"], "name": name})
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (422, "name")
    assert read(room["api"])["people"] == 1
