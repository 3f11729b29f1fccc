"""The answers of extenders, read as Go reads JSON: by the types of ``k8s.io/kube-scheduler/extender/v1``.

Source: upstream ``k8s.io/kube-scheduler/extender/v1/types.go`` and Go's package ``encoding/json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class ExtenderError(Exception):
    """A call of an extender failed; the text is the error that kube-scheduler reports."""


@dataclass(frozen=True, slots=True)
class Struct:
    """A Go struct: its name in errors, and the type of each field. Other fields of an answer are ignored."""

    name: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ListOf:
    item: Any


@dataclass(frozen=True, slots=True)
class MapOf:
    item: Any


NODE = Struct("Node", {"metadata": Struct("ObjectMeta", {"name": "string"})})
FILTER_RESULT = Struct(
    "ExtenderFilterResult",
    {
        "Nodes": Struct("NodeList", {"items": ListOf(NODE)}),
        "NodeNames": ListOf("string"),
        "FailedNodes": MapOf("string"),
        "FailedAndUnresolvableNodes": MapOf("string"),
        "Error": "string",
    },
)
PRIORITIES = ListOf(Struct("HostPriority", {"Host": "string", "Score": "int64"}))
META_VICTIMS = Struct(
    "MetaVictims", {"Pods": ListOf(Struct("MetaPod", {"UID": "string"})), "NumPDBViolations": "int64"}
)
PREEMPTION_RESULT = Struct("ExtenderPreemptionResult", {"NodeNameToMetaVictims": MapOf(META_VICTIMS)})
BINDING_RESULT = Struct("ExtenderBindingResult", {"Error": "string"})

ZEROS: dict[str, Any] = {"string": "", "int64": 0}


def read_answer(answer: Any, kind: Any) -> Any:
    """Return the answer with all fields of ``kind``; null and missing ones are None, or the zero of a scalar.

    Raises ExtenderError with the text of Go's decoder for the first value of a wrong type.
    """
    return _zero(kind) if answer is None else _read(answer, kind, "")


def _zero(kind: Any) -> Any:
    if isinstance(kind, Struct):
        return {name: _zero(of) if isinstance(of, str) else None for name, of in kind.fields.items()}
    return ZEROS.get(kind) if isinstance(kind, str) else None


def _read(value: Any, kind: Any, shown: str) -> Any:
    """Read ``value``; ``shown`` is its place as Go shows it (``HostPriority.Score``), "" at the top."""
    if value is None:
        return ZEROS.get(kind) if isinstance(kind, str) else None
    if isinstance(kind, Struct):
        return _read_struct(value, kind, shown)
    if isinstance(kind, ListOf):
        if isinstance(value, list):
            return [_read(item, kind.item, shown) for item in value]
    elif isinstance(kind, MapOf):
        if isinstance(value, Mapping):
            return {name: _read(item, kind.item, shown) for name, item in value.items()}
    elif kind == "string":
        if isinstance(value, str):
            return value
    elif isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return value
    raise _mismatch(value, kind, shown)


def _read_struct(value: Any, kind: Struct, shown: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _mismatch(value, kind, shown)
    # Go finds the field of a key whatever its case; the last of equal keys counts.
    given = {str(name).lower(): item for name, item in value.items()}
    result: dict[str, Any] = _zero(kind)
    for name, of in kind.fields.items():
        if name.lower() in given:
            place = f"{shown or kind.name}.{name}"
            result[name] = _read(given[name.lower()], of, place)
    return result


def _mismatch(value: Any, kind: Any, shown: str) -> ExtenderError:
    where = f"struct field {shown}" if shown else "value"
    return ExtenderError(f"json: cannot unmarshal {_kind_of(value, kind)} into Go {where} of type {_go_type(kind)}")


def _kind_of(value: Any, kind: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return f"number {value}" if kind == "int64" else "number"
    return "string" if isinstance(value, str) else "object" if isinstance(value, Mapping) else "array"


def _go_type(kind: Any) -> str:
    if isinstance(kind, ListOf):
        return "v1.HostPriorityList" if kind is PRIORITIES else f"[]{_go_type(kind.item)}"
    if isinstance(kind, MapOf):
        return f"map[string]{_go_type(kind.item)}"
    return f"v1.{kind.name}" if isinstance(kind, Struct) else str(kind)
