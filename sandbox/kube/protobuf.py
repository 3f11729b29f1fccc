"""Objects in Kubernetes' protobuf, which clients with types of their own send.

The engine's tables say what a field holds, ``field_numbers.txt`` its number. Source: upstream
``apimachinery/pkg/runtime/serializer/protobuf`` and ``api/*/generated.proto``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from scheduler_engine.api.fields import TYPES, Field

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"
VARINT, EIGHT_BYTES, LENGTH, FOUR_BYTES = 0, 1, 2, 5
DEEPEST = 64
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Numbered(NamedTuple):
    """A field with its number. ``inline``: the type whose fields stand in its place, "" = none."""

    name: str
    field: Field
    inline: str = ""


OF_REQUESTS: dict[str, dict[int, Numbered]] = {
    "DeleteOptions": {
        1: Numbered("gracePeriodSeconds", Field("int64", pointer=True)),
        2: Numbered("preconditions", Field("Preconditions")),
        3: Numbered("orphanDependents", Field("bool")),
        4: Numbered("propagationPolicy", Field("string")),
        5: Numbered("dryRun", Field("string", "list")),
    },
    "Preconditions": {1: Numbered("uid", Field("string")), 2: Numbered("resourceVersion", Field("string"))},
    "Eviction": {1: Numbered("metadata", Field("ObjectMeta")), 2: Numbered("deleteOptions", Field("DeleteOptions"))},
    "SelfSubjectAccessReview": {2: Numbered("spec", Field("SelfSubjectAccessReviewSpec"))},
    "SelfSubjectAccessReviewSpec": {
        1: Numbered("resourceAttributes", Field("ResourceAttributes")),
        2: Numbered("nonResourceAttributes", Field("NonResourceAttributes")),
    },
    "ResourceAttributes": {
        number: Numbered(name, Field("string"))
        for number, name in enumerate(("namespace", "verb", "group", "version", "resource", "subresource", "name"), 1)
    },
    "NonResourceAttributes": {1: Numbered("path", Field("string")), 2: Numbered("verb", Field("string"))},
    "SelfSubjectRulesReview": {2: Numbered("spec", Field("SelfSubjectRulesReviewSpec"))},
    "SelfSubjectRulesReviewSpec": {1: Numbered("namespace", Field("string"))},
}
"""Types of requests, which are stored nowhere, so that the engine does not have them: number → field."""


class NotProtobuf(ValueError):
    """The bytes are no object in Kubernetes' protobuf."""


def decode(data: bytes) -> dict[str, Any]:
    """Return the manifest in an envelope of Kubernetes' protobuf. Raises ``NotProtobuf``.

    Custom resources have no numbers for their fields, and no protobuf.
    """
    if not data.startswith(MAGIC):
        raise NotProtobuf("the magic number is missing")
    envelope = dict(_fields(data[len(MAGIC) :]))
    named = {number: _text(value) for number, value in _fields(_bytes(envelope.get(1, b"")))}
    kind = named.get(2, "")
    if kind not in _numbers() and kind not in OF_REQUESTS:
        raise NotProtobuf(f"unknown kind {kind}")
    return {"apiVersion": named.get(1, ""), "kind": kind, **_message(_bytes(envelope.get(2, b"")), kind, kind, 0)}


@cache
def _numbers() -> dict[str, dict[str, int]]:
    """Return type → name of a field, or + and a type → number."""
    lines: list[str] = []
    for line in (Path(__file__).parent / "field_numbers.txt").read_text().splitlines():
        if line.startswith(" "):
            lines[-1] += line
        elif not line.startswith("#"):
            lines.append(line)
    words = (line.split() for line in lines)
    return {name: {word.partition("=")[0]: int(word.partition("=")[2]) for word in rest} for name, *rest in words}


@cache
def _numbered(message: str, type_name: str) -> dict[int, Numbered]:
    """Return the fields of a message by number. ``type_name``: the type of the object that they stand in."""
    if message in OF_REQUESTS:
        return OF_REQUESTS[message]
    known, found = TYPES.get(type_name, {}), dict[int, Numbered]()
    for name, number in _numbers().get(message, {}).items():
        if name.startswith("+"):
            found[number] = Numbered("", Field(type_name), name[1:])
        elif name in known:
            found[number] = Numbered(name, known[name])
    return found


