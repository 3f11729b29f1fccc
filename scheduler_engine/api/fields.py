"""The known fields of every kind: strict decoding, and the form in which the API server writes an object.

The tables (``fields_*.py``) hold one line per type: ``name`` is a text, ``name:type`` anything else, ``[T]`` a list
of T, ``{T}`` a mapping of texts to T, ``+Type`` all fields of another type. ``!`` marks a field that is written even
if it is empty; ``?`` a type whose empty value is kept if it is set (a Go pointer).
Source: upstream ``api/*/types.go``; ``apimachinery/pkg/runtime/serializer/json`` (strict decoding).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import Any

from scheduler_engine.api.fields_devices import DEVICES
from scheduler_engine.api.fields_objects import OBJECTS
from scheduler_engine.api.fields_pod import POD_PARTS
from scheduler_engine.api.fields_volumes import VOLUME_SOURCES
from scheduler_engine.api.fields_workloads import WORKLOADS
from scheduler_engine.api.quantity import canonical, parse_quantity, rounded_up_to_milli
from scheduler_engine.api.times import in_utc, is_time
from scheduler_engine.errors import MOST_ERRORS, FieldError
from scheduler_engine.versions import DEFAULT_RULES, VERSIONS, Rules, rules_for
from scheduler_engine.words import say

MOST_HINTS = 100
"""The number of unknown fields per object that get a hint at a known field with a similar name."""


@dataclass(frozen=True, slots=True)
class Field:
    """``holds``: one, list or map of ``type`` (a scalar or a type of the tables)."""

    type: str
    holds: str = "one"
    always: bool = False
    pointer: bool = False


def _read(*tables: str) -> dict[str, dict[str, Field]]:
    lines: list[str] = []
    for line in "\n".join(tables).splitlines():
        if line.startswith(" "):
            lines[-1] += line
        elif line:
            lines.append(line)
    written = dict(line.split(" = ", 1) for line in lines)
    return {name: dict(_fields(name, written)) for name in written}


def _fields(name: str, written: Mapping[str, str]) -> Iterator[tuple[str, Field]]:
    for word in written[name].split():
        if word.startswith("+"):
            yield from _fields(word[1:], written)
            continue
        field, _, kind = word.partition(":")
        holds = {"[": "list", "{": "map"}.get(kind[:1], "one")
        inner = kind.rstrip("?").strip("[]{}") or "string"
        yield field.rstrip("!"), Field(inner, holds, field.endswith("!"), kind.endswith("?"))


TYPES: dict[str, dict[str, Field]] = _read(OBJECTS, WORKLOADS, POD_PARTS, VOLUME_SOURCES, DEVICES)


def _an_integer(bits: int) -> Callable[[Any], bool]:
    limit = 2 ** (bits - 1)
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit


def _a_number_or_text(value: Any) -> bool:
    return isinstance(value, str) or SCALARS["int32"][0](value)


SCALARS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "string": (lambda value: isinstance(value, str), say("types.text")),
    "bool": (lambda value: isinstance(value, bool), say("types.truth")),
    "int32": (_an_integer(32), say("types.whole-number-of", bits=32)),
    "int64": (_an_integer(64), say("types.whole-number-of", bits=64)),
    "time": (is_time, say("types.time", example="2026-01-01T00:00:00Z")),
    "microtime": (is_time, say("types.time", example="2026-01-01T00:00:00.000000Z")),
    "intstr": (_a_number_or_text, say("types.whole-number-or-text")),
    "any": (lambda value: True, ""),
}
"""Scalar types except quantities: test and words."""

ZEROS: dict[str, Any] = {"string": "", "bool": False, "int32": 0, "int64": 0, "intstr": 0, "quantity": "0"}

NUMERIC = ("int32", "int64", "quantity", "intstr")

IN_QUOTES = say("manifest-errors.in-quotes")
"""The text before a value that should be a text."""

_TYPE_NAMES = {dict: "mapping", list: "list", str: "text", bool: "truth", int: "number", float: "number"}
"""Type of a value → its row in ``words/en/types.yaml``."""


LATER_FIELDS: dict[tuple[str, str], str] = {
    ("NodeStatus", "declaredFeatures"): "knows_declared_features",
    ("PodStatus", "resources"): "knows_pod_level_resize",
    ("PodStatus", "allocatedResources"): "knows_pod_level_resize",
    ("CSIDriverSpec", "preventPodSchedulingIfMissing"): "volume_drivers_opt_in",
}
"""(type, name) of a field that only later versions have → the rule by which it exists. The rule ``newer_fields`` lists
the others.
"""
NEWER_FIELDS = tuple(dict.fromkeys(name for version in VERSIONS for name in rules_for(version).newer_fields))
"""``Type.name`` of every field that the rule lists for some version."""


@cache
def absent_fields(rules: Rules) -> frozenset[tuple[str, str]]:
    """Return (type, name) of the fields in the tables that a version does not have."""
    later = (place for place, rule in LATER_FIELDS.items() if not getattr(rules, rule))
    listed = (name.split(".") for name in NEWER_FIELDS if name not in rules.newer_fields)
    return frozenset([*later, *((owner, name) for owner, name in listed)])


@dataclass(frozen=True, slots=True)
class _Strictness:
    """``hints`` yields once for every unknown field that gets a hint; ``absent`` as in ``absent_fields``."""

    hints: Iterator[int]
    absent: frozenset[tuple[str, str]]


def check_fields(manifest: Mapping[str, Any], kind: str, rules: Rules = DEFAULT_RULES) -> list[FieldError]:
    """Return unknown fields, wrong types and invalid quantities, in the order written.

    All of them up to ``MOST_ERRORS``; one more means that there may be others.
    """
    strictness = _Strictness(iter(range(MOST_HINTS)), absent_fields(rules))
    return list(islice(_check_struct(manifest, kind, "", strictness), MOST_ERRORS + 1))


def _check_struct(value: Any, type_name: str, path: str, strictness: _Strictness) -> Iterator[FieldError]:
    if not isinstance(value, Mapping):
        yield _wrong(path, say("types.mapping"), value)
        return
    fields = TYPES[type_name]
    for name, item in value.items():
        known, inside = fields.get(name), f"{path}.{name}" if path else str(name)
        if known is None or (type_name, name) in strictness.absent:
            hint = _hint(str(name), type_name, strictness) if known is None else ""
            yield FieldError(inside, "UnknownField", f'unknown field "{inside}"{hint}')
        elif item is not None:
            yield from _check_field(item, known, inside, strictness)


def _check_field(value: Any, known: Field, path: str, strictness: _Strictness) -> Iterator[FieldError]:
    if known.holds == "one":
        yield from _check_one(value, known.type, path, strictness)
    elif known.holds == "list":
        if not isinstance(value, list):
            yield _wrong(path, say("types.list"), value)
            return
        for index, item in enumerate(value):
            if item is not None:
                yield from _check_one(item, known.type, f"{path}[{index}]", strictness)
    elif not isinstance(value, Mapping):
        yield _wrong(path, say("types.mapping"), value)
    else:
        for key, item in value.items():
            if item is not None:
                place = f"{path}[{key}]" if known.type == "quantity" else f"{path}.{key}"
                yield from _check_one(item, known.type, place, strictness)


def _check_one(value: Any, type_name: str, path: str, strictness: _Strictness) -> Iterator[FieldError]:
    if type_name in TYPES:
        yield from _check_struct(value, type_name, path, strictness)
    elif type_name == "quantity":
        try:
            parse_quantity(_quantity_text(value))
        except ValueError as error:
            yield FieldError(path, "FieldValueInvalid", say("manifest-errors.quantity", problem=error))
    else:
        fits, words = SCALARS[type_name]
        if not fits(value):
            yield _wrong(path, words, value)


def without_unknown(manifest: Mapping[str, Any], kind: str, rules: Rules = DEFAULT_RULES) -> dict[str, Any]:
    """Return the manifest without fields that the version does not know."""
    known: dict[str, Any] = _known(manifest, kind, absent_fields(rules))
    return known


def _known(value: Any, type_name: str, absent: frozenset[tuple[str, str]]) -> Any:
    if type_name not in TYPES or not isinstance(value, Mapping):
        return value
    fields = TYPES[type_name]
    return {
        name: _known_field(item, fields[name], absent)
        for name, item in value.items()
        if name in fields and (type_name, name) not in absent
    }


def _known_field(value: Any, known: Field, absent: frozenset[tuple[str, str]]) -> Any:
    if known.holds == "list" and isinstance(value, list):
        return [_known(item, known.type, absent) for item in value]
    if known.holds == "map" and isinstance(value, Mapping):
        return {key: _known(item, known.type, absent) for key, item in value.items()}
    return _known(value, known.type, absent) if known.holds == "one" else value


def well_typed(manifest: Mapping[str, Any], kind: str, loose: bool = False) -> dict[str, Any]:
    """Return the manifest without unknown fields and values of a wrong type; in lists these become null.

    ``loose``: where a number or a quantity belongs, keep every number and text.
    """
    fields = TYPES[kind]
    parts = {name: _typed_field(item, fields[name], loose) for name, item in manifest.items() if name in fields}
    return {name: part for name, part in parts.items() if part is not None}


def _typed_field(value: Any, field: Field, loose: bool) -> Any:
    if field.holds == "list":
        return [_typed_one(item, field.type, loose) for item in value] if isinstance(value, list) else None
    if field.holds == "map":
        held = value if isinstance(value, Mapping) else {}
        parts = {key: _typed_one(item, field.type, loose) for key, item in held.items()}
        return {key: part for key, part in parts.items() if part is not None}
    return _typed_one(value, field.type, loose)


def _typed_one(value: Any, type_name: str, loose: bool) -> Any:
    if value is None:
        return None
    if type_name in TYPES:
        return well_typed(value, type_name, loose) if isinstance(value, Mapping) else None
    if loose and type_name in NUMERIC and isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return value
    return None if any(_check_one(value, type_name, "", _Strictness(iter(()), frozenset()))) else value


def _quantity_text(value: Any) -> str | int | float:
    if isinstance(value, str):
        return value.strip(" ")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise ValueError(_must_be(say("types.quantity"), value))


def _must_be(wanted: str, value: Any) -> str:
    return say("manifest-errors.wrong-type", wanted=wanted, actual=say(f"types.{_TYPE_NAMES.get(type(value), 'this')}"))


def _wrong(path: str, wanted: str, value: Any) -> FieldError:
    shown = f" ({value!r})"[:40] if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
    is_text = wanted == SCALARS["string"][1]
    hint = f'{IN_QUOTES}"{_shown(value)}"' if is_text and isinstance(value, (bool, int, float)) else ""
    return FieldError(path, "FieldValueTypeInvalid", _must_be(wanted, value) + shown + hint)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_written(error: FieldError, written: str) -> FieldError:
    """Return the error with advice about quotes that shows a value as ``written``, and why a word is invalid."""
    text, advice, value = error.message.rpartition(IN_QUOTES)
    if not advice or not written or value == f'"{written}"':
        return error
    is_word = value in ('"true"', '"false"')
    means = say("manifest-errors.yaml-reads", written=written, value=value[1:-1]) if is_word else ""
    return replace(error, message=f'{text}{means}{IN_QUOTES}"{written}"')


def _hint(name: str, type_name: str, strictness: _Strictness) -> str:
    if next(strictness.hints, None) is None:
        return ""
    folded = {known.lower(): known for known in TYPES[type_name] if (type_name, known) not in strictness.absent}
    near = get_close_matches(name.lower(), folded, n=1, cutoff=0.7)
    return say("value-errors.did-you-mean", name=folded[near[0]]) if near else ""


_HINT = re.compile(re.escape(say("value-errors.did-you-mean", name="NAME")).replace("NAME", r"(\w+)") + "$")


def meant(error: FieldError) -> str:
    """Return the path that an unknown field probably meant, or the error's own path without a hint."""
    hint = _HINT.search(error.message)
    return error.path.rpartition(".")[0] + f".{hint[1]}" if hint else error.path


