"""Compile a checked expression to a Python function that counts its cost.

Source: upstream ``cel-go/interpreter/{planner,interpretable}.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from operator import mul
from typing import Any

from scheduler_engine.api.cel.call_costs import COSTS, LIST_COST, MAP_COST, PAID_FIRST
from scheduler_engine.api.cel.checking import Checked
from scheduler_engine.api.cel.functions import FUNCTIONS
from scheduler_engine.api.cel.nodes import ACCU, Call, Const, Fold, Ident, ListOf, MapOf, Node, Select, parts_of
from scheduler_engine.api.cel.running import Run, Step
from scheduler_engine.api.cel.texts import pattern
from scheduler_engine.api.cel.types import (
    CIDR,
    DURATION,
    FORMAT,
    IP,
    NAMEABLE,
    OPTIONAL,
    QUANTITY,
    SEMVER,
    TIMESTAMP,
    URL,
)
from scheduler_engine.api.cel.values import (
    LONGEST,
    NOTHING,
    CelError,
    CelType,
    Optional,
    TooExpensive,
    add,
    field_of,
    has_field,
    key_of,
    name_of,
    no_overload,
    plain_key,
)

CONVERSIONS = frozenset(("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"))
FIXED_PATTERNS = frozenset(("find", "findAll"))
"""Functions whose patterns must be valid when the expression is compiled."""
COMPARING: Mapping[str, Callable[[int, int], int]] = {
    **dict.fromkeys(("_==_", "_!=_"), min),
    **dict.fromkeys(("@in", "indexOf", "lastIndexOf"), max),
    **dict.fromkeys(("sets.contains", "sets.equivalent", "sets.intersects", "distinct"), mul),
    "format": lambda text, held: 5 * held,
    "flatten": lambda held, depth: held,
    "sort": lambda held, same: held * held.bit_length(),
    "@sortByAssociatedKeys": lambda held, keys: keys * keys.bit_length(),
}
"""Functions that compare, show or collect values inside lists and maps → how many, from what both arguments hold. To
show one takes as long as to compare five.
"""
GO_NAMES = {name: f"types.{name.capitalize()}" for name in ("int", "uint", "double", "string", "bool", "bytes")}
GO_NAMES |= {"null_type": "types.Null", "type": "*types.Type", OPTIONAL: "*types.Optional"}
GO_NAMES |= {name: f"types.{name.rpartition('.')[2]}" for (name,) in (TIMESTAMP, DURATION)}
GO_NAMES |= {name: f"cel.{name.rpartition('.')[2]}" for (name,) in (QUANTITY, SEMVER, IP, CIDR, URL, FORMAT)}
"""Type → its name in cel-go, which one message shows."""


def plan(node: Node, checked: Checked) -> Step:
    """Return the function that evaluates a node. It raises CelError, and so does this if a constant has no value."""
    planned: Step = PLANS[type(node)](node, checked)
    return _located(planned, node.at) if checked.locates else planned


def _located(planned: Step, at: int) -> Step:
    """Return a step whose errors say where they arise: at the innermost node."""

    def step(run: Run) -> Any:
        try:
            return planned(run)
        except CelError as problem:
            problem.at = at if problem.at is None else problem.at
            raise

    return step


def _const(node: Const, checked: Checked) -> Step:
    value = node.value
    return lambda run: value


def _ident(node: Ident, checked: Checked) -> Step:
    name = node.name
    if checked.types[node][0] == "type" and name in NAMEABLE:
        named = CelType(name)
        return lambda run: named

    def step(run: Run) -> Any:
        run.spend(1)
        value = run.variables[name] if name in run.variables else CelType(name)
        if isinstance(value, CelError):
            raise value
        return value

    return step


def _select(node: Select, checked: Checked) -> Step:
    if node in checked.names:
        named = CelType(checked.names[node])
        return lambda run: named
    operand, name, cost = plan(node.operand, checked), node.field, _begins(node.operand)
    if node.test_only:

        def test(run: Run) -> bool:
            value = operand(run)
            run.spend(cost)
            return _tested(value, name)

        return test

    def step(run: Run) -> Any:
        value = operand(run)
        run.spend(cost)
        if isinstance(value, Optional):
            return _optional_field(value, name, run)
        run.spend(1)
        return field_of(value, name)

    return step


PATHS = ("_[_]", "_[?_]", "_?._", "_?_:_")


def _begins(operand: Node) -> bool:
    """Return whether a path begins here, which costs 1: its start is neither a variable nor a choice."""
    return not (isinstance(operand, (Ident, Select)) or (isinstance(operand, Call) and operand.function in PATHS))


def _tested(value: Any, name: str) -> bool:
    if isinstance(value, Optional):
        return bool(value.held) and has_field(value.held[0], name)
    return has_field(value, name)


def _optional_field(value: Any, key: Any, run: Run) -> Optional:
    """Return a field that may be missing. To miss it costs nothing."""
    if isinstance(value, Optional):
        if not value.held:
            return NOTHING
        value = value.held[0]
    if not has_field(value, key):
        return NOTHING
    run.spend(1)
    return Optional((field_of(value, key),))


def _call(node: Call, checked: Checked) -> Step:
    special = SPECIAL.get(node.function)
    if special is not None and node.target is None:
        return special(node, checked)
    if node.target is not None and node.function in ("or", "orValue"):
        return _alternative(plan(node.target, checked), plan(node.args[0], checked), node.function == "orValue")
    name = checked.functions.get(node, node.function)
    target = [] if node.target is None or node in checked.functions else [node.target]
    if name == "_+_" and isinstance(node.args[0], Ident) and node.args[0].name == ACCU:
        return _grown(*(plan(part, checked) for part in node.args))
    args = [plan(part, checked) for part in (*target, *node.args)]
    compared = COMPARING.get(name)
    function, paid_first = FUNCTIONS[name], PAID_FIRST.get(name)
    ids = checked.overloads.get(node, ())
    several = len(ids) > 1
    overload = ids[0] if len(ids) == 1 else ""
    cost = COSTS.get(name) or COSTS.get(overload)
    if overload == "in_list" and _is_set(node.args[1]):
        cost = _nothing
    if name in FIXED_PATTERNS and isinstance(node.args[0], Const) and isinstance(node.args[0].value, str):
        pattern(node.args[0].value)

    def step(run: Run) -> Any:
        values = [arg(run) for arg in args]
        if compared is not None:
            run.compare(values[0], values[-1], compared)
        if paid_first is not None:
            run.spend(1 if several else paid_first(values, None))
            return function(*values)
        try:
            result = function(*values)
        except TooExpensive:
            raise
        except CelError:
            run.spend(1 if cost is None else cost(values, None))
            raise
        run.spend(1 if cost is None else cost(values, result))
        return result

    return _once(step) if _is_constant(node) else step


def _nothing(values: list[Any], result: Any) -> int:
    return 0


def _is_set(node: Node) -> bool:
    """Return True for a constant list in which upstream looks up a value directly."""
    return isinstance(node, ListOf) and not node.optional and all(map(_is_simple, node.items))


def _is_simple(node: Node) -> bool:
    return isinstance(node, Const) and not isinstance(node.value, bytes)


def _alternative(target: Step, other: Step, inside: bool) -> Step:
    """Return an optional value, or what is in it; another one, which is not computed before, if there is none."""

    def step(run: Run) -> Any:
        value = target(run)
        if not isinstance(value, Optional):
            return value
        if not value.held:
            return other(run)
        return value.held[0] if inside else value

    return step


def _grown(held: Step, added: Step) -> Step:
    """Add to the value of a comprehension: to its list, which nothing else knows yet, or to its number."""

    def step(run: Run) -> Any:
        value, more = held(run), added(run)
        run.spend(1)
        if not isinstance(value, list):
            return add(value, more)
        value.extend(more)
        return value

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
    free_yes, free_no = (_is_path(part) for part in node.args[1:])

    def step(run: Run) -> Any:
        value = condition(run)
        if not isinstance(value, bool):
            raise no_overload("_?_:_", value)
        # The first step of a path is read as part of the choice, which costs nothing.
        run.left += free_yes if value else free_no
        return yes(run) if value else no(run)

    return step


def _is_path(node: Node) -> bool:
    """Return whether a node is a variable, or a field or an item of something that is no choice."""
    start = node
    while (isinstance(start, Select) and not start.test_only) or (isinstance(start, Call) and start.function == "_[_]"):
        start = start.operand if isinstance(start, Select) else start.args[0]
    chosen = isinstance(start, Call) and start.function == "_?_:_"
    return isinstance(start, Ident) or (start is not node and not chosen)


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


def _index(optional: bool) -> Callable[[Call, Checked], Step]:
    """``optional``: what is not there is an empty optional value. In one that is optional itself it always is."""

    def planned(node: Call, checked: Checked) -> Step:
        operand, key = (plan(part, checked) for part in node.args)
        # A key that is a path itself is read as part of this one.
        cost = _begins(node.args[0]) - _is_path(node.args[1])

        def step(run: Run) -> Any:
            value, wanted = operand(run), key(run)
            run.spend(cost)
            if optional or isinstance(value, Optional):
                return _optional_field(value, wanted, run)
            run.spend(1)
            return field_of(value, wanted)

        return step

    return planned


SPECIAL: dict[str, Callable[[Call, Checked], Step]] = {
    "_&&_": _logical(decides=False),
    "_||_": _logical(decides=True),
    "_?_:_": _conditional,
    "@not_strictly_false": _not_strictly_false,
    "_[_]": _index(optional=False),
    **dict.fromkeys(("_[?_]", "_?._"), _index(optional=True)),
}


# --- lists, maps, comprehensions --------------------------------------------------------------------------------------


def _listof(node: ListOf, checked: Checked) -> Step:
    parts = [(plan(part, checked), index in node.optional) for index, part in enumerate(node.items)]

    def step(run: Run) -> list[Any]:
        found: list[Any] = []
        for part, optional in parts:
            value = part(run)
            if optional:
                found.extend(value.held)
            else:
                found.append(value)
        run.spend(LIST_COST)
        return found

    return _once(step) if _is_constant(node) else step


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

    return _once(step) if _is_constant(node) else step


def _is_constant(node: Node) -> bool:
    """Return True if a value is computed once, when the expression is compiled: it costs nothing later."""
    if isinstance(node, ListOf):
        return not node.optional and all(map(_is_constant, node.items))
    if isinstance(node, MapOf):
        return not any(optional for _, _, optional in node.entries) and all(map(_is_constant, parts_of(node)))
    if isinstance(node, Call):
        return node.function in CONVERSIONS and node.target is None and all(map(_is_constant, node.args))
    return isinstance(node, Const)


def _once(step: Step) -> Step:
    """Return a step that gives what this one gives now. Raises CelError."""
    value = step(Run({}, LONGEST))
    return lambda run: value


def _fold(node: Fold, checked: Checked) -> Step:
    items, start, condition, turn, result = (
        plan(part, checked) for part in (node.items, node.start, node.condition, node.step, node.result)
    )

    def step(run: Run) -> Any:
        around, held = run.variables, items(run)
        if not isinstance(held, (list, dict)):
            raise CelError(f"got '{GO_NAMES[name_of(held)]}', expected iterable type")
        inner = run.variables = dict(around)
        try:
            first_value = _kept(start, run)
            inner[node.accu] = copy(first_value) if node.accu == ACCU else first_value
            for first, second in _pairs(held, node.second):
                inner[node.first] = first
                if node.second:
                    inner[node.second] = second
                if condition(run) is not True:
                    break
                inner[node.accu] = _kept(turn, run)
            return result(run)
        finally:
            run.variables = around

    return step


def _kept(step: Step, run: Run) -> Any:
    """Return a value, or the error that reading it raises."""
    try:
        return step(run)
    except TooExpensive:
        raise
    except CelError as problem:
        return problem


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


def _pairs(held: Any, second: str) -> Any:
    if isinstance(held, dict):
        return ((plain_key(key), value) for key, value in list(held.items()))
    return enumerate(held) if second else ((item, None) for item in held)
