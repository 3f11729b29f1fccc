"""The API's lessons: lists, opening, steps, answers, tasks, hints, predictions, and what stays hidden before."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.content.shelf import lessons, shelf
from tests.sandbox.authority.world import LESSON
from tests.sandbox.web.test_api import API, create_sandbox, get, post

pytestmark = pytest.mark.django_db


def changed(path: str, body: Any = None) -> Any:
    answer = post(path, {} if body is None else body)
    assert answer.status_code == 200, answer.content
    return answer.json()


def refused(path: str, body: Any = None) -> tuple[int, str]:
    answer = post(path, {} if body is None else body)
    return answer.status_code, answer.json()["message"]


@pytest.mark.parametrize("name", ["lessons", "misconceptions", "challenges"])
def test_a_list_names_what_can_be_opened(name: str) -> None:
    rows = get(f"{API}/{name}").json()
    assert [row["name"] for row in rows if row["shelf"] != "daily"] == [lesson.slug for lesson in shelf(name)]
    assert rows[0]["shelf"] == ("daily" if name == "challenges" else name)
    opened = get(f"{create_sandbox(lesson=rows[0]['name'])}/lesson").json()
    shown = opened["name"], opened["title"], opened["parts"], opened["part"]
    assert shown == (rows[0]["name"], rows[0]["title"], rows[0]["parts"], 0)


def test_a_lesson_is_taken_from_its_first_part_to_its_end() -> None:
    base = create_sandbox(lesson_file=LESSON)
    first = get(f"{base}/lesson").json()
    assert (first["text"], first["question"]["choices"]) == ("Who passes?", ["node-1", "node-2"])
    assert (first["question"]["points"], first["done"], first["then"]) == (None, False, "")
    assert changed(f"{base}/lesson/answer", {"answers": ["node-2"]})["question"]["points"] is None
    stepped = changed(f"{base}/lesson/step", {"part": 0})
    points = stepped["question"]["points"]
    assert (stepped["done"], points["right"]) == (True, False)
    assert {row["choice"]: row["right"] for row in points["rows"]} == {"node-1": True, "node-2": False}
    task = changed(f"{base}/lesson/turn", {"part": 1})
    assert (task["task"]["rows"][0]["say"], task["done"]) == ("web is on node-1.", False)
    assert task["task"]["rows"][0]["wrong"] != []
    assert (task["hints"], task["more_hints"]) == ([], 1)
    assert changed(f"{base}/lesson/hint")["hints"] == ["Press a button."]
    changed(f"{base}/commands", {"kind": "pod"})
    done = get(f"{base}/lesson").json()
    assert (done["done"], done["task"]["rows"][0]["wrong"]) == (True, [])
    end = changed(f"{base}/lesson/turn", {"part": 2})
    assert (end["finished"], end["part"], end["skipped"]) == (True, 2, 0)


def test_the_texts_are_those_of_the_file() -> None:
    slug = next(lesson.slug for lesson in shelf("lessons") if "[" in lesson.parts[0].text)
    assert get(f"{create_sandbox(lesson=slug)}/lesson").json()["text"] == lessons()[slug].lesson.parts[0].text


@pytest.mark.parametrize("slug", [lesson.slug for lesson in shelf("misconceptions")])
def test_the_truth_about_a_misconception_is_hidden_until_its_end(slug: str) -> None:
    lesson = lessons()[slug].lesson
    base = create_sandbox(lesson=slug)
    before = get(f"{base}/lesson").text + get(f"{base}/panels/lesson").text
    assert json.dumps(lesson.truth) not in before
    for part in range(1, len(lesson.parts) + 1):
        end = changed(f"{base}/lesson/turn", {"part": part})
    assert (end["truth"], end["versions"]) == (lesson.truth, [*lesson.versions()])


def test_a_prediction_is_answered_by_the_scheduler() -> None:
    base = create_sandbox(scenario="nothing-fits")
    assert get(f"{base}/prediction").json()["question"] is None
    for _ in range(3):
        changed(f"{base}/commands", {"kind": "stage"})
    asked = get(f"{base}/prediction").json()["question"]
    assert (asked["kind"], asked["points"], asked["many"]) == ("passes", None, True)
    waits = changed(f"{base}/prediction", {"answers": asked["choices"][:1], "key": asked["key"]})
    assert ([row["key"] for row in waits["kept"]], waits["last"], waits["score"]["of"]) == ([asked["key"]], [], 0)
    changed(f"{base}/commands", {"kind": "pod"})
    judged = get(f"{base}/prediction").json()
    assert (judged["last"][0]["points"]["right"], judged["score"]["of"], judged["kept"]) == (False, 1, [])
    assert [row["choice"] for row in judged["last"][0]["points"]["rows"] if row["chosen"]] == asked["choices"][:1]


REFUSED: dict[str, tuple[str, Any, int, str]] = {
    "a choice that is not offered": ("answer", {"answers": ["node-9"]}, 422, "node-9"),
    "no answer at all": ("answer", {}, 422, "document"),
    "a choice that is too long": ("answer", {"answers": ["x" * 401]}, 422, "document"),
    "a part that is far away": ("turn", {"part": 2}, 422, "part"),
    "a part that is open": ("turn", {"part": 0}, 422, "open"),
    "a part below 0": ("step", {"part": -1}, 422, "document"),
    "a hint where there is none": ("hint", {}, 422, "hint"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_lesson_does_not_take_changes_nothing(case: str) -> None:
    verb, body, status, words = REFUSED[case]
    base = create_sandbox(lesson_file=LESSON)
    before = get(f"{base}/lesson").json()
    got, message = refused(f"{base}/lesson/{verb}", body)
    assert (got, words in message) == (status, True), message
    assert get(f"{base}/lesson").json() == before


def test_an_answer_that_was_given_is_final() -> None:
    base = create_sandbox(lesson_file=LESSON)
    changed(f"{base}/lesson/answer", {"answers": None})
    assert refused(f"{base}/lesson/answer", {"answers": ["node-1"]})[0] == 422
    assert get(f"{base}/lesson").json()["question"]["looked"] is True


WINS = (
    LESSON.partition('- text: "Now you."')[0]
    .replace("predict: {passes: default/web}", "predict: {winner: default/web}")
    .replace('name: node-2}, status: {capacity: {cpu: "1"', 'name: node-2}, status: {capacity: {cpu: "8"')
    .replace(
        """  do:
  - stage: {}
  - stage: {}
  - stage: {}
  - stage: {}
