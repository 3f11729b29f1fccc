"""Values of CEL in Python, and the operators on them.

bool, int, float, str, bytes, None, list and dict stand for themselves; ``Uint``, ``Optional``, ``Semver``, ``CelType``,
``Quantity``, ``Timestamp``, ``Duration`` and the types of ``ipaddress`` for the others.
Source: upstream ``cel-go/common/types``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface
from typing import Any, ClassVar

from scheduler_engine.api.cel import times
from scheduler_engine.api.cel.semver import Semver
from scheduler_engine.api.cel.times import Duration, Timestamp
from scheduler_engine.api.quantity import Quantity

LARGEST_INT, LARGEST_UINT = 2**63 - 1, 2**64 - 1
LONGEST = 10_000_000
"""The most characters or items of a value. In Kubernetes texts cannot be longer, as their cost is limited; lists can,
as they share their items.
"""


class CelError(Exception):
    """An evaluation failed; the text is that of cel-go. ``at``: the offset of its cause, None if nobody asked."""

    at: int | None = None


class TooExpensive(CelError):
    """The evaluation reached its limit. No operator hides this error."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Uint(int):
    """An unsigned number."""


@dataclass(frozen=True, slots=True)
class CelType:
    name: str


@dataclass(frozen=True, slots=True)
class Optional:
    """``held``: the value alone, or nothing."""

    held: tuple[Any, ...] = ()


NOTHING = Optional()


class Computed(Quantity):
    """A sum or difference. In Kubernetes no other quantity can be compared with it: it may only stand to the left."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Itself:
    """A key of a map that equals no other one."""

    value: Any


NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    dict: "map",
    CelType: "type",
    Optional: "optional_type",
    Quantity: "kubernetes.Quantity",
    Semver: "kubernetes.Semver",
    IPv4Address: "net.IP",
    IPv6Address: "net.IP",
    IPv4Interface: "net.CIDR",
    IPv6Interface: "net.CIDR",
    Timestamp: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration",
}


def name_of(value: Any) -> str:
    """Return the name of a value's type."""
    kind = type(value)
    named = NAMES.get(kind) or getattr(kind, "type_name", "")
    return named or next(name for base, name in NAMES.items() if isinstance(value, base))


def no_overload(function: str, *args: Any) -> CelError:
    """Return the error of a call with values of wrong types. Only functions of the libraries show the types."""
    if function == "size":
        return CelError("no such overload: size")
    if function in OPERATORS or function in STANDARD:
        return CelError("no such overload")
    return CelError(f"no such overload: {function}({', '.join(map(name_of, args))})")


def without_overload(function: str, value: Any) -> CelError:
    """Return the error of a call for which the kind of value has no method. Values that look up methods by name have
    none of any name.
    """
    return CelError("no such overload" if isinstance(value, METHODS_BY_NAME) else f"no such overload: {function}")


def check_size(size: int) -> None:
    """Raise TooExpensive for a size that no value may have."""
    if size > LONGEST:
        raise TooExpensive


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def equal(one: Any, other: Any) -> bool:
    """Return True for equal values; numbers of different types can be equal, other values cannot."""
    if is_number(one) and is_number(other):
        one, other = _aligned(one, other)
        return bool(one == other)
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        if isinstance(other, Computed):
            raise no_overload("_==_", one, other)
        return one.nano == other.nano
    if isinstance(one, Semver) and isinstance(other, Semver):
        return one.compare(other) == 0
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(key in other and equal(one[key], other[key]) for key in one)
    if isinstance(one, Optional) and isinstance(other, Optional):
        return equal(list(one.held), list(other.held))
    if hasattr(one, "type_name") and other is not None and type(one) is not type(other):
        raise no_overload("_==_", one, other)
    return type(one) is type(other) and bool(one == other)


def _aligned(one: Any, other: Any) -> tuple[Any, Any]:
    """Return two numbers as they are compared: a whole one loses precision beside a double."""
    return (float(one), float(other)) if isinstance(one, float) or isinstance(other, float) else (one, other)


def compare(function: str, one: Any, other: Any) -> int:
    """Return -1, 0 or 1. Raises CelError for values without an order."""
    if is_number(one) and is_number(other):
        if one != one or other != other:
            raise CelError("NaN values cannot be ordered")
        one, other = _aligned(one, other)
    elif type(one) is not type(other) or not isinstance(one, (bool, str, bytes, Timestamp, Duration)):
        raise no_overload(function, one, other)
    return int(one > other) - int(one < other)


def _ordered(sign: str, *accepted: int) -> Callable[[Any, Any], bool]:
    def operator(one: Any, other: Any) -> bool:
        return compare(sign, one, other) in accepted

    return operator


def bounded(number: int, unsigned: bool) -> int:
    """Return an integer of 64 bits. Raises CelError for one that is too large."""
    if unsigned:
        if not 0 <= number <= LARGEST_UINT:
            raise CelError("unsigned integer overflow")
        return Uint(number)
    if not -LARGEST_INT - 1 <= number <= LARGEST_INT:
        raise CelError("integer overflow")
    return number


def _arithmetic(sign: str, whole: Callable[[int, int], int], real: Callable[[float, float], float] | None) -> Any:
    def operator(one: Any, other: Any) -> Any:
        if type(one) is type(other) and is_number(one):
            if isinstance(one, int):
                return bounded(whole(int(one), int(other)), isinstance(one, Uint))
            if real is not None:
                return real(one, other)
        raise no_overload(sign, one, other)

    return operator


