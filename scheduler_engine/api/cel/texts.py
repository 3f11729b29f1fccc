"""Functions of texts and patterns.

Source: upstream ``cel-go/ext/strings.go``, ``apiserver/pkg/cel/library/regex.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from scheduler_engine.api.cel.typed import Function, typed
from scheduler_engine.api.cel.values import CelError, TooExpensive, check_size, equal, no_overload, text_of

SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Go counts as space."""
MOST_FOUND = 50_000
"""The most matches in one text."""
REGEXP_PROBLEMS = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "trailing \\": "trailing backslash at end of expression",
}
"""What RE2 calls a problem of a pattern → what Go calls it, if that differs."""


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
        problem_name, colon, part = detail.partition(": ")
        shown = REGEXP_PROBLEMS.get(problem_name, problem_name)
        raise CelError(f"error parsing regexp: {shown}" + (f": `{part}`" if colon else "")) from None


@typed("matches", str, str)
def matches(text: str, wanted: str) -> bool:
    return pattern(wanted).search(text) is not None


@typed("find", str, str)
def find(text: str, wanted: str) -> str:
    found = pattern(wanted).search(text)
    return "" if found is None else str(found.group())


@typed("findAll", str, str, int)
def find_all(text: str, wanted: str, most: int = -1) -> list[str]:
    found, last = list[str](), -1
    for match in pattern(wanted).finditer(text):
        # In Go no empty match follows another one directly.
        if match.end() > match.start() or match.start() != last:
            found.append(str(match.group()))
        last = match.end()
        if len(found) > MOST_FOUND:
            raise TooExpensive
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
    if not item:
        return int(start)
    if start < 0:
        raise CelError(f"index out of range: {start}")
    return held.find(item, start)


def last_index_of(held: Any, item: Any, end: Any = None) -> int:
    if isinstance(held, list):
        return next((index for index in range(len(held) - 1, -1, -1) if equal(held[index], item)), -1)
    if not (isinstance(held, str) and isinstance(item, str)):
        raise no_overload("lastIndexOf", held, item)
    if end is None:
        return held.rfind(item)
    if not item:
        return int(end)
    if end < 0:
        raise CelError(f"index out of range: {end}")
    return held.rfind(item, 0, end + len(item)) if end < len(held) else -1


@typed("join", list, str)
def join(items: list[Any], between: str = "") -> str:
    if items and not isinstance(items[0], str):
        raise no_overload("join", items)
    for item in items:
        if not isinstance(item, str):
            raise CelError(f"join: invalid input: {text_of(item)}")
    check_size(sum(map(len, items)) + len(between) * len(items))
    return between.join(items)


@typed("replace", str, str, str, int)
def replace(text: str, old: str, new: str, most: int = -1) -> str:
    count = text.count(old) if most < 0 else min(text.count(old), most)
    check_size(len(text) + count * len(new))
    return text.replace(old, new, most)


@typed("split", str, str, int)
def split(text: str, by: str, most: int = -1) -> list[str]:
    if most == 0:
        return []
    parts = text.split(by, most - 1 if most > 0 else -1) if by else list(text)
    return parts if by or most < 0 else [*parts[: most - 1], "".join(parts[most - 1 :])]


@typed("substring", str, int, int)
def substring(text: str, start: int, end: int | None = None) -> str:
    if end is not None and start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    if not 0 <= start <= len(text):
        raise CelError(f"index out of range: {start}")
    end = len(text) if end is None else end
    if not 0 <= end <= len(text):
        raise CelError(f"index out of range: {end}")
    return text[start:end]


@typed("trim", str)
def trim(text: str) -> str:
    return text.strip(SPACE)


def in_ascii(change: Callable[[str], str]) -> Function:
    def changed(text: str) -> str:
        return "".join(change(sign) if sign.isascii() else sign for sign in text)

    return changed
