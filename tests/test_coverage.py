"""Open every place where docs/coverage.md shows a capability. Name what is missing."""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from scheduler_engine.lesson import load_lesson
from scheduler_engine.scenario import FOLDER, load_scenario

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/coverage.md"
ANCHORS: dict[str, list[dict[str, Any]]] = yaml.safe_load((ROOT / "docs/coverage.yaml").read_text())
CELLS = ("id", "what", "learn", "scenarios", "elsewhere")
COUNTS = {"Q": 10, "C": 8, "F": 8, "D": 12, "P": 8, "L": 6, "U": 7, "X": 29}
"""How many capabilities each group has, numbered from 1."""
SHELVES = ("lessons", "misconceptions", "challenges")
COURSE = "QCFDPL"
"""The groups that the course teaches."""


def row_of(line: str) -> dict[str, str]:
    """Return the row's cells by name; {} for a line that is not a capability."""
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    return dict(zip(CELLS, cells, strict=True)) if re.match(r"\| [A-Z]\d+ \|", line) else {}


def rows() -> list[dict[str, str]]:
    return [row for line in PAGE.read_text().splitlines() if (row := row_of(line))]


def link(title: str, path: Path) -> str:
    return f"[{title}](../{path.relative_to(ROOT)})"


@functools.cache
def learnt() -> dict[str, list[str]]:
    """Return id → links to lessons, misconceptions and challenges."""
    results = defaultdict(list)
    for shelf in SHELVES:
        for path in sorted((FOLDER.parent / shelf).glob("*.yaml")):
            lesson = load_lesson(path)
            for row in lesson.rows:
                results[row].append(link(lesson.title, path))
    return dict(results)


@functools.cache
def played() -> dict[str, list[str]]:
    """Return id → links to scenarios."""
    results = defaultdict(list)
    for path in sorted(FOLDER.glob("*.yaml")):
        scenario = load_scenario(path)
        results[scenario.group].append(link(scenario.title, path))
    return dict(results)


def elsewhere(anchors: list[dict[str, Any]]) -> str:
    """Return the last column: other places, and what is missing."""
    texts = [said(anchor) for anchor in anchors if "says" in anchor]
    missing = [f"**missing**: {anchor['missing']}" for anchor in anchors if "missing" in anchor]
    return "; ".join(texts + missing)


def said(anchor: dict[str, Any]) -> str:
    if "section" in anchor:
        return f"[{anchor['says']}]({anchor['section']})"
    if "command" in anchor:
        return f"[{anchor['says']}](command-line.md#{anchor['command']})"
    return f"[{anchor['says']}](api.md#routes)" if "route" in anchor else str(anchor["says"])


def test_the_page_agrees_with_lessons_and_scenarios(golden: Callable[[Path, str], None]) -> None:
    lessons, stories = learnt(), played()
    lines = PAGE.read_text().splitlines()
    for number, line in enumerate(lines):
        if row := row_of(line):
            row |= {"learn": "; ".join(lessons.get(row["id"], ())), "scenarios": "; ".join(stories.get(row["id"], ()))}
            row["elsewhere"] = elsewhere(ANCHORS.get(row["id"], []))
            lines[number] = f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in row.values())}|"
    golden(PAGE, "\n".join(lines) + "\n")


def test_each_capability_has_one_row_in_which_something_stands() -> None:
    wanted = [f"{group}{number}" for group, count in COUNTS.items() for number in range(1, count + 1)]
    assert [row["id"] for row in rows()] == wanted
    assert [row["id"] for row in rows() if not (row["learn"] or row["scenarios"] or row["elsewhere"])] == []


def test_lessons_and_scenarios_name_no_unknown_id() -> None:
    known = {row["id"] for row in rows()}
    assert {*learnt(), *played()} <= known


def test_a_shown_capability_has_a_place_and_a_missing_one_is_named() -> None:
    known = {row["id"] for row in rows()}
    assert {*ANCHORS} <= known
    assert known - {*ANCHORS, *learnt(), *played()} == set()


def test_the_course_teaches_every_group() -> None:
    lessons = [load_lesson(path) for path in sorted((FOLDER.parent / "lessons").glob("*.yaml"))]
    taught = Counter(row[0] for lesson in lessons for row in lesson.rows)
    assert {group for group in COURSE if taught[group] < 2} == set()
    assert all(lesson.rows for lesson in lessons)
