"""Functions of texts and patterns.

Source: upstream ``cel-go/ext/strings.go``, ``apiserver/pkg/cel/library/regex.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from scheduler_engine.api.cel.typed import Function, typed
from scheduler_engine.api.cel.values import CelError, equal, no_overload


@lru_cache(maxsize=256)
def pattern(text: str) -> Any:
    """Return a compiled pattern: RE2 matches in linear time, so that no pattern can hang. Raises CelError."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as problem:
        reason = problem.args[0] if problem.args else ""
        detail = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise CelError(f"error parsing regexp: {detail}") from None


@typed("matches", str, str)
def matches(text: str, wanted: str) -> bool:
    return pattern(wanted).search(text) is not None


@typed("find", str, str)
def find(text: str, wanted: str) -> str:
    found = pattern(wanted).search(text)
    return "" if found is None else str(found.group())


@typed("findAll", str, str, int)
def find_all(text: str, wanted: str, most: int = -1) -> list[str]:
    found = [str(match.group()) for match in pattern(wanted).finditer(text)]
    return found if most < 0 else found[:most]


@typed("charAt", str, int)
def char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise CelError(f"index out of range: {index}")
    return text[index : index + 1]


def index_of(held: Any, item: Any, start: Any = 0) -> int:
    if isinstance(held, list):
        return next((index for index, other in enumerate(held) if equal(other, item)), -1)
    if not (isinstance(held, str) and isinstance(item, str)):
        raise no_overload("indexOf", held, item)
    if start and not 0 <= start < len(held):
        raise CelError(f"index out of range: {start}")
    return held.find(item, start)


def last_index_of(held: Any, item: Any, end: Any = None) -> int:
    if isinstance(held, list):
        return next((index for index in range(len(held) - 1, -1, -1) if equal(held[index], item)), -1)
    if not (isinstance(held, str) and isinstance(item, str)):
        raise no_overload("lastIndexOf", held, item)
    if end is None:
        return held.rfind(item)
    if not 0 <= end < len(held):
        raise CelError(f"index out of range: {end}")
    return held.rfind(item, 0, end + len(item))


@typed("join", list, str)
def join(items: list[Any], between: str = "") -> str:
    if not all(isinstance(item, str) for item in items):
        raise no_overload("join", items, between)
    return between.join(items)


@typed("replace", str, str, str, int)
def replace(text: str, old: str, new: str, most: int = -1) -> str:
    return text.replace(old, new, most)


@typed("split", str, str, int)
def split(text: str, by: str, most: int = -1) -> list[str]:
    if most == 0:
        return []
    parts = text.split(by, most - 1 if most > 0 else -1) if by else list(text)
    return parts if by or most < 0 else [*parts[: most - 1], "".join(parts[most - 1 :])]


@typed("substring", str, int, int)
def substring(text: str, start: int, end: int | None = None) -> str:
    if not 0 <= start <= len(text):
        raise CelError(f"index out of range: {start}")
    end = len(text) if end is None else end
    if not 0 <= end <= len(text):
        raise CelError(f"index out of range: {end}")
    if start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    return text[start:end]


def in_ascii(change: Callable[[str], str]) -> Function:
    def changed(text: str) -> str:
        return "".join(change(sign) if sign.isascii() else sign for sign in text)

    return changed
