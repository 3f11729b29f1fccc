"""Changes of manifests: what differs as a JSON merge patch, and what a form changes in a manifest it shows in part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Data = Mapping[str, Any]

SELECTOR = "labelSelector"
WHOLE = (SELECTOR,)
"""What a form writes anew where it changes it: it may say the same in another way."""
ABSENT = object()


def merge_patch(before: Data, after: Data) -> dict[str, Any]:
    """What makes ``after`` of ``before`` as a JSON merge patch (RFC 7396): None takes a member away."""
    patch: dict[str, Any] = {name: None for name in before if name not in after}
    for name, value in after.items():
        held = before.get(name, ABSENT)
        if isinstance(value, Mapping) and isinstance(held, Mapping):
            if inner := merge_patch(held, value):
                patch[name] = inner
        elif held != value or type(held) is not type(value):
            patch[name] = value
    return patch


def overlaid(now: Any, before: Any, after: Any) -> Any:
    """``now`` with what somebody changed in a form that shows a part of it.

    ``before`` is what the form made as it was, ``after`` what it makes. What it does not show stays.
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
    for name, held in now.items():
        if name not in before and name not in after:
            result[name] = held
        elif name in WHOLE and not _same(before.get(name), after.get(name)):
            result[name] = after.get(name, ABSENT)
        elif name in after:
            result[name] = overlaid(held, before[name], after[name]) if name in before else after[name]
        else:
            result[name] = _left(held, before[name])
    result |= {
        name: value
        for name, value in after.items()
        if name not in now and not (name in before and _same(before[name], value))
    }
    return {name: value for name, value in result.items() if value is not ABSENT}


def without_selectors(made: Any) -> Any:
    """The same but for all ``labelSelector``."""
    if isinstance(made, Mapping):
        return {name: without_selectors(value) for name, value in made.items() if name != SELECTOR}
    return [without_selectors(value) for value in made] if isinstance(made, list) else made


def following(now: Any, old: Data, new: Data) -> Any:
    """The same where pods that select the like of themselves have other labels: a selector of just ``old`` goes along.

    One that says anything else stays. A pod without labels has no such selector.
    """
    if isinstance(now, list):
        return [following(value, old, new) for value in now]
    if not isinstance(now, Mapping):
        return now
    made = {name: following(value, old, new) for name, value in now.items()}
    if "topologyKey" in made and made.get(SELECTOR) == _own(old):
        made[SELECTOR] = _own(new)
        return {name: value for name, value in made.items() if name != SELECTOR or value}
    return made


def _own(labels: Data) -> Data | None:
    return {"matchLabels": labels} if labels else None


def _left(held: Any, before: Any) -> Any:
    """What is left of a member that the form makes no longer: what it does not show, or ABSENT."""
    empty: Any = {} if isinstance(before, Mapping) else [] if isinstance(before, list) else None
    left = None if empty is None else overlaid(held, before, empty)
    return left if isinstance(left, Mapping | list) and left else ABSENT


def _items(now: list[Any], before: list[Any], after: list[Any]) -> list[Any]:
    places = _aligned(now, before)
    result = []
    free = dict(enumerate(before))
    partners: list[int | None] = []
    for item in after:
        same = next((number for number, other in free.items() if _same(item, other)), None)
        partners.append(same)
        if same is not None:
            del free[same]
    rest = iter(free)
    for item, same in zip(after, partners, strict=True):
        number = same if same is not None else next(rest, None)
        place = None if number is None else places[number]
        result.append(item if number is None or place is None else overlaid(now[place], before[number], item))
    for place, item in enumerate(now):
        if place not in places:
            result.insert(place, item)
    return result


def _aligned(now: Sequence[Any], before: Sequence[Any]) -> list[int | None]:
    """Which item of ``now`` each of ``before`` shows: the next that says all of it, else one that is left over.

    Where there are as many, each shows the one in its place.
    """
    if len(now) == len(before):
        return list(range(len(now)))
    free = dict(enumerate(now))
    places: list[int | None] = []
    for item in before:
        place = next((place for place, held in free.items() if _covers(held, item)), None)
        places.append(place)
        if place is not None:
            del free[place]
    rest = iter(list(free))
    return [next(rest, None) if place is None else place for place in places]


def _covers(whole: Any, part: Any) -> bool:
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(name in whole and _covers(whole[name], part[name]) for name in part)
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) <= len(whole) and all(map(_covers, whole, part))
    return _same(whole, part)


def _same(one: Any, other: Any) -> bool:
    """A number and its text are the same: a form holds texts."""
    if isinstance(one, Mapping | list) or isinstance(other, Mapping | list):
        return bool(one == other)
    return str(one) == str(other)


def unshown(whole: Any, part: Any, path: str = "") -> list[str]:
    """Paths of what ``whole`` says and ``part`` does not, each as far up as possible: ``spec.initContainers``."""
    if isinstance(whole, Mapping) and isinstance(part, Mapping):
        found = []
        for name, value in whole.items():
            here = f"{path}.{name}" if path else str(name)
            found += unshown(value, part[name], here) if name in part else [here]
        return found
    if isinstance(whole, list) and isinstance(part, list):
        places = {place: number for number, place in enumerate(_aligned(whole, part)) if place is not None}
        found = []
        for place, value in enumerate(whole):
            here = f"{path}[{place}]"
            found += unshown(value, part[places[place]], here) if place in places else [here]
        return found
    return [] if _same(whole, part) else [path]
