"""The page about versions lists every rule and every gate, as the tables have them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scheduler_engine.versions import (
    GATES,
    RELEASES,
    ROWS,
    UNSIMULATED,
    VERSIONS,
    Gate,
    Row,
    address_of,
    explanation,
    rules_for,
    value_text,
)
from scheduler_engine.versions.gates import ABSENT

PAGE = Path(__file__).parents[3] / "docs" / "versions.md"


def linked(source: str) -> str:
    address = address_of(source)
    assert address or source.endswith(".go"), f"no link for {source}"
    return f"[{source}]({address})" if address else f"`{source}`"


def rule(row: Row) -> tuple[str, ...]:
    values = [value_text(getattr(rules_for(version), row.name)) for version in VERSIONS]
    gate = f"`{row.gate}`" if row.gate else ""
    return f"{explanation(row)} `{row.name}`", *values, gate, linked(row.source)


def defaults(gate: Gate) -> tuple[str, ...]:
    """Return the row of a gate. One that can be changed in a version is in the other table for it."""
    shown = (
        "above" if gate is not held and held.defaults[place] != ABSENT else default
        for place, default in enumerate(gate.defaults)
        for held in (GATES.get(gate.name, gate),)
    )
    return f"`{gate.name}`", *shown


def table(heads: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in lines)


def test_the_page_lists_every_rule_and_every_gate(golden: Any) -> None:
    text = PAGE.read_text()
    tables = {
        "rules": table(("rule", *RELEASES, "gate", "source"), map(rule, ROWS)),
        "gates": table(("gate", *RELEASES), map(defaults, GATES.values())),
        "unsimulated": table(("gate", *RELEASES), map(defaults, UNSIMULATED.values())),
    }
    for name, rows in tables.items():
        text = re.sub(rf"(<!-- {name} -->\n).*?(?=<!-- end of {name} -->)", rf"\1\n{rows}\n", text, flags=re.DOTALL)
    golden(PAGE, text)


@pytest.mark.parametrize("release", RELEASES)
def test_the_page_names_every_release(release: str) -> None:
    assert release in PAGE.read_text().partition("##")[0]
