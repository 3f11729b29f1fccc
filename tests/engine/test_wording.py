"""The tables of texts and the code that names their rows agree: every key has a row, and every row a use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import scheduler_engine
from scheduler_engine import wording
from scheduler_engine.framework.facts import (
    Amount,
    Counts,
    Domain,
    Keys,
    Label,
    Place,
    Things,
    Value,
    constraint_domains,
    fact,
)
from scheduler_engine.trace.events import HintAnswered

ROOT = Path(scheduler_engine.__file__).parent
TABLES = {key.partition(".")[0] for key in wording.ROWS} - {"values", "things"}
PARTS = {"says", "brief", "label", "formula", "note"}


NOT_WORDED = {"spread.standing"}
"""Facts that panels show as numbers only."""
HINT = re.compile(r"\(Hint\.(QUEUE|SKIP), ")


@cache
def nodes() -> tuple[ast.AST, ...]:
    return tuple(node for path in sorted(ROOT.rglob("*.py")) for node in ast.walk(ast.parse(path.read_text())))


def texts(node: ast.AST) -> Iterator[str]:
    """Yield the constants that an expression may evaluate to."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*texts(node.body), *texts(node.orelse))


@cache
def key_patterns() -> tuple[re.Pattern[str], ...]:
    """Return patterns of composed keys: of a table and what follows, or of a key and an ending."""
    results = []
    for node in nodes():
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else None for part in node.values]
            begins, ends = str(parts[0] or "").partition(".")[0] in TABLES, re.fullmatch("(-[a-z]+)+", str(parts[-1]))
            if begins or ends:
                results.append(
                    re.compile("".join("[a-z0-9.-]*" if part is None else re.escape(str(part)) for part in parts))
                )
    return tuple(results)


def test_every_row_is_the_key_of_some_fact() -> None:
    whole = {text for node in nodes() for text in texts(node)}
    keys = [key for key in wording.ROWS if key.partition(".")[0] in TABLES and key not in whole]
    assert [key for key in keys if not any(pattern.fullmatch(key) for pattern in key_patterns())] == []


