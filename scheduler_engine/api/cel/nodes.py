"""The parts of an expression. Nodes compare by identity, so that results can be kept by node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False, slots=True)
class Node:
    """``at``: the offset in the text at which an error about it is shown. ``span``: where it begins and ends there; the
    parts that a macro adds, and those of logical chains, are empty.
    """

    at: int
    span: tuple[int, int] = field(default=(0, 0), init=False)


@dataclass(eq=False, slots=True)
class Const(Node):
    value: Any


@dataclass(eq=False, slots=True)
class Ident(Node):
    name: str


@dataclass(eq=False, slots=True)
class Select(Node):
    """``operand.field``; ``test_only``: ``has(operand.field)``."""

    operand: Node
    field: str
    test_only: bool = False


@dataclass(eq=False, slots=True)
class Call(Node):
    """``function(args)``, or ``target.function(args)``. Operators have names such as ``_+_``."""

    function: str
    args: list[Node]
    target: Node | None = None


@dataclass(eq=False, slots=True)
class ListOf(Node):
    """``optional``: positions of items that are left out if they have no value."""

    items: list[Node]
    optional: frozenset[int] = frozenset()


@dataclass(eq=False, slots=True)
class MapOf(Node):
    """``entries``: key, value, and whether it is left out if it has no value."""

    entries: list[tuple[Node, Node, bool]]


@dataclass(eq=False, slots=True)
class Fold(Node):
    """A comprehension: ``accu`` is computed anew for each item, while ``condition`` holds; then ``result`` counts.

    ``second``: the second variable, "" if there is one only: then ``first`` is the item, or the key of a map.
    """

    first: str
    second: str
    items: Node
    accu: str
    start: Node
    condition: Node
    step: Node
    result: Node


ACCU = "@result"
"""The name of the value that a macro's comprehension computes."""


def parts_of(node: Node) -> list[Node]:
    """Return the nodes directly inside a node."""
    if isinstance(node, Select):
        return [node.operand]
    if isinstance(node, Call):
        return [*([] if node.target is None else [node.target]), *node.args]
    if isinstance(node, ListOf):
        return node.items
    if isinstance(node, MapOf):
        return [part for key, value, _ in node.entries for part in (key, value)]
    if isinstance(node, Fold):
        return [node.items, node.start, node.condition, node.step, node.result]
    return []
