"""Read the tables of authority, and list all that they must have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from django.urls import get_resolver, resolve

FOLDER = Path(__file__).parent
LINK = "…"
"""Stands for the id and the token of a link in a path of the tables."""
SOCKET = "WS"
NAME = re.compile("<[a-z]+>")
"""A part of a path that a request fills in."""


@dataclass(frozen=True, slots=True)
class Row:
    """``what``: the kind of message on a live line. ``cells``: who → what happens."""

    method: str
    path: str
    what: str
    cells: dict[str, str]

    def __str__(self) -> str:
        return " ".join(filter(None, (self.method, self.path, self.what)))


@dataclass(frozen=True, slots=True)
class Table:
    requests: tuple[Row, ...]
    messages: tuple[Row, ...]
    """On live lines."""


@cache
def table(name: str) -> Table:
    """Return a table by the name of its file."""
    lines = [line for line in (FOLDER / f"{name}.txt").read_text().splitlines() if line and line[0] != "#"]
    who = lines[0].split()
    rows = [_row(line.split(), who) for line in lines[1:]]
    return Table(tuple(row for row in rows if row.method != SOCKET), tuple(row for row in rows if row.method == SOCKET))


def _row(words: list[str], who: list[str]) -> Row:
    method, path, *what = words[: -len(who)]
    return Row(method, path, " ".join(what), dict(zip(who, words[-len(who) :], strict=True)))


def filled(path: str, link: str) -> str:
    """Return a path of a table with a link in it."""
    return path.replace(LINK, link)


def every_route() -> set[str]:
    """Return the patterns of all addresses, as Django writes them."""
    return set(_walked(get_resolver().url_patterns))


def _walked(patterns: Iterable[Any], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from _walked(pattern.url_patterns, path)
        else:
            yield path


def route(path: str) -> str:
    """Return the pattern of a path of a table."""
    return str(resolve(NAME.sub("x", filled(path, f"{UUID(int=0)}/x"))).route)


def methods(path: str) -> set[str]:
    """Return the methods with which the tables have the address of a path. Whoever may GET it may ask for its HEAD."""
    wanted, names = route(path), ("sandboxes", "rooms", "others")
    known = {row.method for name in names for row in table(name).requests if route(row.path) == wanted}
    return known | ({"HEAD"} if "GET" in known else set())