def test_every_key_of_a_fact_has_its_row() -> None:
    calls = (node for node in nodes() if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    named = {text for call in calls if call.func.id == "fact" for text in texts(call.args[0])}  # type: ignore[attr-defined]
    assert sorted(named - {*wording.ROWS} - NOT_WORDED) == []
    assert len(named) > 50


def parts() -> Iterator[tuple[str, str, Any]]:
    for key, row in wording.ROWS.items():
        if key.partition(".")[0] in TABLES:
            for part, text in row.items():
                yield key, part, text


def test_a_row_has_known_parts_and_parsable_placeholders() -> None:
    for key, part, text in parts():
        assert part in PARTS, key
        for row in text.values() if isinstance(text, dict) else [text]:
            assert list(Formatter().parse(row)), key


VALUES: dict[str, tuple[dict[str, Value], str]] = {
    "amounts of one resource have one unit": (
        {"used": Amount("memory", 1 << 30), "asked": Amount("memory", 1 << 20), "cpu": Amount("cpu", 500)},
        "used 1024Mi asked 1Mi cpu 500m",
    ),
    "many names are cut": (
        {"pods": Keys(f"default/p-{n}" for n in range(8))},
        "pods p-0, p-1, p-2, p-3, p-4 and 3 more",
    ),
    "another namespace is named": ({"pod": Keys(("blue/web",))}, "pod blue/web"),
    "a topology key is named by its last part": ({"domain": Domain("topology.kubernetes.io/zone")}, "domain zone"),
    "a topology key is whole if another one ends alike": (
        {"domain": Domain("a.io/rack", whole=True)},
        "domain a.io/rack",
    ),
    "a constraint is named by its selector if another one has its key": (
        {"domain": Domain("a.io/rack", selector="app=web")},
        "domain rack (app=web)",
    ),
    "or by its number": ({"domain": Domain("a.io/rack", whole=True, number=2)}, "domain a.io/rack (constraint 2)"),
    "a place has the whole key if another one ends alike": (
        {"where": Place("a.io/rack", "r1", whole=True)},
        "where in a.io/rack r1",
    ),
    "a host is a node": ({"domain": Domain("kubernetes.io/hostname")}, "domain node"),
    "a place": ({"where": Place("topology.kubernetes.io/zone", "a")}, "where in zone a"),
    "a missing label": ({"label": Label("disk", None)}, "label no label disk"),
    "the lowest count is pointed out": ({"counts": Counts((("a", 2), ("b", 0)), 0)}, "counts a 2, b 0 (fewest)"),
    "an empty label value is called empty": (
        {"where": Place("topology.kubernetes.io/zone", ""), "counts": Counts((("", 2),))},
        "where in zone (empty) counts (empty) 2",
    ),
    "the lowest of many counts are shown, and the node's own": (
        {"counts": Counts(tuple((f"z{number}", number) for number in range(12)), 0, "z11")},
        "counts z0 0 (fewest), z1 1, z2 2, z3 3, z4 4, z5 5, z6 6, z11 11 and 4 more",
    ),
    "one of a kind": ({"pods": Things("pod", 1)}, "pods 1 pod"),
    "a number below 0 has a minus sign": ({"skew": -2}, "skew −2"),
}


HOST = "kubernetes.io/hostname"
CONSTRAINTS: dict[str, tuple[list[tuple[str, str, int]], list[str]]] = {
    "keys that end differently are short": ([(HOST, "a=b", 1), ("x/zone", "a=b", 2)], ["node", "zone"]),
    "keys that end alike are whole": ([("x/zone", "a=b", 1), ("y/zone", "a=b", 2)], ["x/zone", "y/zone"]),
    "so is the host beside another node": ([(HOST, "a=b", 1), ("x/node", "a=b", 2)], [HOST, "x/node"]),
    "equal keys have their selectors": ([("x", "a=b", 1), ("x", "a=c", 2)], ["x (a=b)", "x (a=c)"]),
    "equal selectors too have their numbers": (
        [("x", "a=b", 3), ("x", "a=b", 1)],
        ["x (constraint 3)", "x (constraint 1)"],
    ),
    "so has a selector of nobody": ([("x", "a=b", 1), ("x", "", 2)], ["x (constraint 1)", "x (constraint 2)"]),
    "both can happen": (
        [("x/zone", "a=b", 1), ("x/zone", "a=c", 2), ("y/zone", "a=b", 3)],
        ["x/zone (a=b)", "x/zone (a=c)", "y/zone"],
    ),
}


@pytest.mark.parametrize("case", CONSTRAINTS)
def test_no_two_constraints_that_are_shown_together_read_alike(case: str) -> None:
    constraints, texts_of = CONSTRAINTS[case]
    domains = constraint_domains(constraints)
    assert [wording.written({"domain": domain})["domain"] for domain in domains] == texts_of


@pytest.mark.parametrize("case", VALUES)
def test_a_value_is_written_by_its_type(case: str) -> None:
    values, text = VALUES[case]
    assert " ".join(f"{name} {word}" for name, word in wording.written(values).items()) == text


def test_the_sign_of_a_sum_follows_the_decision() -> None:
    numbers = {"used": 1, "asked": 2, "whole": 3, "total": 4, "rest": 1}
    values = {name: Amount("cpu", number) for name, number in numbers.items()}
    texts = [wording.worded(fact("fit.enough", ok, **values, resource="cpu"), "formula") for ok in (True, False)]
    assert texts == ["1m used + 2m requested = 3m ≤ 4m allocatable", "1m used + 2m requested = 3m > 4m allocatable"]


def test_a_hint_is_worded_with_the_change_and_its_own_text_stays_as_it_is() -> None:
    answer = HintAnswered("default/web", "Fit", "NodeAdd", "n2", "Queue", "hints.node-large-enough")
    assert wording.hint(answer) == "n2 was new and large enough"
    assert wording.hint(replace(answer, why="the closet is open")) == "the closet is open"
    assert wording.hint(replace(answer, why="fit.fits")) == "fit.fits"


def test_every_hint_of_the_engine_has_its_words() -> None:
    named = {text for node in nodes() for text in texts(node) if re.fullmatch(r"hints\.[a-z-]+", text)}
    assert named == wording.HINTS
    answers = (node.value for node in nodes() if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple))
    said = [text for answer in answers if HINT.match(ast.unparse(answer)) for text in texts(answer.elts[1])]
    assert len(said) > 80
    assert [text for text in said if text not in named] == []
