"""What of a manifest its author would recognise: the fields that somebody wrote, and those that a fix changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def of_author(after: Any, before: Any, written: Any) -> Any:
    """Return ``after`` without what defaults and admission added to it.

    ``before``: the same field as it was; ``written``: as its author wrote it; None: nothing.
    """
    if isinstance(after, Mapping):
        held, own = (part if isinstance(part, Mapping) else {} for part in (before, written))
        return {
            name: of_author(value, held.get(name), own.get(name))
            for name, value in after.items()
            if name in own or value != held.get(name)
        }
    if isinstance(after, list):
        held_items, own_items = (part if isinstance(part, list) else [] for part in (before, written))
        return [*_items(after, held_items, own_items)]
    return after


def _items(after: Sequence[Any], before: Sequence[Any], written: Sequence[Any]) -> list[Any]:
    kept = []
    for item in after:
        if item not in before:
            kept.append(item)
            continue
        own = next((other for other in written if _covers(item, other)), None)
        if own is not None:
            kept.append(of_author(item, item, own))
    return kept


def _covers(held: Any, written: Any) -> bool:
    """Return True if a stored value can come from one that somebody wrote: it has everything in it, and maybe more."""
    if isinstance(held, Mapping) and isinstance(written, Mapping):
        return all(name in held and _covers(held[name], value) for name, value in written.items())
    if isinstance(held, list) and isinstance(written, list):
        return len(held) == len(written) and all(map(_covers, held, written))
    return bool(held == written)
