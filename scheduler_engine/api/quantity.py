"""Exact Kubernetes quantities.

A quantity is an integer number of nano-units plus the notation it was written in; anything finer than a nano-unit is
rounded up (away from zero), as in Kubernetes. For the results of its 64-bit arithmetic see ``quantity_int64.py``.
Source: upstream ``apimachinery/pkg/api/resource/{quantity,amount,suffix}.go``.
"""

from __future__ import annotations

import re
from dataclasses import field
from decimal import Decimal
from functools import lru_cache

from scheduler_engine.records import record

NANO = 10**9
LARGEST = 2**63 - 1

DECIMAL_SI = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY_SI = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
SUFFIX_OF = {power: name for name, power in DECIMAL_SI.items()}
PATTERN = re.compile(r"([+-]?)0*+([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[-+]?[0-9]*+)", re.ASCII)
"""Without backtracking: a text of any length is read once from start to end."""
EXPONENT = re.compile(r"[eE]([+-]?)0*+([0-9]*+)(?<=[0-9])", re.ASCII)
FORMAT_MESSAGE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
SUFFIX_MESSAGE = "unable to parse quantity's suffix"
NUMBER_MESSAGE = "unable to parse numeric part of quantity"
MAX_DIGITS = 18
"""Numbers with more digits need Kubernetes' arbitrary precision."""

MOST_PLACES = 120
"""Digits before the decimal point. Kubernetes accepts more, but counts only what 64 bits hold. Sums, shares and
products of such amounts still fit a floating-point number, as needed to draw panels.
"""
LARGE_MESSAGE = f"must be less than 1e{MOST_PLACES}, the largest amount that can be counted here"

_KEPT_LENGTH = 64
"""The longest text that is cached as written; longer ones would fill the memory."""
_MOST_BINARY_PLACES = 20
"""A number with a binary suffix and more digits before the point is always above the largest one."""
_MOST_DECIMALS = 1000
"""The decimal places of a number with a binary suffix that count; any others can only round it up."""


