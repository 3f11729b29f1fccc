"""Durations in Go's format (``1m30s``). Source: Go's package time, ParseDuration and Duration.String."""

from __future__ import annotations

import re

UNITS_NS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_NUMBER = re.compile(r"([0-9]*+)(?:\.([0-9]*+))?+", re.ASCII)
_UNIT = re.compile(r"[^0-9.]*+", re.ASCII)
_MOST_DECIMALS = 18
_LONGEST_SHOWN = 1000


def parse_duration(text: str) -> int:
    """Return nanoseconds; smaller fractions are cut off. Raises ValueError with Go's text."""
    body = text[1:] if text[:1] in ("+", "-") else text
    if body == "0":
        return 0
    total = position = 0
    while position < len(body) or not body:
        number = _NUMBER.match(body, position)
        whole, fraction = number.groups(default="") if number else ("", "")
        if number is None or not (whole or fraction):
            raise _wrong("invalid", text)
        unit = _UNIT.match(body, number.end())
        if unit is None or not unit[0]:
            raise _wrong("missing unit in", text)
        if unit[0] not in UNITS_NS:
            raise _wrong(f'unknown unit "{unit[0][:_LONGEST_SHOWN]}" in', text)
        total += _nanoseconds(whole.lstrip("0"), fraction[:_MOST_DECIMALS], UNITS_NS[unit[0]])
        if total > 2**63:
            raise _wrong("invalid", text)
        position = unit.end()
    if total == 2**63 and text[:1] != "-":
        raise _wrong("invalid", text)
    return -total if text[:1] == "-" else total


def _nanoseconds(whole: str, fraction: str, unit: int) -> int:
    """Compute decimal places in floating point, as Go does."""
    if len(whole) > len(str(2**63)):
        return 2**63 + 1
    places = int(float(fraction) * (unit / 10 ** len(fraction))) if fraction else 0
    return int(whole or "0") * unit + places


def _wrong(complaint: str, text: str) -> ValueError:
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
    return ValueError(f'time: {complaint} duration "{shown}"')


def format_duration(nanoseconds: int) -> str:
    """Return the shortest form: ``0s``, ``1.5s``, ``1m30s``, ``2h0m0s``, ``10ms``."""
    if nanoseconds == 0:
        return "0s"
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    for unit in ("ns", "µs", "ms"):
        if rest < UNITS_NS[unit] * 1000:
            return f"{sign}{_decimal(rest, UNITS_NS[unit])}{unit}"
    minutes, rest = divmod(rest, UNITS_NS["m"])
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_decimal(rest, UNITS_NS['s'])}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else f"{sign}{seconds}"


def _decimal(number: int, unit: int) -> str:
    whole, fraction = divmod(number, unit)
    digits = str(fraction).zfill(len(str(unit)) - 1).rstrip("0") if fraction else ""
    return f"{whole}.{digits}" if digits else str(whole)
