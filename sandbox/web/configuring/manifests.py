"""Read and write members of a KubeSchedulerConfiguration as somebody wrote it: without defaults, in its order."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

Manifest = dict[str, Any]
NUMBERS = ((re.compile(r"-?\d{1,20}"), int), (re.compile(r"-?\d{1,20}\.\d{1,20}"), float))


def number(value: str) -> Any:
    """Return a text as a number. Any other text stays, and the engine will refuse it."""
    return next((convert(value) for pattern, convert in NUMBERS if pattern.fullmatch(value)), value)


def free_name(name: str, taken: Collection[Any], joint: str = "") -> str:
    """Return a name that is not taken: ``name``, or with a number behind ``joint``."""
    names = (name, *(f"{name}{joint}{count}" for count in range(2, len(taken) + 3)))
    return next(each for each in names if each not in taken)


def set_member(owner: Manifest, key: str, value: str, before: tuple[str, ...] = ()) -> None:
    """Set a member, or remove it for an empty value."""
    if value == "":
        owner.pop(key, None)
    else:
        put_member(owner, key, number(value), before)


def put_member(owner: Manifest, key: str, value: Any, before: tuple[str, ...]) -> None:
    """Set a member. An existing key keeps its place; a new one comes before the keys ``before``."""
    later = {} if key in owner else {name: owner.pop(name) for name in before if name in owner}
    owner[key] = value
    owner |= later


def named(profile: Manifest, point: str, key: str) -> list[Manifest]:
    """Return a copy of the list ``enabled`` or ``disabled`` at a point, empty if it is missing."""
    plugins = (profile.get("plugins") or {}).get(point) or {}
    return [item or {} for item in plugins.get(key) or ()]


def put_named(profile: Manifest, point: str, key: str, items: list[Manifest]) -> None:
    """Set the list ``enabled`` or ``disabled`` at a point, and remove members that become empty."""
    if items == named(profile, point, key):
        return
    put_member(profile, "plugins", profile.get("plugins") or {}, ("pluginConfig",))
    plugins = profile["plugins"]
    plugins[point] = {**(plugins.get(point) or {}), key: items}
    if not items:
        del plugins[point][key]
    if not plugins[point]:
        del plugins[point]
    if not plugins:
        del profile["plugins"]


def append_named(profile: Manifest, point: str, key: str, item: Manifest) -> None:
    put_named(profile, point, key, [*named(profile, point, key), item])
