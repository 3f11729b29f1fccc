"""What is wrong with constants in an expression whose types are right. Source: upstream ``cel-go/cel/validator.go``,
``cel-go/ext/formatting.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scheduler_engine.api.cel import types
from scheduler_engine.api.cel.checking import Checked
from scheduler_engine.api.cel.conversions import to_duration, to_timestamp
from scheduler_engine.api.cel.formatting import ACCEPTED, clauses, wrong
from scheduler_engine.api.cel.lexing import Problem
from scheduler_engine.api.cel.nodes import Call, Const, ListOf, MapOf, Node, parts_of
from scheduler_engine.api.cel.texts import pattern
from scheduler_engine.api.cel.types import DYN, OPTIONAL, Type, shown
from scheduler_engine.api.cel.values import CelError

ARGUMENTS: Mapping[str, Callable[[Any], object]] = {
    "duration": to_duration,
    "timestamp": to_timestamp,
    "matches": lambda value: pattern(value) if isinstance(value, str) else None,
}
"""Function → what raises CelError for an invalid constant."""


def literal_problems(root: Node, checked: Checked) -> list[Problem]:
    """Return what is wrong with constants in an expression without problems of types."""
    found = list(calls(root))
    problems = [problem for name in ARGUMENTS for problem in _arguments(name, found)]
    return [*problems, *_mixed_literals(root, checked), *(p for call in found for p in _format(call, checked))]


def _arguments(name: str, found: list[Call]) -> Iterator[Problem]:
    """Yield the constants that a function does not accept."""
    for call in found:
        part = (call.args[-1] if name == "matches" else call.args[0]) if call.function == name and call.args else None
        if isinstance(part, Const):
            try:
                ARGUMENTS[name](part.value)
            except CelError:
                yield Problem(part.at, f"invalid {name} argument")


def _format(call: Call, checked: Checked) -> Iterator[Problem]:
    """Yield what is wrong with a constant text, or with the types of the values for its places."""
    text, values = call.target, call.args[0] if len(call.args) == 1 else None
    if call.function != "format" or not isinstance(text, Const) or not isinstance(values, ListOf):
        return
    if not isinstance(text.value, str):
        return
    used = 0
    try:
        for place in clauses(text.value, len(values.items), counted=False):
            if isinstance(place, bytes):
                continue
            bad = _unfit(values.items[used], place.verb, checked)
            used += 1
            if bad is not None:
                yield Problem(bad.at, wrong(place.verb, _kind(checked.types[bad])))
                return
    except CelError as problem:
        yield Problem(call.at, str(problem))
        return
    if len(values.items) > used:
        count = f"(expected {used}, got {len(values.items)})"
        yield Problem(call.at, f"too many arguments supplied to string.format {count}")


def _kind(item: Type) -> str:
    """Return the name of a type without what is in it."""
    return str(item[1]) if item[0] in ("object", "param") else str(types.RESULT_NAMES.get(item, item)[0])


def _unfit(node: Node, verb: str, checked: Checked) -> Node | None:
    """Return the value, or the one inside it, that a clause cannot show."""
    if checked.types[node] != DYN and _kind(checked.types[node]) not in ACCEPTED[verb]:
        return node
    if verb != "s" or not isinstance(node, (ListOf, MapOf)):
        return None
    return next((bad for part in parts_of(node) if (bad := _unfit(part, verb, checked)) is not None), None)


def _mixed_literals(root: Node, checked: Checked) -> list[Problem]:
    """Return the items, keys and values of literals that have another type than the first; not in calls of format."""
    found, waiting = list[Problem](), [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Call) and node.function == "format":
            continue
        waiting += parts_of(node)
        if isinstance(node, ListOf):
            parts = [(item, index in node.optional) for index, item in enumerate(node.items)]
            found += list(_mixed(parts, checked))[:1]
        elif isinstance(node, MapOf):
            found += _mixed([(key, False) for key, _, _ in node.entries], checked)
            found += _mixed([(value, optional) for _, value, optional in node.entries], checked)
    return found


def _mixed(parts: list[tuple[Node, bool]], checked: Checked) -> Iterator[Problem]:
    """Yield the parts whose type differs from that of the first. The types of optional ones are those inside."""
    kinds = [_inside(checked.types[part]) if optional else checked.types[part] for part, optional in parts]
    for (part, _), kind in zip(parts, kinds, strict=True):
        if kind != kinds[0]:
            yield Problem(part.at, f"expected type '{shown(kinds[0])}' but found '{shown(kind)}'")


def _inside(item: Type) -> Type:
    return types.parameters(item)[0] if item[0] == OPTIONAL else item


def calls(node: Node) -> list[Call]:
    """Return all calls in an expression."""
    inner = [call for part in parts_of(node) for call in calls(part)]
    return [node, *inner] if isinstance(node, Call) else inner
