"""Macros: calls that stand for longer expressions. Source: upstream ``cel-go/parser/macro.go`` and ``cel-go/ext``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler_engine.api.cel.lexing import CelSyntaxError
from scheduler_engine.api.cel.nodes import ACCU, Call, Const, Fold, Ident, ListOf, MapOf, Node, Select

NAMESPACES = ("cel", "sets", "optional")
"""Names before functions, of which no item is a list."""
NO_VARIABLE = "#unused"
OLD_ACCU = "__result__"
"""What the value of a comprehension was called before: no variable may be called so."""
NO_NAME = "argument is not an identifier"
INSERT = "cel.@mapInsert"
UNSORTED = "@__sortBy_input__"
"""The variable of sortBy that holds its list."""


def _variable(node: Node, problem: str = "argument must be a simple name") -> str:
    if not isinstance(node, Ident):
        raise CelSyntaxError(node.at, problem)
    if node.name in (ACCU, OLD_ACCU):
        raise CelSyntaxError(node.at, "iteration variable overwrites accumulator variable")
    return node.name


def _variables(args: list[Node]) -> tuple[str, str]:
    first = _variable(args[0])
    second = _variable(args[1]) if len(args) > 1 else ""
    if first == second:
        raise CelSyntaxError(args[1].at, f"duplicate variable name: {first}")
    return first, second


def _fold(at: int, names: tuple[str, str], items: Node, start: Node, condition: Node, step: Node, result: Node) -> Node:
    return Fold(at, *names, items, ACCU, start, condition, step, result)


def _accu(at: int) -> Node:
    return Ident(at, ACCU)


def _all(at: int, items: Node, args: list[Node]) -> Node:
    goes_on = Call(at, "@not_strictly_false", [_accu(at)])
    step = Call(at, "_&&_", [_accu(at), args[-1]])
    return _fold(at, _variables(args[:-1]), items, Const(at, True), goes_on, step, _accu(at))


def _exists(at: int, items: Node, args: list[Node]) -> Node:
    goes_on = Call(at, "@not_strictly_false", [Call(at, "!_", [_accu(at)])])
    step = Call(at, "_||_", [_accu(at), args[-1]])
    return _fold(at, _variables(args[:-1]), items, Const(at, False), goes_on, step, _accu(at))


def _exists_one(at: int, items: Node, args: list[Node]) -> Node:
    more = Call(at, "_+_", [_accu(at), Const(at, 1)])
    step = Call(at, "_?_:_", [args[-1], more, _accu(at)])
    result = Call(at, "_==_", [_accu(at), Const(at, 1)])
    return _fold(at, _variables(args[:-1]), items, Const(at, 0), Const(at, True), step, result)


def _map(at: int, items: Node, args: list[Node]) -> Node:
    step: Node = Call(at, "_+_", [_accu(at), ListOf(at, [args[-1]])])
    if len(args) == 3:
        step = Call(at, "_?_:_", [args[1], step, _accu(at)])
    return _fold(at, (_variable(args[0], NO_NAME), ""), items, ListOf(at, []), Const(at, True), step, _accu(at))


def _filter(at: int, items: Node, args: list[Node]) -> Node:
    name = _variable(args[0], NO_NAME)
    taken = Call(at, "_+_", [_accu(at), ListOf(at, [Ident(args[0].at, name)])])
    step = Call(at, "_?_:_", [args[1], taken, _accu(at)])
    return _fold(at, (name, ""), items, ListOf(at, []), Const(at, True), step, _accu(at))


def _transform_list(at: int, items: Node, args: list[Node]) -> Node:
    step: Node = Call(at, "_+_", [_accu(at), ListOf(at, [args[-1]])])
    if len(args) == 4:
        step = Call(at, "_?_:_", [args[2], step, _accu(at)])
    return _fold(at, _variables(args[:2]), items, ListOf(at, []), Const(at, True), step, _accu(at))


def _transform_map(whole_entries: bool) -> Callable[[int, Node, list[Node]], Node]:
    def macro(at: int, items: Node, args: list[Node]) -> Node:
        names = _variables(args[:2])
        entry = [args[-1]] if whole_entries else [Ident(args[0].at, names[0]), args[-1]]
        step: Node = Call(at, INSERT, [_accu(at), *entry])
        if len(args) == 4:
            step = Call(at, "_?_:_", [args[2], step, _accu(at)])
        return _fold(at, names, items, MapOf(at, []), Const(at, True), step, _accu(at))

    return macro


def _has(at: int, args: list[Node]) -> Node:
    if not isinstance(args[0], Select):
        raise CelSyntaxError(args[0].at, "invalid argument to has() macro")
    return Select(at, args[0].operand, args[0].field, test_only=True)


def _bind(at: int, args: list[Node]) -> Node:
    if not isinstance(args[0], Ident):
        raise CelSyntaxError(args[0].at, "cel.bind() variable names must be simple identifiers")
    name = args[0].name
    unused = Ident(at, name)
    return Fold(at, NO_VARIABLE, "", ListOf(at, []), name, args[1], Const(at, False), unused, args[2])


def _opt_map(flat: bool) -> Callable[[int, Node, list[Node]], Node]:
    def macro(at: int, target: Node, args: list[Node]) -> Node:
        if not isinstance(args[0], Ident):
            raise CelSyntaxError(args[0].at, "optMap() variable name must be a simple identifier")
        value = Call(at, "value", [], target)
        bound = _bind(at, [args[0], value, args[1]])
        taken = bound if flat else Call(at, "optional.of", [bound])
        return Call(at, "_?_:_", [Call(at, "hasValue", [], target), taken, Call(at, "optional.none", [])])

    return macro


def _sort_by(at: int, items: Node, args: list[Node]) -> Node:
    if isinstance(items, (Const, MapOf)):
        kinds = "a list, identifier, comprehension, call or select expression"
        raise CelSyntaxError(items.at, f"sortBy can only be applied to {kinds}")
    unsorted = Ident(at, UNSORTED)
    by_keys = Call(at, "@sortByAssociatedKeys", [_map(at, unsorted, args)], Ident(at, UNSORTED))
    return Fold(at, NO_VARIABLE, "", ListOf(at, []), UNSORTED, items, Const(at, False), Ident(at, UNSORTED), by_keys)


MemberMacros = Mapping[tuple[str, int], Callable[[int, Node, list[Node]], Node]]
MEMBER_MACROS: MemberMacros = {
    ("all", 2): _all,
    ("all", 3): _all,
    ("exists", 2): _exists,
    ("exists", 3): _exists,
    ("exists_one", 2): _exists_one,
    ("exists_one", 3): _exists_one,
    ("existsOne", 3): _exists_one,
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map(whole_entries=False),
    ("transformMap", 4): _transform_map(whole_entries=False),
    ("transformMapEntry", 3): _transform_map(whole_entries=True),
    ("transformMapEntry", 4): _transform_map(whole_entries=True),
    ("optMap", 2): _opt_map(flat=False),
    ("optFlatMap", 2): _opt_map(flat=True),
    ("sortBy", 2): _sort_by,
}
"""(name, number of arguments) → the expression that the call stands for."""
MACROS_134: MemberMacros = {key: macro for key, macro in MEMBER_MACROS.items() if key[0] != "sortBy"}
"""Those that new objects may use in v1.34."""
GLOBAL_MACROS: dict[tuple[str, int], Callable[[int, list[Node]], Node]] = {
    ("has", 1): _has,
    ("cel.bind", 3): _bind,
}
