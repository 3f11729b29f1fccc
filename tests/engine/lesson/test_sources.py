"""Each statement that a lesson or a round of practice teaches has a row with its source in ``sources.yaml``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_engine.lesson import Lesson, load_lesson
from scheduler_engine.lesson.daily import PROBLEMS, daily
from scheduler_engine.words import keys_of, say
from tests.engine.lesson.test_lessons import FILES

ROOT = Path(__file__).resolve().parents[3]
TABLE: dict[str, list[dict[str, Any]]] = yaml.safe_load(Path(__file__).with_name("sources.yaml").read_text())
DAILY, PRACTICE = "daily", "practice"
UPSTREAM = re.compile(r"(scheduler-plugins )?(cmd|pkg|plugin|staging/src)/[\w./-]+/\w+\.go \w+")
"""A file of kubernetes v1.34.1 or of scheduler-plugins that is not a test, and a function or a type in it."""
SEED = re.compile(r"seed 00[0134]|seed 002 §([1-9]|1[01])")
OUR_OWN = re.compile(r"(docs/[\w-]+\.md) (.+)")
"""One of our documents and a heading in it: for statements about the sandbox, not Kubernetes."""


def statements(lesson: Lesson) -> list[str]:
    return [text for text in (lesson.belief, lesson.truth, *lesson.know) if text]


def taught() -> dict[str, list[str]]:
    """Return all statements, by the name of their lesson."""
    statements_of = {lesson.slug: statements(lesson) for lesson in map(load_lesson, FILES)}
    rules = [say(f"practice.{key}") for key in keys_of("practice") if key.startswith("rule-")]
    drawn = [text for seed in range(len(PROBLEMS)) for text in statements(daily(seed))]
    return statements_of | {DAILY: drawn, PRACTICE: rules}


def sources() -> Iterator[tuple[str, str]]:
    """Yield (statement, source) of every row."""
    for rows in TABLE.values():
        for row in rows:
            for source in row["in"]:
                yield row["says"], source


def is_known(source: str) -> bool:
    if our_own := OUR_OWN.fullmatch(source):
        path = ROOT / our_own[1]
        return path.exists() and re.search(rf"^#+ {re.escape(our_own[2])}$", path.read_text(), re.MULTILINE) is not None
    return bool((UPSTREAM.fullmatch(source) and "_test.go" not in source) or SEED.fullmatch(source))


def test_every_statement_has_a_row_and_every_row_a_statement() -> None:
    assert {slug: [row["says"] for row in rows] for slug, rows in TABLE.items()} == taught()


def test_every_row_names_a_source_of_a_known_form() -> None:
    assert [says for rows in TABLE.values() for says in (row["says"] for row in rows if not row["in"])] == []
    assert [(says, source) for says, source in sources() if not is_known(source)] == []


@pytest.mark.parametrize(
    "source",
    [
        "",
        "pkg/scheduler/schedule_one.go",
        "pkg/scheduler/schedule_one_test.go TestSelectHost",
        "scheduler_engine/queue/heap.py Heap",
        "seed 002",
        "seed 002 §12",
        "seed 005",
        "docs/guide.md No such heading",
        "docs/no-such-page.md The past",
        "https://kubernetes.io/docs/",
    ],
)
def test_a_source_must_name_a_place(source: str) -> None:
    assert not is_known(source)


def test_our_own_documents_speak_of_the_sandbox_alone() -> None:
    our_own = {says for says, source in sources() if OUR_OWN.fullmatch(source)}
    others = {says for says, source in sources() if not OUR_OWN.fullmatch(source)}
    about_the_sandbox = {
        text for lesson in map(load_lesson, FILES) if lesson.slug == "stepping-and-looking-back" for text in lesson.know
    }
    assert our_own - others == about_the_sandbox
