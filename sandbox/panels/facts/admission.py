"""How defaults and admission changed a manifest on its way into the API server, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

import yaml

from sandbox.panels.model.world import World
from sandbox.words.say import say
from scheduler_engine.trace import events as ev

SAME, ADDED, REMOVED = "", "added", "removed"
MOST_LINES = 1_000
"""Comparing takes time with the square of their number."""


def admitted_lines(world: World, kind: str, key: str) -> list[tuple[str, str]] | None:
    """Return (``SAME``, ``ADDED`` or ``REMOVED``, line) in order; None for an object that a controller created."""
    applied = world.applied.get(kind, {}).get(key)
    if applied is None:
        return None
    entry, stored = applied
    assert isinstance(entry.event, ev.ObjectApplied)
    manifest = entry.event.manifest
    before, after = _lines(manifest), _lines(_in_order_of(manifest, stored.manifest))
    compared = list(_compared(before[:MOST_LINES], after[:MOST_LINES]))
    more = max(len(before), len(after)) - MOST_LINES
    return [*compared, (SAME, say("admission.more-lines", count=more))] if more > 0 else compared


def _lines(manifest: Any) -> list[str]:
    return yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=200).splitlines()


def _in_order_of(applied: Any, stored: Any) -> Any:
    """Return ``stored`` with its keys in the order of ``applied``, then its other keys, so that equal lines align."""
    if isinstance(applied, dict) and isinstance(stored, dict):
        keys = dict.fromkeys([*(key for key in applied if key in stored), *stored])
        return {key: _in_order_of(applied.get(key), stored[key]) for key in keys}
    if isinstance(applied, list | tuple) and isinstance(stored, list | tuple):
        return [
            _in_order_of(applied[place] if place < len(applied) else None, item) for place, item in enumerate(stored)
        ]
    return stored


def _compared(before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    for tag, start, end, into, until in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from ((SAME, line) for line in after[into:until])
            continue
        yield from ((REMOVED, line) for line in before[start:end])
        yield from ((ADDED, line) for line in after[into:until])
