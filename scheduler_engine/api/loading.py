"""Read manifests from text: YAML or JSON, several documents, split lists, hostile input refused.

Source: upstream ``apimachinery/pkg/util/yaml`` and ``cli-runtime`` (what kubectl accepts with ``-f``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from scheduler_engine.api.fields import as_written
from scheduler_engine.api.parse_events import NotJson, NotReadable, json_events, yaml_events
from scheduler_engine.api.parsing import Document, Limits, Place, build_documents
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.words import say

DEFAULT_LIMITS = Limits()

WRITTEN = (
    (re.compile(r"^metadata\.taints"), "spec.taints"),
    (re.compile(r"^spec\.template\.(?=labels|annotations)"), "spec.template.metadata."),
    (re.compile(r"^(?=volumeMode$|nodeAffinity$)"), "spec."),
    (re.compile(r"^scheduling\.tolerations\.(?=tolerations)"), "scheduling."),
    (re.compile(r"^spec\.attachedRequired$"), "spec.attachRequired"),
    (re.compile(r"^spec\.Host(?=PID$|IPC$)"), "spec.host"),
    (re.compile(r"^(spec(\.volumes\[\d+\])?)\.storageOS$"), r"\1.storageos"),
)
"""The manifest's path for fields that Kubernetes' errors name differently."""

_INVALID_VALUE = re.compile(r'Invalid value: ("(?:[^"\\]|\\.)*"): ')


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object of a text. ``document`` counts objects from 0, ``line`` from 1; ``positions`` finds field paths."""

    document: int
    line: int
    data: dict[str, Any]
    positions: Place

    def place(self, path: str) -> tuple[int, int]:
        """Return line and column of a field path, or of its nearest existing ancestor."""
        place = self.positions.find(written_path(path))
        return place.line, place.column

    def place_of(self, error: FieldError, first_keys: dict[int, dict[str, str]] | None = None) -> Place:
        """Like ``place``; for labels and other pairs Kubernetes names only the mapping and the wrong key or value.

        ``first_keys`` caches, for many errors of one manifest, the first key for each text of a mapping.
        """
        place, keys = self.positions.trail(written_path(error.path))
        match = _INVALID_VALUE.match(error.message)
        if match is None or not place.children:
            return place
        value: Any = self.data
        for key in keys:
            value = value[key]
        if isinstance(value, dict):
            first_keys = {} if first_keys is None else first_keys
            if id(value) not in first_keys:
                first_keys[id(value)] = _first_keys(value, place)
            wrong = first_keys[id(value)].get(match[1])
            place = place if wrong is None else place.children[wrong]
        return place


def load_manifests(text: str | bytes, limits: Limits = DEFAULT_LIMITS) -> list[Manifest]:
    """Return every object of ``text``, with the items of ``List`` kinds as separate objects. Skip empty documents.

    Raises Rejected with line and column: not YAML or JSON, duplicate keys, not an object, beyond a limit.
    """
    manifests, errors = read_manifests(text, limits)
    if errors:
        raise Rejected(errors)
    return manifests


def read_manifests(text: str | bytes, limits: Limits = DEFAULT_LIMITS) -> tuple[list[Manifest], list[FieldError]]:
    """Like ``load_manifests``, but return errors for duplicate keys and non-objects beside the valid objects.

    Raises Rejected for text that is not YAML or JSON, or beyond a limit.
    """
    manifests: list[Manifest] = []
    errors: list[FieldError] = []
    for document in read_documents(text, limits):
        errors += document.duplicates
        if document.data is None:
            continue
        if not isinstance(document.data, dict):
            message = say("manifest-errors.not-a-manifest")
            place = document.place
            errors.append(FieldError("", "FieldValueTypeInvalid", message, len(manifests), place.line, place.column))
            continue
        for data, place in _taken_apart(document.data, document.place, errors):
            manifests.append(Manifest(len(manifests), place.line, data, place))
    if len(manifests) > limits.documents:
        raise Rejected(say("manifest-errors.too-many-objects", objects=len(manifests), most=limits.documents))
    return manifests, errors


