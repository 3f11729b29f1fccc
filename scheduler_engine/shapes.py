"""Shapes of values: each finds errors in a value, and describes it in JSON Schema. One table, two readers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol

from scheduler_engine.errors import FieldError
from scheduler_engine.words import say

Data = dict[str, Any]
LONGEST_SHOWN = 60
"""The most characters of a wrong value in its error."""
EMBEDDED, ONLY = "x-kubernetes-embedded-resource", "x-kubernetes-group-version-kind"
"""Keywords of a schema: the value is a whole object; the kinds that it may be of."""


class Shape(Protocol):
    """``problems``: the errors in a value at a path; ``schema``: the shape as JSON Schema."""

    def problems(self, value: Any, path: str) -> Iterator[FieldError]: ...

    def schema(self) -> Data: ...


def inside(path: str, name: str) -> str:
    """Return the path of a key in the value at ``path``."""
    return f"{path}.{name}" if path else name


def did_you_mean(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return say("value-errors.did-you-mean", name=near[0]) if near else ""


def unknown(path: str, name: str, known: Iterable[str]) -> FieldError:
    """Return an error for an unknown key."""
    text = say("value-errors.unknown-field", name=name)
    return FieldError(inside(path, name), "FieldValueInvalid", text + did_you_mean(name, known))


def invalid(path: str, value: Any, must: str) -> FieldError:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"
    return FieldError(path, "FieldValueInvalid", say("value-errors.invalid", value=shown, must=must))


def must_be(kind: str) -> str:
    """Return ``must be a text``; ``kind``: a key of ``words/en/types.yaml``."""
    return say("refusals.must-be", what=say(f"types.{kind}"))


def _about(schema: Data, about: str) -> Data:
    return {**schema, "description": about} if about else schema


@dataclass(frozen=True, slots=True)
class Text:
    """``values``: the allowed ones, () = any; ``longest``: in characters, 0 = any length; ``pattern``: a regular
    expression that the whole text must match, "" = any text.
    """

    about: str = ""
    values: tuple[str, ...] = ()
    longest: int = 0
    pattern: str = ""

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        if not isinstance(value, str):
            quotes = say("value-errors.quotes") if isinstance(value, (bool, int, float)) else ""
            yield invalid(path, value, must_be("text") + quotes)
        elif self.values and value not in self.values:
            shown = ", ".join(f'"{known}"' for known in self.values)
            text = say("value-errors.unsupported", value=value[:LONGEST_SHOWN], known=shown)
            yield FieldError(path, "FieldValueNotSupported", text + did_you_mean(value, self.values))
        elif self.longest and len(value) > self.longest:
            yield FieldError(path, "FieldValueTooLong", say("value-errors.too-long", longest=self.longest))
        elif self.pattern and not re.fullmatch(self.pattern, value):
            yield invalid(path, value, say("value-errors.pattern", pattern=self.pattern))

    def schema(self) -> Data:
        schema: Data = {"type": "string"}
        schema |= {"pattern": f"^{self.pattern}$"} if self.pattern else {}
        schema |= {"enum": list(self.values)} if self.values else {}
        schema |= {"maxLength": self.longest} if self.longest else {}
        return _about(schema, self.about)


@dataclass(frozen=True, slots=True)
class Flag:
    about: str = ""

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        if not isinstance(value, bool):
            yield invalid(path, value, must_be("truth"))

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
            yield invalid(path, value, must_be("whole-number" if self.whole else "number"))
            return
        if not self.allows(value):
            limits = {"above": self.above, "least": self.least, "most": self.most}
            bounds = [
                say(f"value-errors.{key}", bound=f"{bound:g}") for key, bound in limits.items() if bound is not None
            ]
            yield invalid(path, value, say("refusals.must-be", what=say("value-errors.and").join(bounds)))

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
            yield invalid(path, value, must_be("list"))
            return
        if len(value) < self.fewest:
            yield FieldError(path, "FieldValueRequired", say("value-errors.fewest", fewest=self.fewest))
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
            yield invalid(path, value, must_be("mapping"))
            return
        for name, item in value.items():
            yield from self.item.problems(item, inside(path, name))

    def schema(self) -> Data:
        return _about({"type": "object", "additionalProperties": self.item.schema()}, self.about)


@dataclass(frozen=True, slots=True)
class Manifest:
    """A whole object, whose fields are checked elsewhere. ``api_version`` and ``kind``: the only ones, "" = any that
    Kubernetes stores. The schema says so in the words that Kubernetes has for it.
    """

    about: str = ""
    api_version: str = ""
    kind: str = ""

    def problems(self, value: Any, path: str) -> Iterator[FieldError]:
        return MapOf(Anything()).problems(value, path)

    def schema(self) -> Data:
        schema: Data = {"type": "object", "additionalProperties": {}, EMBEDDED: True}
        if self.kind:
            group, _, version = self.api_version.rpartition("/")
            schema[ONLY] = [{"group": group, "version": version, "kind": self.kind}]
        return _about(schema, self.about)


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
            yield invalid(path, value, must_be("empty"))

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
            yield invalid(path, value, must_be("mapping"))
            return
        for name, item in value.items():
            if name in self.fields:
                yield from self.fields[name].problems(item, inside(path, name))
            else:
                yield unknown(path, name, self.fields)
        for name in self.required:
            if name not in value:
                yield FieldError(inside(path, name), "FieldValueRequired", say("value-errors.required"))
        names = [name for name in self.some if name in value]
        if self.some and not names:
            yield FieldError(path, "FieldValueRequired", say("value-errors.one-of", names=", ".join(self.some)))
        if self.single and len(names) > 1:
            text = say("value-errors.only-one", names=", ".join(names))
            yield FieldError(inside(path, names[1]), "FieldValueForbidden", text)

    def schema(self) -> Data:
        properties = {name: shape.schema() for name, shape in self.fields.items()}
        schema: Data = {"type": "object", "properties": properties, "additionalProperties": False}
        schema |= {"required": list(self.required)} if self.required else {}
        if self.some:
            schema["oneOf" if self.single else "anyOf"] = [{"required": [name]} for name in self.some]
        return _about(schema, self.about)
