"""Objects with a unique marker in every text, so a test can trace which texts of a dump came through.

``objects`` is a valid cluster that uses every type of the allow-list. ``filled`` adds all fields that are not on it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from scheduler_engine.api.fields import TYPES, Field
from scheduler_engine.config.schema import CONFIGURATION, MapOf, Struct
from scheduler_engine.importing.kept import KEPT, STAND_INS
from scheduler_engine.importing.trimming import TIMES

Manifest = dict[str, Any]
CLUSTER = Path(__file__).with_name("marked.yaml")
MARKER = re.compile(r"zq[0-9]+qz")
TIME = "2025-03-04T05:06:07Z"
NUMBERS = {"bool": True, "int32": 3, "int64": 3, "quantity": "1", "time": TIME, "microtime": TIME, "duration": "15s"}


@dataclass
class Markers:
    """``places``: marker → its ``Type.field``; ``types``: those visited."""

    places: dict[str, str] = field(default_factory=dict)
    types: dict[str, None] = field(default_factory=dict)

    def new(self, place: str) -> str:
        marker = f"zq{len(self.places)}qz"
        self.places[marker] = place
        return marker

    def places_in(self, text: str) -> set[str]:
        """Return the places of the markers in a text."""
        return {self.places[marker] for marker in MARKER.findall(text)}

    def struct(self, kind: str, above: tuple[str, ...] = ()) -> Manifest:
        """Return all fields of a type. Leave out a type nested in itself."""
        return {
            name: self.value(known, f"{kind}.{name}", (*above, kind))
            for name, known in TYPES[kind].items()
            if known.type not in (*above, kind)
        }

    def value(self, known: Field, place: str, above: tuple[str, ...] = ()) -> Any:
        one = self._one(known, place, above)
        if known.holds == "map":
            return {self.new(place): one}
        return [one] if known.holds == "list" else one

    def _one(self, known: Field, place: str, above: tuple[str, ...]) -> Any:
        if known.type in TYPES:
            return self.struct(known.type, above)
        if known.type == "any":
            return {self.new(place): self.new(place)}
        return NUMBERS.get(known.type) or self.new(place)

    def filled(self, manifest: Manifest, kind: str) -> Manifest:
        """Return ``manifest`` with every field outside the allow-list, and markers where an import puts stand-ins."""
        self.types[kind] = None
        result = dict(manifest)
        for name, known in TYPES[kind].items():
            if name not in (*KEPT[kind], *TIMES):
                result[name] = self.value(known, f"{kind}.{name}", (kind,))
            elif name in manifest and (kind, name) in STAND_INS:
                result[name] = self._marked(manifest[name], f"{kind}.{name}")
            elif name in manifest and known.type in TYPES:
                result[name] = self._inside(manifest[name], known)
        if kind == "ObjectMeta":
            result["annotations"] = {
                **manifest.get("annotations", {}),
                f"zq/{self.new('annotation')}": self.new("annotation"),
            }
        return result

    def _marked(self, value: Any, place: str) -> Any:
        """Append a marker to a text: its beginning may decide how it is read."""
        return [self._marked(item, place) for item in value] if isinstance(value, list) else value + self.new(place)

    def _inside(self, value: Any, known: Field) -> Any:
        if known.holds == "list":
            return [self.filled(item, known.type) for item in value]
        if known.holds == "map":
            return {name: self.filled(item, known.type) for name, item in value.items()}
        return self.filled(value, known.type)

    def configuration(self, kind: Any = CONFIGURATION, place: str = "") -> Any:
        """Return a scheduler configuration with markers, or a part of it."""
        if isinstance(kind, Struct):
            return {name: self.configuration(known.type, f"{kind.name}.{name}") for name, known in kind.fields.items()}
        if isinstance(kind, str):
            return {"raw": {"secret": self.new(place)}}.get(kind) or NUMBERS.get(kind) or self.new(place)
        inside = self.configuration(kind.item, place)
        return {self.new(place): inside} if isinstance(kind, MapOf) else [inside]


def objects() -> list[Manifest]:
    """Return at least one object of every kind that an import accepts."""
    return list(yaml.safe_load_all(CLUSTER.read_text()))