def _divided(one: int, by: int) -> int:
    if by == 0:
        raise CelError("division by zero")
    return abs(one) // abs(by) * (1 if (one < 0) == (by < 0) else -1)


def _remainder(one: int, by: int) -> int:
    if by == 0:
        raise CelError("modulus by zero")
    if one < -LARGEST_INT and by == -1:
        raise CelError("integer overflow")
    return abs(one) % abs(by) * (-1 if one < 0 else 1)


def _divided_real(one: float, by: float) -> float:
    if by:
        return one / by
    return math.nan if one == 0 or one != one else math.copysign(math.inf, one) * math.copysign(1, by)


_sum = _arithmetic("_+_", int.__add__, float.__add__)
_difference = _arithmetic("_-_", int.__sub__, float.__sub__)
TIMES = (Timestamp, Duration)


def add(one: Any, other: Any) -> Any:
    if type(one) is type(other) and isinstance(one, (str, bytes, list)):
        check_size(len(one) + len(other))
        return one + other
    return _of_times("_+_", times.added, one, other) if isinstance(one, TIMES) else _sum(one, other)


def subtract(one: Any, other: Any) -> Any:
    return _of_times("_-_", times.subtracted, one, other) if isinstance(one, TIMES) else _difference(one, other)


def _of_times(sign: str, function: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    if not isinstance(other, TIMES):
        raise no_overload(sign, one, other)
    try:
        return function(one, other)
    except TypeError:
        raise no_overload(sign, one, other) from None
    except OverflowError as problem:
        raise CelError(str(problem)) from None


def negate(value: Any) -> Any:
    if isinstance(value, Duration):
        return _of_times("_-_", times.subtracted, Duration(0), value)
    if is_number(value) and not isinstance(value, Uint):
        return bounded(-value, unsigned=False) if isinstance(value, int) else -value
    raise CelError("no such overload") if isinstance(value, bool) else without_overload("-_", value)


def invert(value: Any) -> bool:
    if not isinstance(value, bool):
        raise no_overload("!_", value)
    return not value


def within(item: Any, container: Any) -> bool:
    if isinstance(container, dict):
        return key_of(item) in container
    if isinstance(container, list):
        return any(_surely_equal(item, other) for other in container)
    raise no_overload("@in", item, container)


def _surely_equal(one: Any, other: Any) -> bool:
    try:
        return equal(one, other)
    except CelError:
        return False


def key_of(value: Any) -> Any:
    """Return a value as a key of a dict: equal numbers are the same key, True is not 1. Lists and maps are never equal.

    Raises CelError for a version or a format.
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    kind = {"kubernetes.Semver": "Semver", "kubernetes.NamedFormat": "Format"}.get(name_of(value))
    if kind is not None:
        raise CelError(f"internal error: runtime error: hash of unhashable type cel.{kind}")
    if isinstance(value, (list, dict)):
        return Itself(value)
    return ("bool", value) if isinstance(value, bool) else value


def plain_key(key: Any) -> Any:
    """Return the value of a key of a dict."""
    return key.value if isinstance(key, Itself) else key[1] if isinstance(key, tuple) else key


def size(value: Any) -> int:
    """Return the number of characters, bytes, items or entries. Raises CelError for other values."""
    if isinstance(value, (str, bytes, list, dict)):
        return len(value)
    raise no_overload("size", value)


def field_of(operand: Any, key: Any) -> Any:
    """Return an entry or item. Raises CelError if it does not exist."""
    if isinstance(operand, dict):
        found = operand.get(key_of(key), operand)
        if found is not operand:
            return found
        if isinstance(operand, WithDefault):
            return operand.default
        raise CelError(f"no such key: {text_of(key)}")
    if isinstance(operand, list):
        if not is_number(key):
            raise CelError(f"unsupported index type '{name_of(key)}' in list")
        if key != key or key in (math.inf, -math.inf) or key != int(key):
            raise CelError(f"unsupported index value {text_of(key)} in list")
        if 0 <= key < len(operand):
            return operand[int(key)]
        raise CelError(f"index out of bounds: {text_of(key)}")
    raise CelError(f"no such key: {text_of(key)}")


def has_field(operand: Any, key: Any) -> bool:
    try:
        field_of(operand, key)
    except CelError:
        return False
    return True


def text_of(value: Any) -> str:
    """Return a value as messages show it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class WithDefault(dict[Any, Any]):
    """A map in which reading a key that does not exist gives an empty map."""

    default: ClassVar[dict[Any, Any]] = {}


OPERATORS: dict[str, Callable[..., Any]] = {
    "_<_": _ordered("_<_", -1),
    "_<=_": _ordered("_<=_", -1, 0),
    "_>_": _ordered("_>_", 1),
    "_>=_": _ordered("_>=_", 0, 1),
    "_==_": equal,
    "_!=_": lambda one, other: not equal(one, other),
    "_+_": add,
    "_-_": subtract,
    "_*_": _arithmetic("_*_", int.__mul__, float.__mul__),
    "_/_": _arithmetic("_/_", _divided, _divided_real),
    "_%_": _arithmetic("_%_", _remainder, None),
    "-_": negate,
    "!_": invert,
    "@in": within,
    "size": size,
}
"""Name of an operator → what it does."""
METHODS_BY_NAME = (str, Timestamp, Duration)
STANDARD = frozenset(("contains", "startsWith", "endsWith", "matches", "find", "_?_:_", "_&&_", "_||_"))
"""Functions whose errors do not show the types."""
