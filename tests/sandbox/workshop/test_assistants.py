"""Links for assistants: the trainer makes and revokes them. What they may do is in tests/sandbox/authority."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from sandbox.storage import tokens
from sandbox.workshop import assistants
from sandbox.workshop.models import Assistant
from tests.sandbox.workshop.conftest import Person

pytestmark = pytest.mark.django_db
Joined = Callable[..., Person]


@pytest.fixture
def helper(trainer: Person) -> Person:
    """Return an assistant in the trainer's room."""
    assert trainer.post("assistants/").status_code == 204
    return Person(trainer.room, tokens.assistant_token(trainer.token, 1))


def test_the_trainer_sees_the_links_and_when_they_were_used(trainer: Person, helper: Person) -> None:
    page = trainer.get().content.decode()
    assert "Assistants: 1" in page
    assert "not used yet" in page
    assert f'href="{helper.url()}"' in page
    assert helper.get().status_code == 200
    assert "not used yet" not in trainer.get().content.decode()
    trainer.post("assistants/")
    assert "Assistants: 2" in trainer.get().content.decode()
    assert trainer.token not in helper.get().content.decode()


def test_an_assistant_helps_and_lowers_hands(trainer: Person, helper: Person, joined: Joined) -> None:
    ada = joined("Ada")
    ada.sit()
    ada.post("help/", on="1")
    ada.post("hand/", on="1")
    ada.post("inquire/", text="Why there?")
    page = helper.get().content.decode()
    assert set(re.findall(r'hx-post="(.*?)"', page)) == {"lower-hand/", "answered/"}
    assert f'href="/s/{ada.seat().sandbox_id}/{ada.now().key}/"' in page
    assert "Ada" in page.split('id="inquiries"')[1].split("</section>")[0], "who asks"
    assert helper.post("lower-hand/", who=str(ada.now().pk)).status_code == 204
    assert ada.now().hand is None
    assert helper.post("lower-hand/", who="x").status_code == 404


def test_a_revoked_link_leaves_no_way_to_change_a_sandbox(trainer: Person, helper: Person, joined: Joined) -> None:
    ada = joined("Ada")
    sandbox = ada.sit()
    ada.post("help/", on="1")
    before = ada.now().key
    assert trainer.post("revoke/", number="1").status_code == 204
    assert helper.get().status_code == 404
    after = ada.now().key
    assert after not in ("", before)
    steps = [helper.client.post(f"/s/{sandbox.pk}/{key}/do/stage/").status_code for key in (before, after)]
    assert steps == [404, 204]
    assert "Assistants: 0" in trainer.get().content.decode()
    assert [trainer.post("revoke/", number=number).status_code for number in ("1", "2", "x", "")] == [404] * 4
    trainer.post("assistants/")
    assert Assistant.objects.get(revoked=False).number == 2, "a revoked link never works again"


def test_there_are_not_too_many_links(trainer: Person) -> None:
    statuses = [trainer.post("assistants/").status_code for _ in range(assistants.MOST_ASSISTANTS + 1)]
    assert statuses == [204] * assistants.MOST_ASSISTANTS + [422]
