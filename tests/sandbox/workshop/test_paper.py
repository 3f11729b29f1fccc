"""Pages to print: what was done in a room, and what each participant has completed."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from sandbox.storage.models import Study
from tests.sandbox.workshop.conftest import Person

pytestmark = pytest.mark.django_db
Joined = Callable[..., Person]
LESSON = "why-a-pod-is-pending"


def page(person: Person, path: str) -> str:
    answer = person.get(path)
    assert answer.status_code == 200
    text = answer.content.decode()
    assert "<script" not in text
    return " ".join(re.sub("<[^>]*>", " ", text.split("<main>")[1]).replace("&#39;", "'").split())


def test_a_handout_shows_what_was_sent_and_answered(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    trainer.post("send/", scenario=f"lesson:{LESSON}")
    trainer.post("send/", scenario="nothing-fits")
    trainer.post("ask/", ask="Which queue?", choices="*activeQ\nbackoffQ")
    ada.post("answer/", number="1", chosen="backoffQ")
    ada.post("notes/", text="Ask again at lunch.", after="0")
    text = page(ada, "handout/")
    assert text.index(trainer.room.title) < text.index("Why a pod is Pending") < text.index("Nothing fits: five nodes")
    assert "Which plugin refuses node-a1 for report-1?" in text, "a part"
    assert f"http://testserver/embed/lesson/{LESSON}/" in text
    assert "Which queue?" not in text, "it is open"
    trainer.post("end/", number="1")
    assert "✓" not in page(ada, "handout/"), "it is not revealed yet"
    trainer.post("reveal/", number="1")
    text = page(ada, "handout/")
    assert "✓ right activeQ backoffQ (your answer) Your notes Ask again at lunch." in text
    of_trainer = page(trainer, "handout/")
    assert [word for word in ("your answer", "Ask again", "Ada") if word in of_trainer] == []


def test_a_certificate_has_the_parts_that_were_done(trainer: Person, joined: Joined) -> None:
    ada, ben = joined("Ada"), joined("Ben")
    assert "No part of a lesson was completed." in page(ada, "certificate/")
    trainer.post("send/", scenario=f"lesson:{LESSON}")
    sandbox = ada.sit()
    Study.objects.filter(sandbox=sandbox).update(progress='{"done": [0], "skipped": [1]}', part=2)
    trainer.post("ask/", ask="Which queue?", choices="*activeQ\nbackoffQ")
    ben.post("answer/", number="1", chosen="backoffQ")
    board = page(trainer, "certificate/")
    assert board.index("Took part Ada") < board.index("Took part Ben")
    text = page(ada, "certificate/")
    assert "Why a pod is Pending 1 of 5 parts Which nodes pass for report-1? Answered" in text
    assert "Answered 0 of 1 questions" in text
    assert "Answered 1 of 1 questions" in page(ben, "certificate/")
    assert "It is no exam" in text
    trainer.post("send/", scenario="nothing-fits")
    ada.sit()
    assert "1 of 5 parts" in page(ada, "certificate/"), "also of an earlier sandbox"
