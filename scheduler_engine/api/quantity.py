"""Kubernetes quantities, exact.

Source: upstream ``apimachinery/pkg/api/resource/quantity.go``. A quantity is an integer number of nano-units plus the
notation it was written in; whatever is finer than a nano-unit is rounded up (away from zero), as Kubernetes does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

NANO = 10**9
MAX_NANO = (2**63 - 1) * NANO

DECIMAL_SI = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY_SI = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
PATTERN = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]?|[eE][+-]?[0-9]+)")
FORMAT_MESSAGE = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """``nano``: value × 10⁹, an integer. ``notation``: DecimalSI, BinarySI or DecimalExponent."""

    nano: int
    notation: str = "DecimalSI"

    def value(self) -> int:
        """Whole units, rounded away from zero (bytes for memory)."""
        return _divide_away(self.nano, NANO)

    def milli_value(self) -> int:
        """Thousandths, rounded away from zero (millicores for cpu)."""
        return _divide_away(self.nano, NANO // 1000)

    def __str__(self) -> str:
        return canonical(self)


def _divide_away(number: int, by: int) -> int:
    return -(-number // by) if number >= 0 else number // by


@lru_cache(maxsize=4096)
def parse_quantity(text: str | int | float) -> Quantity:
    """Read ``500m``, ``1.5Gi``, ``2e3`` or a JSON number.

    Raises ValueError with Kubernetes' text when it is no quantity.
    """
    if isinstance(text, bool):
        raise ValueError(FORMAT_MESSAGE)
    if isinstance(text, (int, float)):
        text = format(Decimal(repr(text)), "f") if isinstance(text, float) else str(text)
    match = PATTERN.fullmatch(text)
    if match is None:
        raise ValueError(FORMAT_MESSAGE)
    sign, number, suffix = match.groups()
    notation, scale = _scale_of(suffix)
    exact = Fraction(Decimal(number)) * scale * NANO
    nano = -(-exact.numerator // exact.denominator)
    nano = min(nano, MAX_NANO)
    return Quantity(-nano if sign == "-" else nano, notation)


def _scale_of(suffix: str) -> tuple[str, Fraction]:
    if suffix in BINARY_SI:
        return "BinarySI", Fraction(2 ** BINARY_SI[suffix])
    if suffix in DECIMAL_SI:
        return "DecimalSI", Fraction(10) ** DECIMAL_SI[suffix]
    exponent = max(-1000, min(1000, int(suffix[1:])))
    return "DecimalExponent", Fraction(10) ** exponent


def canonical(quantity: Quantity) -> str:
    """The form Kubernetes stores: the largest suffix that leaves no fraction."""
    if quantity.nano == 0:
        return "0"
    if quantity.notation == "BinarySI" and abs(quantity.nano) >= 1024 * NANO and quantity.nano % NANO == 0:
        number, step = quantity.nano // NANO, 0
        names = ["", *BINARY_SI]
        while number % 1024 == 0 and step < len(names) - 1:
            number, step = number // 1024, step + 1
        return f"{number}{names[step]}"
    number, exponent = quantity.nano, -9
    while number % 1000 == 0 and exponent < 18:
        number, exponent = number // 1000, exponent + 3
    if quantity.notation == "DecimalExponent":
        return f"{number}e{exponent}" if exponent else str(number)
    suffix = next(name for name, power in DECIMAL_SI.items() if power == exponent)
    return f"{number}{suffix}"


def rounded_up_to_milli(quantity: Quantity) -> Quantity:
    """The quantity in whole thousandths, rounded away from zero, as the API server stores resource lists."""
    return Quantity(_divide_away(quantity.nano, NANO // 1000) * (NANO // 1000), quantity.notation)


def added(left: Quantity, right: Quantity) -> Quantity:
    """The exact sum; it keeps the notation of ``left`` unless that is zero."""
    return Quantity(left.nano + right.nano, left.notation if left.nano else right.notation)
