"""Selectors of devices: expressions over one device that give True or False.

Source: upstream ``dynamic-resource-allocation/cel/compile.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from scheduler_engine.api.cel.compiling import LATEST, Library, NotCompiled, compile_expression
from scheduler_engine.api.cel.costs import KEYS, Path, most_cost
from scheduler_engine.api.cel.functions import quantity, semver
from scheduler_engine.api.cel.nodes import Const, Select, parts_of
from scheduler_engine.api.cel.parsing import parse
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
def compile_selector(expression: str, library: Library = LATEST) -> Selector:
    """Return the compiled selector; an invalid one has an ``error``, of up to 1 MB. Selectors of stored objects may use
    the latest functions in each version.
    """
    try:
        compiled = compile_expression(expression, {"device": DEVICE}, FIELDS, _wrong_result, library)
    except NotCompiled as problem:
        return Selector(expression, str(problem), problem.internal)
    return Selector(expression, cost=most_cost(compiled.root, compiled.checked, size_of), step=compiled.step)


def _wrong_result(found: Type) -> str:
    return "" if found in RESULTS else f"must evaluate to bool or the unknown type, not {shown(found, RESULT_NAMES)}"


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
