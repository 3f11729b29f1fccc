"""The JSON Schema is generated from the tables, is part of the package, and agrees with the engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from scheduler_engine.api.loading import read_documents
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import ASSERTIONS, FOLDER, load_scenario, read_scenario
from scheduler_engine.scenario.schema import FILE, schema, text
from scheduler_engine.scenario.writing import dump
from tests.engine.scenario.test_expectations import CASES
from tests.engine.scenario.test_loading import BAD

VALIDATOR = Draft202012Validator(schema())
FILES = sorted(FOLDER.glob("*.yaml"))
ONLY_THE_ENGINE_SAYS = {
    "a feature gate of another version": "a value elsewhere in the file",
    "a feature gate of another version in a step": "a value elsewhere in the step",
    "a locked feature gate": "a value elsewhere in the file",
    "a field that only a later version has": "Kubernetes' own validation",
    "a configuration of a later version": "Kubernetes' own validation",
    "an amount that only the command knows to be wrong": "a bound that follows from the clock",
    "a manifest that Kubernetes would refuse": "Kubernetes' own validation",
    "a configuration that Kubernetes would refuse": "Kubernetes' own validation",
    "a configuration of a step that Kubernetes would refuse": "Kubernetes' own validation",
    "two steps of one name": "a value elsewhere in the file",
}
NO_DATA = {
    "an empty file",
    "nothing but a comment",
    "not YAML",
    "a tab character as indentation",
    "an unknown anchor",
    "two documents",
    "a repeated key",
    "more values than one text may hold",
    "aliases of aliases",
}
"""Texts that a YAML parser refuses or does not report."""


def test_the_packaged_file_equals_the_generated_one(golden: Callable[[Path, str], None]) -> None:
    golden(FILE, text())


def test_it_is_a_schema_of_the_draft_that_it_names() -> None:
    Draft202012Validator.check_schema(json.loads(FILE.read_text()))
    assert json.loads(FILE.read_text())["$id"] == "urn:scheduler-sandbox:scenario:v1"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_scenario_of_this_installation_conforms(path: Path) -> None:
    for data in (read_documents(path.read_bytes())[0].data, yaml.safe_load(dump(load_scenario(path)))):
        assert [error.message for error in VALIDATOR.iter_errors(data)] == []


@pytest.mark.parametrize("words", CASES)
def test_an_expectation_conforms(words: str) -> None:
    data = {"title": "t", "then": [{"run": {}, "expect": [CASES[words][1]]}], "expect": [CASES[words][2]]}
    assert [error.message for error in VALIDATOR.iter_errors(data)] == []


@pytest.mark.parametrize("words", [words for words in BAD if words not in NO_DATA])
def test_data_that_the_engine_refuses_does_not_conform(words: str) -> None:
    conforms = VALIDATOR.is_valid(yaml.safe_load(BAD[words][0]))
    assert conforms is (words in ONLY_THE_ENGINE_SAYS)


STEPS: list[Any] = [
    {"run": {}}, {"run": None}, {"run": {}, "stage": {}}, {}, {"expect": []}, {"expect": [], "say": "x"}, {"say": "x"},
    {"advance": None}, {"advance": {"seconds": True}}, {"advance": {"seconds": 1, "until": -1}}, {"stage": {"a": 1}},
    {"run": {"cycles": 1.5}}, {"run": {"cycles": 10_001}}, {"apply": [1]}, {"apply": {}}, {"apply": []}, "run", None,
    {"replica": {"replica": "a", "action": "rate", "rate": "1/2"}}, {"usage": {"memory": None}},
    {"usage": {"memory": 5}},
    {"configure": {}}, {"configure": {"configuration": None}}, {"configure": {"configuration": []}},
    {"run": {}, "expect": {}}, {"run": {}, "expect": [{}]}, {"run": {}, "refused": ""}, {"run": {}, "name": "x" * 101},
    {"run": {}, "expect": [{"leader": ["a"], "transitions": 1}]}, {"run": {}, "expect": [{"leader": 1}]},
    {"run": {}, "expect": [{"order": [{"at": 1}]}]}, {"run": {}, "expect": [{"count": {"selector": {"a": 1}}}]},
]  # fmt: skip


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_schema_and_engine_agree_on_a_step(step: Any) -> None:
    data = {"title": "t", "then": [step]}
    try:
        read_scenario(json.dumps(data))
    except Rejected:
        assert not VALIDATOR.is_valid(data)
    else:
        assert VALIDATOR.is_valid(data)


def test_every_expectation_has_a_description() -> None:
    definitions = schema()["$defs"]
    assert all(definitions[f"expect-{name}"]["description"] for name in ASSERTIONS)
