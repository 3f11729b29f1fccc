"""A room that goes on elsewhere: its file opens as a room whose pages show what those of the first one did."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
import yaml

from sandbox.changes import store
from sandbox.storage import tokens
from sandbox.storage.models import Sandbox
from sandbox.workshop import files, plan, resuming, sources
from sandbox.workshop import room as rooms
from sandbox.workshop.access import RoomAccess
from sandbox.workshop.fragments import fragments
from sandbox.workshop.models import Question, Workshop
from sandbox.workshop.results import results_csv
from tests.sandbox.workshop.conftest import CROWDED, Person
from tests.sandbox.workshop.test_files import opened, refused
from tests.sandbox.workshop.test_own_lessons import LESSON

pytestmark = pytest.mark.django_db
Joined = Callable[..., Person]
ROWS: list[dict[str, Any]] = [
    {"own": 1, "minutes": 30},
    {"ask": "Which queue?", "choices": ["activeQ", "backoffQ"], "right": ["activeQ"]},
    {"scenario": "nothing-fits"},
    {"title": "Break", "minutes": 15},
]
WHOLE = {"kind": "Workshop", "title": "Day", "begin": {"scenario": CROWDED}, "plan": ROWS, "lessons": [LESSON]}
KEPT = ("plan", "asked", "inquiries")
KEY = re.compile(r"inq-\d+|&quot;key&quot;: &quot;\d+&quot;|\"key\": \"\d+\"|<small class=\"quiet\">.*?</small>")
FRACTION = re.compile(r"(?<=\d{10})\.\d+")
"""Times in a file are whole seconds."""


@pytest.fixture(autouse=True)
def without_rates(settings: Any) -> None:
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, (1e6, 1_000_000))


def shown(room: Workshop, token: str, *names: str) -> list[str]:
    """Return fragments of a page, without the keys of its rows and the names of people."""
    room.refresh_from_db()
    role = "trainer" if tokens.digest(token) == room.trainer_token_hash else "projector"
    pages = fragments(RoomAccess(room, token, role))
    return [FRACTION.sub("", KEY.sub("", pages[name])) for name in names]


def done(person: Person, path: str, **fields: str) -> None:
    answer = person.post(path, **fields)
    assert answer.status_code == 204, answer.content.decode()


def used(joined: Joined) -> Person:
    """Return the trainer of a room in which everything was used."""
    trainer = opened(yaml.dump(WHOLE))
    ada, ben = joined("Ada", trainer.room), joined("Ben", trainer.room)
    done(trainer, "planned/", number="0", after="0")
    done(trainer, "ask/", ask="What do you expect?")
    done(ada, "answer/", number="1", chosen="That it waits")
    done(trainer, "show-answer/", number="1", text="That it waits", on="1")
    sandbox = trainer.seat().sandbox
    assert sandbox is not None
    done(trainer, "predict/", kind="winner")
    store.execute(sandbox, {"kind": "stage"})
    done(trainer, "send/", moment="1")
    done(ben, "answer/", number="2", chosen="no node")
    for kind in ("pod", "advance"):
        store.execute(sandbox, {"kind": kind, **({"seconds": 5} if kind == "advance" else {})})
    done(ada, "inquire/", text="Why there?")
    done(ben, "inquire/", text="When is lunch?")
    first = trainer.room.inquiries.order_by("pk")[0]
    done(ben, "vote/", key=str(first.pk), on="1")
    done(trainer, "inquiries/", on="1")
    done(trainer, "timer/", minutes="5")
    done(trainer, "freeze/", on="1")
    done(trainer, "planned/", number="1", after="1")
    done(ada, "answer/", number="3", chosen="activeQ")
    done(ben, "answer/", number="3", chosen="backoffQ")
    done(trainer, "end/", number="3")
    trainer.room.refresh_from_db()
    return trainer


def trace(trainer: Person) -> tuple[str, int]:
    """Return the sentence at the top of the trainer's sandbox, and how many commands it has."""
    seat = trainer.seat()
    assert seat.sandbox is not None
    page = trainer.client.get(f"/s/{seat.sandbox.pk}/{seat.view_token}/").content.decode()
    return page.split('id="panel-sentence"')[1].split("</section>")[0], seat.sandbox.head


