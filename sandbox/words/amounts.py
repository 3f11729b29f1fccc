"""Amounts as people read them: cpu in cores, memory in binary units, simulated time as a clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.quantity import parse_quantity
from scheduler_engine.durations import format_duration

SECOND = 1_000_000
NS_PER_US = 1000
UNITS = (("Ei", 1 << 60), ("Pi", 1 << 50), ("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10))
MOST_DIGITS = 10**9
"""From here on a number is shown as a power of ten, so that it fits its place."""

ESSENTIAL = ("cpu", "memory", "ephemeral-storage")
TITLES = {"cpu": "cpu", "memory": "mem", "pods": "pods", "ephemeral-storage": "disk"}


def amount(resource: str, text: Any) -> int:
    """Return a quantity as an integer: millicores for cpu, whole units (bytes) for the rest; 0 if it is invalid."""
    try:
        quantity = parse_quantity(text)
    except (ValueError, TypeError):
        return 0
    return quantity.milli_value() if resource == "cpu" else quantity.value()


def amounts(resources: Mapping[str, Any]) -> dict[str, int]:
    return {name: amount(name, text) for name, text in resources.items()}


def shown(resource: str, number: int) -> str:
    """Return a short amount for sentences: ``1500m``, ``2Gi``, ``3``."""
    if resource == "cpu":
        return f"{_whole(number)}m"
    if resource in ESSENTIAL:
        return memory(number)
    return _whole(number)


def cores(millicores: int) -> str:
    return _decimal(millicores / 1000, 2)


def memory(number: int) -> str:
    for unit, size in UNITS:
        if number >= size:
            return _decimal(number / size, 1) + unit
    return str(number)


def _whole(number: int) -> str:
    return str(number) if abs(number) < 10 * MOST_DIGITS**2 else f"{float(number):.3g}"


def _decimal(number: float, places: int) -> str:
    if abs(number) >= MOST_DIGITS:
        return f"{number:.3g}"
    return f"{number:.{places}f}".rstrip("0").rstrip(".")


def ratio(resource: str, used: int, total: int) -> str:
    """Return ``2.8/4`` or ``4.5/8Gi``: both in the unit of the second."""
    if resource == "cpu":
        return f"{cores(used)}/{cores(total)}"
    if resource not in ESSENTIAL:
        return f"{_whole(used)}/{_whole(total)}"
    unit, size = next(((unit, size) for unit, size in UNITS if total >= size), ("", 1))
    return f"{_one(used / size)}/{_one(total / size)}{unit}"


def _one(number: float) -> str:
    return f"{number:.3g}" if abs(number) >= MOST_DIGITS else f"{number:.1f}".removesuffix(".0")


def clock(us: int) -> str:
    """Return simulated microseconds as ``00:12.4`` (minutes, seconds, tenths)."""
    tenths = us // (SECOND // 10)
    return f"{tenths // 600:02}:{tenths // 10 % 60:02}.{tenths % 10}"


def short_clock(us: int) -> str:
    """Return simulated microseconds as ``00:12``."""
    return f"{us // SECOND // 60:02}:{us // SECOND % 60:02}"


def seconds(us: int) -> str:
    """Return a span: ``3.1 s``, ``18 s``."""
    return f"{us / SECOND:.1f}".removesuffix(".0") + " s"


def left(us: int) -> str:
    """Return a span to come, rounded up: ``42 s``, ``59 min 59 s``."""
    whole = -(-max(us, 0) // SECOND)
    minutes, rest = divmod(whole, 60)
    if whole < 120:
        return f"{whole} s"
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def share(rest: int, whole: int) -> int:
    """Return the percentage of a wait that is left, which a ring shows."""
    return min(100, max(0, round(100 * rest / whole))) if whole > 0 else 0


def duration(us: int) -> str:
    """Return a span as in Kubernetes' configurations: ``15s``, ``1m30s``."""
    return format_duration(us * NS_PER_US)


def signed(number: int) -> str:
    """Return the number with a real minus sign."""
    return str(number).replace("-", "−")


def with_sign(number: int) -> str:
    """Return ``+3``, ``−3`` or ``+0``, with a real minus sign."""
    return signed(number) if number < 0 else f"+{number}"


def short_name(key: str) -> str:
    """Return ``web-4`` for ``default/web-4``; other namespaces stay."""
    return key.removeprefix("default/")
