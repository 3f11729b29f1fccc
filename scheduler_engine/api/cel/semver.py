"""Semantic versions. Source: upstream ``blang/semver/v4`` and ``apiserver/pkg/cel/library/semverlib.go``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_NUMBER = re.compile(r"\d*", re.ASCII)
LARGEST = 2**64 - 1
_PART = re.compile(r"[0-9A-Za-z-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Semver:
    """``before``: the identifiers of a pre-release; numbers are ints. Builds do not count in comparisons."""

    numbers: tuple[int, int, int]
    before: tuple[int | str, ...] = ()
    build: tuple[str, ...] = ()

    def compare(self, other: Semver) -> int:
        """Return -1, 0 or 1."""
        one, two = self._rank(), other._rank()
        return (one > two) - (one < two)

    def _rank(self) -> tuple[tuple[int, int, int], bool, list[tuple[bool, int, str]]]:
        parts = [
            (isinstance(part, str), part if isinstance(part, int) else 0, str(part) if isinstance(part, str) else "")
            for part in self.before
        ]
        return self.numbers, not self.before, parts


@lru_cache(maxsize=1024)
def parse_semver(text: str) -> Semver:
    """Return a version. Raises ValueError with the library's text."""
    if not text:
        raise ValueError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise ValueError("No Major.Minor.Patch elements found")
    numbers = [_number(word, part) for word, part in zip(("major", "minor"), parts[:2], strict=True)]
    rest, _, build = parts[2].partition("+")
    patch, _, before = rest.partition("-")
    numbers.append(_number("patch", patch))
    return Semver(
        (numbers[0], numbers[1], numbers[2]),
        tuple(map(_pre_release, before.split("."))) if "-" in rest else (),
        tuple(map(_build, build.split("."))) if "+" in parts[2] else (),
    )


def _number(word: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f'Invalid character(s) found in {word} number "{text}"')
    if len(text) > 1 and text[0] == "0":
        raise ValueError(f'{word.capitalize()} number must not contain leading zeroes "{text}"')
    return _bounded(text)


def _bounded(text: str) -> int:
    if not text:
        raise ValueError(f'strconv.ParseUint: parsing "{text}": invalid syntax')
    if len(text) > len(str(LARGEST)) or int(text) > LARGEST:
        raise ValueError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return int(text)


def _pre_release(text: str) -> int | str:
    if not text:
        raise ValueError("Prerelease is empty")
    if _NUMBER.fullmatch(text):
        if len(text) > 1 and text[0] == "0":
            raise ValueError(f'Numeric PreRelease version must not contain leading zeroes "{text}"')
        return _bounded(text)
    if not _PART.fullmatch(text):
        raise ValueError(f'Invalid character(s) found in prerelease "{text}"')
    return text


def _build(text: str) -> str:
    if not text:
        raise ValueError("Build meta data is empty")
    if not _PART.fullmatch(text):
        raise ValueError(f'Invalid character(s) found in build meta data "{text}"')
    return text


def parse_loosely(text: str) -> Semver:
    """Return a version that may begin with ``v``, lack parts and have leading zeros. Raises ValueError."""
    parts = text.removeprefix("v").split(".", 2)
    parts = [_without_zeros(part) for part in parts]
    if len(parts) < 3 and re.search("[+-]", parts[-1]):
        raise ValueError("short version cannot contain PreRelease/Build meta data")
    return parse_semver(".".join([*parts, *["0"] * (3 - len(parts))]))


def _without_zeros(part: str) -> str:
    if len(part) < 2:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1].isdigit() else f"0{stripped}"
