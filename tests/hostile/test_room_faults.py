"""The check reports what a room's database lost, doubled or changed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from tests.hostile.audit import ANSWERED, TRAINER, UNKNOWN, Log, RoomRows
from tests.hostile.participants import Count, Known, Participant
from tests.hostile.people import Person, Tally
from tests.hostile.room_faults import faults
from tests.hostile.rooms import Room

ID, BOX = "ab" * 16, "cd" * 16
STAGE = '{"kind":"stage"}'
LOGS = {BOX: Log(BOX, 42, "null", "v1.34", "v1.34", "{}", 1, 1, ((1, STAGE, TRAINER),))}
ADA = {"id": 1, "token_hash": sha256(b"ada").hexdigest(), "name": "Ada", "hand": "now", "key": "", "removed": None}
STRANGER = {**ADA, "id": 2, "token_hash": "", "name": "Mallory", "hand": None}
QUESTION = {"id": 5, "number": 1, "ask": "Which?", "prediction": "", "over": "now", "revealed": "now", "away": 0}
ROWS = RoomRows(
    {"id": ID, "frozen": 0, "eyes": 1, "timer_ends": None, "closed": None},
    [ADA, STRANGER],
    [{"participant_id": 1, "number": 1, "sandbox_id": BOX}],
    [QUESTION],
    [{"question_id": 5, "participant_id": 1, "chosen": '["a"]'}],
)


@pytest.fixture
def room() -> Room:
    """Return a room in which Ada answered, got a step and raised her hand. Whether it is frozen is unknown."""
    room = Room(0, 1, 0, Tally())
    room.base = f"/w/{ID}/trainer/"
    room.frozen.note(True, UNKNOWN)
    room.eyes.note(True, ANSWERED)
    room.asked["Which?"] = Count(1, 1)
    room.marks[1, "revealed"] = Known(True)
    ada = Participant(f"/w/{ID}/ada/", Known("Ada"), Person(1, 1, 0, room.tally, alone=False), room.asker)
    ada.hand.note(True, ANSWERED)
    ada.answers[1] = Known(["a"])
    ada.steps = Count(1, 1)
    ada.taken.add(f"/s/{BOX}/token/")
    room.people.append(ada)
    return room


def test_nothing_is_wrong_with_a_room_that_holds_all_of_it(room: Room) -> None:
    assert faults(room, {ID: ROWS}, LOGS) == []


def _set(table: str, name: str, value: Any) -> Callable[[RoomRows], None]:
    def change(rows: RoomRows) -> None:
        getattr(rows, table)[0][name] = value

    return change


def _room(name: str, value: Any) -> Callable[[RoomRows], None]:
    return lambda rows: rows.room.update({name: value})  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda rows: rows.participants.pop(0), id="somebody is missing"),
        pytest.param(lambda rows: rows.participants.append({**ADA, "token_hash": "x"}), id="a name is doubled"),
        pytest.param(_set("participants", "name", "Eve"), id="somebody has another name"),
        pytest.param(_set("participants", "hand", None), id="a hand is down"),
        pytest.param(_set("participants", "removed", "now"), id="somebody was removed"),
        pytest.param(_set("participants", "key", "x"), id="help is allowed"),
        pytest.param(lambda rows: rows.seats.append({**rows.seats[0], "number": 2}), id="a seat too many"),
        pytest.param(_set("seats", "sandbox_id", None), id="a sandbox is lost"),
        pytest.param(lambda rows: rows.questions.pop(), id="a question is lost"),
        pytest.param(lambda rows: rows.questions.append({**QUESTION, "number": 2}), id="a question is doubled"),
        pytest.param(lambda rows: rows.questions.append({**QUESTION, "number": 3}), id="a number was left out"),
        pytest.param(_set("questions", "revealed", None), id="an answer that was revealed is hidden"),
        pytest.param(_set("questions", "away", 1), id="a question was put away"),
        pytest.param(lambda rows: rows.answers.pop(), id="an answer is lost"),
        pytest.param(lambda rows: rows.answers.append(rows.answers[0]), id="an answer is doubled"),
        pytest.param(_set("answers", "chosen", '["b"]'), id="an answer has changed"),
        pytest.param(_room("eyes", 0), id="a switch has changed back"),
        pytest.param(_room("timer_ends", "now"), id="a timer runs"),
        pytest.param(_room("closed", "now"), id="the room is closed"),
    ],
)
def test_a_room_that_lost_or_changed_something_is_detected(room: Room, change: Callable[[RoomRows], Any]) -> None:
    rows = copy.deepcopy(ROWS)
    change(rows)
    assert faults(room, {ID: rows}, LOGS) != []


def test_a_missing_room_sandbox_or_step_is_detected(room: Room) -> None:
    assert faults(room, {}, LOGS) == ["room 0 is lost"]
    assert len(faults(room, {ID: ROWS}, {})) == 2
    empty = {BOX: Log(BOX, 42, "null", "v1.34", "v1.34", "{}", 0, 0, ())}
    assert faults(room, {ID: ROWS}, empty) == ["room 0: Ada got 0 steps, not Count(least=1, most=1)"]
