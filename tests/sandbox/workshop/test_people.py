"""Who counts as whom, who comes back, what a late joiner gets, and what is left of removed participants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from sandbox.limits import ratelimit
from sandbox.storage import tokens
from sandbox.workshop import people
from sandbox.workshop.access import why_gone
from sandbox.workshop.models import Participant, Workshop
from sandbox.workshop.names import clean, readings
from sandbox.workshop.questions import bars, latest
from tests.sandbox.workshop.conftest import Person

Joined = Callable[..., Person]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Anna", "anna", id="capitals"),
        pytest.param("Anna  B", "anna b", id="spaces"),
        pytest.param("Anna", "аnna", id="a Cyrillic a"),
        pytest.param("nina", "Νina", id="a Greek capital Nu"),
        pytest.param("НИНА", "нина", id="Cyrillic capitals"),
        pytest.param("Anna", "Ａnna", id="a wide letter"),
        pytest.param("Anna", "𝐀nna", id="a bold letter"),
        pytest.param("Zoe", "Zoë", id="an accent"),
        pytest.param("Maria", "Ma\u0327ria", id="a combining mark"),
        pytest.param("Anna", "Ann\u200ba", id="a zero-width space"),
        pytest.param("Anna", "Ann\u3164a", id="a filler that is a letter"),
        pytest.param("Alice", "AIice", id="a capital I within a word"),
        pytest.param("Bob", "B0b", id="a zero"),
        pytest.param("Strasse", "Straße", id="a sharp s"),
        pytest.param("Emma", "Ernma", id="r and n for an m"),
        pytest.param("Tom", "TORN", id="r and n in capitals"),
        pytest.param("Ewa", "Evva", id="two v for a w"),
    ],
)
def test_names_that_look_alike_are_too_close(one: str, other: str) -> None:
    assert readings(one) & readings(other)
    assert readings(other) & readings(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna", "Anne"),
        ("User 1", "User 2"),
        ("User 1", "User 11"),
        ("Ian", "Lan"),
        ("Mia", "R Nia"),
        ("मीना", "मेना"),
        ("มีนา", "มานา"),
        ("Нина", "Hnna"),
    ],
)
def test_names_that_differ_are_not(one: str, other: str) -> None:
    assert not readings(one) & readings(other)


def test_a_name_is_stored_without_invisible_characters() -> None:
    assert clean(" A\u200bnn\u3164a \u202e\n B\u00ad ") == "Anna B"
    assert clean("\u200b\u3164\u2800") == ""


def enter(room: Workshop, **fields: str) -> Any:
    return Client().post("/join/", {"code": room.code, **fields})


def test_a_look_alike_is_refused_at_the_door_and_by_renaming(trainer: Person, joined: Joined) -> None:
    joined("Anna")
    ben = joined("Ben")
    page = enter(trainer.room, name="anna")
    assert page.status_code == 422
    html = page.content.decode()
    assert "“anna” is too close to “Anna”, who is here already. If it is you, enter your code." in html
    assert 'value="anna"' in html
    assert "<details open>" in html
    assert ben.row is not None
    answer = trainer.post("rename/", who=ben.row.pk, name="АNNA")
    assert answer.status_code == 422
    assert "too close to “Anna”" in answer.content.decode()
    assert trainer.post("rename/", who=ben.row.pk, name="BEN").status_code == 204, (
        "a participant may respell their own name"
    )


def test_a_name_that_is_too_long_is_refused_and_stays_in_its_field(trainer: Person, joined: Joined) -> None:
    longest, longer = "M" * 40, "M" * 20 + " " + "N" * 20
    page = enter(trainer.room, name=longer)
    assert page.status_code == 422
    html = page.content.decode()
    assert "Use at most 40 characters. This name has 41." in html
    assert f'value="{longer}"' in html
    assert enter(trainer.room, name=longest).status_code == 302
    ben = joined("Ben")
    assert ben.row is not None
    assert trainer.post("rename/", who=ben.row.pk, name=longer).status_code == 422
    assert ben.now().name == "Ben"


def test_the_code_leads_back_to_the_same_page(trainer: Person, joined: Joined) -> None:
    anna = joined("Anna")
    sandbox = anna.sit()
    code = tokens.code_of(anna.token)
    assert f"{code}</span></h2>" in anna.get().content.decode()
    back = enter(trainer.room, name=" anna ", back=code)
    assert back["Location"] == anna.url()
    assert trainer.room.people.count() == 1
    assert anna.seat().sandbox == sandbox
    kept = str(list(Participant.objects.values_list()))
    assert code not in kept.replace(str(sandbox.pk), "").split("'")
    assert anna.token not in kept


def test_a_code_is_refused_at_its_field_and_may_not_be_tried_often(
    trainer: Person, joined: Joined, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ratelimit, "buckets", ratelimit.Buckets())
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"code": (0.01, 3)}
    anna, ben = joined("Anna"), joined("Ben")
    right = tokens.code_of(anna.token)
    wrong = f"{(int(right) + 1) % 10_000:04}"
    for typed in (wrong, "12345", "४८२१"):
        page = enter(trainer.room, name="Anna", back=typed)
        assert page.status_code == 422
        assert "This is not the code of Anna" in page.content.decode()
    late = enter(trainer.room, name="Anna", back=right)
    assert late.status_code == 429
    assert int(late["Retry-After"]) > 0
    assert enter(trainer.room, name="Ben", back=tokens.code_of(ben.token)).status_code == 302, "others are not limited"
    assert enter(trainer.room, name="Nobody", back=right).status_code == 422


def test_a_participant_from_before_the_codes_has_none(trainer: Person, joined: Joined) -> None:
    anna = joined("Anna")
    Participant.objects.update(sealed="")
    assert "Your code" not in anna.get().content.decode()
    assert enter(trainer.room, name="Anna", back=tokens.code_of(anna.token)).status_code == 422


def test_a_late_joiner_gets_the_last_sandbox_sent_to_all(trainer: Person, joined: Joined, step: Any) -> None:
    own = trainer.seat().sandbox
    assert own is not None
    assert trainer.post("send/", scenario="lesson:backoff").status_code == 204, "even before anybody joins"
    assert joined("First").sit().title == "Backoff"
    step(own)
    trainer.post("send/", moment="1")
    own.refresh_from_db()
    moment = own.head
    step(own)
    late = joined("Late")
    assert late.sit().head == moment
    trainer.post("send/", scenario="lesson:backoff", to=[str(late.now().pk)])
    assert joined("Later").sit().head == moment, "a sandbox sent to one does not go to others"
    trainer.post("freeze/", on="1")
    trainer.post("eyes/", on="1")
    trainer.post("ask/", ask="Which queue?", choices="a\nb")
    last = joined("Last")
    assert last.sit().frozen
    page = last.get().content.decode()
    assert "Which queue?" in page
    assert "Eyes here" in page


def test_an_empty_answer_shows_as_sent(trainer: Person, joined: Joined) -> None:
    anna = joined("Anna")
    trainer.post("ask/", ask="x", choices="a\nb", many="1")
    assert "Answered" not in anna.get().content.decode()
    anna.post("answer/", number="1")
    page = anna.get().content.decode()
    assert "Answered: none of them" in page
    assert "Change answer" in page
    assert "1 of 1 have answered" in trainer.get().content.decode()


def test_a_removed_participant_no_longer_counts_and_may_join_again(trainer: Person, joined: Joined) -> None:
    anna, ben = joined("Anna"), joined("Ben")
    sandbox = anna.sit()
    trainer.post("ask/", ask="x", choices="a\nb")
    anna.post("answer/", number="1", chosen="a")
    ben.post("answer/", number="1", chosen="b")
    trainer.post("remove/", who=anna.now().pk)
    assert anna.get().status_code == 404
    page = trainer.get().content.decode()
    assert "Anna" not in page
    assert "1 of 1 have answered" in page
    question = latest(trainer.room)
    assert question is not None
    assert [bar.count for bar in bars(question)] == [0, 1]
    assert enter(trainer.room, name="Anna", back=tokens.code_of(anna.token)).status_code == 422
    assert enter(trainer.room, name="anna").status_code == 302
    trainer.post("freeze/", on="1")
    sandbox.refresh_from_db()
    assert not sandbox.frozen, "their sandbox stays theirs"
    assert trainer.post("rename/", who=anna.now().pk, name="Zoe").status_code == 404


def test_a_participant_who_leaves_is_forgotten(trainer: Person, joined: Joined) -> None:
    anna = joined("Anna")
    anna.post("leave/")
    assert not Participant.objects.exists()
    people.join(trainer.room, "Anna")


PARTINGS: dict[str, Callable[[Person, Person], object]] = {
    "removed": lambda trainer, ada: trainer.post("remove/", who=str(ada.now().pk)),
    "left": lambda trainer, ada: ada.post("leave/"),
    "deleted": lambda trainer, ada: [trainer.post("close/"), trainer.post("delete/")],
}


@pytest.mark.parametrize("why", PARTINGS)
def test_a_participant_who_is_no_longer_in_a_room_learns_why(trainer: Person, joined: Joined, why: str) -> None:
    ada = joined("Ada")
    PARTINGS[why](trainer, ada)
    assert why_gone(ada.room.pk, ada.token) == why
    refused = ada.post("hand/", on="1").content.decode()
    assert ("The trainer removed you from this room." in refused) is (why == "removed")
