"""Compile a checked expression to a Python function that counts its cost.

Source: upstream ``cel-go/interpreter/{planner,interpretable,runtimecost}.go``, ``apiserver/pkg/cel/library/cost.go``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from scheduler_engine.api.cel.checking import Checked
from scheduler_engine.api.cel.library import FUNCTIONS
from scheduler_engine.api.cel.nodes import Call, Const, Fold, Ident, ListOf, MapOf, Node, Select
from scheduler_engine.api.cel.values import (
    NOTHING,
    CelError,
    CelType,
    Optional,
    field_of,
    has_field,
    key_of,
    no_overload,
)

STRING_FACTOR, PATTERN_FACTOR = 0.1, 0.25
LIST_COST, MAP_COST = 10, 30
TOO_EXPENSIVE = "operation cancelled: actual cost limit exceeded"


class Run:
    """One evaluation. ``left``: the cost that it may still cause."""

    __slots__ = ("left", "variables")

    def __init__(self, variables: Mapping[str, Any], limit: int) -> None:
        self.variables = dict(variables)
        self.left = limit

    def spend(self, cost: int) -> None:
        self.left -= cost
        if self.left < 0:
            raise TooExpensive(TOO_EXPENSIVE)


class TooExpensive(CelError):
    """The evaluation reached its limit. No operator hides this error."""


Step = Callable[[Run], Any]


def plan(node: Node, checked: Checked) -> Step:
    """Return the function that evaluates a node. It raises CelError."""
    planned: Step = PLANS[type(node)](node, checked)
    return planned


def _const(node: Const, checked: Checked) -> Step:
    value = node.value
    return lambda run: value


def _ident(node: Ident, checked: Checked) -> Step:
    name = node.name

    def step(run: Run) -> Any:
        run.spend(1)
        value = run.variables[name] if name in run.variables else CelType(name)
        if isinstance(value, CelError):
            raise value
        return value

    return step


def _select(node: Select, checked: Checked) -> Step:
    operand, name = plan(node.operand, checked), node.field
    if node.test_only:
        return lambda run: _tested(operand(run), name)

    def step(run: Run) -> Any:
        value = operand(run)
        run.spend(1)
        if isinstance(value, Optional):
            return _optional_field(value, name)
        return field_of(value, name)

    return step


def _tested(value: Any, name: str) -> bool:
    if isinstance(value, Optional):
        return bool(value.held) and has_field(value.held[0], name)
    return has_field(value, name)


def _optional_field(value: Any, key: Any) -> Optional:
    if isinstance(value, Optional):
        if not value.held:
            return NOTHING
        value = value.held[0]
    return Optional((field_of(value, key),)) if has_field(value, key) else NOTHING


def _call(node: Call, checked: Checked) -> Step:
    special = SPECIAL.get(node.function)
    if special is not None and node.target is None:
        return special(node, checked)
    name = checked.functions.get(node, node.function)
    target = [] if node.target is None or node in checked.functions else [node.target]
    args = [plan(part, checked) for part in (*target, *node.args)]
    function = FUNCTIONS[name]
    ids = checked.overloads.get(node, ())
    overload = ids[0] if len(ids) == 1 else ""
    cost = COSTS.get(name) or COSTS.get(overload)

    def step(run: Run) -> Any:
        values = [arg(run) for arg in args]
        result = function(*values)
        run.spend(1 if cost is None else cost(values, result))
        return result

    return step


# --- calls that do not evaluate all their arguments, or read fields ---------------------------------------------------


def _logical(decides: bool) -> Callable[[Call, Checked], Step]:
    name = "_||_" if decides else "_&&_"

    def planned(node: Call, checked: Checked) -> Step:
        parts = [plan(part, checked) for part in node.args]

        def step(run: Run) -> Any:
            problem: CelError | None = None
            for part in parts:
                try:
                    value = part(run)
                except TooExpensive:
                    raise
                except CelError as error:
                    problem = problem or error
                    continue
                if value is decides:
                    return decides
                if not isinstance(value, bool):
                    problem = problem or no_overload(name, value)
            if problem is not None:
                raise problem
            return not decides

        return step

    return planned


def _conditional(node: Call, checked: Checked) -> Step:
    condition, yes, no = (plan(part, checked) for part in node.args)

    def step(run: Run) -> Any:
        value = condition(run)
        if not isinstance(value, bool):
            raise no_overload("_?_:_", value)
        return yes(run) if value else no(run)

    return step


def _not_strictly_false(node: Call, checked: Checked) -> Step:
    part = plan(node.args[0], checked)

    def step(run: Run) -> bool:
        try:
            return part(run) is not False
        except TooExpensive:
            raise
        except CelError:
            return True
        finally:
            run.spend(1)

    return step


def _index(node: Call, checked: Checked) -> Step:
    operand, key = (plan(part, checked) for part in node.args)

    def step(run: Run) -> Any:
        value, wanted = operand(run), key(run)
        run.spend(1)
        return _optional_field(value, wanted) if isinstance(value, Optional) else field_of(value, wanted)

    return step


def _optional_index(node: Call, checked: Checked) -> Step:
    operand, key = (plan(part, checked) for part in node.args)

    def step(run: Run) -> Any:
        value, wanted = operand(run), key(run)
        run.spend(1)
        return _optional_field(value, wanted)

    return step


SPECIAL: dict[str, Callable[[Call, Checked], Step]] = {
    "_&&_": _logical(decides=False),
    "_||_": _logical(decides=True),
    "_?_:_": _conditional,
    "@not_strictly_false": _not_strictly_false,
    "_[_]": _index,
    "_[?_]": _optional_index,
    "_?._": _optional_index,
}


# --- lists, maps, comprehensions --------------------------------------------------------------------------------------


def _listof(node: ListOf, checked: Checked) -> Step:
    parts = [(plan(part, checked), index in node.optional) for index, part in enumerate(node.items)]
    constant = all(isinstance(part, Const) for part in node.items) and not node.optional

    def step(run: Run) -> list[Any]:
        found: list[Any] = []
        for part, optional in parts:
            value = part(run)
            if optional:
                found.extend(value.held)
            else:
                found.append(value)
        if not constant:
            run.spend(LIST_COST)
        return found

    return step


def _mapof(node: MapOf, checked: Checked) -> Step:
    parts = [(plan(key, checked), plan(value, checked), optional) for key, value, optional in node.entries]

    def step(run: Run) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key, value, optional in parts:
            name, held = key_of(key(run)), value(run)
            if not optional:
                found[name] = held
            elif held.held:
                found[name] = held.held[0]
        run.spend(MAP_COST)
        return found

    return step


def _fold(node: Fold, checked: Checked) -> Step:
    items, start, condition, turn, result = (
        plan(part, checked) for part in (node.items, node.start, node.condition, node.step, node.result)
    )

    def step(run: Run) -> Any:
        around, held = run.variables, items(run)
        if not isinstance(held, (list, dict)):
            raise no_overload("comprehension", held)
        inner = run.variables = dict(around)
        inner[node.accu] = start(run)
        try:
            for first, second in _pairs(held, node.second):
                inner[node.first] = first
                if node.second:
                    inner[node.second] = second
                if condition(run) is not True:
                    break
                try:
                    inner[node.accu] = turn(run)
                except TooExpensive:
                    raise
                except CelError as problem:
                    inner[node.accu] = problem
            return result(run)
        finally:
            run.variables = around

    return step


PLANS: dict[type[Node], Callable[[Any, Checked], Step]] = {
    Const: _const,
    Ident: _ident,
    Select: _select,
    Call: _call,
    ListOf: _listof,
    MapOf: _mapof,
    Fold: _fold,
}
"""Kind of node → how it is planned."""


def _size(value: Any) -> int:
    return len(value) if isinstance(value, (str, bytes, list, dict)) else 1


def _traversal(value: Any) -> int:
    return math.ceil(_size(value) * STRING_FACTOR)


Cost = Callable[[list[Any], Any], int]


def _first(factor: float = STRING_FACTOR) -> Cost:
    return lambda values, result: math.ceil(_size(values[0]) * factor)


def _smaller(values: list[Any], result: Any) -> int:
    return math.ceil(min(_size(values[0]), _size(values[1])) * STRING_FACTOR)


def _matching(values: list[Any], result: Any) -> int:
    return math.ceil((1 + _size(values[0])) * STRING_FACTOR) * math.ceil(_size(values[1]) * PATTERN_FACTOR)


def _walked(values: list[Any], result: Any) -> int:
    """Return the cost of reading every item of a list, or every character."""
    held = values[0]
    if isinstance(held, (str, bytes)):
        return int(len(held) * STRING_FACTOR)
    return sum(_walked([item], None) for item in held) if isinstance(held, list) else 1


def _compared(values: list[Any], result: Any) -> int:
    plain = isinstance(values[0], (str, bytes, list, dict, bool, int, float)) or values[0] is None
    return _smaller(values, result) if plain else 1


COSTS: dict[str, Cost] = {
    **dict.fromkeys(("startsWith", "endsWith"), _first()),
    **dict.fromkeys(("string_to_bytes", "bytes_to_string"), _first()),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _first()),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver", "cidr", "isIP", "isCIDR"), _first()),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _first(2 * STRING_FACTOR)),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _walked),
    **dict.fromkeys(("find", "findAll"), _matching),
    **dict.fromkeys(("less_string", "greater_string", "less_equals_string", "greater_equals_string"), _smaller),
    **dict.fromkeys(("_==_", "_!=_"), _compared),
    "matches_string": _matching,
    "in_list": lambda values, result: _size(values[1]),
    "add_string": lambda values, result: math.ceil((_size(values[0]) + _size(values[1])) * STRING_FACTOR),
    "contains": lambda values, result: _traversal(values[0]) * _traversal(values[1]),
    "join": lambda values, result: math.ceil(_size(result) * 2 * STRING_FACTOR),
    "string_to_ip": _first(),
}
"""Function or overload → its cost, from arguments and result. All others cost 1."""


def _pairs(held: Any, second: str) -> Any:
    if isinstance(held, dict):
        return ((_plain(key), value) for key, value in list(held.items()))
    return enumerate(held) if second else ((item, None) for item in held)


def _plain(key: Any) -> Any:
    return key[1] if isinstance(key, tuple) else key
