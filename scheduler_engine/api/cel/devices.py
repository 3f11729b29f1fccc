"""Selectors of devices: expressions over one device that give True or False.

Source: upstream ``dynamic-resource-allocation/cel/compile.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from scheduler_engine.api.cel.checking import check, literal_problems, regex_problems
from scheduler_engine.api.cel.costs import KEYS, Path, most_cost
from scheduler_engine.api.cel.functions import quantity, semver
from scheduler_engine.api.cel.lexing import CelSyntaxError, Problem
from scheduler_engine.api.cel.nodes import Const, Select, parts_of
from scheduler_engine.api.cel.parsing import parse
from scheduler_engine.api.cel.planning import plan
from scheduler_engine.api.cel.running import Run, Step
from scheduler_engine.api.cel.types import ANY, BOOL, QUANTITY, RESULT_NAMES, STRING, Type, shown
from scheduler_engine.api.cel.values import CelError, WithDefault, name_of

MOST_COST = 1_000_000
"""The most that one evaluation may cost, and the most that an expression may cost in the worst case."""
DEVICE: Type = ("object", "kubernetes.DRADevice")
FIELDS = {
    "kubernetes.DRADevice": {
        "driver": STRING,
        "attributes": ("map", STRING, ("map", STRING, ANY)),
        "capacity": ("map", STRING, ("map", STRING, QUANTITY)),
    }
}
RESULTS = (BOOL, ANY)
MOST_PROBLEMS = 100
"""The most problems of an expression that are shown."""
CONVERSION_PROBLEMS = {
    "int": "unsupported type conversion from 'int' to bool",
    "string": "unsupported native conversion from string to 'bool'",
}
"""Type of a result → why it is not True or False."""
LARGEST = {"driver": 63, KEYS: 63, "inner keys": 32, "entries": 32, "attribute": 64}
"""The largest sizes of texts and maps in a device."""


@dataclass(frozen=True, slots=True)
class Selector:
    """``error``: why the expression cannot be used, "" if it can; ``internal``: Kubernetes calls that an error of its
    own. ``cost``: the most that an evaluation can cost.
    """

    expression: str
    error: str = ""
    internal: bool = False
    cost: int = 0
    step: Step | None = None

    @property
    def is_too_complex(self) -> bool:
        return self.cost > MOST_COST

    def matches(self, device: Mapping[str, Any]) -> bool:
        """Return whether a device, as ``device_value`` returns it, matches. Raises CelError."""
        return self._result(Run({"device": device}, MOST_COST))

    def judge(self, device: Mapping[str, Any]) -> tuple[bool | str, int]:
        """Return whether a device matches, or the text of an error; and what that has cost."""
        run = Run({"device": device}, MOST_COST)
        try:
            result: bool | str = self._result(run)
        except CelError as problem:
            result = str(problem)
        return result, MOST_COST - run.left

    def _result(self, run: Run) -> bool:
        assert self.step is not None
        result = self.step(run)
        if not isinstance(result, bool):
            kind = name_of(result)
            problem = CONVERSION_PROBLEMS.get(kind, f"type conversion error from '{kind.rpartition('.')[2]}' to 'bool'")
            raise CelError(f"CEL result of type {kind} could not be converted to bool: {problem}")
        return result


@lru_cache(maxsize=128)
def compile_selector(expression: str) -> Selector:
    """Return the compiled selector; an invalid one has an ``error``, of up to 1 MB."""
    try:
        root = parse(expression)
    except CelSyntaxError as problem:
        return Selector(expression, f"compilation failed: {_marked(expression, problem.problems)}")
    checked = check(root, {"device": DEVICE}, FIELDS)
    problems = checked.problems or [*regex_problems(root), *literal_problems(root, checked)]
    if problems:
        return Selector(expression, f"compilation failed: {_marked(expression, problems)}")
    found = checked.types[root]
    if found not in RESULTS:
        return Selector(expression, f"must evaluate to bool or the unknown type, not {shown(found, RESULT_NAMES)}")
    try:
        step = plan(root, checked)
    except CelError as problem:
        return Selector(expression, f"program instantiation failed: {problem}", internal=True)
    return Selector(expression, cost=most_cost(root, checked, size_of), step=step)


def size_of(path: Path) -> int | None:
    """Return the largest size of a part of a device, None if it has no limit."""
    match path[1:]:
        case ("driver",):
            return LARGEST["driver"]
        case ("attributes" | "capacity",) | ("attributes" | "capacity", "@values"):
            return LARGEST["entries"]
        case ("attributes" | "capacity", "@keys"):
            return LARGEST[KEYS]
        case ("attributes" | "capacity", "@values", "@keys"):
            return LARGEST["inner keys"]
        case ("attributes", "@values", _):
            return LARGEST["attribute"]
        case _:
            return None


@lru_cache(maxsize=512)
def names_in(expression: str) -> frozenset[str]:
    """Return the fields and texts in a valid expression: among them are the names of the attributes that it reads."""
    waiting, found = [parse(expression)], set[str]()
    while waiting:
        node = waiting.pop()
        if isinstance(node, Select):
            found.add(node.field)
        elif isinstance(node, Const) and isinstance(node.value, str):
            found.add(node.value)
        waiting += parts_of(node)
    return frozenset(found)


def _marked(expression: str, problems: list[Problem]) -> str:
    """Return the problems with the lines that they are in, as cel-go shows them."""
    return "\n".join(_in_its_line(expression, problem) for problem in sorted(problems)[:MOST_PROBLEMS])


def _in_its_line(expression: str, problem: Problem) -> str:
    start = expression.rfind("\n", 0, problem.at) + 1
    line = expression[start:].partition("\n")[0]
    column = problem.at - start
    if not expression:
        return f"ERROR: <input>:1:0: {problem.message}"
    dots = "".join("." if sign.isascii() else "\uff0e" for sign in line[:column])
    mark = "^" if line[column : column + 1].isascii() else "\uff3e"
    number, shown = expression.count("\n", 0, problem.at) + 1, line.replace("\t", " ")
    return f"ERROR: <input>:{number}:{column + 1}: {problem.message}\n | {shown}\n | {dots}{mark}"


def device_value(driver: str, device: Mapping[str, Any]) -> dict[str, Any]:
    """Return what expressions see of a device. Raises CelError for an attribute without a value.

    Names without a domain belong to the domain of the driver. A domain without entries is an empty map.
    """
    attributes: dict[str, dict[str, Any]] = WithDefault()
    for name, attribute in (device.get("attributes") or {}).items():
        domain, identifier = qualified(name, driver)
        attributes.setdefault(domain, {})[identifier] = attribute_value(name, attribute)
    capacity: dict[str, dict[str, Any]] = WithDefault()
    for name, amount in (device.get("capacity") or {}).items():
        domain, identifier = qualified(name, driver)
        capacity.setdefault(domain, {})[identifier] = quantity(str(amount["value"]))
    return {"driver": driver, "attributes": attributes, "capacity": capacity}


def qualified(name: str, driver: str) -> tuple[str, str]:
    """Return domain and identifier of an attribute."""
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


def attribute_value(name: str, attribute: Mapping[str, Any]) -> Any:
    for kind in ("int", "bool", "string"):
        if attribute.get(kind) is not None:
            return attribute[kind]
    if attribute.get("version") is None:
        raise CelError(f"attribute {name}: unsupported attribute value")
    try:
        return semver(attribute["version"])
    except CelError as problem:
        raise CelError(f"attribute {name}: parse semantic version: {problem}") from None
