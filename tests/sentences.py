"""How code says the rows of word tables, and which sentences it still has itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter

Row = str | dict[str, str]
ENGINE = Path(__file__).parents[1] / "scheduler_engine"
SENTENCE = re.compile(r"\b[a-z]{2,},? [a-z]{2,}\b(?!-)")


@cache
def modules(root: Path) -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in sorted(root.rglob("*.py"))}


def places(text: str) -> set[str]:
    """Return the places of a row; of ``{event.node}``, ``event``."""
    return {name.partition(".")[0] for _, name, _, _ in Formatter().parse(text) if name}


def calls(root: Path, *names: str) -> Iterator[tuple[Path, ast.Call]]:
    for path, module in modules(root).items():
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                yield path, node


def said_keys(root: Path, rows: Mapping[str, Row]) -> set[str]:
    """Return the keys that code names, whole or in two parts: ``say(f"panels.{panel.id}")`` and ``"lesson"``."""
    trees = {**modules(ENGINE), **modules(root)}.values()
    names = {name for module in trees for node in ast.walk(module) if (name := _name(node))}
    starts = {
        str(start.value)
        for _, call in calls(root, "say")
        if isinstance(call.args[0], ast.JoinedStr) and isinstance(start := call.args[0].values[0], ast.Constant)
    }
    composed = (key for key in rows for start in starts if key.startswith(start) and key.removeprefix(start) in names)
    return names.intersection(rows).union(composed)


def _name(node: ast.AST) -> str:
    """Return the text of a constant, or the name of a class."""
    match node:
        case ast.Constant(value=str(name)) | ast.ClassDef(name=name):
            return name
    return ""


def wrong_in(rows: Mapping[str, Row], key: str, filled: set[str]) -> str:
    """Return what does not fit between a row and the places that somebody fills; empty if all does."""
    row = rows.get(key)
    if row is None:
        return f"no row {key}"
    many = isinstance(row, Mapping)
    if many and sorted(row) != ["one", "other"]:
        return f"{key} has {sorted(row)}"
    asked = places(row["one"]) | places(row["other"]) | {"count"} if isinstance(row, Mapping) else places(row)
    return "" if asked == filled else f"{key} has {sorted(asked)}, filled are {sorted(filled)}"


def wrong_calls(root: Path, rows: Mapping[str, Row], *names: str) -> list[str]:
    """Return the calls that say a row with other places than it has."""
    wrong = []
    for path, call in calls(root, *names):
        key = call.args[0]
        if not isinstance(key, ast.Constant) or any(keyword.arg is None for keyword in call.keywords):
            continue
        filled = {str(keyword.arg) for keyword in call.keywords}
        filled |= {str(gap.value) for gap in call.args[1:] if isinstance(gap, ast.Constant)}
        if said := wrong_in(rows, str(key.value), filled):
            wrong.append(f"{path.name}:{call.lineno}: {said}")
    return wrong


def text_of(node: ast.expr) -> str | None:
    """Return the text of a string or an f-string, with ``{}`` for what is filled in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
    return None


def shown_texts(node: ast.AST, unseen_calls: Container[str]) -> Iterator[tuple[int, str, bool]]:
    """Yield line and text of the strings in a tree that a person may read, and whether it begins a sentence.

    An f-string may be in the middle of one.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Assert) or (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
            continue
        if isinstance(child, ast.Call) and ast.unparse(child.func).split(".")[-1] in unseen_calls:
            continue
        text = text_of(child) if isinstance(child, ast.expr) else None
        if text is not None:
            yield child.lineno, text, isinstance(child, ast.JoinedStr) or text[:1].isupper()  # type: ignore[attr-defined]
        else:
            yield from shown_texts(child, unseen_calls)
