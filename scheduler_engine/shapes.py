"""Shapes of values: each finds errors in a value, and describes it in JSON Schema. One table, two readers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol

from scheduler_engine.errors import FieldError

Data = dict[str, Any]
LONGEST_SHOWN = 60
"""The most characters of a wrong value in its error."""


class Shape(Protocol):
    """``problems``: the errors in a value at a path; ``schema``: the shape as JSON Schema."""

    def problems(self, value: Any, path: str) -> Iterator[FieldError]: ...

    def schema(self) -> Data: ...


def inside(path: str, name: str) -> str:
    """Return the path of a key in the value at ``path``."""
    return f"{path}.{name}" if path else name


def did_you_mean(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f' (did you mean "{near[0]}"?)' if near else ""


def unknown(path: str, name: str, known: Iterable[str]) -> FieldError:
    """Return an error for an unknown key."""
    return FieldError(inside(path, name), "FieldValueInvalid", f'unknown field "{name}"{did_you_mean(name, known)}')


def invalid(path: str, value: Any, must: str) -> FieldError:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"
    return FieldError(path, "FieldValueInvalid", f"Invalid value: {shown}: {must}")


def _about(schema: Data, about: str) -> Data:
    return {**schema, "description": about} if about else schema


@dataclass(frozen=True, slots=True)
class Text:
    """``values``: the allowed ones, () = any; ``longest``: in characters, 0 = any length."""

    about: str = ""
    values: tuple[str, ...] = ()
    longest: int = 0

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        if not isinstance(value, str):
            quotes = " (put it in quotes)" if isinstance(value, (bool, int, float)) else ""
            yield invalid(path, value, f"must be a text{quotes}")
        elif self.values and value not in self.values:
            shown = ", ".join(f'"{known}"' for known in self.values)
            text = f'Unsupported value: "{value[:LONGEST_SHOWN]}": supported values: {shown}'
            yield FieldError(path, "FieldValueNotSupported", text + did_you_mean(value, self.values))
        elif self.longest and len(value) > self.longest:
            yield FieldError(path, "FieldValueTooLong", f"Too long: may not be more than {self.longest} characters")

    def schema(self) -> Data:
        schema: Data = {"type": "string"}
        schema |= {"enum": list(self.values)} if self.values else {}
        schema |= {"maxLength": self.longest} if self.longest else {}
        return _about(schema, self.about)


@dataclass(frozen=True, slots=True)
class Flag:
    about: str = ""

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        if not isinstance(value, bool):
            yield invalid(path, value, "must be true or false")

    def schema(self) -> Data:
        return _about({"type": "boolean"}, self.about)


@dataclass(frozen=True, slots=True)
class Number:
    """``least`` and ``most`` are inclusive, ``above`` is not."""

    about: str = ""
    whole: bool = False
    least: float | None = None
    most: float | None = None
    above: float | None = None

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        kinds = (int,) if self.whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds):
            yield invalid(path, value, "must be a whole number" if self.whole else "must be a number")
            return
        if not self.allows(value):
            limits = ((self.above, "greater than"), (self.least, "at least"), (self.most, "at most"))
            words = [f"{word} {bound:g}" for bound, word in limits if bound is not None]
            yield invalid(path, value, f"must be {' and '.join(words)}")

    def allows(self, value: float) -> bool:
        """Return True if the number is within the bounds."""
        above = self.above is None or value > self.above
        return above and (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def schema(self) -> Data:
        bounds = {"minimum": self.least, "maximum": self.most, "exclusiveMinimum": self.above}
        schema: Data = {"type": "integer" if self.whole else "number"}
        return _about({**schema, **{name: bound for name, bound in bounds.items() if bound is not None}}, self.about)


@dataclass(frozen=True, slots=True)
class ListOf:
    """``fewest``: the minimum number of items."""

    item: Shape
    about: str = ""
    fewest: int = 0

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        if not isinstance(value, (list, tuple)):
            yield invalid(path, value, "must be a list")
            return
        if len(value) < self.fewest:
            yield FieldError(path, "FieldValueRequired", f"Required value: at least {self.fewest}")
        for index, item in enumerate(value):
            yield from self.item.problems(item, f"{path}[{index}]")

    def schema(self) -> Data:
        schema: Data = {"type": "array", "items": self.item.schema()}
        schema |= {"minItems": self.fewest} if self.fewest else {}
        return _about(schema, self.about)


@dataclass(frozen=True, slots=True)
class MapOf:
    """Any keys."""

    item: Shape
    about: str = ""

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        if not isinstance(value, Mapping):
            yield invalid(path, value, "must be a mapping")
            return
        for name, item in value.items():
            yield from self.item.problems(item, inside(path, name))

    def schema(self) -> Data:
        return _about({"type": "object", "additionalProperties": self.item.schema()}, self.about)


@dataclass(frozen=True, slots=True)
class Anything:
    about: str = ""

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        return iter(())

    def schema(self) -> Data:
        return _about({}, self.about)


@dataclass(frozen=True, slots=True)
class Either:
    """One of several shapes. The first of the right type reports errors; otherwise the error is ``must``."""

    shapes: tuple[Shape, ...]
    must: str
    about: str = ""

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        if any(not list(shape.problems(value, path)) for shape in self.shapes):
            return
        nested = [list(shape.problems(value, path)) for shape in self.shapes]
        # A shape that complains about a part has recognised the value.
        inner = next((errors for errors in nested if errors[0].path != path), None)
        yield from inner or [invalid(path, value, self.must)]

    def schema(self) -> Data:
        return _about({"anyOf": [shape.schema() for shape in self.shapes]}, self.about)


@dataclass(frozen=True, slots=True)
class Nothing:
    """Null."""

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        if value is not None:
            yield invalid(path, value, "must be left empty")

    def schema(self) -> Data:
        return {"type": "null"}


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping with only these keys: all of ``required``, and at least one of ``some``, or, if ``single``, one."""

    fields: Mapping[str, Shape]
    required: tuple[str, ...] = ()
    about: str = ""
    some: tuple[str, ...] = ()
    single: bool = False

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        if not isinstance(value, Mapping):
            yield invalid(path, value, "must be a mapping")
            return
        for name, item in value.items():
            if name in self.fields:
                yield from self.fields[name].problems(item, inside(path, name))
            else:
                yield unknown(path, name, self.fields)
        for name in self.required:
            if name not in value:
                yield FieldError(inside(path, name), "FieldValueRequired", "Required value")
        names = [name for name in self.some if name in value]
        if self.some and not names:
            yield FieldError(path, "FieldValueRequired", f"Required value: one of {', '.join(self.some)}")
        if self.single and len(names) > 1:
            text = f"Forbidden: only one is allowed: {', '.join(names)}"
            yield FieldError(inside(path, names[1]), "FieldValueForbidden", text)

    def schema(self) -> Data:
        properties = {name: shape.schema() for name, shape in self.fields.items()}
        schema: Data = {"type": "object", "properties": properties, "additionalProperties": False}
        schema |= {"required": list(self.required)} if self.required else {}
        if self.some:
            schema["oneOf" if self.single else "anyOf"] = [{"required": [name]} for name in self.some]
        return _about(schema, self.about)
