"""Find the types in an expression, and which overload each call uses. Source: upstream ``cel-go/checker``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduler_engine.api.cel import types
from scheduler_engine.api.cel.lexing import Problem
from scheduler_engine.api.cel.nodes import Call, Const, Fold, Ident, ListOf, MapOf, Node, Select
from scheduler_engine.api.cel.overloads import OVERLOADS, Overload
from scheduler_engine.api.cel.types import BOOL, DYN, ERROR, INT, OPTIONAL, STRING, Type, shown
from scheduler_engine.api.cel.values import name_of

Fields = Mapping[str, Mapping[str, Type]]
"""Name of an object's type → its fields."""


MOST_PARTS = 200
"""The most parts of a type. Kubernetes has no such limit."""


@dataclass(slots=True)
class Checked:
    """``types`` and ``overloads`` by node; ``functions``: calls of qualified names, such as ``optional.of``.
    ``names``: types with such names.
    ``locates``: errors of an evaluation shall say where they arise, which makes it slower.
    """

    types: dict[Node, Type] = field(default_factory=dict)
    overloads: dict[Node, tuple[str, ...]] = field(default_factory=dict)
    functions: dict[Node, str] = field(default_factory=dict)
    names: dict[Node, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    locates: bool = False


def check(
    root: Node, variables: Mapping[str, Type], objects: Fields, functions: Mapping[str, list[Overload]] = OVERLOADS
) -> Checked:
    """Return all types and problems of an expression that may call ``functions``."""
    checker = _Checker(variables, objects, functions)
    checker.check(root)
    found = checker.found
    found.types = {node: types.substituted(item, checker.mapping, to_dyn=True) for node, item in found.types.items()}
    return found


class _Checker:
    def __init__(self, variables: Mapping[str, Type], objects: Fields, functions: Mapping[str, list[Overload]]) -> None:
        self.found = Checked()
        self.mapping: types.Mapping = {}
        self.scopes: list[Mapping[str, Type]] = [
            {name: ("type", item) for name, item in types.NAMEABLE.items()},
            variables,
        ]
        self.objects, self.functions = objects, functions
        self.count = 0

    def check(self, node: Node) -> Type:
        item = getattr(self, f"_{type(node).__name__.lower()}")(node)
        self.found.types[node] = item
        return item  # type: ignore[no-any-return]

    def problem(self, node: Node, message: str) -> Type:
        self.found.problems.append(Problem(node.at, message))
        return ERROR

    def limited(self, node: Node, item: Type) -> Type:
        """Return a type; report one with too many parts: maps of maps can double it."""
        if types.parts(item) <= MOST_PARTS:
            return item
        return self.problem(node, f"type has more than {MOST_PARTS} parts")

    def new_variable(self) -> Type:
        self.count += 1
        return ("param", f"_var{self.count - 1}")

    def fits(self, have: Type, want: Type) -> bool:
        return self.fit((have,), (want,))

    def fit(self, have: tuple[Type, ...], want: tuple[Type, ...]) -> bool:
        mapping = types.all_assignable(self.mapping, have, want)
        self.mapping = self.mapping if mapping is None else mapping
        return mapping is not None

    def known(self, item: Type) -> Type:
        return types.substituted(item, self.mapping)

    def lookup(self, name: str) -> Type | None:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    # --- one method for each kind of node ---

    def _const(self, node: Const) -> Type:
        return (name_of(node.value),)

    def _ident(self, node: Ident) -> Type:
        found = self.lookup(node.name)
        return self.problem(node, _undeclared(node.name)) if found is None else found

    def _select(self, node: Select) -> Type:
        named = dotted_type(node)
        if named is not None and self.lookup("google") is None:
            self.found.names[node] = str(named[0])
            return ("type", named)
        found = self.field(node, self.check(node.operand), node.field, optional=False)
        return BOOL if node.test_only else self.known(found)

    def field(self, node: Node, operand: Type, name: str, optional: bool) -> Type:
        operand = self.known(operand)
        inside = operand[0] == OPTIONAL
        target: Type = types.parameters(operand)[0] if inside else operand
        found: Type = DYN
        if target[0] == "map":
            found = types.parameters(target)[1]
        elif target[0] == "object":
            declared = self.objects[str(target[1])].get(name)
            found = self.problem(node, f"undefined field '{name}'") if declared is None else declared
        elif target[0] == "param":
            self.fits(DYN, target)
        elif not types.is_dynamic(target) and target != ERROR:
            self.problem(node, f"type '{shown(target)}' does not support field selection")
        return (OPTIONAL, found) if inside or optional else found

    def _call(self, node: Call) -> Type:
        if node.function == "_?._":
            name = node.args[1]
            assert isinstance(name, Const)
            self.found.overloads[node] = ("select_optional_field",)
            self.found.types[name] = STRING
            return self.known(self.field(node, self.check(node.args[0]), name.value, optional=True))
        args = tuple(map(self.check, node.args))
        qualified = _qualified(node)
        if qualified in self.functions and self.lookup(qualified.partition(".")[0]) is None:
            self.found.functions[node] = qualified
            return self.resolve(node, qualified, args, method=False)
        target = () if node.target is None else (self.check(node.target),)
        if node.function not in self.functions:
            return self.problem(node, _undeclared(node.function))
        return self.resolve(node, node.function, (*target, *args), method=bool(target))

    def resolve(self, node: Call, function: str, args: tuple[Type, ...], method: bool) -> Type:
        if function in ("_&&_", "_||_"):
            return self.logical(node, function, args)
        result: Type | None = None
        used: list[str] = []
        for overload in self.functions[function]:
            if overload.method != method or len(overload.args) != len(args):
                continue
            wanted, given = self.instance(overload)
            if not self.fit(args, wanted):
                continue
            used.append(overload.id)
            given = self.known(given)
            if result is None:
                result = given
            elif not types.is_dynamic(result) and given != result:
                result = DYN
        if result is None:
            return self.no_match(node, function, args, method)
        self.found.overloads[node] = tuple(used)
        return self.limited(node, result)

    def logical(self, node: Call, function: str, args: tuple[Type, ...]) -> Type:
        wrong = [(part, item) for part, item in zip(node.args, args, strict=True) if not self.fits(item, BOOL)]
        for part, item in wrong:
            self.problem(part, f"expected type 'bool' but found '{shown(item)}'")
        self.found.overloads[node] = (self.functions[function][0].id,)
        return ERROR if wrong else BOOL

    def instance(self, overload: Overload) -> tuple[tuple[Type, ...], Type]:
        """Return arguments and result with new type parameters."""
        names = {part for item in (*overload.args, overload.result) for part in _parameters(item)}
        fresh: types.Mapping = {("param", name): self.new_variable() for name in sorted(names)}
        return tuple(types.substituted(item, fresh) for item in overload.args), types.substituted(
            overload.result, fresh
        )

    def no_match(self, node: Call, function: str, args: tuple[Type, ...], method: bool) -> Type:
        texts = [shown(types.substituted(item, self.mapping, to_dyn=True)) for item in args]
        before = f"{texts.pop(0)}." if method else ""
        applied = f"{before}({', '.join(texts)})"
        return self.problem(node, f"found no matching overload for '{function}' applied to '{applied}'")

    def _listof(self, node: ListOf) -> Type:
        joined: Type | None = None
        for index, part in enumerate(node.items):
            item = self.check(part)
            joined = self.join(joined, self.unwrapped(part, item) if index in node.optional else item)
        return self.limited(node, ("list", self.new_variable() if joined is None else joined))

    def _mapof(self, node: MapOf) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for key, value, optional in node.entries:
            keys = self.join(keys, self.check(key))
            item = self.check(value)
            values = self.join(values, self.unwrapped(value, item) if optional else item)
        return self.limited(node, ("map", keys or self.new_variable(), values or self.new_variable()))

    def unwrapped(self, node: Node, item: Type) -> Type:
        """Return the type inside an optional one."""
        item = self.known(item)
        if item[0] == OPTIONAL:
            return types.parameters(item)[0]
        if not types.is_dynamic(item):
            self.problem(node, f"expected type 'optional_type({shown(item)})' but found '{shown(item)}'")
        return item

    def join(self, previous: Type | None, current: Type) -> Type:
        """Return the type of an item after others. Mixed ones are reported later: format accepts them."""
        if previous is None:
            return current
        if self.fits(previous, current):
            return types.most_general(previous, current)
        return DYN

    def _fold(self, node: Fold) -> Type:
        items = self.known(self.check(node.items))
        accu = self.check(node.start)
        self.scopes.append({node.accu: accu})
        self.scopes.append(self.variables_of(node, items))
        self.check(node.condition)
        self.must_be(node.condition, BOOL)
        self.check(node.step)
        self.must_be(node.step, accu)
        self.scopes.pop()
        result = self.check(node.result)
        self.scopes.pop()
        return self.known(result)

    def variables_of(self, node: Fold, items: Type) -> dict[str, Type]:
        first: Type = DYN
        second: Type = DYN
        inner = types.parameters(items)
        if items[0] == "list":
            first, second = (INT, inner[0]) if node.second else (inner[0], DYN)
        elif items[0] == "map":
            first, second = inner
        elif items in (DYN, ERROR) or items[0] == "param":
            self.fits(DYN, items)
        else:
            limits = "(must be list, map, or dynamic)"
            first = second = self.problem(
                node.items, f"expression of type '{shown(items)}' cannot be range of a comprehension {limits}"
            )
        return {node.first: first} | ({node.second: second} if node.second else {})

    def must_be(self, node: Node, want: Type) -> None:
        have = self.found.types[node]
        if not self.fits(want, have):
            self.problem(node, f"expected type '{shown(want)}' but found '{shown(have)}'")


def _undeclared(name: str) -> str:
    return f"undeclared reference to '{name}' (in container '')"


def _parameters(item: Type) -> set[str]:
    if item[0] == "param":
        return {str(item[1])}
    return {name for part in types.parameters(item) for name in _parameters(part)}


def dotted_type(node: Node) -> Type | None:
    """Return the type that names with dots between them stand for, None if there is none."""
    parts: list[str] = []
    while isinstance(node, Select) and not node.test_only:
        parts.append(node.field)
        node = node.operand
    name = ".".join([node.name, *reversed(parts)]) if parts and isinstance(node, Ident) else ""
    return types.NAMEABLE.get(name)


def _qualified(node: Call) -> str:
    """Return ``name.function`` of a call on a name, such as ``optional.of``; "" for other calls."""
    return f"{node.target.name}.{node.function}" if isinstance(node.target, Ident) else ""
