"""What the database lost, doubled or changed of a room's work."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from tests.hostile.audit import TRAINER, Log, RoomRows
from tests.hostile.participants import Known, Participant
from tests.hostile.rooms import Room

Row = Mapping[str, Any]


def faults(room: Room, rooms: Mapping[str, RoomRows], logs: Mapping[str, Log]) -> list[str]:
    """Return the errors as sentences; none if everything acknowledged exists, once and unchanged.

    ``rooms`` and ``logs``: as ``audit.rooms`` and ``audit.logs`` read them. Others may be in the room; their actions
    are unknown.
    """
    rows = rooms.get(room.id)
    if rows is None:
        return [f"room {room.number} is lost"]
    of_token = {row["token_hash"]: row for row in rows.participants}
    wrong = [*_of_room(room, rows), *_of_questions(room, rows)]
    for person in room.people:
        row = of_token.get(sha256(person.base.split("/")[3].encode()).hexdigest())
        wrong += [f"{person.name.may} is lost"] if row is None else _of_person(person, row, rows, logs)
    return [f"room {room.number}: {text}" for text in wrong]


def _of_room(room: Room, rows: RoomRows) -> Iterator[str]:
    present = (("frozen", room.frozen), ("eyes", room.eyes))
    for name, known in present:
        if bool(rows.room[name]) not in known:
            yield f"{name} is {rows.room[name]}, not {known.may}"
    if (rows.room["timer_ends"] is not None) not in room.timer:
        yield f"the timer ends {rows.room['timer_ends']}, and it runs: {room.timer.may}"
    if rows.room["closed"]:
        yield "it is closed"
    yield from _doubled("names", (row["name"] for row in rows.participants))


def _of_questions(room: Room, rows: RoomRows) -> Iterator[str]:
    numbers = [row["number"] for row in rows.questions]
    if sorted(numbers) != list(range(1, len(numbers) + 1)):
        yield f"the questions have the numbers {numbers}"
    held = Counter(row["ask"] for row in rows.questions if not row["prediction"])
    for text in held.keys() | room.asked.keys():
        if text not in room.asked:
            yield f"“{text}” was asked by nobody"
        elif held[text] not in room.asked[text]:
            yield f"“{text}” is there {held[text]} times, not {room.asked[text]}"
    predictions = sum(bool(row["prediction"]) for row in rows.questions)
    if predictions not in room.predicted:
        yield f"{predictions} predictions are there, not {room.predicted}"
    for row in rows.questions:
        yield from _of_marks(room, row)


def _of_marks(room: Room, row: Row) -> Iterator[str]:
    """Check a question's marks. It may be over because another question was asked."""
    for mark in ("over", "revealed", "away"):
        known, present = room.marks.get((row["number"], mark), Known(False)), bool(row[mark])
        if present not in known and not (mark == "over" and present):
            yield f"question {row['number']} {mark}: {row[mark]}, not {known.may}"


def _of_person(person: Participant, row: Row, rows: RoomRows, logs: Mapping[str, Log]) -> Iterator[str]:
    name = row["name"]
    if name not in person.name:
        yield f"{person.name.may} is called {name}"
    if row["removed"]:
        yield f"{name} was taken out"
    for what, known in (("hand", person.hand), ("key", person.help)):
        if bool(row[what]) not in known:
            yield f"{name}'s {what} is {row[what]!r}, not {known.may}"
    yield from _of_answers(person, row, rows)
    yield from _of_seats(person, row, rows, logs)


def _of_answers(person: Participant, row: Row, rows: RoomRows) -> Iterator[str]:
    for question in rows.questions:
        number = question["number"]
        answers = [
            json.loads(one["chosen"])
            for one in rows.answers
            if one["question_id"] == question["id"] and one["participant_id"] == row["id"]
        ]
        known = person.answers.get(number, Known(None))
        if len(answers) > 1 or (answers[0] if answers else None) not in known:
            yield f"{row['name']} answered {answers} to question {number}, not one of {known.may}"


def _of_seats(person: Participant, row: Row, rows: RoomRows, logs: Mapping[str, Log]) -> Iterator[str]:
    seats = [seat for seat in rows.seats if seat["participant_id"] == row["id"]]
    numbers = sorted(seat["number"] for seat in seats)
    if numbers != list(range(1, len(seats) + 1)) or len(seats) not in person.seats:
        yield f"{row['name']} has the seats {numbers}, not {person.seats}"
    sandboxes = [seat["sandbox_id"] for seat in seats if seat["sandbox_id"]]
    yield from _doubled(f"{row['name']}'s sandboxes", sandboxes)
    for path in sorted(person.taken):
        taken = path.split("/")[2].replace("-", "")
        if taken not in sandboxes or taken not in logs:
            yield f"{row['name']}'s sandbox {taken} is lost"
    sent = sum(who == TRAINER for one in sandboxes if one in logs for _, _, who in logs[one].commands)
    if sent not in person.steps:
        yield f"{row['name']} got {sent} steps, not {person.steps}"


def _doubled(what: str, values: Iterator[str] | list[str]) -> Iterator[str]:
    for name, times in Counter(values).items():
        if times > 1:
            yield f"{what}: {name} is there {times} times"