""",
        "  do: [pod: {}]\n",
    )
    .replace('say: "to the end of Filter"', 'say: "to the end"')
)
"""Both nodes pass, and node-2 has more room."""


@pytest.mark.parametrize(
    ("text", "stages", "right"),
    [
        pytest.param(LESSON, 4, ["node-1"], id="which nodes pass: up to Filter"),
        pytest.param(WINS, 6, ["node-2"], id="which node wins: up to Score"),
    ],
)
def test_a_question_can_be_answered_until_its_answer_shows(text: str, stages: int, right: list[str]) -> None:
    """The steps may begin before: the first stages give nothing away."""
    for done in range(stages):
        base = create_sandbox(lesson_file=text)
        for _ in range(done):
            changed(f"{base}/commands", {"kind": "stage"})
        question = get(f"{base}/lesson").json()["question"]
        assert (question["points"], question["late"]) == (None, ""), done
        changed(f"{base}/lesson/answer", {"answers": right})
        assert changed(f"{base}/lesson/step", {"part": 0})["question"]["points"]["right"], done
    base = create_sandbox(lesson_file=text)
    for _ in range(stages):
        changed(f"{base}/commands", {"kind": "stage"})
    late = get(f"{base}/lesson").json()["question"]
    assert (late["points"], late["late"] != "") == (None, True)
    assert refused(f"{base}/lesson/answer", {"answers": right})[0] == 422


def test_a_sandbox_without_a_lesson_says_so() -> None:
    base = create_sandbox()
    assert get(f"{base}/lesson").status_code == 422
    assert refused(f"{base}/lesson/step", {"part": 0}) == (422, get(f"{base}/lesson").json()["message"])


def test_catching_up_sets_the_sandbox_and_keeps_the_old_timeline() -> None:
    base = create_sandbox(lesson_file=LESSON)
    start = get(base).json()["head"]
    changed(f"{base}/commands", {"kind": "advance", "seconds": 3})
    assert changed(f"{base}/lesson/catch-up")["part"] == 0
    assert get(base).json()["head"] == start
    changed(f"{base}/commands", {"kind": "stage"})
    branch = get(f"{base}/branches").json()[0]
    assert (branch["first"]["kind"], branch["count"]) == ("advance", 1)


def test_a_lesson_file_with_errors_is_refused_with_their_lines() -> None:
    answer = post(f"{API}/sandboxes", {"lesson_file": LESSON.replace("passes: default/web", "passes: 7")})
    assert (answer.status_code, answer.json()["errors"][0]["line"]) == (422, 18)
    assert post(f"{API}/sandboxes", {"lesson": "nobody-knows"}).status_code == 404
    both = post(f"{API}/sandboxes", {"lesson": "daily", "seed": 1})
    assert (both.status_code, "lesson" in both.json()["message"]) == (422, True)


def test_a_program_goes_back_to_a_moment_and_reopens_the_branch() -> None:
    base = create_sandbox(scenario="nothing-fits")
    before = changed(f"{base}/commands", {"kind": "run"})
    assert changed(f"{base}/head", {"at": f"{before['head']}.0"})["cycle"] < before["cycle"]
    changed(f"{base}/head", {"to": before["head"] - 1})
    changed(f"{base}/commands", {"kind": "stage"})
    branch = get(f"{base}/branches").json()[-1]
    assert changed(f"{base}/branches/{branch['branch']}")["length"] == branch["after"] + branch["count"]
    assert refused(f"{base}/branches/999999")[0] == 404
    assert {refused(f"{base}/head", body)[0] for body in ({}, {"to": 1, "at": "1.0"}, {"at": "no"})} == {422}
    length = get(base).json()["length"]
    assert refused(f"{base}/head", {"to": length + 1}) == (
        422,
        f"There is no command {length + 1}: the log has {length}.",
    )
    assert changed(f"{base}/head", {"to": length})["head"] == length


def test_a_copy_has_the_log_up_to_the_moment() -> None:
    base = create_sandbox(lesson_file=LESSON)
    changed(f"{base}/commands", {"kind": "pod"})
    copy = post(f"{base}/fork", {"at": "2.0"})
    assert copy.status_code == 201
    path = copy.json()["api"].partition("testserver")[2]
    assert (get(path).json()["head"], get(f"{path}/lesson").json()["part"]) == (1, 0)
    assert get(base).json()["head"] == 2
