"""Figures: what a reader changes is put into the scenario, every choice is played, and mistakes are named."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_engine.errors import Rejected
from scheduler_engine.lesson import figures, problems_of, read_lesson
from scheduler_engine.lesson.figure_file import FOLDER, MOST_CHOICES, load_figures, read_figure
from scheduler_engine.lesson.figures import put
from scheduler_engine.own_plugins import OwnPlugins
from tests.engine.own_plugin import Quiet, profile

DOCUMENT = Path("docs/lessons.md").read_text()
EXAMPLE: dict[str, Any] = yaml.safe_load(DOCUMENT.split("## Figures")[1].split("```yaml\n")[1].split("```")[0])
IN_LESSON = ("title", "change", "setup", "then", "expect", "configuration")


def mistakes(data: dict[str, Any]) -> list[str]:
    try:
        figure = read_figure(yaml.safe_dump(data, sort_keys=False), "my.yaml")
    except Rejected as refusal:
        return [str(error) for error in refusal.errors]
    return [f"{path}: {text}" for path, text in figures.problems_of(figure)]


def in_a_lesson(data: dict[str, Any]) -> dict[str, Any]:
    figure = {key: data[key] for key in IN_LESSON if key in data}
    return {"kind": "Lesson", "title": "t", "parts": [{"text": "t", "figure": figure}]}


def spoilt(path: str, value: Any) -> dict[str, Any]:
    data = deepcopy(EXAMPLE)
    *above, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place: Any = data
    for key in above:
        place = place[key]
    place[last] = value
    return data


def test_the_figure_of_the_documents_has_no_mistake() -> None:
    assert mistakes(EXAMPLE) == []


@pytest.mark.parametrize("figure", load_figures(FOLDER), ids=lambda figure: figure.slug)
def test_all_that_an_installed_figure_claims_holds(figure: figures.Figure) -> None:
    assert figure.cases
    assert [*figures.problems_of(figure)] == []


POD = "setup.0.apply.2.spec.containers.0.resources.requests.cpu"
WRONG = {
    "one value": (spoilt("change.0.values", ["1"]), "change[0].values", "at least 2"),
    "an unknown first value": (
        spoilt("change.0.at", 7),
        "change[0].at",
        'Unsupported value: "7": supported values: 500m, 1, 2',
    ),
    "two values of the same words": (
        spoilt("change.0.values", ["1", 1]),
        "change[0].values",
        "two values have the same words",
    ),
    "two knobs of one name": (spoilt("change.1.name", "cpu"), "change[1].name", '"cpu" is the name of another one'),
    "a name that is no word": (spoilt("change.0.name", "C P U"), "change[0].name", "must match"),
    "a knob that changes nothing": (spoilt(POD, "1"), "change[0].name", "$cpu stands nowhere"),
    "too many choices": (
        spoilt("change.0.values", [*range(MOST_CHOICES)]),
        "change",
        f"these are {2 * MOST_CHOICES} choices, and a figure has at most {MOST_CHOICES}",
    ),
    "a first value that Kubernetes refuses": (
        spoilt("change.0.values", [{"say": "1", "set": "a lot"}, "2"]),
        "setup[0].apply[2].spec.containers[0].resources.requests[cpu]",
        "quantities must match",
    ),
    "a later value that Kubernetes refuses": (
        spoilt("change.0.values", ["1", "a lot", "2"]),
        "setup",
        "with cpu: a lot, taints: none, this is refused",
    ),
    "a claim that does not hold": (
        spoilt("expect.0.at.taints", "dedicated=gpu"),
        "expect[0]",
        "with cpu: 2, taints: dedicated=gpu, this does not hold: default/web",
    ),
    "a claim about an unknown value": (spoilt("expect.0.at.cpu", 9), "expect[0].at.cpu", 'Unsupported value: "9"'),
    "a claim about an unknown knob": (
        spoilt("expect.0.at", {"gpu": 1}),
        "expect[0].at.gpu",
        'Unsupported value: "gpu": supported values: cpu, taints',
    ),
    "a value for all steps": (spoilt("then", "$taints"), "then", "$taints stands for a whole step"),
    "a value for a step": (spoilt("then", [{"settle": {}}, "$taints"]), "then[1]", "$taints stands for a whole step"),
    "a value for all fields of a step": (
        spoilt("then", [{"advance": "$taints"}]),
        "then[0].advance",
        "$taints stands for a whole step",
    ),
    "a value without words": (
        spoilt("change.0.values", [{"say": " ", "set": 1}, 2]),
        "change[0]",
        "say, and the words of each value, must not be empty",
    ),
    "no words": (spoilt("change.1.say", ""), "change[1]", "must not be empty"),
    "no setup": ({key: value for key, value in EXAMPLE.items() if key != "setup"}, "setup", "Required value"),
    "no changes": ({key: value for key, value in EXAMPLE.items() if key != "change"}, "change", "Required value"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_named_at_its_place_in_a_file_and_in_a_lesson(name: str) -> None:
    data, path, text = WRONG[name]
    found = mistakes(data)
    assert any(path in line and text in line for line in found), found
    try:
        in_lesson = problems_of(read_lesson(yaml.safe_dump(in_a_lesson(data), sort_keys=False), "my.yaml"))
    except Rejected as refusal:
        in_lesson = [str(error) for error in refusal.errors]
    assert any(f"parts[0].figure.{path}" in line and text in line for line in in_lesson), in_lesson


def test_a_figure_is_small() -> None:
    node, pod = EXAMPLE["setup"][0]["apply"][0], EXAMPLE["setup"][0]["apply"][2]
    pod = {**pod, "spec": {"nodeName": "node-a", "containers": [{"name": "main", "image": "pause"}]}}
    for copied, most, text in (
        (node, figures.MOST_NODES - 2, "there are 41 nodes and 1 pods; a figure has at most 40 and 200"),
        (pod, figures.MOST_PODS - 1, "there are 2 nodes and 201 pods"),
    ):
        data = deepcopy(EXAMPLE)
        more = [{**copied, "metadata": {"name": f"more-{number}"}} for number in range(most)]
        data["setup"].append({"apply": more})
        assert mistakes(data) == []
        more.append({**copied, "metadata": {"name": "too-many"}})
        found = mistakes(data)
        assert len(found) == 6, found
        assert all(text in line and line.startswith("setup: with cpu: ") for line in found), found


@pytest.mark.parametrize("key", ["seed", "title", "kubernetes", "queue_rules"])
def test_a_mark_elsewhere_is_no_value(key: str) -> None:
    texts = [error for error in mistakes({**EXAMPLE, key: "$cpu"}) if f" {key}: " in error]
    assert bool(texts) == (key != "title"), texts


def test_what_a_choice_is_refused_for_has_its_line_in_the_lesson() -> None:
    data = in_a_lesson(spoilt("change.0.values", ["1", "a lot", "2"]))
    # The setup of the lesson itself stands elsewhere.
    data = {"kind": "Lesson", "title": "t", "setup": [{"settle": {}}], "parts": data["parts"]}
    text = yaml.safe_dump(data, sort_keys=False)
    line = 1 + [row.strip() for row in text.splitlines()].index("- apply:")
    [first, *_] = problems_of(read_lesson(text, "my.yaml"))
    assert f"my.yaml:{line}:" in first.partition("this is refused: ")[2], (line, first)


def test_values_are_shown_with_all_their_digits() -> None:
    figure = read_figure(
        yaml.safe_dump({**spoilt("change.0.values", ["500m", 1, 1234567.25, 0.5]), "expect": []}), "my.yaml"
    )
    assert [value.say for value in figure.knobs[0].values] == ["500m", "1", "1234567.25", "0.5"]


def test_another_kind_and_another_version_are_refused() -> None:
    assert "this is a Scenario, not a Figure" in mistakes({**EXAMPLE, "kind": "Scenario"})[0]
    assert "this engine reads" in mistakes({**EXAMPLE, "apiVersion": "scheduler-sandbox/v9"})[0]


def test_values_stand_at_their_marks_and_null_leaves_the_key_out() -> None:
    data = {"a": "$cpu", "b": ["$cpu", "$off", "x"], "c": ({"d": "$off", "e": 1},), "f": "$HOME", "g": None}
    assert put(data, {"cpu": 2, "off": None}) == {"a": 2, "b": [2, "x"], "c": ({"e": 1},), "f": "$HOME", "g": None}


def test_a_figure_of_a_lesson_has_the_version_the_seed_and_the_name_of_its_lesson() -> None:
    data = {**in_a_lesson(EXAMPLE), "kubernetes": "v1.36", "seed": 5}
    lesson = read_lesson(yaml.safe_dump(data), "07-my-lesson.yaml")
    figure = lesson.parts[0].figure
    assert figure is not None
    assert (figure.slug, figure.written.kubernetes, figure.written.seed) == ("my-lesson-1", "v1.36", 5)
    there = lesson.under(lambda scenario: deepcopy(scenario)).parts[0].figure
    assert there == figure


def test_a_figure_of_a_lesson_may_name_the_plugins_that_its_lesson_may_name() -> None:
    text = yaml.safe_dump(in_a_lesson({**EXAMPLE, "configuration": profile("Quiet")}))
    assert problems_of(read_lesson(text, own=OwnPlugins((Quiet,)))) == []
    with pytest.raises(Rejected, match="Quiet"):
        read_lesson(text)


def test_each_choice_is_a_scenario_of_its_own_and_the_same_choice_the_same() -> None:
    figure = read_figure(yaml.safe_dump(EXAMPLE), "my.yaml")
    runs = {choice: figures.played(figure, choice).recorder.entries for choice in figure.choices()}
    assert len({figure.scenario(choice).slug for choice in runs}) == len(runs) == 6
    assert all(figures.played(figure, choice).recorder.entries == entries for choice, entries in runs.items())
