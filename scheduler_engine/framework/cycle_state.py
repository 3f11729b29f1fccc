"""The data that plugins keep during one cycle. Source: upstream ``framework/cycle_state.go``."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

NoteT = TypeVar("NoteT")


class CycleState:
    """Plugin data by key, plus the plugins that Skip removed from Filter and Score.

    ``clone()`` copies deeply enough for a dry run: values with a ``clone`` method are cloned, others are shared and
    must not be changed by AddPod/RemovePod. ``noted``: topic → what decisions looked at, for facts only: its values
    never change, no decision reads them, and clones share them.
    """

    __slots__ = ("data", "noted", "skip_filter_plugins", "skip_score_plugins")

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.noted: dict[str, dict[Any, Any]] = {}
        self.skip_filter_plugins: dict[str, None] = {}
        self.skip_score_plugins: dict[str, None] = {}

    def write(self, key: str, value: Any) -> None:
        self.data[key] = value

    def read(self, key: str) -> Any:
        """Return the value under ``key``, or None (upstream returns ``not found``)."""
        return self.data.get(key)

    def notes(self, topic: str) -> dict[Any, Any]:
        """Return the notes on one topic. Write with ``setdefault``: a dry run must not replace Filter's notes."""
        return self.noted.setdefault(topic, {})

    def note_once(self, topic: str, key: Any, make: Callable[[], NoteT]) -> NoteT:
        """Return a note that ``make`` returns once per cycle, because it is the same for all nodes."""
        notes = self.notes(topic)
        if key not in notes:
            notes[key] = make()
        note: NoteT = notes[key]
        return note

    def clone(self) -> CycleState:
        copied = CycleState()
        copied.noted = self.noted
        copied.data = {key: value.clone() if hasattr(value, "clone") else value for key, value in self.data.items()}
        copied.skip_filter_plugins = dict(self.skip_filter_plugins)
        copied.skip_score_plugins = dict(self.skip_score_plugins)
        return copied

    def __deepcopy__(self, memo: dict[int, object]) -> CycleState:
        copied = CycleState()
        memo[id(self)] = copied
        copied.data = copy.deepcopy(self.data, memo)
        copied.noted = {topic: dict(notes) for topic, notes in self.noted.items()}
        copied.skip_filter_plugins = dict(self.skip_filter_plugins)
        copied.skip_score_plugins = dict(self.skip_score_plugins)
        return copied
