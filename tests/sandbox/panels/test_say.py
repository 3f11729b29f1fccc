"""The table of sentences and the code agree: every key and every placeholder exists, and no row is unused."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

from sandbox.words.say import ROWS, around, say

ROOT = Path(__file__).parents[3] / "sandbox"
TEMPLATES = [path.read_text() for path in sorted((ROOT.parent / "templates").rglob("*.html"))]


@cache
def modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in sorted(ROOT.rglob("*.py"))}


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def calls(*names: str) -> Iterator[tuple[Path, ast.Call]]:
    for path, module in modules().items():
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                yield path, node


BEGUN = re.compile(r"say\(\"([a-z-]+\.[a-z-]*)\" ~")


def test_every_row_is_used() -> None:
    nodes = (node for module in modules().values() for node in ast.walk(module) if isinstance(node, ast.Constant))
    named = {node.value for node in nodes if isinstance(node.value, str)}
    named |= {key for key in ROWS if any(f'say("{key}"' in text for text in TEMPLATES)}
    # say("export." ~ form): keys with this prefix.
    begun = {start for text in TEMPLATES for start in BEGUN.findall(text)}
    named |= {key for key in ROWS if key.startswith((*begun,))}
    assert [key for key in ROWS if key not in named and key.removeprefix("things.") not in named] == []


def test_every_used_sentence_has_its_row_and_its_placeholders() -> None:
    wrong = []
    for path, call in calls("say", "around"):
        key = call.args[0]
        if not isinstance(key, ast.Constant) or any(keyword.arg is None for keyword in call.keywords):
            continue
        arguments = {str(keyword.arg) for keyword in call.keywords}
        arguments |= {str(gap.value) for gap in call.args[1:] if isinstance(gap, ast.Constant)}
        row = ROWS.get(str(key.value))
        if row is None:
            wrong.append(f"{path.name}:{call.lineno}: no row {key.value}")
        elif isinstance(row, dict):
            asked = places(row["one"]) | places(row["other"]) | {"count"}
            if sorted(row) != ["one", "other"] or asked != arguments:
                wrong.append(f"{path.name}:{call.lineno}: {key.value} has {sorted(asked)}, given {sorted(arguments)}")
        elif places(row) != arguments:
            wrong.append(f"{path.name}:{call.lineno}: {key.value} has {sorted(places(row))}, given {sorted(arguments)}")
    assert not wrong, "\n".join(wrong)


SENTENCE = re.compile(r"\b[a-z]{2,},? [a-z]{2,}\b(?!-)")
KUBERNETES_WORDS = ("nodes are available", "missing required label", "untolerated taint", "looking up PVC")
"""Parts of messages that a panel compares with, or composes as the API server does. ``cache/dump.py`` has no others."""


def test_no_panel_writes_a_sentence_itself() -> None:
    results = []
    for path, module in modules().items():
        if "panels" not in path.parts or path.name == "dump.py":
            continue
        for node in ast.walk(module):
            if isinstance(node, ast.JoinedStr):
                text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
                if SENTENCE.search(text) and not any(words in text for words in KUBERNETES_WORDS):
                    results.append(f"{path.name}:{node.lineno}: {text}")
    assert not results, "\n".join(results)


def test_a_number_chooses_between_one_and_many() -> None:
    assert [say("things.pod", count=number) for number in (0, 1, 2)] == ["0 pods", "1 pod", "2 pods"]


def test_a_sentence_is_cut_at_the_place_that_the_page_fills() -> None:
    assert around("lists.last", "name", names="a, b") == ("a, b and ", "")


def test_a_place_that_is_missing_is_an_error() -> None:
    with pytest.raises(KeyError):
        say("lists.last", names="a")
