"""Conversions of values to other types. Source: upstream ``cel-go/common/types``, Go's ``strconv``."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from scheduler_engine.api.cel.times import NANO, Duration, Timestamp, parse_duration, parse_timestamp, timestamp_at
from scheduler_engine.api.cel.values import CelError, Uint, bounded, no_overload, text_of

INTEGER, UNSIGNED = re.compile(r"[+-]?\d+", re.ASCII), re.compile(r"\d+", re.ASCII)
DOUBLE = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE)
LEAST_EXPONENT = 6
"""From this power of ten on a double is written with an exponent."""


def to_int(value: Any) -> int:
    if isinstance(value, str):
        return int(_parsed(value, INTEGER, "int", -(2**63), 2**63 - 1))
    if isinstance(value, Timestamp):
        return value.nanos // NANO
    if isinstance(value, Duration):
        return value.nanos
    if isinstance(value, float) and not -(2.0**63) < value < 2.0**63:
        raise CelError("integer overflow")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return bounded(int(value), unsigned=False)
    raise no_overload("int", value)


def to_uint(value: Any) -> int:
    if isinstance(value, str):
        return Uint(_parsed(value, UNSIGNED, "uint", 0, 2**64 - 1))
    if isinstance(value, float) and not 0 <= value < 2.0**64:
        raise CelError("unsigned integer overflow")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return bounded(int(value), unsigned=True)
    raise no_overload("uint", value)


def to_double(value: Any) -> float:
    if isinstance(value, str):
        return _parsed_double(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    raise no_overload("double", value)


def _parsed(text: str, form: re.Pattern[str], name: str, least: int, most: int) -> int:
    if not form.fullmatch(text) or len(text.lstrip("+-0")) > len(str(most)) or not least <= int(text) <= most:
        raise CelError(f"type conversion error from 'string' to '{name}'")
    return int(text)


def _parsed_double(text: str) -> float:
    found = float(text) if DOUBLE.fullmatch(text) else math.inf
    if math.isinf(found) and "inf" not in text.lower():
        raise CelError("type conversion error from 'string' to 'double'")
    return found


def to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "TRUE", "True", "t", "1"):
        return True
    if value in ("false", "FALSE", "False", "f", "0"):
        return False
    if not isinstance(value, str):
        raise no_overload("bool", value)
    raise CelError("type conversion error from 'string' to 'bool'")


def to_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise no_overload("bytes", value)


def to_string(value: Any) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None
    if isinstance(value, float):
        return _double_text(value)
    if isinstance(value, (str, bool, int, float, IPv4Address, IPv6Address, Timestamp, Duration)):
        return text_of(value)
    raise no_overload("string", value)


def to_timestamp(value: Any) -> Timestamp:
    if isinstance(value, Timestamp):
        return value
    try:
        if isinstance(value, int) and not isinstance(value, (bool, Uint)):
            return timestamp_at(value)
        if isinstance(value, str):
            return parse_timestamp(value)
    except ValueError:
        raise CelError("type conversion error from 'string' to 'google.protobuf.Timestamp'") from None
    except OverflowError as problem:
        raise CelError(str(problem)) from None
    raise no_overload("timestamp", value)


def to_duration(value: Any) -> Duration:
    if isinstance(value, Duration):
        return value
    if isinstance(value, int) and not isinstance(value, (bool, Uint)):
        # The checker accepts this conversion, which no number has.
        raise CelError("type conversion error from 'int' to 'google.protobuf.Duration'")
    if not isinstance(value, str):
        raise no_overload("duration", value)
    try:
        return parse_duration(value)
    except ValueError:
        raise CelError("type conversion error from 'string' to 'google.protobuf.Duration'") from None


def _double_text(value: float) -> str:
    """Return a double as Go writes it: with an exponent from a million on."""
    if not math.isfinite(value):
        return "NaN" if value != value else f"{'-' if value < 0 else '+'}Inf"
    digits, _, exponent = f"{Decimal(repr(value)).normalize():e}".partition("e")
    if not -4 <= int(exponent) < LEAST_EXPONENT:
        return f"{digits}e{int(exponent):+03d}"
    return f"{Decimal(repr(value)).normalize():f}"
