"""Changes of manifests: JSON merge patches, and the changes of a form that shows a part of a manifest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Data = Mapping[str, Any]

SELECTOR = "labelSelector"
WHOLE = (SELECTOR,)
"""Members that a form replaces as a whole if it changes them, because it may write the same in another way."""
ABSENT = object()


def merge_patch(before: Data, after: Data) -> dict[str, Any]:
    """Return the JSON merge patch (RFC 7396) from ``before`` to ``after``. None removes a member."""
    patch: dict[str, Any] = {name: None for name in before if name not in after}
    for name, value in after.items():
        old = before.get(name, ABSENT)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            if inner := merge_patch(old, value):
                patch[name] = inner
        elif old != value or type(old) is not type(value):
            patch[name] = value
    return patch


def overlay(now: Any, before: Any, after: Any) -> Any:
    """Return ``now`` with the changes of a form that shows a part of it.

    ``before`` is the form's result before the changes, ``after`` is the result now. Other parts of ``now`` stay.
    """
    if _same(before, after):
        return now
    if isinstance(now, Mapping) and isinstance(before, Mapping) and isinstance(after, Mapping):
        return _members(now, before, after)
    if isinstance(now, list) and isinstance(before, list) and isinstance(after, list):
        return _items(now, before, after)
    return after


def _members(now: Data, before: Data, after: Data) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, current in now.items():
        if name not in before and name not in after:
            result[name] = current
        elif name in WHOLE and not _same(before.get(name), after.get(name)):
            result[name] = after.get(name, ABSENT)
        elif name in after:
            result[name] = overlay(current, before[name], after[name]) if name in before else after[name]
        else:
            result[name] = _left(current, before[name])
    result |= {
        name: value
        for name, value in after.items()
        if name not in now and not (name in before and _same(before[name], value))
    }
    return {name: value for name, value in result.items() if value is not ABSENT}


def without_selectors(data: Any) -> Any:
    """Return a value without any ``labelSelector`` in it."""
    if isinstance(data, Mapping):
        return {name: without_selectors(value) for name, value in data.items() if name != SELECTOR}
    return [without_selectors(value) for value in data] if isinstance(data, list) else data


def follow_labels(now: Any, old: Data, new: Data) -> Any:
    """Return a pod's spec after its labels changed from ``old`` to ``new``.

    A selector of exactly the ``old`` labels means the pod itself, and changes to ``new``. Other selectors stay. A pod
    without labels has no such selector.
    """
    if isinstance(now, list):
        return [follow_labels(value, old, new) for value in now]
    if not isinstance(now, Mapping):
        return now
    result = {name: follow_labels(value, old, new) for name, value in now.items()}
    if "topologyKey" in result and result.get(SELECTOR) == _own(old):
        result[SELECTOR] = _own(new)
        return {name: value for name, value in result.items() if name != SELECTOR or value}
    return result


def _own(labels: Data) -> Data | None:
    """Return the selector of a pod's own labels; None without labels."""
    return {"matchLabels": labels} if labels else None


def _left(current: Any, before: Any) -> Any:
    """Return what stays of a member that the form removed: the parts it does not show, or ABSENT."""
    empty: Any = {} if isinstance(before, Mapping) else [] if isinstance(before, list) else None
    left = None if empty is None else overlay(current, before, empty)
    return left if isinstance(left, Mapping | list) and left else ABSENT


def _items(now: list[Any], before: list[Any], after: list[Any]) -> list[Any]:
    """Return a list with the changes of the form. Items that the form does not show stay at their places."""
    places = _aligned(now, before)
    result = []
    for item, number in zip(after, _partners(after, before, _same), strict=True):
        place = None if number is None else places[number]
        result.append(item if number is None or place is None else overlay(now[place], before[number], item))
    for place, item in enumerate(now):
        if place not in places:
            result.insert(place, item)
    return result


def _aligned(now: Sequence[Any], before: Sequence[Any]) -> list[int | None]:
    """Return for each item of ``before`` the place of the item of ``now`` that it shows: one that contains it."""
    return list(range(len(now))) if len(now) == len(before) else _partners(before, now, _covers)


def _partners(items: Sequence[Any], others: Sequence[Any], match: Callable[[Any, Any], bool]) -> list[int | None]:
    """Return for each item the place of the first free match in ``others``, else of one left over, else None."""
    free = dict(enumerate(others))
    places: list[int | None] = []
    for item in items:
        place = next((place for place, other in free.items() if match(other, item)), None)
        places.append(place)
        if place is not None:
            del free[place]
    rest = iter(free)
    return [next(rest, None) if place is None else place for place in places]


def _covers(whole: Any, part: Any) -> bool:
    """Return True if ``whole`` contains all members of ``part``."""
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(name in whole and _covers(whole[name], part[name]) for name in part)
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) <= len(whole) and all(map(_covers, whole, part))
    return _same(whole, part)


def _same(one: Any, other: Any) -> bool:
    """Return True for equal values. A number equals its text, because a form has texts."""
    if isinstance(one, Mapping | list) or isinstance(other, Mapping | list):
        return bool(one == other)
    return str(one) == str(other)


def hidden_paths(whole: Any, part: Any, path: str = "") -> list[str]:
    """Return the paths in ``whole`` that are missing in ``part``, as short as possible: ``spec.initContainers``."""
    if isinstance(whole, Mapping) and isinstance(part, Mapping):
        paths = []
        for name, value in whole.items():
            here = f"{path}.{name}" if path else str(name)
            paths += hidden_paths(value, part[name], here) if name in part else [here]
        return paths
    if isinstance(whole, list) and isinstance(part, list):
        places = {place: number for number, place in enumerate(_aligned(whole, part)) if place is not None}
        paths = []
        for place, value in enumerate(whole):
            here = f"{path}[{place}]"
            paths += hidden_paths(value, part[places[place]], here) if place in places else [here]
        return paths
    return [] if _same(whole, part) else [path]
