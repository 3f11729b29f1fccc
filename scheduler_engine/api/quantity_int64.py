"""Quantities in Kubernetes' 64-bit arithmetic: beyond 64 bits they wrap around or become 0.

The scheduler itself counts with exact numbers; this shows how a cluster treats absurdly large amounts.
Source: upstream ``apimachinery/pkg/api/resource/{amount,scale_int}.go``.
"""

from __future__ import annotations

from scheduler_engine.api.quantity import LARGEST, Quantity, divide_away

WRAPPING_STEPS = (1, 2, 3, 6, 9)
"""Powers of ten by which Kubernetes multiplies in one step, so the product wraps; others give 0."""


def as_int64(quantity: Quantity) -> int | None:
    """Return the value, None if it needs arbitrary precision or has decimal places (upstream ``AsInt64``)."""
    if quantity.wide or quantity.scale < 0:
        return None
    number = quantity.digits * _ten_to(quantity.scale)
    return number if abs(number) <= LARGEST else None


def scaled_value(quantity: Quantity, scale: int) -> int:
    """Return the value in units of 10^``scale`` (0 = ``Value()``, -3 = ``MilliValue()``)."""
    if not quantity.wide:
        if quantity.scale < scale:
            return divide_away(quantity.digits, _ten_to(scale - quantity.scale))
        number = quantity.digits * _ten_to(quantity.scale - scale)
        if abs(number) <= LARGEST:
            return number
        return wrapped(number) if quantity.scale - scale in WRAPPING_STEPS else 0
    steps = scale - quantity.scale
    if steps <= 0:
        return wrapped(wrapped(quantity.digits) * _ten_to(-steps))
    if quantity.digits < LARGEST and steps < 19:
        narrow, unit = wrapped(quantity.digits), _ten_to(steps)
        whole = abs(narrow) // unit * (1 if narrow >= 0 else -1)
        return whole + 1 if narrow % unit else whole
    whole, rest = divmod(quantity.digits, _ten_to(steps))
    return wrapped(whole) + 1 if rest else wrapped(whole)


def wrapped(number: int) -> int:
    """Return a number as 64 bits with a sign hold it."""
    return (number + 2**63) % 2**64 - 2**63


def _ten_to(power: int) -> int:
    result: int = 10**power
    return result
