"""The board counts what participants did themselves, and nothing that was done for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from sandbox.changes import store
from sandbox.content import shelf
from sandbox.storage import tokens
from sandbox.storage.models import Sandbox
from sandbox.workshop import board
from sandbox.workshop.board import Row
from tests.sandbox.workshop.conftest import Person

Joined = Callable[..., Person]


def row(person: Person) -> Row:
    assert person.row is not None
    return next(row for row in board.rows(person.room) if row.key == person.row.pk)


def press(sandbox: Sandbox, token: str, path: str = "do/stage/", **fields: str) -> None:
    answer = Client().post(f"/s/{sandbox.pk}/{token}/{path}", fields)
    assert answer.status_code in (200, 204), answer.content


@pytest.fixture
def ada(joined: Joined) -> Person:
    """Return somebody who has made one step, and lets the trainer help."""
    ada = joined("Ada")
    press(ada.sit(), tokens.seat_token(ada.token, 1), who="Ada")
    ada.post("help/", on="1")
    return ada


def test_a_sandbox_begins_with_no_steps(joined: Joined) -> None:
    ada = joined("Ada")
    ada.sit()
    assert (row(ada).steps, row(ada).action) == (0, "")
    assert row(ada).since == ada.now().joined


FOR_THEM: dict[str, Callable[[Person, Person], object]] = {
    "one step in all sandboxes": lambda trainer, ada: trainer.post("step/", verb="stage"),
    "one second in all sandboxes": lambda trainer, ada: trainer.post("step/", verb="second"),
    "help: a step": lambda trainer, ada: press(ada.sit(), ada.now().key),
    "help: a step under the name of the participant": lambda trainer, ada: press(ada.sit(), ada.now().key, who="Ada"),
    "help: a tick of play": lambda trainer, ada: press(ada.sit(), ada.now().key, "do/advance/", seconds="1", play="1"),
    "help: all that can happen now": lambda trainer, ada: press(ada.sit(), ada.now().key, "do/settle/"),
    "freeze": lambda trainer, ada: trainer.post("freeze/", on="1"),
    "eyes here": lambda trainer, ada: trainer.post("eyes/", on="1"),
    "a timer": lambda trainer, ada: trainer.post("timer/", minutes="5"),
    "a question": lambda trainer, ada: trainer.post("ask/", ask="Which?", choices="a\nb"),
    "another name": lambda trainer, ada: trainer.post("rename/", who=str(ada.row.pk if ada.row else ""), name="Ada L"),
}


@pytest.mark.parametrize("deed", FOR_THEM.values(), ids=FOR_THEM)
def test_other_peoples_steps_do_not_count_as_ones_own(
    trainer: Person, ada: Person, deed: Callable[[Person, Person], object]
) -> None:
    before = row(ada)
    assert (before.steps, before.action) == (1, "next stage")
    deed(trainer, ada)
    after = row(ada)
    assert (after.steps, after.action, after.since) == (before.steps, before.action, before.since)


@pytest.mark.parametrize(
    "fields", [{"moment": "1"}, {"scenario": "node-selector"}, {"scenario": "lesson:three-queues"}]
)
def test_a_sent_sandbox_begins_without_steps_and_does_not_end_quiet(
    trainer: Person, ada: Person, fields: dict[str, str]
) -> None:
    before = row(ada)
    trainer.post("step/", verb="stage")
    trainer.post("send/", **fields)
    assert row(ada).since == before.since
    ada.sit()
    assert (row(ada).steps, row(ada).action, row(ada).since) == (0, "", before.since)


def test_their_own_steps_count_between_those_of_others(trainer: Person, ada: Person) -> None:
    own = tokens.seat_token(ada.token, 1)
    before = row(ada)
    trainer.post("step/", verb="stage")
    press(ada.sit(), own)
    trainer.post("step/", verb="stage")
    assert row(ada).steps == 2
    assert row(ada).since > before.since
    before = row(ada)
    press(ada.sit(), own, "do/back/")  # It removes the trainer's step, and counts as theirs.
    assert row(ada).steps == 2
    assert row(ada).since > before.since
    before = row(ada)
    press(ada.sit(), ada.now().key, "do/back/")  # The trainer removes their last step.
    assert (row(ada).steps, row(ada).since) == (1, before.since)


def test_a_growing_tick_belongs_to_the_person_who_started_it(ada: Person) -> None:
    own, tick = tokens.seat_token(ada.token, 1), {"seconds": "1", "play": "1"}
    press(ada.sit(), own, "do/settle/")
    press(ada.sit(), own, "do/advance/", **tick)
    assert row(ada).steps == 3
    press(ada.sit(), ada.now().key, "do/advance/", **tick)
    assert row(ada).steps == 3
    store.execute(ada.sit(), {"kind": "settle"})
    assert row(ada).steps == 4


@pytest.mark.parametrize("deed", ["hand", "answer"])
def test_answering_or_raising_a_hand_is_not_quiet(trainer: Person, ada: Person, deed: str) -> None:
    trainer.post("ask/", ask="Which?", choices="a\nb")
    before = row(ada)
    requests = {"hand": {"on": "1"}, "answer": {"number": "1", "chosen": "a"}}
    assert ada.post(f"{deed}/", **requests[deed]).status_code in (200, 204)
    assert row(ada).since > before.since
    assert row(ada).steps == before.steps


def test_skipping_a_part_counts_as_no_step(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    trainer.post("send/", scenario="lesson:a-scheduling-cycle")
    sandbox = ada.sit()
    token = tokens.seat_token(ada.token, 2)
    begun = sandbox.head
    for part in range(1, len(shelf.lessons()["a-scheduling-cycle"].lesson.parts) + 1):
        press(sandbox, token, "lesson/turn/", part=str(part))
    sandbox.refresh_from_db()
    assert sandbox.head > begun, "a part was set up"
    assert (row(ada).steps, row(ada).action) == (0, "")
    press(sandbox, token, who="Ada")
    assert (row(ada).steps, row(ada).action) == (1, "next stage")
