"""Time zones, and the fields of timestamps in them.

The zones are those of the package ``tzdata``, never those of the machine. Source: upstream ``cel-go/common/stdlib``,
Go's ``time.LoadLocation``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo

from scheduler_engine.api.cel.times import EARLIEST, LATEST, NANO, Duration, Fields, Timestamp, fields_of, whole
from scheduler_engine.api.cel.typed import Function
from scheduler_engine.api.cel.values import LARGEST_INT, CelError, no_overload
from scheduler_engine.api.go_text import quoted

UTC = ("", "UTC", "Local")
"""The names of UTC. The images of Kubernetes set no local zone."""
WEEK = 7 * 24 * 3600
MOST_DIGITS = 20
FIELDS: Mapping[str, Callable[[Fields], int]] = {
    "getFullYear": lambda at: at.year,
    "getMonth": lambda at: at.month - 1,
    "getDayOfYear": lambda at: at.day_of_year,
    "getDayOfMonth": lambda at: at.day - 1,
    "getDate": lambda at: at.day,
    "getDayOfWeek": lambda at: at.day_of_week,
    "getHours": lambda at: at.hours,
    "getMinutes": lambda at: at.minutes,
    "getSeconds": lambda at: at.seconds,
    "getMilliseconds": lambda at: at.nanos // 10**6,
}
UNITS_OF = {"getHours": "h", "getMinutes": "m", "getSeconds": "s", "getMilliseconds": "ms"}
"""Function of durations → the unit that it counts."""


@lru_cache(maxsize=1)
def names() -> frozenset[str]:
    """Return the names of all zones."""
    return frozenset((files("tzdata") / "zones").read_text().split())


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    if name[0] in "/\\" or ".." in name:
        raise CelError("time: invalid location name")
    if name not in names():
        inside = f"{name}/"
        folder = any(known.startswith(inside) for known in names())
        raise CelError("is a directory" if folder else f"unknown time zone {name}")
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def _number(text: str) -> int:
    """Return a number as Go reads it. Raises CelError."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        raise CelError(f"strconv.Atoi: parsing {quoted(text)}: invalid syntax")
    number = int(digits.lstrip("0")[:MOST_DIGITS] or "0") * (-1 if text[0] == "-" else 1)
    if not -LARGEST_INT - 1 <= number <= LARGEST_INT:
        raise CelError(f"strconv.Atoi: parsing {quoted(text)}: value out of range")
    return number


def _wrapped(number: int) -> int:
    """Return a number as 64 bits hold it."""
    return (number + LARGEST_INT + 1) % 2**64 - LARGEST_INT - 1


def offset_of(zone: str, seconds: int) -> int:
    """Return by how many seconds a zone, a name or ``-08:00``, is ahead of UTC. Raises CelError."""
    hours, colon, minutes = zone.partition(":")
    if colon:
        count = _wrapped(_number(hours) * 60 + _number(minutes) * (-1 if zone[0] == "-" else 1))
        nanos = _wrapped(count * 60 * NANO)
        return abs(nanos) // NANO * (-1 if nanos < 0 else 1)
    if zone in UTC:
        return 0
    near = min(max(seconds, EARLIEST + WEEK), LATEST - WEEK)
    ahead = datetime.fromtimestamp(near, _zone(zone)).utcoffset() or timedelta()
    return int(ahead.total_seconds())


def _field(name: str) -> Function:
    read, unit = FIELDS[name], UNITS_OF.get(name)

    def function(*args: Any) -> int:
        match args:
            case [Timestamp() as moment]:
                return read(fields_of(Timestamp(moment.nanos)))
            case [Timestamp() as moment, str() as zone]:
                return read(fields_of(Timestamp(moment.nanos, offset_of(zone, moment.nanos // NANO))))
            case [Duration() as duration] if unit is not None:
                return whole(duration, unit)
        raise no_overload(name, *args)

    return function


FUNCTIONS: dict[str, Function] = {name: _field(name) for name in FIELDS}
"""Function → what it does."""
