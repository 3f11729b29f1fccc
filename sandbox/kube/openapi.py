"""The OpenAPI v3 documents: what ``kubectl explain`` prints, and from which kubectl learns that the server validates.

They follow from the engine's tables of kinds and fields. Source: upstream ``apiserver/pkg/endpoints/openapi`` and
``kube-openapi/pkg/builder3``; ``kubectl/pkg/explain/v2``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from sandbox.kube.patching import APPLY_PATCH, MERGED_BY, PATCHES
from sandbox.kube.resources import GROUPS, RESOURCES, Resource
from sandbox.kube.statuses import no_resource
from sandbox.words.say import rows
from scheduler_engine.api.fields import TYPES, Field, absent_fields
from scheduler_engine.versions import Rules, rules_for, version_named

Data = dict[str, Any]
Absent = frozenset[tuple[str, str]]

SCHEMAS = "#/components/schemas/"
SCALARS: dict[str, Data] = {
    "bool": {"type": "boolean"},
    "float32": {"type": "number", "format": "float"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "intstr": {"allOf": [{"$ref": f"{SCHEMAS}IntOrString"}]},
    "microtime": {"type": "string", "format": "date-time"},
    "time": {"type": "string", "format": "date-time"},
    "raw": {"type": "object"},
}
"""Scalar of the tables → its schema. The others are strings."""
INT_OR_STRING: Data = {"oneOf": [{"type": "integer"}, {"type": "string"}], "format": "int-or-string"}
SAID, KINDS_SAID = rows("fields"), rows("kinds")
DRY_RUN = {"name": "dryRun", "in": "query", "schema": {"type": "string", "uniqueItems": True}}
FIELD_VALIDATION = {"name": "fieldValidation", "in": "query", "schema": {"type": "string", "uniqueItems": True}}


def document(parts: Sequence[str], kubernetes: str) -> Data:
    """Return the index, or the document of a group and version. Raises ``Refused`` if there is none."""
    match [*parts]:
        case []:
            paths = {_path(group, version): f"/openapi/v3/{_path(group, version)}" for group, version in _versions()}
            return {"paths": {path: {"serverRelativeURL": url} for path, url in paths.items()}}
        case ["api", version]:
            group = ""
        case ["apis", group, version]:
            pass
        case _:
            raise no_resource()
    if (group, version) not in _versions():
        raise no_resource()
    content = _content(group, version, rules_for(version_named(kubernetes)))
    return {"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": kubernetes}, **content}


def _versions() -> list[tuple[str, str]]:
    return [(group, version) for group, versions in GROUPS.items() for version in versions]


def _path(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


@cache
def _content(group: str, version: str, rules: Rules) -> Data:
    kept = [row for row in RESOURCES.values() if (row.group, row.version) == (group, version) and row.kind in TYPES]
    absent = absent_fields(rules)
    names = list(dict.fromkeys(name for row in kept for name in _reached(row.kind, absent)))
    schemas = {name: _schema(name, absent) for name in names} | {"IntOrString": INT_OR_STRING}
    for row in kept:
        schemas[row.kind]["x-kubernetes-group-version-kind"] = [_gvk(row)]
    return {"paths": dict(path for row in kept for path in _paths(row)), "components": {"schemas": schemas}}


def _fields(name: str, absent: Absent) -> dict[str, Field]:
    """Return the fields of a type that the version has."""
    return {field: spec for field, spec in TYPES[name].items() if (name, field) not in absent}


def _reached(name: str, absent: Absent) -> Iterator[str]:
    """Yield a type and those that its fields lead to, each once."""
    seen, waiting = {name}, [name]
    while waiting:
        yield (here := waiting.pop(0))
        for field in _fields(here, absent).values():
            if field.type in TYPES and field.type not in seen:
                seen.add(field.type)
                waiting.append(field.type)


def _gvk(row: Resource) -> dict[str, str]:
    return {"group": row.group, "version": row.version, "kind": row.kind}


def _paths(row: Resource) -> Iterator[tuple[str, Data]]:
    inside = f"/{_path(row.group, row.version)}{'/namespaces/{namespace}' if row.namespaced else ''}/{row.plural}"
    ref = {"schema": {"$ref": f"{SCHEMAS}{row.kind}"}}
    answer = {"responses": {"200": {"description": "OK", "content": {"application/json": ref}}}}
    gvk = {"x-kubernetes-group-version-kind": _gvk(row)}
    writes = {**answer, **gvk, "parameters": [DRY_RUN, FIELD_VALIDATION]}

    def body(*kinds: str) -> Data:
        return {"requestBody": {"required": True, "content": dict.fromkeys(kinds, ref)}}

    listing = {**answer, **gvk, "x-kubernetes-action": "list"}
    yield inside, {"get": listing, "post": {**writes, **body("application/json"), "x-kubernetes-action": "post"}}
    yield (
        f"{inside}/{{name}}",
        {
            "get": {**answer, **gvk, "x-kubernetes-action": "get"},
            "put": {**writes, **body("application/json"), "x-kubernetes-action": "put"},
            "patch": {**writes, **body(*PATCHES, APPLY_PATCH), "x-kubernetes-action": "patch"},
            "delete": {**answer, **gvk, "parameters": [DRY_RUN], "x-kubernetes-action": "delete"},
        },
    )


def _schema(name: str, absent: Absent) -> Data:
    properties = {field: _property(f"{name}.{field}", spec) for field, spec in _fields(name, absent).items()}
    about = KINDS_SAID.get(f"kinds.{name}") or SAID.get(f"fields.{name}")
    return {**({"description": str(about)} if about else {}), "type": "object", "properties": properties}


def _property(path: str, spec: Field) -> Data:
    about = SAID.get(f"fields.{path}")
    described = {"description": str(about)} if about else {}
    if spec.holds == "list":
        key = MERGED_BY.get(path)
        merged = {"x-kubernetes-patch-merge-key": key, "x-kubernetes-patch-strategy": "merge"} if key else {}
        return {**described, "type": "array", "items": _one(spec.type), **merged}
    if spec.holds == "map":
        return {**described, "type": "object", "additionalProperties": _one(spec.type)}
    if spec.type in TYPES:
        return {**described, "allOf": [_one(spec.type)], "default": {}}
    return {**described, **_one(spec.type)}


def _one(name: str) -> Data:
    return {"$ref": f"{SCHEMAS}{name}"} if name in TYPES else SCALARS.get(name, {"type": "string"})
