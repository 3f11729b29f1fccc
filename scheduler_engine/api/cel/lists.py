"""Functions over lists. Source: upstream ``cel-go/ext/{lists,sets}.go``, ``apiserver/pkg/cel/library/lists.go``."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cmp_to_key
from typing import Any

from scheduler_engine.api.cel.times import Duration, Timestamp
from scheduler_engine.api.cel.typed import Function, typed
from scheduler_engine.api.cel.values import (
    NOTHING,
    OPERATORS,
    CelError,
    Optional,
    compare,
    equal,
    name_of,
    no_overload,
    without_overload,
)

COMPARABLE = (bool, int, float, str, bytes, Timestamp, Duration)


@typed("isSorted", list)
def is_sorted(items: list[Any]) -> bool:
    return all(order_of("isSorted", one, other) <= 0 for one, other in itertools.pairwise(items))


def order_of(name: str, one: Any, other: Any) -> int:
    """Return -1, 0 or 1; 0 for values without an order."""
    try:
        return compare(name, one, other)
    except CelError:
        return 0


def extreme(name: str, sign: int) -> Function:
    @typed(name, list)
    def found_extreme(items: list[Any]) -> Any:
        if not items:
            raise CelError(f"{name} called on empty list")
        found = items[0]
        for item in items[1:]:
            found = item if order_of(name, item, found) == sign else found
        return found

    return found_extreme


@typed("sum", list)
def total(items: list[Any]) -> Any:
    found = items[0] if items else 0
    if not isinstance(found, (int, float, Duration)) or isinstance(found, bool):
        raise no_overload("sum", items)
    for item in items[1:]:
        found = OPERATORS["_+_"](found, item)
    return found


def contains_all(items: list[Any], others: list[Any]) -> bool:
    return all(any(equal(item, other) for item in items) for other in others)


def _end(name: str, position: int) -> Function:
    """Return the function of the first or the last item of a list."""

    @typed(name, list)
    def end(items: list[Any]) -> Optional:
        return Optional((items[position],)) if items else NOTHING

    return end


# --- the list functions that new objects may use from v1.35 on ---


@typed("slice", list, int, int)
def slice_of(items: list[Any], start: int, end: int) -> list[Any]:
    where = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise CelError(f"{where}, negative indexes not supported")
    if start > end:
        raise CelError(f"{where}, start index must be less than or equal to end index")
    if len(items) < end:
        raise CelError(f"{where}, list is length {len(items)}")
    return items[start:end]


def flatten(items: Any, *depth: Any) -> list[Any]:
    levels = depth[0] if depth else 1
    if not isinstance(items, list) or type(levels) is not int:
        kind = "map(dyn, dyn)" if isinstance(items, dict) else name_of(items)
        raise CelError(f"no such overload: {kind}.flatten({', '.join(map(name_of, depth))})")
    return _flat(items, levels)


def _flat(items: list[Any], depth: int) -> list[Any]:
    if depth < 0:
        raise CelError("level must be non-negative")
    found: list[Any] = []
    for item in items:
        if isinstance(item, list) and depth:
            found.extend(_flat(item, depth - 1))
        else:
            found.append(item)
    return found


def sort(items: Any) -> list[Any]:
    return sort_by_keys(items, items, "sort")


def sort_by_keys(items: Any, keys: list[Any], name: str = "@sortByAssociatedKeys") -> list[Any]:
    """Return the items in the order of their keys. Items with equal keys keep their order."""
    if not isinstance(items, list):
        raise without_overload(name, items)
    if keys and not isinstance(keys[0], COMPARABLE):
        raise CelError("list elements must be comparable")
    if len({name_of(key) for key in keys}) > 1:
        raise CelError("list elements must have the same type")
    by_key = cmp_to_key(lambda one, other: order_of("sort", one, other))
    order = sorted(range(len(keys)), key=lambda position: by_key(keys[position]))
    return [items[position] for position in order]


@typed("distinct", list)
def distinct(items: list[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if not any(equal(item, other) for other in found):
            found.append(item)
    return found


LIST_FUNCTIONS: Mapping[str, Function] = {
    "isSorted": is_sorted,
    "sum": total,
    "max": extreme("max", 1),
    "min": extreme("min", -1),
    "first": _end("first", 0),
    "last": _end("last", -1),
    "sets.contains": typed("sets.contains", list, list)(contains_all),
    "sets.equivalent": typed("sets.equivalent", list, list)(
        lambda one, other: contains_all(one, other) and contains_all(other, one)
    ),
    "sets.intersects": typed("sets.intersects", list, list)(
        lambda one, other: any(equal(item, another) for item in one for another in other)
    ),
    "slice": slice_of,
    "flatten": flatten,
    "sort": sort,
    "@sortByAssociatedKeys": sort_by_keys,
    "lists.range": typed("lists.range", int)(lambda count: list(range(count))),
    "reverse": typed("reverse", list)(lambda items: items[::-1]),
    "distinct": distinct,
}
"""Function → what it does."""
