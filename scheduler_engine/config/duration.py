"""Durations as Go writes them (``1m30s``). Source: Go's package time, ParseDuration and Duration.String."""

from __future__ import annotations

import re
from fractions import Fraction

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
PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")


def parse_duration(text: str) -> int:
    """Nanoseconds. Raises ValueError with Go's text."""
    body = text[1:] if text[:1] in ("+", "-") else text
    sign = -1 if text[:1] == "-" else 1
    if body == "0":
        return 0
    total = Fraction(0)
    position = 0
    for part in PART.finditer(body):
        if part.start() != position:
            break
        number, unit = part.groups()
        total += Fraction(number.rstrip(".")) * UNITS_NS[unit]
        position = part.end()
    if not body or position != len(body):
        raise ValueError(f'time: {_complaint(body)} duration "{text}"')
    nanoseconds = sign * int(total)
    if not -(2**63) <= nanoseconds < 2**63:
        raise ValueError(f'time: invalid duration "{text}"')
    return nanoseconds


def _complaint(body: str) -> str:
    return "missing unit in" if re.fullmatch(r"[0-9]+\.?[0-9]*|\.[0-9]+", body) else "invalid"


def format_duration(nanoseconds: int) -> str:
    """The shortest form: ``0s``, ``1.5s``, ``1m30s``, ``2h0m0s``, ``10ms``."""
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
