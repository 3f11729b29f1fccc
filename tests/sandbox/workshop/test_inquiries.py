"""Participants ask the trainer and vote; free answers to the trainer's questions."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest

from sandbox.storage import tokens
from sandbox.workshop import files, inquiries, questions
from sandbox.workshop.models import INQUIRY_CHARACTERS, Inquiry, Question, Workshop
from sandbox.workshop.questions import LONGEST_CHOICE
from sandbox.workshop.results import results_csv
from tests.sandbox.workshop.conftest import Person

pytestmark = pytest.mark.django_db
Joined = Callable[..., Person]


@pytest.fixture(autouse=True)
def without_rates(settings: Any) -> None:
    settings.RATE_LIMITS = dict.fromkeys(settings.RATE_LIMITS, (1e6, 1_000_000))


def section(person: Any, name: str = "inquiries") -> str:
    page = person.get().content.decode()
    return page.split(f'id="{name}"')[1].split("</section>")[0]


def projector(trainer: Person) -> Person:
    return Person(trainer.room, tokens.view_token(trainer.token))


def key() -> str:
    return str(Inquiry.objects.order_by("-pk")[0].pk)


def ordered(trainer: Person) -> list[tuple[str, int]]:
    return [(view.text, view.votes) for view in inquiries.listed(trainer.room, None, by_votes=True)]


def test_others_see_a_question_and_vote_for_it_once(trainer: Person, joined: Joined) -> None:
    ada, ben, cyd = (joined(name) for name in ("Ada", "Ben", "Cyd"))
    assert ada.post("inquire/", text="  Why  there? ").status_code == 204
    first = key()
    assert ben.post("inquire/", text="When is lunch?").status_code == 204
    assert [ben.post("vote/", key=first, on="1").status_code for _ in range(2)] == [204, 204]
    cyd.post("vote/", key=first, on="1")
    assert ordered(trainer) == [("Why there?", 2), ("When is lunch?", 0)]
    cyd.post("vote/", key=first, on="0")
    assert ordered(trainer)[0] == ("Why there?", 1)
    assert "Why there?" in section(ben)
    assert "Ada" not in section(ben), "only the trainer sees who asks"
    assert "Ada" in section(trainer)
    assert ada.post("vote/", key=first, on="1").status_code == 422, "one's own question"
    assert ordered(trainer)[0] == ("Why there?", 1)


def test_the_trainer_marks_and_hides_questions(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    ada.post("inquire/", text="One?")
    one = key()
    ada.post("inquire/", text="Two?")
    assert trainer.post("answered/", key=one, on="1").status_code == 204
    assert ordered(trainer) == [("Two?", 0), ("One?", 0)]
    assert "Answered: 1" in section(trainer)
    trainer.post("answered/", key=one, on="0")
    assert "Answered: 1" not in section(trainer)
    assert trainer.post("hide/", key=one).status_code == 204
    assert [person for person in (trainer, ada) if "One?" in section(person)] == []
    assert trainer.post("answered/", key=one, on="1").status_code == 404
    assert [trainer.post("hide/", key=bad).status_code for bad in ("", "x", "99999")] == [404] * 3


def test_the_projector_shows_open_questions_without_names_if_the_trainer_wants(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    for number in range(inquiries.MOST_OPEN):
        ada.post("inquire/", text=f"Question {number}?")
    for number in range(3):
        joined(f"Ben {number}").post("inquire/", text=f"More {number}?")
    assert "Question 0?" not in section(projector(trainer))
    assert trainer.post("inquiries/", on="1").status_code == 204
    shown = section(projector(trainer))
    assert "Question 0?" in shown
    assert "Ada" not in shown
    assert "2 more questions" in shown
    trainer.post("inquiries/", on="0")
    assert "Question 0?" not in section(projector(trainer))


@pytest.mark.parametrize(
    ("text", "status"), [("", 422), (" \n\u200b ", 422), ("x" * INQUIRY_CHARACTERS, 204), ("x" * 201, 422)]
)
def test_a_question_has_a_text_of_limited_length(joined: Joined, text: str, status: int) -> None:
    assert joined("Ada").post("inquire/", text=text).status_code == status
    assert Inquiry.objects.count() == (status == 204)


def test_a_person_has_a_few_open_questions(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    statuses = [ada.post("inquire/", text="Why?").status_code for _ in range(inquiries.MOST_OPEN + 1)]
    assert statuses == [204] * inquiries.MOST_OPEN + [422]
    assert "open questions" in ada.post("inquire/", text="Why?").content.decode()
    trainer.post("answered/", key=key(), on="1")
    assert ada.post("inquire/", text="Why?").status_code == 204
    assert joined("Ben").post("inquire/", text="Why?").status_code == 204


def test_questions_in_quick_succession_are_refused(joined: Joined, settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"inquiry": (0.01, 2)}
    ada = joined("Ada")
    assert [ada.post("inquire/", text="Why?").status_code for _ in range(3)] == [204, 204, 429]


def test_who_leaves_takes_questions_and_votes_along_and_who_is_removed_is_not_shown(
    trainer: Person, joined: Joined
) -> None:
    ada, ben, cyd = (joined(name) for name in ("Ada", "Ben", "Cyd"))
    ada.post("inquire/", text="Ada's?")
    for person in (ben, cyd):
        person.post("vote/", key=key(), on="1")
    ben.post("leave/")
    assert ordered(trainer) == [("Ada's?", 1)]
    trainer.post("remove/", who=str(cyd.now().pk))
    assert ordered(trainer) == [("Ada's?", 0)]
    trainer.post("remove/", who=str(ada.now().pk))
    assert ordered(trainer) == []


def test_a_question_of_another_room_is_not_found(trainer: Person, crowded: Person, joined: Joined) -> None:
    joined("Ada").post("inquire/", text="Why?")
    assert joined("Ben", crowded.room).post("vote/", key=key(), on="1").status_code == 404
    assert crowded.post("hide/", key=key()).status_code == 404


def test_a_closed_room_takes_no_questions(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    ada.post("inquire/", text="Why?")
    trainer.post("close/")
    assert ada.post("inquire/", text="Why?").status_code == 410
    assert "hx-post" not in section(ada)
    assert "hx-post" not in section(trainer)


# --- free answers ---


@pytest.fixture
def asked(trainer: Person) -> Question:
    assert trainer.post("ask/", ask="What did you expect?", choices="").status_code == 204
    return trainer.room.questions.get()


def test_free_answers_are_grouped_if_equal_and_shown_if_chosen(
    trainer: Person, joined: Joined, asked: Question
) -> None:
    ada, ben, cyd = (joined(name) for name in ("Ada", "Ben", "Cyd"))
    assert 'type="text" name="chosen"' in section(ada, "asked")
    for person, text in ((ada, "Node-1"), (ben, "nothing"), (cyd, " node-1 ")):
        assert person.post("answer/", number="1", chosen=text).status_code == 204
    assert [(bar.choice, bar.count) for bar in questions.bars(asked)] == [("Node-1", 2), ("nothing", 1)]
    assert "nothing" in section(trainer, "asked")
    assert "Node-1" not in section(projector(trainer), "asked")
    assert "chooses which answers to show" in section(projector(trainer), "asked")
    assert trainer.post("show-answer/", number="1", text="Node-1", on="1").status_code == 204
    shown = section(projector(trainer), "asked")
    assert "Node-1" in shown
    assert "nothing" not in shown
    trainer.post("end/", number="1")
    assert "Node-1" in section(ben, "asked"), "what is shown is shown to all"
    assert "Answered: nothing" in section(ben, "asked")
    assert trainer.post("show-answer/", number="1", text="Node-1", on="0").status_code == 204
    assert "Node-1" not in section(projector(trainer), "asked")


@pytest.mark.parametrize(("text", "status"), [("", 422), ("  ", 422), ("x" * LONGEST_CHOICE, 204), ("x" * 121, 422)])
def test_a_free_answer_has_a_text(joined: Joined, asked: Question, text: str, status: int) -> None:
    assert joined("Ada").post("answer/", number="1", chosen=text).status_code == status
    assert asked.answers.count() == (status == 204)


def test_a_free_answer_can_be_changed_and_nobody_reveals_it(trainer: Person, joined: Joined, asked: Question) -> None:
    ada = joined("Ada")
    for text in ("first", "second"):
        ada.post("answer/", number="1", chosen=text)
    assert [bar.choice for bar in questions.bars(asked)] == ["second"]
    assert 'value="second"' in section(ada, "asked")
    assert "reveal/" not in section(trainer, "asked")
    refused = trainer.post("show-answer/", number="1", text="first", on="1")
    assert (refused.status_code, Question.objects.get().shown) == (422, "")


def test_only_a_free_answer_can_be_shown(trainer: Person, joined: Joined) -> None:
    trainer.post("ask/", ask="Which?", choices="a\nb")
    joined("Ada").post("answer/", number="1", chosen="a")
    assert trainer.post("show-answer/", number="1", text="a", on="1").status_code == 422
    assert trainer.post("show-answer/", number="2", text="a", on="1").status_code == 404


def test_free_answers_are_in_results_and_the_question_in_the_file(
    trainer: Person, joined: Joined, asked: Question
) -> None:
    joined("Ada").post("answer/", number="1", chosen="=node-1")
    row = next(row for row in csv.DictReader(StringIO(results_csv(trainer.room))) if row["question"])
    assert (row["answer"], row["right"], row["expected"]) == ("'=node-1", "", "")
    text = files.write(Workshop.objects.get(pk=trainer.room.pk))
    assert "- ask: What did you expect?\n" in text
    assert "Ada" not in text
