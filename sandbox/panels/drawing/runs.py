"""Long lists of numbers and names, which mostly repeat, as short texts that ``static/js/runs.js`` reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

SHORTEST = 3
"""At least this many numbers at equal distances are one run."""
NUMBERED = re.compile(r"(.*?)([0-9]{1,9})", re.ASCII | re.DOTALL)


def runs(numbers: Sequence[int | None]) -> str:
    """Return ``5 1+3x4 -`` for 5, then 1, 4, 7, 10, then nothing; ``7+0x9`` is nine times 7, ``-x9`` nine gaps."""
    return " ".join(_runs(numbers))


def _runs(numbers: Sequence[int | None]) -> Iterator[str]:
    start = 0
    while start < len(numbers):
        first, step, end = _run(numbers, start)
        if first is None:
            yield "-" if end == start + 1 else f"-x{end - start}"
        elif end - start < SHORTEST:
            end = start + 1
            yield str(first)
        else:
            yield f"{first}+{step}x{end - start}"
        start = end


def _run(numbers: Sequence[int | None], start: int) -> tuple[int | None, int, int]:
    """Return the first number of the run that begins at ``start``, the distance between its numbers, and its end."""
    first, end = numbers[start], start + 1
    following = numbers[end] if end < len(numbers) else None
    if first is None:
        while end < len(numbers) and numbers[end] is None:
            end += 1
        return None, 0, end
    step = 0 if following is None else max(following - first, 0)
    while end < len(numbers) and numbers[end] == first + step * (end - start):
        end += 1
    return first, step, end


def names(labels: Sequence[str]) -> str:
    """Return ``n-[2:1+1x3] web`` for n-01, n-02, n-03 and web. Names contain neither spaces nor brackets."""
    return " ".join(_names(labels))


def _names(labels: Sequence[str]) -> Iterator[str]:
    for (prefix, width), same in groupby(labels, _series):
        group = list(same)
        if not width or len(group) < SHORTEST:
            yield from group
        else:
            numbers = runs([int(name[len(prefix) :]) for name in group]).replace(" ", ",")
            yield f"{prefix}[{width}:{numbers}]"


def _series(name: str) -> tuple[str, int]:
    """Return what precedes the number at the end of a name, and how many digits that has."""
    match = NUMBERED.fullmatch(name)
    return (match[1], len(match[2])) if match else (name, 0)