def read_documents(text: str | bytes, limits: Limits = DEFAULT_LIMITS) -> list[Document]:
    """Return the documents of ``text`` as plain data; duplicate keys are only noted. Raises Rejected otherwise."""
    decoded = _decoded(text, limits)
    if decoded.lstrip()[:1] in ("{", "["):
        try:
            return list(build_documents(json_events(decoded), limits))
        except NotJson as json_error:
            try:
                return list(build_documents(yaml_events(decoded), limits))
            except NotReadable:
                raise _rejected(json_error) from json_error
        except NotReadable as error:
            raise _rejected(error) from error
    try:
        return list(build_documents(yaml_events(decoded), limits))
    except NotReadable as error:
        raise _rejected(error) from error


def located(errors: Iterable[FieldError], manifests: list[Manifest]) -> list[FieldError]:
    """Return the errors with line and column of each one's field in its original text.

    Advice to put a value in quotes shows it as it is written there.
    """
    located_errors: list[FieldError] = []
    first_keys: dict[int, dict[str, str]] = {}
    for error in errors:
        if error.line == 0 and error.document < len(manifests):
            place = manifests[error.document].place_of(error, first_keys)
            error = replace(as_written(error, place.written), line=place.line, column=place.column)
        located_errors.append(error)
    return located_errors


def _first_keys(value: dict[str, Any], place: Place) -> dict[str, str]:
    """Return every key and text of a mapping, in quotes → the first key that is it or has it."""
    keys: dict[str, str] = {}
    for key, item in value.items():
        for text in (key, item) if key in place.children else ():
            if isinstance(text, str):
                keys.setdefault(json.dumps(text, ensure_ascii=False), key)
    return keys


def written_path(path: str) -> str:
    """Convert a path of an error to a path of the manifest."""
    for pattern, instead in WRITTEN:
        path = pattern.sub(instead, path)
    return path


def _decoded(text: str | bytes, limits: Limits) -> str:
    if len(text) > limits.size:
        raise _too_large(limits)
    try:
        raw = text.encode() if isinstance(text, str) else text
        decoded = raw.decode("utf-8-sig")
    except UnicodeError as error:
        raise Rejected(say("manifest-errors.not-utf-8")) from error
    if len(raw) > limits.size:
        raise _too_large(limits)
    return decoded


def _too_large(limits: Limits) -> Rejected:
    return Rejected(say("manifest-errors.too-large", most=limits.size // 1024))


def _rejected(error: NotReadable) -> Rejected:
    return Rejected([FieldError("", "FieldValueInvalid", error.message, 0, error.line, error.column)])


def _taken_apart(data: dict[str, Any], place: Place, errors: list[FieldError]) -> list[tuple[dict[str, Any], Place]]:
    """Return the object itself, or the items of a ``List``; those of a ``PodList`` … inherit kind and apiVersion."""
    kind, items = data.get("kind"), data.get("items")
    if not isinstance(kind, str) or not kind.endswith("List") or "spec" in data:
        return [(data, place)]
    places = place.find("items")
    parts: list[tuple[dict[str, Any], Place]] = []
    if items is not None and not isinstance(items, list):
        message = say("manifest-errors.items-not-a-list")
        errors.append(FieldError("items", "FieldValueTypeInvalid", message, 0, places.line, places.column))
        return []
    for index, item in enumerate(items or ()):
        item_place = places.children.get(index, places)
        if not isinstance(item, dict):
            message = say("manifest-errors.item-not-an-object")
            path = f"items[{index}]"
            errors.append(FieldError(path, "FieldValueTypeInvalid", message, 0, item_place.line, item_place.column))
            continue
        if kind != "List":
            item = {"apiVersion": data.get("apiVersion"), "kind": kind.removesuffix("List"), **item}
        parts += _taken_apart(item, item_place, errors)
    return parts
