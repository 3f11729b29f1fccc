"""What a call costs when it is evaluated.

Source: upstream ``cel-go/interpreter/runtimecost.go``, ``apiserver/pkg/cel/library/cost.go``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from scheduler_engine.api.cel.addresses import Network
from scheduler_engine.api.cel.values import name_of
from scheduler_engine.api.cel.zones import FIELDS

STRING_FACTOR, PATTERN_FACTOR = 0.1, 0.25
LIST_COST, MAP_COST = 10, 30
"""What it costs to make a list or a map."""
MATCH_COST = 20
"""What each match of findAll costs here. In Kubernetes it costs nothing: there it is quicker."""


CHARACTERS_FOR_ONE = 1000
"""How many characters cost 1 here, if they are read or written by a function that costs nothing for them in
Kubernetes, where it is quicker. Shorter texts cost what they cost there.
"""


def _size(value: Any) -> int:
    return len(value) if isinstance(value, (str, bytes, list, dict)) else 1


def _traversal(value: Any) -> int:
    return math.ceil(_size(value) * STRING_FACTOR)


Cost = Callable[[list[Any], Any], int]


def _first(factor: float = STRING_FACTOR) -> Cost:
    return lambda values, result: math.ceil(_size(values[0]) * factor)


def _smaller(values: list[Any], result: Any) -> int:
    return math.ceil(min(_size(values[0]), _size(values[1])) * STRING_FACTOR)


def _matching(values: list[Any], result: Any) -> int:
    return math.ceil((1 + _size(values[0])) * STRING_FACTOR) * math.ceil(_size(values[1]) * PATTERN_FACTOR)


def _walked(values: list[Any], result: Any) -> int:
    """Return the cost of reading every item of a list, or every character."""
    held = values[0]
    if isinstance(held, (str, bytes)):
        return int(len(held) * STRING_FACTOR)
    return sum(_walked([item], None) for item in held) if isinstance(held, list) else 1


def _read(values: list[Any], result: Any) -> int:
    """Return the cost of reading a text: the last value."""
    return max(1, _size(values[-1]) // CHARACTERS_FOR_ONE)


def _parts(values: list[Any], result: Any) -> int:
    """Return the cost of reading a text part by part. What people write costs 1, as in Kubernetes."""
    size = _size(values[0])
    return size // 2 if size > CHARACTERS_FOR_ONE else 1


def _formatted(values: list[Any], result: Any) -> int:
    return max(math.ceil(_size(values[0]) * STRING_FACTOR), len(result or "") // CHARACTERS_FOR_ONE)


def _compared(values: list[Any], result: Any) -> int:
    plain = isinstance(values[0], (str, bytes, list, dict, bool, int, float)) or values[0] is None
    return _smaller(values, result) if plain else 1


def _prefix(values: list[Any]) -> int:
    """Return the bytes of a network's prefix."""
    return math.ceil(values[0].network.prefixlen / 8) if isinstance(values[0], Network) else 1


def _contains_ip(values: list[Any], result: Any) -> int:
    """Return the cost of comparing the prefix with an address, which is read first if it is a text."""
    return math.ceil(2 * _prefix(values) * STRING_FACTOR) + (_traversal(values[1]) if isinstance(values[1], str) else 0)


def _contains_cidr(values: list[Any], result: Any) -> int:
    """Return the same for another network, whose prefix is masked and compared, too."""
    return _contains_ip(values, result) + 1 + math.ceil(_prefix(values) * STRING_FACTOR)


COMPARISON = 2
"""What it costs to compare an item of a list with another one."""


def comparison_of(kind: str) -> float:
    return COMPARISON + (STRING_FACTOR if kind in ("string", "bytes") else 0)


def _listing(size: Cost) -> Cost:
    return lambda values, result: 1 + LIST_COST + size(values, result)


def _sorting(position: int) -> Cost:
    """Return the cost of comparing each item of a list with each."""

    def cost(values: list[Any], result: Any) -> int:
        items = values[position]
        kind = name_of(items[0]) if isinstance(items, list) and items else ""
        return int(_size(items) ** 2 * comparison_of(kind))

    return _listing(cost)


def _number(value: Any) -> int:
    return max(0, value) if type(value) is int else 0


def _sliced(values: list[Any], result: Any) -> int:
    return max(0, min(_size(values[0]), _number(values[2])) - _number(values[1]))


def _flattening(values: list[Any], result: Any) -> int:
    return _size(values[0]) * (_number(values[1]) if len(values) > 1 else 1)


PAID_FIRST: dict[str, Cost] = {
    "slice": _listing(_sliced),
    "flatten": _listing(_flattening),
    "lists.range": _listing(lambda values, result: _number(values[0])),
    "reverse": _listing(lambda values, result: _size(values[0])),
    "sort": _sorting(0),
    "distinct": _sorting(0),
    "@sortByAssociatedKeys": _sorting(1),
}
"""Function → its cost, which its arguments tell: it is spent before the function works."""
COSTS: dict[str, Cost] = {
    **dict.fromkeys(("startsWith", "endsWith"), _first()),
    **dict.fromkeys(("string_to_bytes", "bytes_to_string"), _first()),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _first()),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver", "cidr", "isIP", "isCIDR", "url"), _first()),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _first(2 * STRING_FACTOR)),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _walked),
    "find": _matching,
    "findAll": lambda values, result: max(_matching(values, result), MATCH_COST * len(result or ())),
    **dict.fromkeys(("less_string", "greater_string", "less_equals_string", "greater_equals_string"), _smaller),
    **dict.fromkeys(("_==_", "_!=_"), _compared),
    **dict.fromkeys(
        ("sets.contains", "sets.intersects"), lambda values, result: 1 + _size(values[0]) * _size(values[1])
    ),
    "sets.equivalent": lambda values, result: 1 + 2 * _size(values[0]) * _size(values[1]),
    "matches_string": _matching,
    "in_list": lambda values, result: _size(values[1]),
    "add_string": lambda values, result: math.ceil((_size(values[0]) + _size(values[1])) * STRING_FACTOR),
    "contains": lambda values, result: _traversal(values[0]) * _traversal(values[1]),
    "join": lambda values, result: math.ceil(_size(result) * 2 * STRING_FACTOR),
    "string_to_ip": _first(),
    **dict.fromkeys(("int", "uint", "double", "bool", "timestamp", *FIELDS), _read),
    "duration": _parts,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "format": _formatted,
    "strings.quote": _first(),
    "validate": lambda values, result: (
        math.ceil((1 + _size(values[1])) * STRING_FACTOR) * math.ceil(getattr(values[0], "size", 1) * PATTERN_FACTOR)
    ),
}
"""Function or overload → its cost, from arguments and result. All others cost 1."""
