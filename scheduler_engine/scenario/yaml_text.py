"""Write plain data as YAML that is readable and unambiguous: short things on one line, no anchors, and quotes around
all that YAML 1.1 or Kubernetes would read as something else (``on``, ``1e3``, ``0x1``, dates).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from scheduler_engine.api.scalars import resolve_plain

WIDTH = 100
"""The intended columns of a line."""
LONG = 80
"""The length from which a text is folded."""
TAG = "tag:yaml.org,2002:"
BLOCK = frozenset((": ", " #"))
FLOW = frozenset((":", " #", ",", "[", "]", "{", "}", "?"))
"""Parts for which a text needs quotes: in its own line, and within brackets or as a key."""
RESOLVER = yaml.resolver.Resolver()

Node = yaml.Node


class Where(NamedTuple):
    """The column where a value starts, and that of its lines if it is a mapping or a list of many lines."""

    column: int = 0
    keys: int = 0
    dashes: int = 0

    def behind(self, key: str) -> Where:
        """Return the place of a key's value in this mapping."""
        return Where(self.keys + len(key) + 2, self.keys + 2, self.keys)

    def item(self) -> Where:
        """Return the place of an item in this list."""
        return Where(self.dashes + 2, self.dashes + 2, self.dashes + 2)


Make = Callable[[Any, Where], Node]
"""(value, its place) → node"""


def emit(node: Node, width: int = WIDTH) -> str:
    """Return the text of a document."""
    return str(yaml.serialize(node, Dumper=yaml.CSafeDumper, width=width, allow_unicode=True))


def one_line(value: Any) -> str:
    """Return a value on one line, however long that is."""
    return emit(_on_one_line(value), width=2**31 - 1).removesuffix("\n")


def documents(data: Iterable[Mapping[str, Any]]) -> str:
    """Return each mapping as a document; as JSON if YAML cannot hold its numbers."""
    return "---\n".join(
        emit(spread(item, Where())) if can_hold(item) else f"{json.dumps(item, ensure_ascii=False)}\n" for item in data
    )


def can_hold(data: Any) -> bool:
    """Return True if YAML, as Kubernetes reads it, keeps all numbers: 5.0 becomes 5, and 20 digits are rounded."""
    if isinstance(data, Mapping):
        return all(map(can_hold, data.values()))
    if isinstance(data, (list, tuple)):
        return all(map(can_hold, data))
    if isinstance(data, float):
        return not data.is_integer()
    return not isinstance(data, int) or -(2**63) <= data < 2**63


def block_map(pairs: Iterable[tuple[str, Any, Make]], where: Where) -> Node:
    """Build a mapping with a key a line; each value is made by its own function."""
    children = [(_key(key), make(value, where.behind(key))) for key, value, make in pairs]
    return yaml.MappingNode(f"{TAG}map", children, flow_style=not children)


def block_list(items: Sequence[Any], where: Where, make: Make) -> Node:
    """Build a list with an item a line."""
    children = [make(item, where.item()) for item in items]
    return yaml.SequenceNode(f"{TAG}seq", children, flow_style=not children)


def plain(value: Any, where: Where) -> Node:
    """Build any value; a list or mapping goes on one line if it fits there."""
    if not isinstance(value, (Mapping, list, tuple)):
        return _scalar(value)
    if where.column + _length(value, WIDTH - where.column) <= WIDTH:
        return _on_one_line(value)
    if isinstance(value, Mapping):
        return block_map(((key, item, plain) for key, item in value.items()), where)
    return block_list(value, where, plain)


def spread(value: Mapping[str, Any], where: Where) -> Node:
    """Build a mapping with a key a line, whose values are laid out as they fit."""
    return block_map(((key, item, plain) for key, item in value.items()), where)


def _on_one_line(value: Any) -> Node:
    if isinstance(value, Mapping):
        pairs = [(_key(key), _on_one_line(item)) for key, item in value.items()]
        return yaml.MappingNode(f"{TAG}map", pairs, flow_style=True)
    if isinstance(value, (list, tuple)):
        return yaml.SequenceNode(f"{TAG}seq", [_on_one_line(item) for item in value], flow_style=True)
    return _scalar(value, FLOW)


def _length(value: Any, room: int) -> int:
    """Return a value's length on one line; stop above ``room``, also if it cannot be on one line."""
    if isinstance(value, str) and "\n" in value:
        return room + 1
    if not isinstance(value, (Mapping, list, tuple)):
        return _scalar_length(value)
    total = 0
    for item in value:
        if isinstance(value, Mapping):
            total += _scalar_length(item) + 2 + _length(value[item], room)
        else:
            total += _length(item, room)
        total += 2
        if total > room:
            return room + 1
    return total or 2


def _scalar_length(value: Any) -> int:
    if isinstance(value, str):
        return len(value) if _style(value, FLOW) is None else len(json.dumps(value))
    return len(str(value))


def _key(key: str) -> Node:
    return yaml.ScalarNode(f"{TAG}str", key, style=None if _style(key, FLOW) is None else '"')


def _scalar(value: Any, delicate: frozenset[str] = BLOCK) -> Node:
    if isinstance(value, str):
        return yaml.ScalarNode(f"{TAG}str", value, style=_style(value, delicate))
    if value is None:
        return yaml.ScalarNode(f"{TAG}null", "null")
    if isinstance(value, bool):
        return yaml.ScalarNode(f"{TAG}bool", "true" if value else "false")
    if isinstance(value, int):
        return yaml.ScalarNode(f"{TAG}int", str(value))
    text = repr(float(value))
    # YAML 1.1 allows no exponent for a number without a dot.
    return yaml.ScalarNode(f"{TAG}float", text if "." in text else text.replace("e", ".0e"))


def _style(text: str, delicate: frozenset[str]) -> str | None:
    """Return None for plain text if possible; else a quote, ``|`` for many lines or ``>`` for a long one."""
    lines = text.split("\n")
    if not all(line.isprintable() for line in lines):
        return '"'
    if len(lines) > 1:
        sound = text.strip() and all(line == line.rstrip() for line in lines) and not text[0].isspace()
        return "|" if sound else '"'
    if len(text) > LONG and " " in text and text == text.strip() and "  " not in text:
        return ">"
    return '"' if _misread(text) or any(part in text for part in delicate) else None


def _misread(text: str) -> bool:
    """Return True if the text without quotes would be something else, in Kubernetes or in YAML 1.1."""
    try:
        meant = resolve_plain(text) if text else None
    except ValueError:
        return True
    # A mapping's key << has a special meaning.
    resolve: Callable[..., str] = RESOLVER.resolve
    return meant != text or text == "<<" or resolve(yaml.ScalarNode, text, (True, False)) != f"{TAG}str"
