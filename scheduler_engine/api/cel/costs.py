"""The most that an expression can cost, from the largest sizes of what it reads. A cost above 64 bits counts as that.

Source: upstream ``cel-go/checker/cost.go``, ``apiserver/pkg/cel/library/cost.go``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scheduler_engine.api.cel.call_costs import (
    COMPARISON,
    LIST_COST,
    MAP_COST,
    PATTERN_FACTOR,
    STRING_FACTOR,
    comparison_of,
)
from scheduler_engine.api.cel.checking import Checked
from scheduler_engine.api.cel.nodes import Call, Const, Fold, Ident, ListOf, MapOf, Node, Select
from scheduler_engine.api.cel.overloads import LIST_ITEMS
from scheduler_engine.api.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    FORMAT,
    INT,
    OPTIONAL,
    STRING,
    TIMESTAMP,
    UINT,
    URL,
    Type,
    parameters,
    shown,
)

UNKNOWN = 2**64 - 1
"""The size of what has no known limit, and the largest cost."""
SCALARS = (BOOL, DOUBLE, DURATION, INT, TIMESTAMP, UINT)
Path = tuple[str, ...]
KEYS, VALUES, ITEMS = "@keys", "@values", "@items"
SizeOf = Callable[[Path], int | None]
"""Path of a value from a variable → its largest size; None: unknown."""


@dataclass(frozen=True, slots=True)
class Local:
    """A variable of a comprehension: the path and size of its value, and the sizes of keys and values inside."""

    path: Path
    size: int | None
    inner: tuple[int, int] | None = None


def most_cost(root: Node, checked: Checked, size_of: SizeOf) -> int:
    """Return the cost of an expression in the worst case, at most 2⁶⁴ - 1."""
    return _Coster(checked, size_of).cost(root)


def _capped(number: float) -> int:
    return UNKNOWN if number >= UNKNOWN else math.ceil(number)


def scaled(size: int, factor: float) -> int:
    return _capped(size * factor)


def product(one: int, other: int) -> int:
    return min(one * other, UNKNOWN)


class _Coster:
    def __init__(self, checked: Checked, size_of: SizeOf) -> None:
        self.checked, self.size_of = checked, size_of
        self.paths: dict[Node, Path] = {}
        self.sizes: dict[Node, int] = {}
        self.inner: dict[Node, tuple[int, int] | None] = {}
        self.locals: dict[str, list[Local]] = {}

    def cost(self, node: Node) -> int:
        found: int = getattr(self, f"_{type(node).__name__.lower()}")(node)
        return min(found, UNKNOWN)

    # --- what is known of a node ---

    def local(self, node: Node) -> Local | None:
        held = self.locals.get(node.name) if isinstance(node, Ident) else None
        return held[-1] if held else None

    def path(self, node: Node) -> Path:
        held = self.local(node)
        return held.path if held is not None else self.paths.get(node, ())

    def known_size(self, node: Node) -> int | None:
        if node in self.sizes:
            return self.sizes[node]
        written = _written_size(node)
        if written is not None:
            return written
        path = self.path(node)
        found = self.size_of(path) if path else None
        if found is None and _is_scalar(self.checked.types[node]):
            found = 1
        held = self.local(node)
        return held.size if found is None and held is not None else found

    def size(self, node: Node) -> int:
        found = self.known_size(node)
        return UNKNOWN if found is None else found

    def inner_sizes(self, node: Node) -> tuple[int, int] | None:
        held = self.local(node)
        return self.inner.get(node) or (held.inner if held is not None else None)

    # --- one method for each kind of node ---

    def _const(self, node: Const) -> int:
        return 0

    def _ident(self, node: Ident) -> int:
        held = self.local(node)
        self.paths[node] = (node.name,) if held is None else held.path
        return 1

    def _select(self, node: Select) -> int:
        if node in self.checked.names:
            return 1
        inside = self.cost(node.operand)
        if node.test_only:
            return inside
        operand = self.checked.types[node.operand]
        self.paths[node] = (*self.path(node.operand), node.field)
        return inside + (operand[0] in ("map", "object"))

    def _listof(self, node: ListOf) -> int:
        cost = sum(map(self.cost, node.items)) + LIST_COST
        self.inner[node] = (1, max(map(self.size, node.items), default=0))
        return cost

    def _mapof(self, node: MapOf) -> int:
        cost = sum(self.cost(key) + self.cost(value) for key, value, _ in node.entries) + MAP_COST
        keys = max((self.size(key) for key, _, _ in node.entries), default=0)
        self.inner[node] = (keys, max((self.size(value) for _, value, _ in node.entries), default=0))
        return cost

    def _fold(self, node: Fold) -> int:
        if isinstance(node.condition, Const) and node.condition.value is False:
            return self.bind(node)
        cost = self.cost(node.items) + self.cost(node.start)
        self.push(node.accu, Local((), self.known_size(node.start), self.inner_sizes(node.start)))
        self.push_variables(node)
        turn = self.cost(node.condition) + self.cost(node.step)
        self.pop(node.first, node.second)
        cost += self.cost(node.result)
        count = self.size(node.items)
        if isinstance(node.start, (ListOf, MapOf)):
            self.sizes[node] = count
            self.inner[node] = self.inner_sizes(node.step)
        else:
            self.sizes[node] = self.size(node.start)
        self.pop(node.accu)
        return cost + product(count, turn)

    def bind(self, node: Fold) -> int:
        cost = self.cost(node.items) + self.cost(node.start)
        self.push(node.accu, Local(self.path(node.start), self.known_size(node.start), self.inner_sizes(node.start)))
        cost += self.cost(node.result)
        found = self.known_size(node.result)
        if found is not None:
            self.sizes[node] = found
        self.inner[node] = self.inner_sizes(node.result)
        self.pop(node.accu)
        return cost

    def push_variables(self, node: Fold) -> None:
        path, inner = self.path(node.items), self.inner_sizes(node.items)
        is_list = self.checked.types[node.items][0] == "list"
        keys = Local((*path, KEYS), inner and inner[0])
        values = Local((*path, ITEMS if is_list else VALUES), inner and inner[1])
        if node.second:
            self.push(node.first, keys)
            self.push(node.second, values)
        else:
            self.push(node.first, values if is_list else keys)

    def push(self, name: str, held: Local) -> None:
        self.locals.setdefault(name, []).append(held)

    def pop(self, *names: str) -> None:
        for name in filter(None, names):
            self.locals[name].pop()

    # --- calls ---

    def _call(self, node: Call) -> int:
        costs = list(map(self.cost, node.args))
        if node.function == "dyn":
            self.copy(node, node.args[0])
            return 1 + costs[0]
        qualified = node in self.checked.functions
        target = [] if node.target is None or qualified else [node.target]
        before = sum(map(self.cost, target))
        if node.function in ("_?_:_",):
            self.sizes[node] = max(self.size(node.args[1]), self.size(node.args[2]))
            return costs[0] + max(costs[1:])
        own = self.own_cost(node, [*target, *node.args])
        self.note_result(node, [*target, *node.args])
        return before + sum(costs) + own

    def copy(self, node: Node, other: Node) -> None:
        found = self.known_size(other)
        if found is not None:
            self.sizes[node] = found
        self.inner[node] = self.inner_sizes(other)
        self.paths[node] = self.path(other)

    def own_cost(self, node: Call, args: Sequence[Node]) -> int:
        if node.function in ("_&&_", "_||_"):
            return 0
        name = self.checked.functions.get(node, node.function)
        ids = self.checked.overloads.get(node, ())
        return max(self.overload_cost(name, overload, args) for overload in ids) if ids else 0

    def overload_cost(self, name: str, overload: str, args: Sequence[Node]) -> int:
        function = COSTS.get(name) or COSTS.get(overload)
        return 1 if function is None else function(self, args)

    def note_result(self, node: Call, args: Sequence[Node]) -> None:
        """Note the size and the path of what a call returns."""
        if node.function in ("_[_]", "_[?_]"):
            inner = self.inner_sizes(args[0])
            is_list = self.checked.types[args[0]][0] == "list"
            self.paths[node] = (*self.path(args[0]), ITEMS if is_list else VALUES)
            if inner is not None:
                self.sizes[node] = inner[1]
            return
        size = SIZES.get(self.checked.functions.get(node, node.function))
        found = size(self, args) if size is not None else None
        if found is not None:
            self.sizes[node] = found
        if node.function == "_+_":
            both = [self.inner_sizes(arg) for arg in args]
            if both[0] is not None and both[1] is not None:
                self.inner[node] = (max(both[0][0], both[1][0]), max(both[0][1], both[1][1]))

    def has_type(self, node: Node, wanted: Type) -> bool:
        return self.checked.types[node] == wanted

    def smaller(self, args: Sequence[Node]) -> int:
        return scaled(min(map(self.size, args)), STRING_FACTOR)

    def matching(self, args: Sequence[Node]) -> int:
        text = scaled(min(self.size(args[0]) + 1, UNKNOWN), STRING_FACTOR)
        return product(text, scaled(self.size(args[1]), PATTERN_FACTOR))

    def equality(self, args: Sequence[Node]) -> int:
        one, other = (self.checked.types[arg] for arg in args)
        if one == other and one in (URL, FORMAT):
            size = LONGEST_FORMAT if one == FORMAT else self.sizes.get(args[1], 1)
            return scaled(size, STRING_FACTOR)
        return 1 if one == other and shown(one).partition(".")[0] in ("kubernetes", "net") else self.smaller(args)

    def walked(self, args: Sequence[Node]) -> int:
        """Return the cost of reading every item of a list, or every character."""
        held = self.checked.types[args[0]]
        if held[0] != "list":
            return scaled(self.size(args[0]), STRING_FACTOR)
        of_texts = parameters(held)[0] in (("string",), ("bytes",))
        inner = self.size_of((*self.path(args[0]), ITEMS)) if self.path(args[0]) else None
        item = 1 + (scaled(UNKNOWN if inner is None else inner, STRING_FACTOR) if of_texts else 0)
        return product(self.size(args[0]), item)


def _is_scalar(item: Type) -> bool:
    if item[0] == OPTIONAL:
        return _is_scalar(parameters(item)[0])
    return item in SCALARS


def _written_size(node: Node) -> int | None:
    if isinstance(node, Const):
        return len(node.value) if isinstance(node.value, (str, bytes)) else 1
    if isinstance(node, ListOf):
        return len(node.items)
    return len(node.entries) if isinstance(node, MapOf) else None


Rule = Callable[[_Coster, Sequence[Node]], int]


def _of(position: int, factor: float = STRING_FACTOR) -> Rule:
    return lambda coster, args: scaled(coster.size(args[position]), factor)


def _pairs(coster: _Coster, args: Sequence[Node]) -> int:
    return product(coster.size(args[0]), coster.size(args[1]))


def _sum(coster: _Coster, args: Sequence[Node]) -> int:
    return min(coster.size(args[0]) + coster.size(args[1]), UNKNOWN)


def _replaced(coster: _Coster, args: Sequence[Node]) -> int:
    """Return the largest size of a text after a replacement."""
    text, new = coster.size(args[0]), coster.size(args[2])
    old = _written_size(args[1]) or 0
    if old and new <= old:
        return text
    count = math.ceil(text / old) if old else text + 1
    return min(product(count, new) + text, UNKNOWN)


def _joined(coster: _Coster, args: Sequence[Node]) -> int:
    path = coster.path(args[0])
    item = coster.size_of((*path, ITEMS)) if path else None
    count = coster.size(args[0])
    between = product(coster.size(args[1]), max(count - 1, 0)) if len(args) > 1 else 0
    return min(product(count, UNKNOWN if item is None else item) + between, UNKNOWN)


def _written_number(node: Node, otherwise: int) -> int:
    """Return a number that is written as a constant, at least 0."""
    is_number = isinstance(node, Const) and type(node.value) is int
    return max(node.value, 0) if is_number else otherwise  # type: ignore[attr-defined]


def _slice_size(coster: _Coster, args: Sequence[Node]) -> int:
    """Return the length of a slice. One that ends before it begins counts as a very long one, as in cel-go."""
    return (_written_number(args[2], coster.size(args[0])) - _written_number(args[1], 0)) % 2**64


def _range_size(coster: _Coster, args: Sequence[Node]) -> int:
    return _written_number(args[0], UNKNOWN)


def _squared(position: int = 0) -> Rule:
    def size(coster: _Coster, args: Sequence[Node]) -> int:
        return product(coster.size(args[position]), coster.size(args[position]))

    return size


def _listing(size: Rule, factor: float = 1) -> Rule:
    """Return the cost of making a list: a call, the list, and what each of its items costs."""
    return lambda coster, args: 1 + LIST_COST + scaled(size(coster, args), factor)


def _flattening(coster: _Coster, args: Sequence[Node]) -> int:
    depth = _written_number(args[1], UNKNOWN) if len(args) > 1 else 1
    return 1 + LIST_COST + scaled(coster.size(args[0]), depth)


LONGEST_FORMAT, LONGEST_PATTERN = 64, 128
"""The sizes that named formats count with."""
CONTAINS_IP, CONTAINS_CIDR = 4, 7
"""The costs of comparing the 16 bytes of addresses."""
COSTS: Mapping[str, Rule] = {
    **dict.fromkeys(("startsWith", "endsWith"), _of(1)),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim", "string_to_bytes", "bytes_to_string"), _of(0)),
    **dict.fromkeys(
        ("quantity", "isQuantity", "semver", "isSemver", "cidr", "isIP", "isCIDR", "string_to_ip", "url"), _of(0)
    ),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _of(0, 2 * STRING_FACTOR)),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _Coster.walked),
    **dict.fromkeys(("find", "findAll", "matches_string"), _Coster.matching),
    **dict.fromkeys(("less_string", "greater_string", "less_equals_string", "greater_equals_string"), _Coster.smaller),
    "_==_": _Coster.equality,
    "_!=_": _Coster.smaller,
    **dict.fromkeys(("sets.contains", "sets.intersects"), lambda coster, args: 1 + _pairs(coster, args)),
    "sets.equivalent": lambda coster, args: 1 + 2 * _pairs(coster, args),
    "cidr_contains_ip_ip": lambda coster, args: CONTAINS_IP,
    "cidr_contains_ip_string": lambda coster, args: CONTAINS_IP + _of(1)(coster, args),
    "cidr_contains_cidr": lambda coster, args: CONTAINS_CIDR,
    "cidr_contains_cidr_string": lambda coster, args: CONTAINS_CIDR + _of(1)(coster, args),
    "in_list": lambda coster, args: coster.size(args[1]),
    "add_string": lambda coster, args: scaled(_sum(coster, args), STRING_FACTOR),
    "contains": lambda coster, args: product(_of(0)(coster, args), _of(1)(coster, args)),
    "join": lambda coster, args: scaled(_joined(coster, args), STRING_FACTOR),
    **dict.fromkeys(("format", "strings.quote", "url"), _of(0)),
    "validate": lambda coster, args: scaled(_of(1)(coster, args), LONGEST_PATTERN * PATTERN_FACTOR),
    "slice": _listing(_slice_size),
    "lists.range": _listing(_range_size),
    "reverse": _listing(_of(0, 1)),
    "flatten": _flattening,
    "distinct": _listing(_squared(), COMPARISON),
    **{f"list_{kind}_sort": _listing(_squared(), comparison_of(kind)) for kind in LIST_ITEMS},
    **{f"list_{kind}_sortBy": _listing(_squared(1), comparison_of(kind)) for kind in LIST_ITEMS},
}
"""Function or overload → its cost besides its arguments. All others cost 1."""
SIZES: Mapping[str, Callable[[_Coster, Sequence[Node]], int | None]] = {
    **dict.fromkeys(
        ("lowerAscii", "upperAscii", "substring", "trim", "find", "findAll", "split", "url", "reverse", "flatten"),
        lambda coster, args: coster.size(args[0]),
    ),
    "slice": _slice_size,
    "lists.range": _range_size,
    **dict.fromkeys(("distinct", "sort"), _squared()),
    "@sortByAssociatedKeys": _squared(1),
    "_+_": _sum,
    "replace": _replaced,
    "join": _joined,
    "bytes": lambda coster, args: product(coster.size(args[0]), 4) if coster.has_type(args[0], STRING) else None,
    "string": lambda coster, args: coster.size(args[0]) if coster.has_type(args[0], BYTES) else None,
    "strings.quote": lambda coster, args: min(2 * coster.size(args[0]) + 2, UNKNOWN),
}
"""Function → the largest size of its result, None if it has no limit."""
