"""Timestamps and durations: read, written, added. Source: upstream ``cel-go/common/types``, Go's ``time``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import NamedTuple

NANO = 10**9
"""Nanoseconds in a second."""
LARGEST = 2**63 - 1
EARLIEST, LATEST = -62135596800, 253402300799
"""The seconds since 1970 at which year 1 begins and year 9999 ends."""
UNITS = {"ns": 1, "us": 10**3, "\u00b5s": 10**3, "\u03bcs": 10**3, "ms": 10**6, "s": NANO, "m": 60 * NANO}
UNITS["h"] = 60 * UNITS["m"]
_PART = re.compile(r"(?=\.?\d)(\d*)(?:\.(\d*))?([a-z\u00b5\u03bc]+)", re.ASCII)
_TIMESTAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII)
_EPOCH = date(1970, 1, 1).toordinal()
_CYCLE, _CYCLE_DAYS = 400, 146097
"""After so many years the calendar repeats itself, weekdays included."""


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """``nanos``: nanoseconds, which fit into 64 bits."""

    nanos: int

    def __str__(self) -> str:
        return f"{Decimal(repr(self.seconds)).normalize():f}s"

    @property
    def seconds(self) -> float:
        return _parts(self.nanos, NANO)


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """``nanos``: nanoseconds since 1970. ``offset``: the seconds by which its zone is ahead of UTC."""

    nanos: int
    offset: int = field(default=0, compare=False)

    def __str__(self) -> str:
        at = fields_of(self)
        fraction = f".{at.nanos:09}".rstrip("0") if at.nanos else ""
        ahead = abs(self.offset) // 60
        zone = f"{'-' if self.offset < 0 else '+'}{ahead // 60:02}:{ahead % 60:02}" if self.offset else "Z"
        hours = f"{at.hours:02}:{at.minutes:02}:{at.seconds:02}"
        return f"{at.year:04}-{at.month:02}-{at.day:02}T{hours}{fraction}{zone}"


class Fields(NamedTuple):
    """A point in time on a calendar. ``day_of_year`` and ``day_of_week`` count from 0, Sunday is 0."""

    year: int
    month: int
    day: int
    day_of_year: int
    day_of_week: int
    hours: int
    minutes: int
    seconds: int
    nanos: int


def _parts(nanos: int, unit: int) -> float:
    """Return a duration in a unit, rounded as Go rounds it: whole units and the rest are converted one by one."""
    whole, rest = divmod(abs(nanos), unit)
    return (float(whole) + rest / float(unit)) * (-1 if nanos < 0 else 1)


def whole(duration: Duration, unit: str) -> int:
    """Return the whole units in a duration. Raises KeyError for an unknown unit."""
    if unit == "ms":
        return abs(duration.nanos) // UNITS[unit] * (-1 if duration.nanos < 0 else 1)
    return int(_parts(duration.nanos, UNITS[unit]))


def parse_duration(text: str) -> Duration:
    """Return a duration such as ``1h2m3.5s``. Raises ValueError."""
    negative, rest = text.startswith("-"), text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return Duration(0)
    total = at = 0
    # One part after the other: to search for them would take long in a text without any.
    while (part := _PART.match(rest, at)) is not None:
        total, at = total + _nanos(part[1] or "0", part[2] or "", part[3]), part.end()
        if total > LARGEST + negative:
            raise ValueError(text)
    if not rest or at < len(rest):
        raise ValueError(text)
    return Duration(-total if negative else total)


def _nanos(digits: str, fraction: str, unit: str) -> int:
    """Return the nanoseconds in a part of a duration. Raises ValueError."""
    if unit not in UNITS:
        raise ValueError(unit)
    number = int(digits.lstrip("0")[:20] or "0")
    if number > (LARGEST + 1) // UNITS[unit]:
        raise ValueError(digits)
    part, scale = 0, 1.0
    for digit in fraction:
        if part > LARGEST // 10 or part * 10 + int(digit) > LARGEST + 1:
            break
        part, scale = part * 10 + int(digit), scale * 10
    total = number * UNITS[unit] + int(float(part) * (UNITS[unit] / scale))
    if total > LARGEST + 1:
        raise ValueError(digits)
    return total


def parse_timestamp(text: str) -> Timestamp:
    """Return a timestamp such as ``2026-01-02T03:04:05.6+07:00``. Raises ValueError, OverflowError outside years 1 to
    9999.
    """
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        raise ValueError(text)
    year, month, day, hours, minutes, seconds = map(int, found.groups()[:6])
    ahead_hours, ahead_minutes = int(found[9] or 0), int(found[10] or 0)
    if hours > 23 or minutes > 59 or seconds > 59 or ahead_hours > 24 or ahead_minutes > 60:
        raise ValueError(text)
    moved = _CYCLE if year == 0 else 0
    days = date(year + moved, month, day).toordinal() - _EPOCH - (_CYCLE_DAYS if moved else 0)
    offset = (ahead_hours * 60 + ahead_minutes) * (-60 if found[8] == "-" else 60)
    nanos = int((found[7] or "")[:9].ljust(9, "0"))
    return _bounded((((days * 24 + hours) * 60 + minutes) * 60 + seconds - offset) * NANO + nanos, offset)


def timestamp_at(seconds: int) -> Timestamp:
    """Return the timestamp some seconds after 1970. Raises OverflowError outside years 1 to 9999."""
    return _bounded(seconds * NANO, 0)


def _bounded(nanos: int, offset: int) -> Timestamp:
    if not EARLIEST <= nanos // NANO <= LATEST:
        raise OverflowError("timestamp overflow")
    return Timestamp(nanos, offset)


def fields_of(moment: Timestamp) -> Fields:
    """Return year, month and so on in the zone of a timestamp."""
    seconds, nanos = divmod(moment.nanos, NANO)
    days, rest = divmod(seconds + moment.offset, 24 * 3600)
    cycles = 1 if days < 0 else -1
    day = date.fromordinal(days + _EPOCH + cycles * _CYCLE_DAYS)
    place = day.timetuple().tm_yday - 1
    hours, minutes, left = rest // 3600, rest // 60 % 60, rest % 60
    year = day.year - cycles * _CYCLE
    return Fields(year, day.month, day.day, place, day.isoweekday() % 7, hours, minutes, left, nanos)


def _fitting(nanos: int) -> Duration:
    if not -LARGEST - 1 <= nanos <= LARGEST:
        raise OverflowError("integer overflow")
    return Duration(nanos)


def added(one: Timestamp | Duration, other: Timestamp | Duration) -> Timestamp | Duration:
    """Return a sum. Raises OverflowError, and TypeError for two timestamps."""
    if isinstance(one, Duration) and isinstance(other, Duration):
        return _fitting(one.nanos + other.nanos)
    moment, duration = (one, other) if isinstance(one, Timestamp) else (other, one)
    if not isinstance(moment, Timestamp) or not isinstance(duration, Duration):
        raise TypeError
    return _bounded(moment.nanos + duration.nanos, moment.offset)


def subtracted(one: Timestamp | Duration, other: Timestamp | Duration) -> Timestamp | Duration:
    """Return a difference. Raises OverflowError, and TypeError for a duration without a timestamp."""
    if isinstance(other, Duration):
        return added(one, negated(other)) if isinstance(one, Timestamp) else _fitting(one.nanos - other.nanos)
    if not isinstance(one, Timestamp):
        raise TypeError
    _fitting((one.nanos // NANO - other.nanos // NANO) * NANO)
    return _fitting(one.nanos - other.nanos)


def negated(duration: Duration) -> Duration:
    """Raises OverflowError for the most negative duration."""
    return _fitting(-duration.nanos)
