"""Every lesson holds under every version of Kubernetes, or says in a sentence what differs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from scheduler_engine.errors import Rejected
from scheduler_engine.lesson import load_lesson, problems_of, read_lesson
from scheduler_engine.versions import DEFAULT, VERSIONS
from tests.engine.lesson.test_lessons import FILES


@pytest.mark.parametrize("version", [version for version in VERSIONS if version != DEFAULT])
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_it_holds_under_each_version_or_says_what_differs(path: Path, version: str) -> None:
    lesson = load_lesson(path)
    there = lesson.under(lambda scenario: replace(scenario, kubernetes=version, feature_gates=None))
    assert bool(problems_of(there)) == (version in lesson.differs)


DIFFERING = """\
title: t
differs: {v1.35: "It is not so.", v1.36: "It is not so."}
parts:
- text: x
"""


def test_a_lesson_says_for_which_versions_it_holds() -> None:
    text = f"kind: Lesson\n{DIFFERING}"
    assert [*read_lesson(text).versions()] == [
        "What you read here holds for Kubernetes v1.34.1.",
        "v1.35.6 and v1.36.2: It is not so.",
    ]
    one = text.replace(', v1.36: "It is not so."', "")
    assert next(read_lesson(one).versions()) == "What you read here holds for Kubernetes v1.34.1 and v1.36.2."
    without = text.replace(text.splitlines()[2], "")
    assert [*read_lesson(without).versions()] == [
        "What you read here holds for Kubernetes v1.34.1, v1.35.6 and v1.36.2."
    ]


@pytest.mark.parametrize(
    ("kubernetes", "differs", "message"),
    [
        ("", "{v1.34: x}", "differs.v1.34: The lesson runs under this version. Name only others."),
        ("kubernetes: v1.36\n", "{v1.36: x}", "differs.v1.36: The lesson runs under this version. Name only others."),
        ("", "{v1.33: x}", "differs.v1.33"),
    ],
)
def test_a_lesson_names_only_other_versions_that_there_are(kubernetes: str, differs: str, message: str) -> None:
    text = f"kind: Lesson\n{kubernetes}title: t\ndiffers: {differs}\nparts:\n- text: x\n"
    with pytest.raises(Rejected) as refusal:
        read_lesson(text)
    assert message in str(refusal.value)
