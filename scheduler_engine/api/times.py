"""Times as texts. Source: RFC 3339 as Go's ``time.Parse`` reads it; ``apimachinery/pkg/apis/meta/v1/time.go``."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(?:[.,]\d+)?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII)
_ZERO = datetime(1, 1, 1)
_LARGEST_OFFSET = (24, 60)
"""Hours and minutes; more than a day, as Go accepts."""


def is_time(value: object) -> bool:
    return isinstance(value, str) and _parts(value) is not None


def _parts(text: str) -> tuple[datetime, timedelta] | None:
    """Return the time as written, to the second, and its offset from UTC."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    sign, hours, minutes = match[7], int(match[8] or 0), int(match[9] or 0)
    if hours > _LARGEST_OFFSET[0] or minutes > _LARGEST_OFFSET[1]:
        return None
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None
    offset = timedelta(hours=hours, minutes=minutes)
    return moment, -offset if sign == "-" else offset


def in_utc(text: str) -> str | None:
    """Return a time as the API server writes it, to the second in UTC; None for the zero time.

    Keep a text that is not a time, or not within the years 1 to 9999.
    """
    parts = _parts(text)
    if parts is None:
        return text
    try:
        moment = parts[0] - parts[1]
    except OverflowError:
        return text
    return None if moment == _ZERO else f"{moment.isoformat()}Z"
