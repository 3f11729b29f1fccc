"""Strict decoding of a KubeSchedulerConfiguration: every field must be known, spelled right and of the right type.

Source: seed 004; upstream ``apis/config/scheme`` and ``k8s.io/kube-scheduler/config/v1`` (nested plugin arguments).
"""

from __future__ import annotations

import math
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_engine.api.validation.problems import too_many
from scheduler_engine.config.schema import (
    API_VERSION,
    BASE64,
    GROUP,
    KIND,
    RAW,
    ListOf,
    MapOf,
    Struct,
    schema_for,
)
from scheduler_engine.durations import format_duration, parse_duration
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.versions import DEFAULT_RULES, Rules

DECODE_ERROR = "DecodeError"
"""The error kind of a configuration that cannot be read at all."""

MOST_PROFILES = 500
MOST_PLUGIN_CONFIGS = 2000
"""The sum over all profiles. Kubernetes sets no limits; here every default of each entry is written out."""

INTEGERS = {"int32": 2**31, "int64": 2**63}


def decode(manifest: Any, rules: Rules = DEFAULT_RULES) -> dict[str, Any]:
    """Return the configuration without nulls, with decoded plugin arguments. Raises Rejected with every error."""
    errors: list[FieldError] = []
    _check_type(manifest)
    schema = schema_for(rules)
    result: dict[str, Any] = _read(manifest, schema.configuration, "", "", errors)
    _check_size(result.get("profiles", ()))
    for index, profile in enumerate(result.get("profiles", ())):
        for position, config in enumerate(profile.get("pluginConfig", ())):
            place = f"profiles[{index}].pluginConfig[{position}]"
            struct = schema.plugin_args.get(config.get("name", ""))
            if struct is not None:
                config["args"] = _read_args(config.get("args", {}), struct, place, config["name"], errors)
    if errors:
        raise Rejected(errors)
    return result


def decode_as(value: Any, struct: Struct) -> dict[str, Any]:
    """Decode a manifest strictly by the table of its fields, without nulls. Raises Rejected with every error."""
    errors: list[FieldError] = []
    result = _read_struct(value, struct, "", "", errors)
    if errors:
        raise Rejected(errors)
    return result


def _check_type(manifest: Any) -> None:
    if not isinstance(manifest, Mapping):
        text = f"a {KIND} is a mapping of fields, not {_kind_of(manifest)}"
        raise Rejected([FieldError("", DECODE_ERROR, text)])
    kind, version = manifest.get("kind"), manifest.get("apiVersion")
    if not kind:
        raise Rejected([FieldError("kind", DECODE_ERROR, f"Object 'Kind' is missing; a configuration has kind {KIND}")])
    if not version:
        text = f"Object 'apiVersion' is missing; a configuration has apiVersion {API_VERSION}"
        raise Rejected([FieldError("apiVersion", DECODE_ERROR, text)])
    if kind != KIND or version != API_VERSION:
        place = "kind" if version == API_VERSION else "apiVersion"
        text = f'no kind "{kind}" is registered for version "{version}"; the scheduler reads {KIND} of {API_VERSION}'
        raise Rejected([FieldError(place, DECODE_ERROR, text)])


def _check_size(profiles: Sequence[Mapping[str, Any]]) -> None:
    configs = sum(len(profile.get("pluginConfig", ())) for profile in profiles)
    if len(profiles) > MOST_PROFILES:
        raise Rejected([too_many("profiles", len(profiles), MOST_PROFILES)])
    if configs > MOST_PLUGIN_CONFIGS:
        text = f"there are {configs} pluginConfig entries in all profiles, more than {MOST_PLUGIN_CONFIGS}"
        raise Rejected([FieldError("profiles", DECODE_ERROR, text)])


def _read_args(args: Any, struct: Struct, place: str, plugin: str, errors: list[FieldError]) -> Any:
    path = f"{place}.args"
    if isinstance(args, Mapping):
        kind, version = args.get("kind") or struct.name, args.get("apiVersion") or API_VERSION
        if kind != struct.name or version != API_VERSION:
            group = str(version).rpartition("/")[0]
            wanted = f"{struct.name}.{GROUP}"
            text = f"args for plugin {plugin} were not of type {wanted}, got {kind}.{group}".rstrip(".")
            errors.append(FieldError(path, DECODE_ERROR, text))
            return {}
        args = {**args, "kind": kind, "apiVersion": version}
    return _read(args, struct, path, struct.name, errors)


