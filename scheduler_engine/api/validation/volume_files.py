"""Rules for the files in Secret, ConfigMap, downward API and projected volumes.

Source: upstream ``apis/core/validation``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_engine.api.validation.certificates import CERTIFICATES
from scheduler_engine.api.validation.environment import (
    VOLUME_FIELDS,
    container_resource_reference,
    field_reference,
)
from scheduler_engine.api.validation.paths import inner_path
from scheduler_engine.api.validation.problems import Errors, forbidden, invalid, required

Data = Mapping[str, Any]

_FILE_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
_SHORTEST_TOKEN_SECONDS = 600
_LONGEST_TOKEN_SECONDS = 2**32


def _mode(owner: Data, field: str, path: str) -> Errors:
    mode = owner.get(field)
    if mode is not None and not 0 <= mode <= 0o777:
        yield invalid(f"{path}.{field}", mode, _FILE_MODE)


def items(source: Data, path: str) -> Errors:
    """Check the files of a Secret or ConfigMap volume."""
    yield from _mode(source, "defaultMode", path)
    for index, item in enumerate(source.get("items") or ()):
        yield from _item(item, f"{path}.items[{index}]")


def _item(item: Data, path: str) -> Errors:
    for field in ("key", "path"):
        if not item.get(field):
            yield required(f"{path}.{field}")
    yield from inner_path(item["path"], f"{path}.path")
    yield from _mode(item, "mode", path)


def downward_api(source: Data, path: str) -> Errors:
    """Check the files; their errors do not name the file, as in Kubernetes."""
    yield from _mode(source, "defaultMode", path)
    for item in source.get("items") or ():
        yield from _downward_file(item, path)


def _downward_file(item: Data, path: str) -> Errors:
    if not item["path"]:
        yield required(f"{path}.path")
    yield from inner_path(item["path"], f"{path}.path")
    if item.get("fieldRef") is not None:
        yield from field_reference(VOLUME_FIELDS)(item["fieldRef"], f"{path}.fieldRef")
        if item.get("resourceFieldRef") is not None:
            yield invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif item.get("resourceFieldRef") is not None:
        yield from container_resource_reference(item["resourceFieldRef"], f"{path}.resourceFieldRef")
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    yield from _mode(item, "mode", path)


def projected(source: Data, path: str) -> Errors:
    """Check several sources in one directory: no two files may have the same path."""
    yield from _mode(source, "defaultMode", path)
    taken: set[str] = set()
    for index, part in enumerate(source.get("sources") or ()):
        place = f"{path}.sources[{index}]"
        kinds = [kind for kind in _PROJECTIONS if part.get(kind) is not None]
        for kind in kinds:
            yield from _projection(kind, part[kind], place, path, taken)
        if len(kinds) > 1:
            yield forbidden(place, "may not specify more than 1 volume type per source")


_PROJECTIONS = ("secret", "configMap", "downwardAPI", "serviceAccountToken", *CERTIFICATES)


def _projection(kind: str, source: Data, place: str, path: str, taken: set[str]) -> Errors:
    own = f"{place}.{kind}"
    if kind in CERTIFICATES:
        yield from CERTIFICATES[kind](source, own, path, taken)
        return
    if kind == "serviceAccountToken":
        yield from _token(source, own, path)
        return
    if kind != "downwardAPI" and not source.get("name"):
        yield required(f"{own}.name")
    for index, item in enumerate(source.get("items") or ()):
        yield from _downward_file(item, own) if kind == "downwardAPI" else _item(item, f"{own}.items[{index}]")
        if item["path"] and item["path"] in taken:
            shown = item["path"] if kind == "downwardAPI" else source.get("name") or ""
            yield invalid(path, shown, "conflicting duplicate paths")
        taken |= {item["path"]} if item["path"] else set()


def _token(source: Data, own: str, path: str) -> Errors:
    seconds = source.get("expirationSeconds") or 0
    if seconds < _SHORTEST_TOKEN_SECONDS:
        yield invalid(f"{own}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds > _LONGEST_TOKEN_SECONDS:
        yield invalid(f"{own}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    if not source["path"]:
        yield required(f"{path}.path")
    else:
        yield from inner_path(source["path"], f"{path}.path")
