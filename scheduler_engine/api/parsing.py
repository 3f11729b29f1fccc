"""Build plain data from parse events, within limits, and remember all positions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from scheduler_engine.api.parse_events import Event, NotReadable
from scheduler_engine.api.scalars import key_text
from scheduler_engine.errors import MOST_ERRORS, FieldError
from scheduler_engine.words import say

_BOUNDARY = re.compile(r"[.\[]|$")
_BRACKET = re.compile(r"\](?=[.\[]|$)")
_LONGEST_KEY = 1000
"""The most characters of a duplicate key shown in a path."""
_MOST_BOUNDARIES = 64
"""The dots and brackets after which to look for a key; keys may contain them (``example.com/a.b``)."""


def owners_of(path: str) -> Iterator[str]:
    """Yield the path itself, and its ancestors (``spec.volumes[0]``, ``spec.volumes``, ``spec``)."""
    yield path
    for match in islice(_BOUNDARY.finditer(path, 1), _MOST_BOUNDARIES):
        yield path[: match.start()]


@dataclass(frozen=True, slots=True)
class Limits:
    """``size`` in bytes; ``nodes`` counts every value, including those repeated by aliases."""

    size: int = 1024 * 1024
    nodes: int = 75_000
    depth: int = 60
    aliases: int = 1_000
    documents: int = 10_000


@dataclass(slots=True)
class Place:
    """The start of a value (for a value in a mapping: its key), counted from 1; ``children`` by key or index.

    ``written``: a scalar's text; "" for other values, or if an alias repeats it.
    """

    line: int
    column: int
    children: dict[str | int, Place]
    written: str = ""

    def find(self, path: str) -> Place:
        """Return the place of a field path such as ``spec.containers[0].image``, or of its nearest known ancestor."""
        return self.trail(path)[0]

    def trail(self, path: str) -> tuple[Place, tuple[str | int, ...]]:
        """Return that place, and the keys that lead to it."""
        place, position = self, 0
        keys: list[str | int] = []
        while position < len(path) and place.children:
            step = place._step(path, position)
            if step is None:
                break
            key, position = step
            place = place.children[key]
            keys.append(key)
        return place, tuple(keys)

    def _step(self, path: str, position: int) -> tuple[str | int, int] | None:
        """Return the longest key in the path at ``position``, and the position after it."""
        bracket = path[position] == "["
        start = position + 1 if path[position] in ".[" else position
        pattern = _BRACKET if bracket else _BOUNDARY
        ends = [match.start() for match in islice(pattern.finditer(path, start), _MOST_BOUNDARIES)]
        for end in reversed(ends):
            key = path[start:end]
            if key in self.children:
                return key, end + bracket
            if len(key) < 10 and key.isdecimal() and int(key) in self.children:
                return int(key), end + bracket
        return None


_NOWHERE: dict[str | int, Place] = {}
"""The empty children of a leaf; never added to."""


@dataclass(slots=True)
class Document:
    """One document of a text: its data, the places, and duplicate keys (the last value is kept)."""

    data: Any
    place: Place
    duplicates: list[FieldError] = field(default_factory=list)


@dataclass(slots=True)
class _Built:
    """A finished value; an alias to it would add ``nodes`` and ``height``."""

    value: Any
    place: Place
    nodes: int = 1
    height: int = 0


@dataclass(slots=True)
class _Open:
    """An unfinished collection."""

    value: dict[str, Any] | list[Any]
    place: Place
    anchor: str | None
    keyed: bool
    nodes: int = 1
    height: int = 1
    key: str | None = None
    key_event: Event | None = None
    merged: tuple[dict[str, Any], ...] = ()


def build_documents(events: Iterable[Event], limits: Limits) -> Iterator[Document]:
    """Yield every document of the stream. Raises NotReadable for events that cannot be data, or break a limit."""
    builder = _Builder(limits)
    for event in events:
        if event.what == "document":
            builder.start(event)
        else:
            document = builder.take(event)
            if document is not None:
                yield document


class _Builder:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.nodes = self.aliases = self.documents = 0
        self.stack: list[_Open] = []
        self.anchors: dict[str, _Built] = {}
        self.duplicates: list[FieldError] = []

    def start(self, event: Event) -> None:
        self.documents += 1
        if self.documents > self.limits.documents:
            raise NotReadable(
                say("manifest-errors.too-many-documents", most=self.limits.documents), event.line, event.column
            )
        self.anchors, self.duplicates = {}, []

    def take(self, event: Event) -> Document | None:
        """Take one event; return the document if this finishes it."""
        what = event.what
        if self.stack and what != "end":
            frame = self.stack[-1]
            if frame.key_event is None and frame.keyed:
                self._key(frame, event)
                return None
            if what == "scalar" and event.anchor is None:  # Most of a text, so it takes the shortest path.
                self._count(event, 1)
                self._put(frame, event.value, Place(event.line, event.column, _NOWHERE, event.written), event)
                return None
        if what in ("map", "list"):
            self._open(event)
            return None
        if what == "end":
            closed = self.stack.pop()
            for merged in closed.merged:
                for key, value in merged.items():
                    closed.value.setdefault(key, value)  # type: ignore[union-attr]
            built, anchor = _Built(closed.value, closed.place, closed.nodes, closed.height), closed.anchor
        elif what == "alias":
            built, anchor = self._alias(event), None
        else:
            self._count(event, 1)
            value = "<<" if what == "merge" else event.value
            built, anchor = _Built(value, Place(event.line, event.column, _NOWHERE, event.written)), event.anchor
        if anchor is not None:
            self.anchors[anchor] = built
        if not self.stack:
            return Document(built.value, built.place, self.duplicates)
        self._put(self.stack[-1], built.value, built.place, event, built.nodes, built.height)
        return None

    def _key(self, frame: _Open, event: Event) -> None:
        if event.what not in ("scalar", "merge"):
            raise NotReadable(say("manifest-errors.key-not-plain"), event.line, event.column)
        try:
            frame.key = None if event.what == "merge" else key_text(event.value)
        except ValueError as error:
            raise NotReadable(str(error), event.line, event.column) from error
        frame.key_event = event
        if frame.key is not None and event.anchor is not None:
            self.anchors[event.anchor] = _Built(event.value, Place(event.line, event.column, _NOWHERE))
        if frame.key is not None and frame.key in frame.value and len(self.duplicates) <= MOST_ERRORS:
            path = self._path()
            message = f'duplicate field "{path}"'
            self.duplicates.append(
                FieldError(path, "FieldValueDuplicate", message, self.documents - 1, event.line, event.column)
            )

    def _open(self, event: Event) -> None:
        self._count(event, 1)
        if len(self.stack) >= self.limits.depth:
            raise NotReadable(say("manifest-errors.too-deep", levels=self.limits.depth), event.line, event.column)
        keyed = event.what == "map"
        place = Place(event.line, event.column, {})
        self.stack.append(_Open({} if keyed else [], place, event.anchor, keyed))

    def _path(self) -> str:
        """Return the path of the next value."""
        parts: list[str] = []
        for frame in self.stack:
            key = "<<" if frame.key is None else frame.key[:_LONGEST_KEY]
            parts.append(f"[{len(frame.value)}]" if isinstance(frame.value, list) else f".{key}")
        return "".join(parts).removeprefix(".")

    def _alias(self, event: Event) -> _Built:
        built = self.anchors.get(event.anchor or "")
        if built is None:
            message = say("manifest-errors.unknown-anchor", anchor=event.anchor)
            raise NotReadable(message, event.line, event.column)
        self.aliases += 1
        if self.aliases > self.limits.aliases:
            raise NotReadable(
                say("manifest-errors.too-many-aliases", most=self.limits.aliases), event.line, event.column
            )
        self._count(event, built.nodes)
        if len(self.stack) + built.height > self.limits.depth:
            raise NotReadable(say("manifest-errors.too-deep", levels=self.limits.depth), event.line, event.column)
        return _Built(built.value, Place(event.line, event.column, _NOWHERE), built.nodes, built.height)

    def _count(self, event: Event, nodes: int) -> None:
        self.nodes += nodes
        if self.nodes > self.limits.nodes:
            message = say("manifest-errors.too-many-values", most=self.limits.nodes)
            raise NotReadable(message, event.line, event.column)

    def _put(self, frame: _Open, value: Any, place: Place, event: Event, nodes: int = 1, height: int = 0) -> None:
        frame.nodes += nodes
        if height >= frame.height:
            frame.height = height + 1
        if isinstance(frame.value, list):
            frame.place.children[len(frame.value)] = place
            frame.value.append(value)
            return
        key_event = frame.key_event or event
        if frame.key is None:
            listed = value if isinstance(value, list) else [value]
            if not all(isinstance(item, dict) for item in listed):
                raise NotReadable(say("manifest-errors.merge"), key_event.line, key_event.column)
            frame.merged += tuple(listed)
        else:
            place.line, place.column = key_event.line, key_event.column
            frame.place.children[frame.key] = place
            frame.value[frame.key] = value
        frame.key = frame.key_event = None
