"""The functions that expressions can call. Source: upstream ``cel-go/{common/stdlib,ext}``, ``apiserver/pkg/cel``."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any

from scheduler_engine.api.cel.addresses import Address, Network, cidr, contains_cidr, contains_ip, ip, masked
from scheduler_engine.api.cel.semver import Semver, parse_loosely, parse_semver
from scheduler_engine.api.cel.texts import (
    char_at,
    find,
    find_all,
    in_ascii,
    index_of,
    join,
    last_index_of,
    matches,
    replace,
    split,
    substring,
)
from scheduler_engine.api.cel.typed import Function, typed
from scheduler_engine.api.cel.values import (
    NOTHING,
    OPERATORS,
    CelError,
    CelType,
    Optional,
    bounded,
    compare,
    equal,
    name_of,
    no_overload,
    text_of,
)
from scheduler_engine.api.quantity import LARGEST, NANO, Quantity, added, negated, parse_quantity

# --- conversions ------------------------------------------------------------------------------------------------------


def to_int(value: Any) -> int:
    if isinstance(value, str):
        return bounded(_parsed(value, int, "int"), unsigned=False)
    if isinstance(value, float) and not -(2.0**63) < value < 2.0**63:
        raise CelError("integer overflow")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return bounded(int(value), unsigned=False)
    raise no_overload("int", value)


def to_uint(value: Any) -> int:
    if isinstance(value, str):
        return bounded(_parsed(value, int, "uint"), unsigned=True)
    if isinstance(value, float) and not 0 <= value < 2.0**64:
        raise CelError("unsigned integer overflow")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return bounded(int(value), unsigned=True)
    raise no_overload("uint", value)


def to_double(value: Any) -> float:
    if isinstance(value, str):
        return float(_parsed(value, float, "double"))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    raise no_overload("double", value)


def _parsed(text: str, kind: Callable[[str], Any], name: str) -> Any:
    try:
        if text != text.strip() or "_" in text:
            raise ValueError
        return kind(text)
    except ValueError:
        raise CelError(f"type conversion error from 'string' to '{name}'") from None


def to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "TRUE", "True", "t", "1"):
        return True
    if value in ("false", "FALSE", "False", "f", "0"):
        return False
    raise CelError(f"type conversion error from '{name_of(value)}' to 'bool'")


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
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    if isinstance(value, (str, bool, int, float, IPv4Address, IPv6Address, IPv4Network, IPv6Network)):
        return text_of(value)
    raise no_overload("string", value)


# --- lists ------------------------------------------------------------------------------------------------------------


@typed("isSorted", list)
def is_sorted(items: list[Any]) -> bool:
    return all(compare("isSorted", one, other) <= 0 for one, other in itertools.pairwise(items))


def _extreme(name: str, sign: int) -> Function:
    @typed(name, list)
    def extreme(items: list[Any]) -> Any:
        if not items:
            raise CelError(f"{name} called on empty list")
        found = items[0]
        for item in items[1:]:
            found = item if compare(name, item, found) == sign else found
        return found

    return extreme


@typed("sum", list)
def total(items: list[Any]) -> Any:
    found = items[0] if items else 0
    for item in items[1:]:
        found = OPERATORS["_+_"](found, item)
    return found


def _set_contains(items: list[Any], others: list[Any]) -> bool:
    return all(any(equal(item, other) for item in items) for other in others)


# --- quantities, versions, addresses ----------------------------------------------------------------------------------


@typed("quantity", str)
def quantity(text: str) -> Quantity:
    try:
        return parse_quantity(text)
    except ValueError as problem:
        raise CelError(str(problem)) from None


@typed("semver", str, bool)
def semver(text: str, loosely: bool = False) -> Semver:
    try:
        return parse_loosely(text) if loosely else parse_semver(text)
    except ValueError as problem:
        raise CelError(str(problem)) from None


def _is(make: Function) -> Function:
    def valid(*args: Any) -> bool:
        try:
            make(*args)
        except CelError as problem:
            if str(problem).startswith("no such overload"):
                raise
            return False
        return True

    return valid


def _order(name: str, one: Any, other: Any) -> int:
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return (one.nano > other.nano) - (one.nano < other.nano)
    if isinstance(one, Semver) and isinstance(other, Semver):
        return one.compare(other)
    raise no_overload(name, one, other)


def _as_quantity(value: Quantity | int) -> Quantity:
    return value if isinstance(value, Quantity) else parse_quantity(str(value))


@typed("add", Quantity, (Quantity, int))
def quantity_add(one: Quantity, other: Quantity | int) -> Quantity:
    return added(one, _as_quantity(other))


@typed("sub", Quantity, (Quantity, int))
def quantity_sub(one: Quantity, other: Quantity | int) -> Quantity:
    return added(one, negated(_as_quantity(other)))


def _whole(amount: Quantity) -> bool:
    return amount.nano % NANO == 0 and abs(amount.nano // NANO) <= LARGEST


@typed("asInteger", Quantity)
def as_integer(amount: Quantity) -> int:
    if not _whole(amount):
        raise CelError("cannot convert value to integer")
    return amount.nano // NANO


# --- optional values --------------------------------------------------------------------------------------------------


@typed("value", Optional)
def value_of(value: Optional) -> Any:
    if not value.held:
        raise CelError("optional.none() dereference")
    return value.held[0]


def _non_zero(value: Any) -> Optional:
    return Optional((value,)) if value not in (0, "", b"", False, None, [], {}) else NOTHING


FUNCTIONS: dict[str, Function] = OPERATORS | {
    "type": lambda value: CelType(name_of(value)),
    "bool": to_bool,
    "bytes": to_bytes,
    "double": to_double,
    "dyn": lambda value: value,
    "int": to_int,
    "uint": to_uint,
    "string": to_string,
    "contains": typed("contains", str, str)(lambda text, part: part in text),
    "endsWith": typed("endsWith", str, str)(lambda text, part: text.endswith(part)),
    "startsWith": typed("startsWith", str, str)(lambda text, part: text.startswith(part)),
    "matches": matches,
    "optional.of": lambda value: Optional((value,)),
    "optional.ofNonZeroValue": _non_zero,
    "optional.none": lambda: NOTHING,
    "value": value_of,
    "hasValue": typed("hasValue", Optional)(lambda value: bool(value.held)),
    "or": typed("or", Optional, Optional)(lambda value, other: value if value.held else other),
    "orValue": lambda value, other: value.held[0] if value.held else other,
    "charAt": char_at,
    "indexOf": index_of,
    "lastIndexOf": last_index_of,
    "join": join,
    "lowerAscii": typed("lowerAscii", str)(in_ascii(str.lower)),
    "upperAscii": typed("upperAscii", str)(in_ascii(str.upper)),
    "replace": replace,
    "split": split,
    "substring": substring,
    "trim": typed("trim", str)(str.strip),
    "find": find,
    "findAll": find_all,
    "isSorted": is_sorted,
    "sum": total,
    "max": _extreme("max", 1),
    "min": _extreme("min", -1),
    "sets.contains": typed("sets.contains", list, list)(_set_contains),
    "sets.equivalent": typed("sets.equivalent", list, list)(
        lambda one, other: _set_contains(one, other) and _set_contains(other, one)
    ),
    "sets.intersects": typed("sets.intersects", list, list)(
        lambda one, other: any(equal(item, another) for item in one for another in other)
    ),
    "quantity": quantity,
    "isQuantity": _is(quantity),
    "sign": typed("sign", Quantity)(lambda amount: (amount.nano > 0) - (amount.nano < 0)),
    "isGreaterThan": lambda one, other: _order("isGreaterThan", one, other) == 1,
    "isLessThan": lambda one, other: _order("isLessThan", one, other) == -1,
    "compareTo": lambda one, other: _order("compareTo", one, other),
    "asApproximateFloat": typed("asApproximateFloat", Quantity)(lambda amount: amount.nano / NANO),
    "asInteger": as_integer,
    "isInteger": typed("isInteger", Quantity)(_whole),
    "add": quantity_add,
    "sub": quantity_sub,
    "semver": semver,
    "isSemver": _is(semver),
    "major": typed("major", Semver)(lambda version: version.numbers[0]),
    "minor": typed("minor", Semver)(lambda version: version.numbers[1]),
    "patch": typed("patch", Semver)(lambda version: version.numbers[2]),
    "ip": ip,
    "isIP": _is(ip),
    "ip.isCanonical": lambda text: str(ip(text)) == text,
    "family": typed("family", Address)(lambda address: address.version),
    "isUnspecified": typed("isUnspecified", Address)(lambda address: address.is_unspecified),
    "isLoopback": typed("isLoopback", Address)(lambda address: address.is_loopback),
    "isLinkLocalMulticast": typed("isLinkLocalMulticast", Address)(
        lambda address: address in (cidr("224.0.0.0/24") if address.version == 4 else cidr("ff02::/16"))
    ),
    "isLinkLocalUnicast": typed("isLinkLocalUnicast", Address)(lambda address: address.is_link_local),
    "isGlobalUnicast": typed("isGlobalUnicast", Address)(
        lambda address: (
            not (
                address.is_unspecified
                or address.is_loopback
                or address.is_multicast
                or address.is_link_local
                or str(address) == "255.255.255.255"
            )
        )
    ),
    "cidr": cidr,
    "isCIDR": _is(cidr),
    "containsIP": contains_ip,
    "containsCIDR": contains_cidr,
    "prefixLength": typed("prefixLength", Network)(lambda network: network.prefixlen),
    "masked": masked,
}
"""Function → what it does."""