def written_form(manifest: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return a well-typed manifest in the API server's form: no nulls, no empty optional scalars, canonical amounts.

    Missing required scalars get their zero, as in Kubernetes.
    Resource lists are rounded up to thousandths. Unknown fields are omitted. The input does not change.
    """
    fields = TYPES[kind]
    result: dict[str, Any] = {}
    for name, item in manifest.items():
        field = fields.get(name)
        if field is None or item is None:
            continue
        written = _written_field(item, field)
        if field.always or field.pointer or not _empty(written, field):
            result[name] = written
    for name, field in fields.items():
        if field.always and not field.pointer and field.holds == "one" and field.type in ZEROS:
            result.setdefault(name, ZEROS[field.type])
    return result


def without_empty(manifest: Mapping[str, Any], kind: str, structs: bool = False) -> dict[str, Any]:
    """Return a manifest in written form without empty lists and mappings, as the API server prints it.

    ``structs``: also omit empty types that are not pointers. The result is equal if Kubernetes considers it equal.
    """
    fields = TYPES[kind]
    result: dict[str, Any] = {}
    for name, value in manifest.items():
        field = fields.get(name)
        if field is None or field.type not in TYPES:
            kept = value
        elif field.holds == "list":
            kept = [without_empty(item, field.type, structs) for item in value]
        elif field.holds == "map":
            kept = {key: without_empty(item, field.type, structs) for key, item in value.items()}
        else:
            kept = without_empty(value, field.type, structs)
        if kept or field is None or field.always or (field.holds == "one" and not _drops(field, structs)):
            result[name] = kept
    return result


def _drops(field: Field, structs: bool) -> bool:
    return structs and field.type in TYPES and not field.pointer


def _empty(value: Any, field: Field) -> bool:
    if field.holds == "one" and field.type in TYPES:
        return False
    return field.holds == "one" and value in ("", 0, False)


def _written_field(value: Any, field: Field) -> Any:
    if field.holds == "list":
        return [_written_one(item, field.type) for item in value]
    if field.holds == "map":
        listed = field.type == "quantity"
        return {key: _written_one(item, field.type, rounded=listed) for key, item in value.items()}
    return _written_one(value, field.type)


def _written_one(value: Any, type_name: str, rounded: bool = False) -> Any:
    if type_name in TYPES:
        return written_form(value or {}, type_name)
    if type_name == "quantity":
        if value is None:
            return "0"
        quantity = parse_quantity(_quantity_text(value))
        return canonical(rounded_up_to_milli(quantity) if rounded else quantity)
    if value is None:
        return "" if type_name == "string" else 0
    return in_utc(value) if type_name == "time" and isinstance(value, str) else value
