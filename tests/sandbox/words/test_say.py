"""The table of sentences and the code agree: every key and every place is there, and no row is left over."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter

import jinja2
import pytest
from jinja2 import nodes as jinja
from markupsafe import Markup

from sandbox.web.jinja2 import say_html
from sandbox.words.say import ROWS, around, say

ROOT = Path(__file__).parents[3] / "sandbox"
TEMPLATES = ROOT.parent / "templates"


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


@cache
def calls_of_templates() -> list[tuple[Path, str, jinja.Call]]:
    """Template, name of the function, call."""
    read = jinja2.Environment()
    return [
        (path, call.node.name, call)
        for path in sorted(TEMPLATES.rglob("*.html"))
        for call in read.parse(path.read_text()).find_all(jinja.Call)
        if isinstance(call.node, jinja.Name) and call.node.name in {"say", "say_html"}
    ]


def test_every_row_is_said_by_somebody() -> None:
    nodes = (node for module in modules().values() for node in ast.walk(module) if isinstance(node, ast.Constant))
    named = {node.value for node in nodes if isinstance(node.value, str)}
    for _, _, call in calls_of_templates():
        match call.args[0]:
            case jinja.Const(value=key):
                named.add(key)
            case jinja.Concat(nodes=[jinja.Const(value=start), *_]):
                # say("export." ~ form): what begins so.
                named |= {key for key in ROWS if key.startswith(start)}
    assert [key for key in ROWS if key not in named and key.removeprefix("things.") not in named] == []


def wrong_in(key: str, given: set[str]) -> str:
    """What does not fit between a row and the places that somebody fills; empty if all does."""
    row = ROWS.get(key)
    if row is None:
        return f"no row {key}"
    many = isinstance(row, Mapping)
    if many and sorted(row) != ["one", "other"]:
        return f"{key} has {sorted(row)}"
    asked = places(row["one"]) | places(row["other"]) | {"count"} if isinstance(row, Mapping) else places(row)
    return "" if asked == given else f"{key} has {sorted(asked)}, given {sorted(given)}"


def test_every_sentence_that_is_said_has_its_row_and_its_places() -> None:
    wrong = []
    for path, call in calls("say", "around"):
        key = call.args[0]
        if not isinstance(key, ast.Constant) or any(keyword.arg is None for keyword in call.keywords):
            continue
        given = {str(keyword.arg) for keyword in call.keywords}
        given |= {str(gap.value) for gap in call.args[1:] if isinstance(gap, ast.Constant)}
        if said := wrong_in(str(key.value), given):
            wrong.append(f"{path.name}:{call.lineno}: {said}")
    assert not wrong, "\n".join(wrong)


def test_every_sentence_of_a_template_has_its_row_and_its_places() -> None:
    wrong = []
    for path, _, call in calls_of_templates():
        key = call.args[0]
        if isinstance(key, jinja.Const) and (said := wrong_in(key.value, {keyword.key for keyword in call.kwargs})):
            wrong.append(f"{path.name}:{call.lineno}: {said}")
    assert not wrong, "\n".join(wrong)


def test_only_say_html_says_a_row_with_marks() -> None:
    marked = {key for key, row in ROWS.items() if re.search(r"\*\*|`", str(row))}
    said = [(path, call.args[0]) for path, name, call in calls_of_templates() if name == "say"]
    assert [path.name for path, key in said if isinstance(key, jinja.Const) and key.value in marked] == []


def test_marks_of_a_row_become_elements_and_its_places_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ROWS, "some.row", "**{pod}** & `kubectl` on {node}")
    said = say_html("some.row", pod="<a>", node=Markup("<i>n1</i>"))
    assert said == "<b>&lt;a&gt;</b> &amp; <code>kubectl</code> on <i>n1</i>"


SENTENCE = re.compile(r"\b[a-z]{2,},? [a-z]{2,}\b(?!-)")
KUBERNETES_WORDS = ("nodes are available", "missing required label", "untolerated taint", "looking up PVC")
"""In messages that a panel compares with, or makes as the API server does; ``cache/dump.py`` has nothing else."""


def test_no_panel_writes_a_sentence_itself() -> None:
    found = []
    for path, module in modules().items():
        if "panels" not in path.parts or path.name == "dump.py":
            continue
        for node in ast.walk(module):
            if isinstance(node, ast.JoinedStr):
                text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
                if SENTENCE.search(text) and not any(words in text for words in KUBERNETES_WORDS):
                    found.append(f"{path.name}:{node.lineno}: {text}")
    assert not found, "\n".join(found)


def test_a_number_chooses_between_one_and_many() -> None:
    assert [say("things.pod", count=number) for number in (0, 1, 2)] == ["0 pods", "1 pod", "2 pods"]


def test_a_sentence_is_cut_at_the_place_that_the_page_fills() -> None:
    assert around("lists.last", "name", names="a, b") == ("a, b and ", "")


def test_a_place_that_is_missing_is_an_error() -> None:
    with pytest.raises(KeyError):
        say("lists.last", names="a")