def test_a_question_keeps_when_it_was_revealed(joined: Joined) -> None:
    trainer = opened(yaml.dump(WHOLE))
    done(trainer, "ask/", ask="Which queue?", choices="*activeQ\nbackoffQ")
    done(trainer, "reveal/", number="1")
    long_ago = datetime(2020, 2, 2, 10, 20, 30, tzinfo=UTC)
    trainer.room.questions.update(revealed=long_ago)
    again = opened(files.write(trainer.room))
    assert [question.revealed for question in again.room.questions.all()] == [long_ago]


def test_a_room_goes_on_as_it_was(joined: Joined) -> None:
    trainer = used(joined)
    projector = tokens.view_token(trainer.token)
    text = files.write(trainer.room)
    before = shown(trainer.room, trainer.token, *KEPT), shown(trainer.room, projector, "asked", "inquiries")
    state, cluster = plan.state_of(trainer.room), trace(trainer)
    assert [name for name in ("Ada", "Ben", trainer.token, projector, trainer.room.code) if name in text] == []
    assert not text.startswith("#"), "nothing is left out"
    rooms.delete(trainer.room)
    Sandbox.objects.all().delete()

    again = opened(text)
    projector = tokens.view_token(again.token)
    assert (shown(again.room, again.token, *KEPT), shown(again.room, projector, "asked", "inquiries")) == before
    assert trace(again) == cluster
    kept = plan.state_of(again.room)
    assert (kept.asked, kept.last, kept.count, [*kept.at]) == (state.asked, state.last, state.count, [*state.at])
    assert again.room.frozen
    assert again.room.timer_ends
    titles = [one.title for one in rooms.sendings(again.room)]
    assert titles == ["A pod and two nodes", "Three zones, one GPU pool"]
    assert yaml.safe_load(files.write(again.room)) == yaml.safe_load(text), "and its file opens once more"

    cyd = joined("Cyd", again.room)
    cyd.post("take/")
    sent = cyd.seat().sandbox
    assert sent is not None
    assert sources.from_text(cyd.seat().source)["kind"] == "file"
    assert sent.head == cluster[1] - 2, "a copy of the trainer's sandbox when it was sent"
    assert cyd.post("answer/", number="3", chosen="activeQ").status_code == 422, "some had answered: it is closed"
    assert again.post("reveal/", number="3").status_code == 204
    page = cyd.get().content.decode()
    assert re.findall(r"<b>(\d+)</b>", page.split('id="asked"')[1]) == ["1", "1"]
    rows = [row for row in csv.DictReader(StringIO(results_csv(again.room))) if row["question"] == "3"]
    assert [(row["participant"], row["answer"], row["right"]) for row in rows] == [
        ("1 person before", "activeQ", "yes"),
        ("1 person before", "backoffQ", "no"),
        ("Cyd", "", ""),
    ]
    assert again.post("planned/", number="2", after=str(kept.count)).status_code == 204


@pytest.mark.parametrize("decided", [False, True], ids=["before the scheduler decides", "after it has decided"])
def test_a_prediction_is_revealed_in_the_room_that_goes_on(crowded: Person, joined: Joined, decided: bool) -> None:
    joined("Ada", crowded.room)
    crowded.post("predict/", kind="winner")
    sandbox = crowded.seat().sandbox
    assert sandbox is not None
    store.execute(sandbox, {"kind": "pod" if decided else "stage"})
    again = opened(files.write(crowded.room))
    own = again.seat().sandbox
    assert own is not None
    if not decided:
        assert again.post("reveal/", number="1").status_code == 422
        store.execute(own, {"kind": "pod"})
    assert again.post("reveal/", number="1").status_code == 204
    question = Question.objects.get(workshop=again.room)
    crowded_answer = crowded.post("reveal/", number="1") if decided else None
    assert crowded_answer is None or crowded_answer.status_code == 204
    assert question.right == '["no node"]'
    if decided:
        first = Question.objects.get(workshop=crowded.room)
        assert (question.right, question.why) == (first.right, first.why)