def _read(value: Any, kind: Any, path: str, shown: str, errors: list[FieldError]) -> Any:
    """Read ``value`` as ``kind``; ``shown`` is the place as in Go's decoder (``NodeAffinityArgs.addedAffinity``)."""
    if isinstance(kind, Struct):
        return _read_struct(value, kind, path, shown, errors)
    if isinstance(kind, ListOf):
        if not isinstance(value, list):
            return _mismatch(value, f"[]{_go_name(kind.item)}", path, shown, errors)
        return [_read_item(item, kind.item, f"{path}[{index}]", shown, errors) for index, item in enumerate(value)]
    if isinstance(kind, MapOf):
        if not isinstance(value, Mapping):
            return _mismatch(value, f"map[string]{_go_name(kind.item)}", path, shown, errors)
        return {str(key): _read(item, kind.item, f"{path}.{key}", shown, errors) for key, item in value.items()}
    return value if kind == RAW else _read_scalar(value, kind, path, shown, errors)


def _read_item(value: Any, kind: Any, path: str, shown: str, errors: list[FieldError]) -> Any:
    """Read an item of a list; null stands for the zero of its type."""
    return "" if value is None and kind == "string" else _read(value, kind, path, shown, errors)


def _read_struct(value: Any, struct: Struct, path: str, shown: str, errors: list[FieldError]) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        _mismatch(value, struct.name, path, shown, errors)
        return {}
    result: dict[str, Any] = {}
    for name, item in value.items():
        place = f"{path}.{name}" if path else str(name)
        spec = struct.fields.get(name)
        if spec is None:
            errors.append(FieldError(place, DECODE_ERROR, f'unknown field "{place}"'))
        elif item is not None or (spec.type == "duration" and not spec.pointer):
            read = _read(item, spec.type, place, f"{shown or struct.name}.{name}", errors)
            if read is not None:
                result[name] = read
    return result


def _read_scalar(value: Any, kind: str, path: str, shown: str, errors: list[FieldError]) -> Any:
    if kind == "duration":
        return _read_duration("" if value is None else value, path, shown, errors)
    if kind == BASE64:
        return _read_base64(value, path, shown, errors)
    number = (isinstance(value, int) and not isinstance(value, bool)) or _finite(value)
    if kind in INTEGERS:
        if number and value == int(value) and -INTEGERS[kind] <= value < INTEGERS[kind]:
            return int(value)
    elif kind == "float32":
        if number:
            return value
    elif isinstance(value, bool if kind == "bool" else str):
        return value
    return _mismatch(value, kind, path, shown, errors)


def _finite(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _read_duration(value: Any, path: str, shown: str, errors: list[FieldError]) -> str:
    if not isinstance(value, str):
        _mismatch(value, "string", path, shown, errors)
        return "0s"
    try:
        return format_duration(parse_duration(value))
    except ValueError as problem:
        errors.append(FieldError(path, DECODE_ERROR, str(problem)))
        return "0s"


def _read_base64(value: Any, path: str, shown: str, errors: list[FieldError]) -> Any:
    if not isinstance(value, str):
        return _mismatch(value, "[]uint8", path, shown, errors)
    try:
        b64decode(value.replace("\r", "").replace("\n", ""), validate=True)
    except ValueError:
        errors.append(FieldError(path, DECODE_ERROR, "illegal base64 data"))
    return value


def _mismatch(value: Any, go_type: str, path: str, shown: str, errors: list[FieldError]) -> None:
    actual = _kind_of(value)
    if actual == "number" and go_type in INTEGERS:
        actual = f"number {value}"
    text = f"json: cannot unmarshal {actual} into Go struct field {shown} of type {go_type}"
    errors.append(FieldError(path, DECODE_ERROR, text))


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def _go_name(kind: Any) -> str:
    return kind.name if isinstance(kind, Struct) else str(kind)
