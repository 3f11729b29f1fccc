"""The JSON Schemas of lessons and figures agree with what the engine reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from scheduler_engine.api.loading import read_documents
from scheduler_engine.lesson.figure_file import FOLDER
from scheduler_engine.lesson.schema import SCHEMAS
from tests.engine.lesson.test_checking import SPOILT, example
from tests.engine.lesson.test_figures import EXAMPLE, spoilt
from tests.engine.lesson.test_lessons import FILES

VALIDATORS = {kind: Draft202012Validator(schema()) for kind, schema in SCHEMAS.items()}
BY_SHAPE = ("not text", "an unknown key", "another kind", "another version", "two questions in one")
"""Mistakes that the shape of the file shows; the other ones need Kubernetes, or a play."""
WRONG_FIGURES = {
    "an unknown key": spoilt("changes", []),
    "one value": spoilt("change.0.values", ["1"]),
    "a name that is no word": spoilt("change.0.name", "C P U"),
    "a knob without words": spoilt("change.0", {"name": "cpu", "values": ["1", "2"]}),
    "steps that are none": spoilt("setup", ["apply"]),
}


def wrong(kind: str, data: Any) -> list[str]:
    return [error.message for error in VALIDATORS[kind].iter_errors(data)]


def as_in_yaml_1_2(data: Any) -> Any:
    """Return the data as editors read it: a bare ``on`` is a text there."""
    if isinstance(data, dict):
        return {"on" if key == "true" else key: as_in_yaml_1_2(value) for key, value in data.items()}
    return [as_in_yaml_1_2(item) for item in data] if isinstance(data, list) else data


@pytest.mark.parametrize("kind", SCHEMAS)
def test_it_is_a_schema_of_the_draft_that_it_names(kind: str) -> None:
    schema = SCHEMAS[kind]()
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:scheduler-sandbox:{kind}:v1"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_installed_lesson_conforms(path: Path) -> None:
    assert wrong("lesson", as_in_yaml_1_2(read_documents(path.read_bytes())[0].data)) == []


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_an_installed_figure_conforms(path: Path) -> None:
    assert wrong("figure", yaml.safe_load(path.read_text())) == []
    assert wrong("figure", EXAMPLE) == []


@pytest.mark.parametrize("name", BY_SHAPE)
def test_a_lesson_of_a_wrong_shape_does_not_conform(name: str) -> None:
    data = example()
    assert wrong("lesson", data) == []
    SPOILT[name][0](data)
    assert wrong("lesson", data)


@pytest.mark.parametrize("name", WRONG_FIGURES)
def test_a_figure_of_a_wrong_shape_does_not_conform(name: str) -> None:
    assert wrong("figure", WRONG_FIGURES[name])