@record(frozen=True, slots=True)
class Quantity:
    """``nano``: value × 10⁹, an integer. ``notation``: DecimalSI, BinarySI or DecimalExponent.

    ``written`` is the original text if Kubernetes keeps it. ``digits`` × 10^``scale`` is the value again, in
    Kubernetes' own form; ``wide``: with arbitrary precision.
    """

    nano: int
    notation: str = "DecimalSI"
    written: str = field(default="", compare=False)
    digits: int = field(default=0, compare=False)
    scale: int = field(default=0, compare=False)
    wide: bool = field(default=True, compare=False)

    def value(self) -> int:
        """Return whole units, rounded away from zero (bytes for memory)."""
        return divide_away(self.nano, NANO)

    def milli_value(self) -> int:
        """Return thousandths, rounded away from zero (millicores for cpu)."""
        return divide_away(self.nano, NANO // 1000)

    def __str__(self) -> str:
        return canonical(self)


def divide_away(number: int, by: int) -> int:
    """Divide integers, rounded away from zero."""
    return -(-number // by) if number >= 0 else number // by


def parse_quantity(text: str | int | float) -> Quantity:
    """Read ``500m``, ``1.5Gi``, ``2e3`` or a JSON number.

    Raises ValueError with Kubernetes' text if it is not a quantity, and with ``LARGE_MESSAGE`` if it is too large.
    """
    if isinstance(text, str):
        return _cached(text) if len(text) <= _KEPT_LENGTH else _parsed(text)
    if isinstance(text, bool):
        raise ValueError(FORMAT_MESSAGE)
    if abs(text) >= 10**MOST_PLACES:
        raise ValueError(LARGE_MESSAGE)
    return _cached(_go_number(text) if isinstance(text, float) else str(text))


def _parsed(text: str) -> Quantity:
    match = PATTERN.fullmatch(text)
    if match is None or text == "":
        raise ValueError(FORMAT_MESSAGE)
    sign, number, fraction, suffix = match.groups(default="")
    notation, power = _notation(suffix)
    if not suffix and not number and not fraction and "." not in text:
        return Quantity(0, wide=False)
    digits = f"{number}{fraction}".lstrip("0")
    if notation != "BinarySI" and digits and len(digits) - len(fraction) + power > MOST_PLACES:
        raise ValueError(LARGE_MESSAGE)
    narrow = _narrow(text, sign, number, fraction, notation, power)
    if narrow is not None:
        return narrow
    if not text[: len(text) - len(suffix)].strip("+-."):
        raise ValueError(NUMBER_MESSAGE)
    return _wide(sign, digits, len(fraction), notation, power)


_cached = lru_cache(maxsize=4096)(_parsed)


def _go_number(number: float) -> str:
    """Format a number like Go in JSON: very large and very small ones with an exponent."""
    exact = Decimal(repr(number))
    return format(exact, "f") if number == 0 or 1e-6 <= abs(number) < 1e21 else format(exact.normalize(), "e")


def _notation(suffix: str) -> tuple[str, int]:
    """Return the notation of a suffix, with its power of ten or two."""
    if suffix in DECIMAL_SI:
        return "DecimalSI", DECIMAL_SI[suffix]
    if suffix in BINARY_SI:
        return "BinarySI", BINARY_SI[suffix]
    match = EXPONENT.fullmatch(suffix)
    if match is None or len(match[2]) > 19 or not -(2**63) <= int(f"{match[1]}{match[2] or 0}") < 2**63:
        raise ValueError(SUFFIX_MESSAGE)
    return "DecimalExponent", _in_32_bits(int(f"{match[1]}{match[2] or 0}"))


def _in_32_bits(number: int) -> int:
    """Cut an exponent to 32 bits, as Kubernetes does."""
    return (number + 2**31) % 2**32 - 2**31


def _narrow(text: str, sign: str, number: str, fraction: str, notation: str, power: int) -> Quantity | None:
    """Return the quantity if it fits Kubernetes' 64-bit form, else None."""
    number = number or "0"
    if notation == "BinarySI":
        room = 15 - len(number) - power * 3 // 10 - 1 if not fraction else -1
        factor, scale = 2**power, 0
    else:
        room = MAX_DIGITS - len(number) - len(fraction)
        factor, scale = 1, power - len(fraction)
    if room < 0 or scale < -9:
        return None
    shifted = int(number + fraction)
    digits = -shifted * factor if sign == "-" else shifted * factor
    if notation == "BinarySI":
        kept = shifted % 8 != 0
    else:
        kept = scale % 3 == 0 and not (number + fraction).endswith("000") and number[0] != "0"
    scale = scale if digits else min(scale, MOST_PLACES)
    written = text if kept and len(text) <= _KEPT_LENGTH else ""
    return Quantity(digits * 10 ** (scale + 9), notation, written, digits, scale, wide=False)


def _wide(sign: str, digits: str, places: int, notation: str, power: int) -> Quantity:
    """Return the quantity in arbitrary precision, rounded to nano-units, binary ones capped at the 64-bit maximum.

    ``digits`` without leading zeros, ``places`` of them after the point.
    """
    if not digits:
        shift = -places if notation == "BinarySI" else power - places
        return Quantity(0, notation, "", 0, max(-MOST_PLACES, min(shift, MOST_PLACES)))
    scale = -9
    if notation == "BinarySI":
        nano = _binary_nano(digits, places, power)
        scale = 0 if nano > LARGEST * NANO else -9
        nano = min(nano, LARGEST * NANO)
    else:
        nano = _rounded_up(digits, places - power)
    if notation == "BinarySI" and nano < NANO:
        notation = "DecimalSI"
    if sign == "-":
        nano = -nano
    return Quantity(nano, notation, "", nano // 10 ** (scale + 9), scale)


def _rounded_up(digits: str, places: int) -> int:
    """Return nano-units of ``digits`` with ``places`` of them after the point (negative: zeros follow)."""
    counted = max(len(digits) - places + 9, 0)
    if len(digits) <= counted:
        return int(digits + "0" * (9 - places))
    return int(digits[:counted] or "0") + (1 if digits[counted:].strip("0") else 0)


def _binary_nano(digits: str, places: int, power: int) -> int:
    """Return nano-units of the number × 2^``power``, or any value above the largest number if it exceeds that."""
    if len(digits) - places > _MOST_BINARY_PLACES:
        return (LARGEST + 1) * NANO
    cut = places - _MOST_DECIMALS
    if cut > 0:
        digits, places = f"{digits[:-cut]}{1 if digits[-cut:].strip('0') else 0}", _MOST_DECIMALS + 1
    return divide_away(int(digits) * 2**power * NANO, 10**places)


def canonical(quantity: Quantity) -> str:
    """Return the form Kubernetes stores: the largest suffix that leaves no fraction."""
    if quantity.written:
        return quantity.written
    number = quantity.nano
    if number == 0:
        return "0"
    if quantity.notation == "BinarySI" and abs(number) >= 1024 * NANO and number % NANO == 0:
        number, names = number // NANO, ["", *BINARY_SI]
        while number % 1024 == 0 and len(names) > 1:
            number, names = number // 1024, names[1:]
        return f"{number}{names[0]}"
    exponent = -9
    while number % 1000 == 0:
        number, exponent = number // 1000, exponent + 3
    if quantity.notation == "DecimalExponent":
        return f"{number}e{exponent}" if exponent else str(number)
    return f"{number}{SUFFIX_OF.get(exponent, '')}"


def rounded_up_to_milli(quantity: Quantity) -> Quantity:
    """Return whole thousandths, rounded away from zero, as the API server stores resource lists."""
    if not quantity.wide and quantity.scale >= -3:
        return quantity
    milli = quantity.milli_value()
    return Quantity(milli * (NANO // 1000), quantity.notation, "", milli, -3, quantity.wide)


def added(left: Quantity, right: Quantity) -> Quantity:
    """Return the exact sum; it keeps the notation of ``left`` unless that is zero."""
    notation = left.notation if left.nano else right.notation
    nano = left.nano + right.nano
    if not left.wide and not right.wide:
        scale = min(left.scale, right.scale) if left.digits and right.digits else (left if left.digits else right).scale
        digits = nano // 10 ** (scale + 9)
        if _fits(digits) and all(_fits(part.nano // 10 ** (scale + 9)) for part in (left, right)):
            return Quantity(nano, notation, "", digits, scale, wide=False)
    scale = max(min(left.scale, right.scale, 0), -9)
    return Quantity(nano, notation, "", nano // 10 ** (scale + 9), scale)


def negated(quantity: Quantity) -> Quantity:
    return Quantity(-quantity.nano, quantity.notation, "", -quantity.digits, quantity.scale, quantity.wide)


def _fits(number: int) -> bool:
    return -(2**63) <= number < 2**63
