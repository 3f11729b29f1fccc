"""What became of a manifest on its way into the API server: defaults and admission, line by line."""

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
"""To compare takes their number by itself."""


def admitted(world: World, kind: str, key: str) -> list[tuple[str, str]] | None:
    """(what happened to it, line) in order; None when nobody has applied it: something in the cluster has made it."""
    found = world.applied.get(kind, {}).get(key)
    if found is None:
        return None
    entry, stored = found
    assert isinstance(entry.event, ev.ObjectApplied)
    given = entry.event.given
    before, after = _lines(given), _lines(_in_order_of(given, stored.manifest))
    compared = list(_compared(before[:MOST_LINES], after[:MOST_LINES]))
    more = max(len(before), len(after)) - MOST_LINES
    return [*compared, (SAME, say("admission.more-lines", count=more))] if more > 0 else compared


def _lines(manifest: Any) -> list[str]:
    return yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=200).splitlines()


def _in_order_of(given: Any, stored: Any) -> Any:
    """``stored`` with its keys in the order of ``given``, then its own: what stayed is seen to have stayed."""
    if isinstance(given, dict) and isinstance(stored, dict):
        keys = dict.fromkeys([*(key for key in given if key in stored), *stored])
        return {key: _in_order_of(given.get(key), stored[key]) for key in keys}
    if isinstance(given, list | tuple) and isinstance(stored, list | tuple):
        return [_in_order_of(given[place] if place < len(given) else None, item) for place, item in enumerate(stored)]
    return stored


def _compared(before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    for tag, start, end, into, until in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from ((SAME, line) for line in after[into:until])
            continue
        yield from ((REMOVED, line) for line in before[start:end])
        yield from ((ADDED, line) for line in after[into:until])
