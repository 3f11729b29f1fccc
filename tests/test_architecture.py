"""docs/architecture.md names layers and functions that exist, and times as they were measured."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/architecture.md").read_text()
PERFORMANCE = (ROOT / "docs/performance.md").read_text()
WITHOUT_HTTP = ("words", "panels", "content", "storage", "worker", "pool", "changes")
"""Layers whose code neither reads requests nor makes answers."""


def rows(text: str, name: str) -> list[list[str]]:
    """Return the cells of the table between the comments ``name`` and ``end of name``, without its head."""
    table = text.split(f"<!-- {name} -->")[1].split(f"<!-- end of {name} -->")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def names_in(path: Path) -> set[str]:
    """Return the functions, classes and methods of a module."""
    tree = ast.parse(path.read_text())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = {node.name for node in tree.body if isinstance(node, kinds)}
    methods = {
        f"{node.name}.{method.name}"
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for method in node.body
        if isinstance(method, kinds)
    }
    return names | methods


def test_each_package_of_the_site_is_a_layer_with_a_file_to_start_with() -> None:
    layers = {cells[0].strip("`"): cells[2].strip("`") for cells in rows(PAGE, "layers")}
    packages = {path.name for path in (ROOT / "sandbox").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert set(layers) == packages
    assert [path for path in layers.values() if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize("place", [cells[1].strip("`") for cells in rows(PAGE, "path")])
def test_each_place_on_the_way_of_a_click_is_there(place: str) -> None:
    path, _, name = place.partition("::")
    assert (ROOT / path).is_file()
    assert not name or name in names_in(ROOT / path)


def test_the_times_on_the_way_of_a_click_are_those_that_were_measured() -> None:
    measured = {cells[0]: cells[1].split("/")[0].strip() for cells in rows(PERFORMANCE, "phases")}
    shown = {phase: ms for *_, phase, ms in rows(PAGE, "path") if phase}
    assert shown == {phase: measured[phase] for phase in shown}


@pytest.mark.parametrize("layer", WITHOUT_HTTP)
def test_layers_below_the_web_know_no_http(layer: str) -> None:
    http = re.compile(r"^\s*(?:from|import) django\.(?:http|shortcuts|urls|views|middleware)\b", re.MULTILINE)
    paths = sorted((ROOT / "sandbox" / layer).rglob("*.py"))
    assert paths
    assert [str(path) for path in paths if http.search(path.read_text())] == []
