"""Questions to the room: which kinds there are, who answers when, and who reveals what."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest

from sandbox.changes import store
from sandbox.pool import engines
from sandbox.storage import tokens
from sandbox.storage.models import Sandbox
from sandbox.workshop import questions
from sandbox.workshop.models import Question
from sandbox.workshop.questions import MOST_PROJECTED, Bar, bars, for_projector
from sandbox.workshop.results import results_csv
from scheduler_engine.testing import make_pod, make_priority_class
from tests.sandbox.workshop.conftest import Person

Joined = Callable[..., Person]


def question() -> Question:
    return Question.objects.order_by("-number")[0]


def page_of(person: Person) -> str:
    return person.get().content.decode()


def test_a_question_is_answered_counted_and_revealed(trainer: Person, joined: Joined) -> None:
    ada, ben = joined("Ada"), joined("Ben")
    assert trainer.post("ask/", ask="Which queue?", choices="*activeQ\nbackoffQ\n").status_code == 204
    assert "Which queue?" in page_of(ada)
    assert ada.post("answer/", number="1", chosen="backoffQ").status_code == 204
    assert ada.post("answer/", number="1", chosen="activeQ").status_code == 204
    assert ben.post("answer/", number="1", chosen="backoffQ").status_code == 204
    assert "2 of 2 have answered" in page_of(trainer)
    assert "<meter" not in page_of(ada)  # While it is open, nobody is led by others.
    assert trainer.post("reveal/", number=question().number).status_code == 204
    assert bars(question()) == [Bar("activeQ", 1, True, ""), Bar("backoffQ", 1, False, "")]
    assert "You were right" in page_of(ada)
    assert "Not quite" in page_of(ben)
    late = ben.post("answer/", number="1", chosen="activeQ")
    assert late.status_code == 422
    assert "arrived too late: the right one is already shown" in late.content.decode()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        pytest.param({"ask": "", "choices": "a\nb"}, "ask", id="an empty question"),
        pytest.param({"ask": "x", "choices": "a"}, "choices", id="one answer"),
        pytest.param({"ask": "x", "choices": "a\n*a"}, "choices", id="twice the same"),
        pytest.param({"ask": "x", "choices": "\n".join(map(str, range(61)))}, "choices", id="too many"),
    ],
)
def test_an_invalid_question_is_refused_at_its_field(trainer: Person, fields: dict[str, str], field: str) -> None:
    answer = trainer.post("ask/", **fields)
    assert answer.status_code == 422
    assert f"<b>{field}</b>" in answer.content.decode()
    assert not Question.objects.exists()


@pytest.mark.parametrize(
    ("number", "chosen", "status"),
    [("2", ["a"], 404), ("", ["a"], 404), ("1", ["c"], 422), ("1", [], 422), ("1", ["a", "b"], 422)],
)
def test_an_invalid_answer_is_refused(
    trainer: Person, joined: Joined, number: str, chosen: list[str], status: int
) -> None:
    trainer.post("ask/", ask="x", choices="a\nb")
    assert joined("Ada").post("answer/", number=number, chosen=chosen).status_code == status
    assert not question().answers.exists()


def test_several_may_be_right_and_none_may_be(trainer: Person, joined: Joined) -> None:
    ada, ben = joined("Ada"), joined("Ben")
    trainer.post("ask/", ask="x", choices="*a\n*b\nc", many="1")
    assert ada.post("answer/", number="1", chosen=["b", "a"]).status_code == 204
    assert ben.post("answer/", number="1").status_code == 204
    trainer.post("reveal/", number=question().number)
    assert "You were right" in page_of(ada)
    assert "Not quite" in page_of(ben)


def test_a_question_without_a_right_answer_has_no_verdicts(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    trainer.post("ask/", ask="Coffee?", choices="yes\nno")
    ada.post("answer/", number="1", chosen="no")
    trainer.post("reveal/", number=question().number)
    assert "right" not in page_of(ada).split('id="asked"')[1].split("</section>")[0].replace("bright", "")
    assert [bar.right for bar in bars(question())] == [None, None]


def test_the_next_question_ends_the_one_before(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    trainer.post("ask/", ask="first", choices="a\nb")
    trainer.post("ask/", ask="second", choices="a\nb")
    late = ada.post("answer/", number="1", chosen="a")
    assert late.status_code == 422
    assert "arrived too late: the trainer has asked another question" in late.content.decode()
    assert [asked.over is None for asked in Question.objects.order_by("number")] == [False, True]


def test_closing_a_room_ends_its_open_question(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    trainer.post("ask/", ask="Which queue?", choices="a\nb")
    assert "data-answer" in page_of(ada)
    trainer.post("close/")
    assert question().over is not None
    assert "data-answer" not in page_of(ada)


def test_a_delayed_answer_does_not_replace_a_newer_one(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    trainer.post("ask/", ask="x", choices="a\nb\nc")

    def send(chosen: str, page: str, turn: str) -> str:
        assert ada.post("answer/", number="1", chosen=chosen, page=page, turn=turn).status_code == 204
        return str(question().answers.get().chosen)

    assert send("b", "one", "2") == '["b"]'
    assert send("a", "one", "1") == '["b"]', "sent before, but delayed"
    assert send("c", "one", "3") == '["c"]'
    assert send("a", "two", "1") == '["a"]', "another page counts for itself"
    assert send("b", "two", "many") == '["b"]', "an answer without a number counts as it arrives"


def test_a_question_that_was_put_away_is_on_no_page(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    trainer.post("ask/", ask="Which queue?", choices="a\nb")
    trainer.post("put-away/", number=question().number)
    assert "Which queue?" not in page_of(ada)
    assert question().over is not None


def test_the_scheduler_answers_a_prediction(crowded: Person, joined: Joined, step: Any) -> None:
    ada = joined("Ada", crowded.room)
    assert crowded.post("predict/", kind="winner").status_code == 204
    asked = question()
    assert asked.ask == "Which node does payments-1 get?"
    assert "no node" in asked.choices
    ada.post("answer/", number="1", chosen="no node")
    early = crowded.post("reveal/", number=question().number)
    assert early.status_code == 422
    waits = "Reveal waits for your sandbox. Step it until payments-1 has a node, or fits nowhere."
    assert waits in early.content.decode()
    assert waits in page_of(crowded)
    assert not question().revealed
    step(crowded.seat().sandbox)
    assert "Reveal waits" not in page_of(crowded)
    assert crowded.post("reveal/", number=question().number).status_code == 204
    by_choice = {bar.choice: bar for bar in bars(question())}
    assert by_choice["no node"].right
    assert by_choice["no node"].count == 1
    assert "0/8 nodes are available" in by_choice["no node"].why
    assert by_choice["no node"].why.startswith("payments-1 got no node in this attempt. 0/8")
    assert by_choice["no node"].why.endswith("Preemption nominated it to node-b3.")
    assert "You were right" in page_of(ada)


def test_a_reveal_does_not_wait_for_steps_in_a_sandbox_whose_log_stops(crowded: Person, step: Any) -> None:
    crowded.post("predict/", kind="winner")
    sandbox = crowded.seat().sandbox
    assert sandbox is not None
    step(sandbox)
    sandbox.records.filter(n=sandbox.records.count()).update(mark="1 0badcafe - - - - -")
    engines.started().close()  # As after a restart, with another version.
    page = page_of(crowded)
    assert "Reveal waits" not in page
    assert "decides command" in page


def test_the_victims_are_revealed_with_the_reason(crowded: Person, step: Any) -> None:
    assert crowded.post("predict/", kind="victims").status_code == 204
    step(crowded.seat().sandbox)
    crowded.post("reveal/", number=question().number)
    assert [bar.choice for bar in bars(question()) if bar.right] == ["default/batch-4"]


def test_the_reveal_without_victims_gives_the_reason(crowded: Person, step: Any) -> None:
    sandbox = crowded.seat().sandbox
    store.execute(
        sandbox,
        {
            "kind": "apply",
            "manifests": [
                make_priority_class("high", 1_000_000),
                make_pod("huge").cpu("900").priority_class("high").obj(),
            ],
        },
    )
    crowded.post("predict/", kind="victims", pod="default/huge")
    step(sandbox)
    assert crowded.post("reveal/", number=1).status_code == 204
    assert [(bar.choice, bar.why) for bar in bars(question()) if bar.right] == [
        ("none of them", "huge would not fit on any node, even without the pods of lower priority.")
    ]


@pytest.mark.parametrize(
    "fields", [{"kind": "weather"}, {"kind": "winner", "pod": "default/nobody"}, {"kind": "refuses"}]
)
def test_a_question_the_scheduler_cannot_answer_is_refused(trainer: Person, fields: dict[str, str]) -> None:
    assert trainer.post("predict/", **fields).status_code == 422
    assert not Question.objects.exists()


def test_a_projector_shows_the_right_and_the_common_answers_in_their_order() -> None:
    many = [Bar(f"node-{number:02}", count=number == 40, right=number == 59, why="") for number in range(60)]
    shown, others = for_projector(many)
    assert [bar.choice for bar in shown] == [f"node-{number:02}" for number in [*range(MOST_PROJECTED - 2), 40, 59]]
    assert len(shown) + len(others) == 60
    assert for_projector(many[:MOST_PROJECTED]) == (many[:MOST_PROJECTED], [])


@pytest.mark.parametrize("path", ["end/", "reveal/", "put-away/"])
def test_a_button_acts_on_the_question_that_its_page_shows(trainer: Person, path: str) -> None:
    assert trainer.post(path).status_code == 404
    assert trainer.post(path, number=1).status_code == 404
    trainer.post("ask/", ask="first", choices="*a\nb")
    trainer.post("ask/", ask="second", choices="*a\nb")
    late = trainer.post(path, number=1)
    assert late.status_code == 422
    assert "The room has moved to another question" in late.content.decode()
    assert (question().over, question().revealed, question().away) == (None, None, False)
    assert trainer.post(path, number=2).status_code == 204
    assert question().over is not None


@pytest.mark.parametrize("star", ["*the  first", " *  the first", "*the\u00a0first\t"])
def test_a_star_holds_however_its_line_is_typed(trainer: Person, star: str) -> None:
    trainer.post("ask/", ask="x", choices=f"{star}\nthe second")
    trainer.post("reveal/", number=1)
    assert [bar.choice for bar in bars(question()) if bar.right] == ["the first"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"ask": "y" * 301, "choices": "a\nb"}, "ask"), ({"ask": "x", "choices": f"*{'y' * 121}\nb"}, "choices")],
)
def test_a_text_that_is_too_long_is_refused_and_not_cut(trainer: Person, fields: dict[str, str], field: str) -> None:
    answer = trainer.post("ask/", **fields)
    assert answer.status_code == 422
    assert f"<b>{field}</b>" in answer.content.decode()
    assert not Question.objects.exists()


def test_none_of_them_is_an_ordinary_answer(crowded: Person, joined: Joined, step: Any) -> None:
    ada = joined("Ada", crowded.room)
    crowded.post("predict/", kind="passes")
    ada.post("answer/", number="1")
    assert "Answered: none of them" in page_of(ada)
    step(crowded.seat().sandbox)
    assert crowded.post("reveal/", number=1).status_code == 204
    none = bars(question())[-1]
    assert (none.choice, none.count, none.right) == ("none of them", 1, True)
    assert "none of them <em>your answer</em>" in page_of(ada)
    assert "You were right" in page_of(ada)


def test_another_way_after_going_back_answers_the_question_as_well(crowded: Person) -> None:
    sandbox = crowded.seat().sandbox
    assert sandbox is not None
    for name in ("one", "two"):
        store.execute(sandbox, {"kind": "apply", "manifests": [make_pod(name).cpu("100m").obj()]})
    crowded.post("predict/", kind="winner")
    store.go_to(sandbox, lambda position: position.head - 2)
    assert crowded.post("reveal/", number=1).status_code == 422, "nothing has happened since"
    for _ in range(2):
        store.execute(sandbox, {"kind": "pod"})
    assert crowded.post("reveal/", number=1).status_code == 204
    assert [bar.choice for bar in bars(question()) if bar.right] == ["no node"]


def test_a_question_asked_while_time_is_played_counts_from_then(crowded: Person) -> None:
    seat = crowded.seat()
    base = f"/s/{seat.sandbox_id}/{tokens.seat_token(crowded.token, 1)}/do/advance/"

    def play() -> None:
        assert crowded.client.post(base, {"seconds": "1", "play": "1"}).status_code == 204

    begun = Sandbox.objects.get(pk=seat.sandbox_id).length
    play()
    crowded.post("predict/", kind="winner", pod="default/payments-1")
    play()
    assert Sandbox.objects.get(pk=seat.sandbox_id).length == begun + 1, "both ticks are one command"
    assert crowded.post("reveal/", number=1).status_code == 422, "its only attempt was before the question"


def test_the_page_promises_no_reveal_that_cannot_come(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    promise = "The trainer will reveal the answer"
    for number, (choices, promised) in enumerate((("*a\nb", True), ("a\nb", False)), 1):
        trainer.post("ask/", ask="x", choices=choices)
        trainer.post("end/", number=number)
        assert (promise in page_of(ada)) is promised
    trainer.post("ask/", ask="x", choices="*a\nb")
    trainer.post("close/")
    assert promise not in page_of(ada)
    assert "is-none" in page_of(ada), "a closed room shows no question"


def test_results_have_a_row_for_everybody_and_execute_nothing(trainer: Person, joined: Joined) -> None:
    ada, _ = joined("=HYPERLINK(1)"), joined("Ben")
    trainer.post("ask/", ask="Which queue?", choices="*activeQ\nbackoffQ")
    ada.post("answer/", number="1", chosen="activeQ")
    trainer.post("reveal/", number=question().number)
    trainer.post("ask/", ask="Open", choices="a\nb")
    rows = list(csv.DictReader(StringIO(results_csv(trainer.room))))
    plain = ("participant", "question", "asked", "answer", "right", "expected")
    assert [tuple(row[name] for name in plain) for row in rows] == [
        ("'=HYPERLINK(1)", "1", "Which queue?", "activeQ", "yes", "activeQ"),
        ("Ben", "1", "Which queue?", "", "", "activeQ"),
        ("'=HYPERLINK(1)", "2", "Open", "", "", ""),
        ("Ben", "2", "Open", "", "", ""),
    ]


def test_results_show_when_and_removed_participants_and_expected_answers(
    crowded: Person, joined: Joined, step: Any
) -> None:
    ada, ben = joined("Ada", crowded.room), joined("Ben", crowded.room)
    crowded.post("ask/", ask="Which?", choices="*a\nb", many="1")
    ada.post("answer/", number="1")
    ben.post("answer/", number="1", chosen="a")
    crowded.post("predict/", kind="winner")
    ada.post("answer/", number="2", chosen="no node")
    expected = [row["expected"] for row in csv.DictReader(StringIO(results_csv(crowded.room)))]
    assert expected == ["a", "a", "", ""], "the scheduler has not reached it yet"
    step(crowded.seat().sandbox)
    sandbox = ada.sit()
    step(sandbox)
    crowded.post("remove/", who=ada.now().pk)
    rows = list(csv.DictReader(StringIO(results_csv(crowded.room))))
    adas = [row for row in rows if row["participant"] == "Ada"]
    assert [(row["answer"], row["right"], row["expected"]) for row in adas[:2]] == [
        ("none of them", "no", "a"),
        ("no node", "yes", "no node"),
    ]
    assert all(row["removed at"] and row["asked at"] for row in adas)
    assert not any(row["removed at"] for row in rows if row["participant"] == "Ben")
    assert adas[0]["answered at"] >= adas[0]["asked at"]
    assert not adas[0]["revealed at"]
    assert (adas[2]["asked"], adas[2]["steps"]) == (sandbox.title, "1")
    crowded.post("reveal/", number=question().number)
    again = [row for row in csv.DictReader(StringIO(results_csv(crowded.room))) if row["question"] == "2"]
    assert all(row["revealed at"] for row in again)


def test_a_room_has_an_end_of_questions(trainer: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "MOST_QUESTIONS", 1)
    trainer.post("ask/", ask="x", choices="a\nb")
    assert trainer.post("ask/", ask="x", choices="a\nb").status_code == 422