def test_a_sandbox_that_is_gone_or_too_large_is_named_at_the_top(
    crowded: Person, joined: Joined, monkeypatch: Any
) -> None:
    sandbox = crowded.seat().sandbox
    assert sandbox is not None
    crowded.post("send/", scenario="nothing-fits")
    crowded.post("send/", moment="1")
    store.execute(sandbox, {"kind": "pod"})
    monkeypatch.setattr(resuming, "MOST_BYTES", 10)
    text = files.write(crowded.room)
    title = crowded.room.title
    assert text.splitlines()[:2] == [f"# Left out, because it is too large or no longer exists: {title}"] * 2
    again = opened(text)
    page = again.get().content.decode()
    assert "not in the room’s file" in page
    late = joined("Late", again.room)
    assert sources.from_text(late.seat().source)["title"] == "Nothing fits: five nodes, five reasons"
    late.sit()


def test_a_closed_room_opens_again(trainer: Person) -> None:
    trainer.post("ask/", ask="Which?", choices="a\nb")
    trainer.post("close/")
    trainer.room.refresh_from_db()
    again = opened(files.write(trainer.room))
    assert 'id="board"' in again.get().content.decode()
    assert "Which?" in again.get().content.decode()


def test_a_room_of_an_older_version_has_sent_one_thing(trainer: Person) -> None:
    Workshop.objects.filter(pk=trainer.room.pk).update(latest=sources.to_text(sources.lesson("backoff")))
    trainer.room.refresh_from_db()
    assert [one.title for one in rooms.sendings(trainer.room)] == ["Backoff"]
    assert yaml.safe_load(files.write(trainer.room))["state"]["sent"] == [{"title": "Backoff", "lesson": "backoff"}]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("{lost: 1}", 'unknown field "lost"'),
        ("{sandbox: '- 1'}", "state.sandbox: "),
        ("{began: yesterday}", "state.began"),
        ("{began: '2026-13-01T00:00:00Z'}", "must be a time"),
        ("{ran: [{row: 1, at: '2026-01-01T00:00:00Z'}]}", "must be the number of a row of the plan: there are 0"),
        ("{sent: [{lesson: backoff}]}", "state.sent[0].title"),
        ("{sent: [{title: x, lesson: no-such}]}", "state.sent[0].lesson"),
        ("{sent: [{title: x, file: '- 1'}]}", "state.sent[0].file"),
        ("{sent: [{title: x, own: 1}]}", "state.sent[0].own"),
        ("{sent: [{title: x, lesson: backoff, scenario: nothing-fits}]}", "cannot be combined with lesson"),
        ("{sent: [" + "{title: x}, " * 101 + "]}", "Too many: 101"),
        ("{questions: [{ask: x}]}", "state.questions[0].state"),
        ("{questions: [{ask: ' ', state: open}]}", "Enter a question"),
        ("{questions: [{ask: x, state: open, choices: [a, b], right: [c]}]}", "must be one of the choices"),
        ("{questions: [{ask: x, state: open, choices: [a, b], answers: [{chosen: [c], count: 1}]}]}", "one of the"),
        ("{questions: [{ask: x, state: open, answers: [{chosen: [], count: 1}]}]}", "must be one text"),
        ("{questions: [{ask: x, state: open, answers: [{chosen: [a], count: 0}]}]}", "answers[0].count"),
        ("{inquiries: [{text: " + "x" * 201 + "}]}", "state.inquiries[0].text"),
    ],
)
def test_an_error_in_a_state_is_reported_at_its_line(state: str, message: str) -> None:
    page = refused(f"kind: Workshop\nstate: {state}\n")
    assert message in page
    assert "workshop.yaml:2" in page
