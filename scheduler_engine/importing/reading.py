"""Read bytes into plain data, fast enough for the dump of a whole cluster: JSON at once, YAML without most places.

Source: what ``kubectl get -o json`` and ``-o yaml`` write. Text with anchors is not a dump; ``api/loading.py`` reads it
carefully, with the limits of pasted text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.loading import read_documents
from scheduler_engine.api.parse_events import Event, NotReadable, yaml_events
from scheduler_engine.api.parsing import Limits
from scheduler_engine.api.scalars import key_text
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.importing.advice import check_beginning, explained
from scheduler_engine.importing.decoding import decoded
from scheduler_engine.words import say

MOST_BYTES = 96 * 1024 * 1024
"""The limit for one import, after unpacking."""
MOST_VALUES = 12_000_000
"""The limit for one text of YAML: 96 MiB in the shortest lines of a dump."""
MOST_OBJECTS = 200_000
MOST_IN_OBJECT = 200_000
"""The most values in one object. A cluster stores at most 1.5 MiB of it."""
MOST_DEPTH = 60
ENTANGLED = Limits(size=1024 * 1024)
"""The limits of a text with anchors."""
NOTED_DEPTH = 4
"""The depth to which lines of mappings are noted: that of the items of a list in a document."""

_MANAGED = re.compile(r"^( +)managedFields:[^\S\n]*\n(?:\1(?:- | {2,}).*(?:\n|\Z))+", re.MULTILINE)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
_MISSING = object()


OUTSIDE, LISTED, OBJECT, INSIDE = "outside", "listed", "object", "inside"
"""Where a value is: outside objects, in a list of objects, in an object, or deeper."""
HEAD = ("kind", "metadata")
"""Fields that identify an object; those in a ``PodList`` have no kind."""
MANY = ("title", "setup", "namespaces", "priorityClasses", "storageClasses", "pvcs", "pvs", "nodes", "pods")
"""Fields of a scenario, and of a snapshot of the simulator."""


class _Entangled(Exception):
    """The text has anchors or merge keys."""


@dataclass(slots=True)
class Text:
    """The documents of one text. ``lines``: id of a mapping near the top → its first line, if known."""

    name: str
    whole: str
    documents: list[Any]
    lines: dict[int, int] = field(default_factory=dict)

    def line(self, data: Any) -> int:
        """Return the line from 1; 0: unknown."""
        return self.lines.get(id(data), 0)


def read_text(content: bytes, name: str = "") -> Text:
    """Return the documents of JSON or YAML. ``name``: of the file, for messages. Raises Rejected with the line."""
    text = ""
    try:
        text = decoded(content)
        check_beginning(text)
        return _read(text, name)
    except NotReadable as error:
        explanation = explained(text, error)
        raise _rejected(name, explanation.message, explanation.line, explanation.column) from error
    except RecursionError as error:
        raise _rejected(name, say("manifest-errors.too-deep", levels=MOST_DEPTH)) from error


def _read(text: str, name: str) -> Text:
    if text.lstrip()[:1] in ("{", "["):
        try:
            return Text(name, text, _json(text))
        except json.JSONDecodeError as error:
            if len(text) <= ENTANGLED.size:
                try:
                    return _yaml(text, name)
                except NotReadable:
                    pass  # Then the JSON is faulty: its error is more useful.
            line, column = _end(text) if _ends_early(error) else (error.lineno, error.colno)
            raise NotReadable(f"invalid JSON: {error.msg}", line, column) from error
        except ValueError as error:
            raise NotReadable(f"invalid JSON: {error}", 0, 0) from error
    return _yaml(text, name)


def _end(text: str) -> tuple[int, int]:
    """Return line and column after the last character."""
    bare = text.rstrip()
    return bare.count("\n") + 1, len(bare) - bare.rfind("\n")


def _ends_early(error: json.JSONDecodeError) -> bool:
    """Return True if something in the text begins but has no end."""
    return error.msg.startswith("Unterminated") or not error.doc[error.pos :].strip()


# --- JSON -------------------------------------------------------------------------------------------------------------


def _json(text: str) -> list[Any]:
    """Return one or more values. Raises ValueError."""
    if nul := _NUL.search(text):
        line = text.count("\n", 0, nul.start()) + 1
        raise NotReadable(say("manifest-errors.character-zero"), line, 1)
    decoder = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant)
    values: list[Any] = []
    position, size = _after_blanks(text, 0), len(text)
    while position < size:
        value, end = decoder.raw_decode(text, position)
        values.append(value)
        position = _after_blanks(text, end)
    if _HALF.search(text):
        whole = json.dumps(values, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        values = json.loads(whole)
    return values


def _after_blanks(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(say("manifest-errors.number-too-large", number=digits[:40]))
    return number


def _no_constant(word: str) -> float:
    raise ValueError(say("import-errors.not-a-number", word=word))


# --- YAML -------------------------------------------------------------------------------------------------------------


def _yaml(whole: str, name: str) -> Text:
    # A third of a dump is managedFields, which nobody reads here; blank lines instead keep the line numbers.
    text = _MANAGED.sub(lambda match: "\n" * match[0].count("\n"), whole)
    read = Text(name, whole, [])
    try:
        read.documents.extend(_documents(yaml_events(text), read.lines))
    except _Entangled:
        read = Text(name, whole, [])
        documents = read_documents(text, ENTANGLED)
        for document in documents:
            if document.duplicates:
                raise Rejected(document.duplicates) from None
            read.documents.append(document.data)
    return read


def _documents(events: Iterator[Event], lines: dict[int, int]) -> Iterator[Any]:
    """Yield every document that is not empty. Refuse invalid content at once, not at the end of the text.

    Raises NotReadable, or _Entangled.
    """
    stack: list[tuple[Any, Any, str]] = []
    container: Any = None
    key: Any = _MISSING
    where = OUTSIDE
    count = objects = 0
    most = MOST_IN_OBJECT
    for what, line, column, value, anchor, _ in events:
        if anchor is not None:
            raise _Entangled
        if what == "document":
            continue
        count += 1
        if count > most:
            if count > MOST_VALUES or not _holds_many(stack, container):
                raise NotReadable(_too_many(count), line, column)
            most = MOST_VALUES
        if what == "end":
            value, ended = container, where
            container, key, where = stack.pop()
            if where == LISTED and ended == OBJECT and value.keys().isdisjoint(HEAD):
                raise NotReadable(say("import-errors.no-kind"), lines.get(id(value), line), 0)
        elif type(container) is dict and key is _MISSING:
            key = _key(container, what, value, line, column)
            continue
        elif what in ("map", "list"):
            if len(stack) >= MOST_DEPTH:
                raise NotReadable(say("manifest-errors.too-deep", levels=MOST_DEPTH), line, column)
            stack.append((container, key, where))
            where = _inside(where, what, key)
            container, key = ({} if what == "map" else []), _MISSING
            if where == OBJECT:
                objects += 1
                if objects > MOST_OBJECTS:
                    raise NotReadable(say("import-errors.too-many-objects", most=MOST_OBJECTS), line, column)
                most = min(count + MOST_IN_OBJECT, MOST_VALUES)
            if len(stack) <= NOTED_DEPTH:
                lines[id(container)] = line
            continue
        elif what == "merge":
            value = "<<"
        elif where == LISTED:
            raise NotReadable(say("manifest-errors.item-not-an-object"), line, column)
        elif where == OUTSIDE and value is not None:
            raise NotReadable(say("import-errors.not-an-object"), line, column)
        if container is None:
            if value is not None:
                yield value
        elif type(container) is dict:
            container[key] = value
            key = _MISSING
        else:
            container.append(value)


def _inside(where: str, what: str, key: Any) -> str:
    """Return where a value is that begins there."""
    if where in (OUTSIDE, LISTED):
        return OBJECT if what == "map" else LISTED
    return LISTED if where == OBJECT and what == "list" and key == "items" else INSIDE


def _holds_many(stack: list[tuple[Any, Any, str]], container: Any) -> bool:
    """Return True if the document holds objects outside lists: it is a scenario or a snapshot."""
    whole = stack[1][0] if len(stack) > 1 else container
    return (isinstance(whole, dict) and not whole.keys().isdisjoint(MANY)) or (len(stack) > 1 and stack[1][1] in MANY)


def _too_many(count: int) -> str:
    if count > MOST_VALUES:
        return say("import-errors.too-many-values", most=MOST_VALUES)
    return say("import-errors.object-too-large", most=MOST_IN_OBJECT)


def _key(container: dict[str, Any], what: str, value: Any, line: int, column: int) -> str:
    if what == "merge":
        raise _Entangled
    if what != "scalar":
        raise NotReadable(say("manifest-errors.key-not-plain"), line, column)
    try:
        key = key_text(value)
    except ValueError as error:
        raise NotReadable(str(error), line, column) from error
    if key in container:
        raise NotReadable(say("import-errors.duplicate-field", field=key[:100]), line, column)
    return key


def _rejected(name: str, message: str, line: int = 0, column: int = 0) -> Rejected:
    where = f"{name}: " if name else ""
    return Rejected([FieldError("", "FieldValueInvalid", f"{where}{message}", 0, line, column)])