def _message(data: bytes, message: str, type_name: str, depth: int) -> dict[str, Any]:
    if depth > DEEPEST:
        raise NotProtobuf("nested too deeply")
    fields, result = _numbered(message, type_name), dict[str, Any]()
    for number, value in _fields(data):
        if (one := fields.get(number)) is None:
            continue
        if one.inline:
            result |= _message(_bytes(value), one.inline, type_name, depth + 1)
        elif one.field.holds == "map":
            entry = dict(_fields(_bytes(value)))
            held = _value(entry.get(2, b""), one.field.type, depth)
            result.setdefault(one.name, {})[_text(entry.get(1, b""))] = held
        elif one.field.holds == "list":
            result.setdefault(one.name, []).append(_value(value, one.field.type, depth))
        else:
            held = _value(value, one.field.type, depth)
            # Go writes fields that are no pointers even if they are empty.
            if held or one.field.pointer or isinstance(held, bool | int):
                result[one.name] = held
    return result


def _value(value: bytes | int, of: str, depth: int) -> Any:
    if of in TYPES or of in OF_REQUESTS:
        return _message(_bytes(value), of, of, depth + 1)
    return SCALARS.get(of, _text)(value)


# --- scalars ---


def _text(value: bytes | int) -> str:
    try:
        return _bytes(value).decode()
    except UnicodeDecodeError as problem:
        raise NotProtobuf(str(problem)) from problem


def _bytes(value: bytes | int) -> bytes:
    if isinstance(value, int):
        raise NotProtobuf("a number stands where bytes belong")
    return value


def _number(value: bytes | int) -> int:
    if not isinstance(value, int):
        raise NotProtobuf("bytes stand where a number belongs")
    return value - (1 << 64) if value >= 1 << 63 else value


def _quantity(value: bytes | int) -> str:
    return _text(dict(_fields(_bytes(value))).get(1, b""))


def _int_or_string(value: bytes | int) -> int | str:
    parts = dict(_fields(_bytes(value)))
    return _text(parts.get(3, b"")) if parts.get(1) else _number(parts.get(2, 0))


def _time(value: bytes | int) -> str:
    parts = dict(_fields(_bytes(value)))
    if 1 not in parts:
        return ""
    try:
        return f"{EPOCH + timedelta(seconds=_number(parts[1])):%Y-%m-%dT%H:%M:%SZ}"
    except OverflowError as problem:
        raise NotProtobuf(str(problem)) from problem


def _any(value: bytes | int) -> Any:
    """Return a ``RawExtension``, which holds JSON."""
    try:
        return json.loads(_bytes(dict(_fields(_bytes(value))).get(1, b"null")))
    except (ValueError, RecursionError) as problem:
        raise NotProtobuf(str(problem)) from problem


SCALARS: dict[str, Callable[[bytes | int], Any]] = {
    "any": _any,
    "bool": lambda value: bool(_number(value)),
    "int32": _number,
    "int64": _number,
    "intstr": _int_or_string,
    "microtime": _time,
    "quantity": _quantity,
    "time": _time,
}


# --- wire format ---


def _fields(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Yield number and value of each field: an unsigned number, or bytes. Raises ``NotProtobuf``."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, place = _varint(data, place)
            yield number, value
            continue
        size = {EIGHT_BYTES: 8, FOUR_BYTES: 4}.get(wire, 0)
        if wire == LENGTH:
            size, place = _varint(data, place)
        elif not size:
            raise NotProtobuf(f"unknown wire type {wire}")
        if place + size > len(data):
            raise NotProtobuf("a field is cut off")
        yield number, data[place : place + size]
        place += size


def _varint(data: bytes, place: int) -> tuple[int, int]:
    result = 0
    for shift in range(0, 70, 7):
        if place >= len(data):
            raise NotProtobuf("a number is cut off")
        byte = data[place]
        place += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result & 0xFFFF_FFFF_FFFF_FFFF, place
    raise NotProtobuf("a number is too long")
