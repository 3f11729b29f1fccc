"""A lesson with an error is refused with line and reason; the documented lesson has none."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_engine.errors import Rejected
from scheduler_engine.lesson import problems_of, read_lesson
from scheduler_engine.lesson.format import ITEM, KEYS, LESSON, NEEDS, OPTION, PART_KEYS, WRONG

EXAMPLE = re.search(r"```yaml\n(.*?)```", Path("docs/lessons.md").read_text(), re.DOTALL)


def example() -> dict[str, Any]:
    """Return the lesson of docs/lessons.md, for tests to break."""
    assert EXAMPLE is not None
    data: dict[str, Any] = yaml.safe_load(EXAMPLE[1])
    return data


def problems_in(data: dict[str, Any]) -> list[str]:
    """Return what is wrong with a lesson, whether it can be read or not."""
    try:
        return problems_of(read_lesson(yaml.safe_dump(data, sort_keys=False), "my.yaml"))
    except Rejected as refusal:
        return [str(error) for error in refusal.errors]


def test_the_lesson_of_the_documents_has_no_mistake() -> None:
    assert problems_in(example()) == []


def _set(path: str, value: Any) -> Any:
    def spoil(data: dict[str, Any]) -> None:
        *above, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        place: Any = data
        for key in above:
            place = place[key]
        if value is None:
            del place[last]
        else:
            place[last] = value

    return spoil


NEVER = [{"pod": "default/api", "node": "node-z"}]
SPOILT: dict[str, tuple[Any, str, str]] = {
    "not text": (_set("parts.1.text", None), "parts[1].text", "Required value"),
    "an unknown key": (_set("parts.1.taks", "x"), "parts[1].taks", 'unknown field "taks" (did you mean "task"?)'),
    "another kind": (_set("kind", "Scenario"), "kind", "this is a Scenario, not a Lesson"),
    "another version": (_set("apiVersion", "scheduler-sandbox/v9"), "apiVersion", "this engine reads"),
    "a belief without a truth": (_set("belief", "All is well."), "truth", "belief and truth need each other"),
    "a task without hints": (_set("parts.2.hints", None), "parts[2].hints", "a part with task needs it"),
    "a prediction without a button": (_set("parts.0.do", None), "parts[0].do", "a part with predict needs it"),
    "a task with a button": (_set("parts.2.do", [{"settle": {}}]), "parts[2].do", "cannot be combined with task"),
    "two questions in one": (
        _set("parts.1.question", {"winner": "default/web", "lane": "default/web"}),
        "parts[1].question.lane",
        "only one is allowed",
    ),
    "a node without a plugin": (
        _set("parts.1.question", {"winner": "default/web", "node": "node-a"}),
        "parts[1].question.node",
        "refuses and node need each other",
    ),
    "options without a question": (
        _set("parts.1.question", {"options": [{"text": "a", "holds": []}, {"text": "b", "holds": NEVER}]}),
        "parts[1].question.ask",
        "options need it",
    ),
    "a par that is too low": (
        _set("par", 0),
        "par",
        "the first right way costs 1, more than 0: Pod",
    ),
    "an unknown node pointed at": (
        _set("parts.1.text", "See [node-z](node:node-z)."),
        "parts[1].text",
        "there is never a node 'node-z'",
    ),
    "an unknown pod in a hint": (
        _set("parts.2.hints.0", "See [x](pod:default/x)."),
        "parts[2].hints[0]",
        "there is never a pod 'default/x'",
    ),
    "an unknown stage": (_set("parts.1.text", "At [it](stage:Filtre)."), "parts[1].text", "there is no stage 'Filtre'"),
    "an unknown kind of pointer": (
        _set("parts.1.text", "[x](javascript:alert)"),
        "parts[1].text",
        "a link cannot begin with 'javascript'",
    ),
    "a cell of an unknown pod": (
        _set("parts.1.text", "[x](cell:default/x@node-a@NodeAffinity)"),
        "parts[1].text",
        "there is never a pod 'default/x'",
    ),
    "a missing pod to look at": (
        _set("parts.1.look", {"pod": "default/x"}),
        "parts[1].look.pod",
        "there is never a pod",
    ),
    "a check that never holds": (
        _set("parts.2.check.0.holds", NEVER),
        "parts[2].right[0]",
        "this way does not solve the task: The pod api is on node-a.: default/api: expected node-z, is on node-a",
    ),
    "a check that always holds": (
        _set("parts.2.check", [{"say": "web runs", "holds": [{"pod": "default/web", "node": "node-b"}]}]),
        "parts[2].check",
        "the task is already done before the learner does anything",
    ),
    "a wrong way that holds": (
        _set("parts.2.wrong.0.do.0.apply.0.spec.nodeSelector", {"topology.kubernetes.io/zone": "a"}),
        "parts[2].wrong[0]",
        "this way solves the task",
    ),
    "an unused text": (
        _set("parts.2.wrong.0.says", "taint"),
        "parts[2].wrong[0].says",
        "the learner does not read 'taint' here",
    ),
    "a prediction without an answer": (
        _set("parts.0.predict", {"victims": "default/api"}),
        "parts[0].predict",
        "the question has no answer",
    ),
    "a question whose answer comes later": (
        _set("parts.1.question", {"winner": "default/api"}),
        "parts[1].question",
        "the question has no answer",
    ),
    "a tempting answer that is right": (
        _set("parts.0.predict.tempting", ["node-b"]),
        "parts[0].predict.tempting",
        "'node-b' is right",
    ),
    "a tempting answer that is not a choice": (
        _set("parts.0.predict.tempting", ["node-z"]),
        "parts[0].predict.tempting",
        "'node-z' is not a choice; the choices are node-a, node-b",
    ),
    "two options that are right": (
        _set("parts.1.question", {"ask": "?", "options": [{"text": "a", "holds": []}, {"text": "b", "holds": []}]}),
        "parts[1].question.options",
        "only one answer may be right",
    ),
    "no option that is right": (
        _set("parts.1.question", {"ask": "?", "options": [{"text": text, "holds": NEVER} for text in "ab"]}),
        "parts[1].question",
        "no answer is right",
    ),
    "a step that is refused": (
        _set("parts.0.do", [{"delete": {"object_kind": "Pod", "key": "default/x"}}]),
        "parts[0].do[0]",
        "this step is refused",
    ),
    "a right way that is refused": (
        _set("parts.2.right", [[{"delete": {"object_kind": "Pod", "key": "default/x"}}]]),
        "parts[2].right[0]",
        "a step of this way is refused",
    ),
    "an expectation that does not hold": (
        _set("parts.1.expect", [{"pod": "default/web", "node": "node-a"}]),
        "parts[1].expect[0]",
        "this does not hold: default/web: expected node-a, is on node-b",
    ),
    "an expectation within a step": (
        _set("parts.0.do", [{"pod": {}, "expect": [{"pod": "default/web", "node": "node-a"}]}]),
        "parts[0].do[0].expect[0]",
        "this does not hold",
    ),
    "an invalid manifest": (
        _set("setup.0.apply.2.spec.containers", []),
        "setup[0].apply[2].spec.containers",
        "Required value",
    ),
    "an invalid configuration": (
        _set("configuration", {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "X"}),
        "configuration",
        "X",
    ),
}


@pytest.mark.parametrize("words", SPOILT)
def test_an_error_is_reported_at_its_line(words: str) -> None:
    spoil, path, said = SPOILT[words]
    data = example()
    spoil(data)
    problems = problems_in(data)
    assert any(path in text and said in text and re.match(r"my\.yaml:\d+:\d+: ", text) for text in problems), problems


def test_a_known_answer_is_not_asked_as_a_prediction() -> None:
    data = example()
    data["parts"][1] = {
        "text": "Again.",
        "predict": {"refuses": "default/web", "node": "node-a"},
        "do": [{"settle": {}}],
    }
    assert any("the question has no answer" in text for text in problems_in(data))


def test_a_refused_step_is_reported_once() -> None:
    data = example()
    SPOILT["a step that is refused"][0](data)
    [problem] = problems_in(data)
    assert "parts[0].do[0]: this step is refused" in problem


def test_a_refused_setup_is_reported() -> None:
    data = example()
    data["setup"].append({"cordon": {"node": "node-z", "on": True}})
    assert any("setup[1]" in text for text in problems_in(data))


# --- what docs/lessons.md requires ---

DOCUMENT = Path("docs/lessons.md").read_text()


def table(heading: str) -> list[list[str]]:
    """Return the rows of the table under this heading, as lists of cells."""
    lines = DOCUMENT[DOCUMENT.index(heading) :].splitlines()[2:]
    rows = lines[: next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def named(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def test_the_document_lists_the_keys_of_a_lesson_and_which_are_needed() -> None:
    rows = table("| key | needed | holds |")
    assert {key for row in rows for key in named(row[0])} == {*KEYS}
    assert [key for row in rows if row[1] == "yes" for key in named(row[0])] == [*LESSON.required]


def test_the_document_lists_the_keys_of_a_part_and_their_requirements() -> None:
    section = DOCUMENT[DOCUMENT.index("## Parts") : DOCUMENT.index("## Pointers")]
    assert {key for key in PART_KEYS if f"`{key}`" in section} == {*PART_KEYS}
    needs = {row[0]: named(row[1]) for row in table("| where | needs |")}
    written = {key: [*needed] for key, needed in NEEDS.items() if needed != ("task",)}
    assert {key: needs[f"a part with `{key}`"][: len(needed)] for key, needed in written.items()} == written
    assert needs["an item of `check`"] == [*ITEM.required]
    assert needs["a way in `wrong`"] == [*WRONG.required]
    assert needs["a question with `options`"] == ["ask", *OPTION.required]


SMALLEST: dict[str, Any] = {"kind": "Lesson", "title": "t", "parts": [{"text": "t"}]}


def test_a_minimal_file_loads_and_plays() -> None:
    assert problems_in(SMALLEST) == []


@pytest.mark.parametrize("path", ["kind", "title", "parts", "parts.0.text"])
def test_without_something_that_is_needed_it_is_refused(path: str) -> None:
    data = deepcopy(SMALLEST)
    _set(path, None)(data)
    assert any("Required value" in text for text in problems_in(data))


HOLDS = [{"gone": "default/x"}]
STEPS = [{"settle": {}}]
FULL: dict[str, dict[str, Any]] = {
    "a task": {
        "task": "t",
        "check": [{"say": "s", "holds": HOLDS}],
        "hints": ["h"],
        "right": [STEPS],
        "wrong": [{"do": STEPS, "says": "s"}],
    },
    "a prediction": {
        "predict": {"ask": "a", "options": [{"text": "a", "holds": HOLDS}, {"text": "b", "holds": HOLDS}]}
    },
    "words": {"say": "s"},
}
NEEDED = [
    ("a task", path)
    for path in (
        "task",
        "check",
        "hints",
        "right",
        "wrong",
        "check.0.say",
        "check.0.holds",
        "wrong.0.do",
        "wrong.0.says",
    )
] + [("a prediction", f"predict.{path}") for path in ("ask", "options.0.text", "options.1.holds")]


def refused(part: dict[str, Any]) -> bool:
    try:
        read_lesson(yaml.safe_dump(SMALLEST | {"parts": [{"text": "t", **part}]}))
    except Rejected:
        return True
    return False


@pytest.mark.parametrize("name", FULL)
def test_a_minimal_part_loads(name: str) -> None:
    more = {} if name == "a task" else {"do": STEPS}
    assert not refused({**FULL[name], **more})
    assert name == "a task" or refused(FULL[name]), "do is required"


@pytest.mark.parametrize(("name", "path"), NEEDED)
def test_a_part_without_something_that_it_needs_is_refused(name: str, path: str) -> None:
    part = deepcopy(FULL[name]) | ({} if name == "a task" else {"do": STEPS})
    _set(path, None)(part)
    assert refused(part)
