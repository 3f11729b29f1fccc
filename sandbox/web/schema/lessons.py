"""The published JSON Schema of lessons in the form of ``document``, which it joins: for the page that writes lessons.

More than ``document`` has: ``choices``, a type → its keys of which an object has one → the type that the object then
has. ``item`` of a field: what a list of lists holds. ``embeds`` of a field: it is a whole object of this kind, "*" = of
any kind that Kubernetes stores.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from sandbox.web.schema.document import HOLDERS, TEXTS, Entry, digests
from sandbox.words.say import say
from scheduler_engine.lesson.format import KIND
from scheduler_engine.lesson.schema import lesson_schema
from scheduler_engine.scenario.format import API_VERSION
from scheduler_engine.shapes import EMBEDDED, ONLY, Data

SCALARS = {"boolean": "bool"}
"""Type of JSON Schema → the type of ``document`` that offers values."""
ANY = "*"
PREFIX = "lesson "
"""Begins the name of a type, so that it is none of Kubernetes."""


def with_lessons(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with lessons, whose manifests have its kinds."""
    types = LessonTypes()
    top = types.add(lesson_schema(), KIND)
    kind = {"type": top, "versions": (API_VERSION,), "says": types.root["description"], "alone": "lesson"}
    return {
        "kinds": {**document["kinds"], KIND: kind},
        "types": {**document["types"], **types.types},
        "choices": types.choices,
    }


def _text(text: str) -> str:
    return json.dumps(with_lessons(json.loads(text)), ensure_ascii=False, separators=(",", ":"))


class LessonTypes:
    """The types of the schema. One that is written twice is there once."""

    def __init__(self) -> None:
        self.root = lesson_schema()
        self.types: dict[str, dict[str, Entry]] = {}
        self.choices: dict[str, dict[str, str]] = {}
        self.names: dict[str, str] = {}

    def resolved(self, schema: Data) -> Data:
        """Return what a reference refers to, and of alternatives the first; with the description beside it."""
        if "$ref" in schema:
            return self.resolved(self.root["$defs"][schema["$ref"].rpartition("/")[2]])
        if "anyOf" in schema and "type" not in schema:
            return {**self.resolved(schema["anyOf"][0]), **{key: schema[key] for key in schema if key == "description"}}
        return schema

    def add(self, schema: Data, key: str) -> str:
        """Add an object's type, and return its name."""
        known = json.dumps({name: value for name, value in schema.items() if name != "description"}, sort_keys=True)
        if known in self.names:
            return self.names[known]
        name = self.names[known] = f"{PREFIX}{len(self.names)} {key}"
        alternatives = [self.resolved(each) for each in schema.get("oneOf", ()) if "$ref" in each]
        if alternatives:
            self._choose_by_key(name, alternatives)
            return name
        required = schema.get("required", ())
        self.types[name] = {
            field: self.entry(each, field) | ({"required": True} if field in required else {})
            for field, each in schema["properties"].items()
        }
        if exclusive := dict.fromkeys(_first_keys(schema), name):
            self.choices[name] = exclusive
        return name

    def _choose_by_key(self, name: str, alternatives: list[Data]) -> None:
        """Add a type of objects whose first key says which of these they are."""
        firsts = {each["required"][0]: each for each in alternatives}
        self.choices[name] = {key: self.add(each, key) for key, each in firsts.items()}
        self.types[name] = {
            key: self.types[self.choices[name][key]][key] | {"says": each.get("description", "")}
            for key, each in firsts.items()
        }

    def entry(self, schema: Data, key: str) -> Entry:
        """Return what ``document`` says of a field."""
        schema = self.resolved(schema)
        says = {"says": schema["description"]} if "description" in schema else {}
        return self._typed(schema, key) | says

    def _typed(self, schema: Data, key: str) -> Entry:
        kind = schema.get("type", "")
        if kind == "array":
            item = self.entry(schema["items"], key)
            entry: Entry = {name: item[name] for name in ("type", "values", "embeds") if name in item}
            entry |= {"item": item} if "holds" in item else {}
            return entry | {"holds": "list", "shown": say(HOLDERS["list"], type=item["shown"])}
        if schema.get(EMBEDDED):
            only = schema.get(ONLY, [{"kind": ANY}])[0]["kind"]
            return {"type": "", "embeds": only, "shown": say("types.manifest") if only == ANY else only}
        if schema.get("properties") or schema.get("oneOf"):
            return {"type": self.add(schema, key), "shown": say("types.object")}
        if kind == "object":
            inner = schema.get("additionalProperties", {})
            if inner is False:
                return {"type": "", "shown": say("types.object")}
            item = self.entry(inner, key)
            return {"type": item["type"], "holds": "map", "shown": say(HOLDERS["map"], type=item["shown"])}
        values = {"values": schema["enum"]} if "enum" in schema else {}
        name = SCALARS.get(kind, kind) if isinstance(kind, str) else ""
        return {"type": name, "shown": kind if isinstance(kind, str) and kind else say("types.any"), **values}


def _first_keys(schema: Data) -> Iterator[str]:
    """Yield the keys of which an object needs one, and may not have two."""
    for each in schema.get("oneOf", ()):
        if [*each] == ["required"]:
            yield from each["required"]


@cache
def lesson_texts() -> dict[str, str]:
    """Return what ``TEXTS`` of ``document`` are, with lessons. Made when first needed: few processes show that page."""
    return {version: _text(text) for version, text in TEXTS.items()}


@cache
def lesson_digests() -> dict[str, str]:
    return digests(lesson_texts())
