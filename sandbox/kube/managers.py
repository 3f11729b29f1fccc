"""Server-side apply: who manages which fields, ``metadata.managedFields``.

An object has no managers until somebody applies it on the server. What it had until then belongs to ``BEFORE``.
Source: upstream ``apimachinery/pkg/util/managedfields``, ``structured-merge-diff/v6/merge/update.go``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from sandbox.kube.field_sets import Path, leaves, merged, of_fields, shown, to_fields, without
from sandbox.kube.plans import SET_BY_SERVER
from sandbox.kube.statuses import Refused, invalid
from scheduler_engine.errors import FieldError

Data = Mapping[str, Any]

APPLY, UPDATE = "Apply", "Update"
BEFORE = "before-first-apply"
KUBECTL = "kubectl"
ANCIENT = "ancient-changes"
"""Manager of what the oldest updates changed, if there are too many."""
MOST_UPDATERS = 10
"""Managers of updates that an object has. Beyond that the oldest ones of an API version count as one."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
LONGEST = 128
"""Bytes of a manager's name."""
UNMANAGED = frozenset(
    {
        *(("f:apiVersion",), ("f:kind",), ("f:metadata",)),
        *(("f:metadata", f"f:{name}") for name in ("name", "namespace", *SET_BY_SERVER)),
    }
)
"""Fields that nobody manages."""


@dataclass(frozen=True, slots=True)
class Manager:
    """``how``: ``Apply`` or ``Update``. ``at``: when its fields changed last, as the API writes a time."""

    name: str
    how: str
    api_version: str
    fields: frozenset[Path]
    at: str = ""
    subresource: str = ""

    def entry(self) -> dict[str, Any]:
        """Return the entry in ``managedFields``."""
        return {
            "manager": self.name,
            "operation": self.how,
            "apiVersion": self.api_version,
            **({"time": self.at} if self.at else {}),
            "fieldsType": "FieldsV1",
            "fieldsV1": to_fields(self.fields),
            **({"subresource": self.subresource} if self.subresource else {}),
        }


def managers_of(manifest: Data) -> list[Manager]:
    """Return the managers of a stored object, in the order of their entries."""
    return [
        Manager(
            name=entry.get("manager") or "",
            how=entry.get("operation") or "",
            api_version=entry.get("apiVersion") or "",
            fields=frozenset(of_fields(entry.get("fieldsV1"))),
            at=entry.get("time") or "",
            subresource=entry.get("subresource") or "",
        )
        for entry in manifest["metadata"].get("managedFields") or ()
    ]


def entries(managers: Sequence[Manager]) -> list[dict[str, Any]]:
    """Return ``managedFields``. Who manages nothing is not in it."""
    order = (manager for manager in managers if manager.fields)
    return [manager.entry() for manager in sorted(order, key=_place)]


def timeless(managed: Sequence[Data]) -> list[dict[str, Any]]:
    """Return ``managedFields`` without the times. If only these would change, nothing does."""
    return [{name: value for name, value in entry.items() if name != "time"} for entry in managed]


def _place(manager: Manager) -> tuple[str, ...]:
    return manager.how, manager.at, manager.name, manager.api_version, manager.subresource


def applied(
    old: Data | None, config: Data, name: str, force: bool, at: str, subresource: str = "", shown_as: str = ""
) -> tuple[dict[str, Any], list[Manager]]:
    """Return the object after ``name`` has applied ``config``, and its managers. ``at``: now.

    What a manager applies to a subresource is apart from what it applies to the object. ``shown_as``: the API version
    that conflicts name, if it is not that of the object. Raises ``Refused`` (409) if another manager has other values,
    unless ``force``.
    """
    kind, version = config["kind"], config["apiVersion"]
    wanted = frozenset(leaves(config, kind)) - UNMANAGED
    mine = Manager(name, APPLY, version, wanted, at, subresource)
    if old is None:
        return dict(config), [mine]
    before = managers_of(old) or [_everybody(old, at)]
    me = next((one for one in before if _is(one, mine)), None)
    others = [one for one in before if one is not me]
    kept = wanted.union(*(one.fields for one in others))
    new = without(merged(old, config, kind), to_fields(_left_out(me, kept)), kind) or {}
    changed = _changed(leaves(old, kind), leaves(new, kind))
    conflicts = {one: one.fields & changed for one in others if one.fields & changed}
    allowed = _applied_by_kubectl(old, version) if name == KUBECTL else frozenset()
    if not force and any(fields - allowed for fields in conflicts.values()):
        shown_managers = {replace(one, api_version=shown_as or one.api_version): one for one in conflicts}
        raise _conflict({shown: conflicts[one] - allowed for shown, one in shown_managers.items()})
    gone = _gone(leaves(old, kind), leaves(new, kind))
    others = [replace(one, fields=one.fields - conflicts.get(one, frozenset()) - gone) for one in others]
    is_same = me is not None and me.fields == wanted and not changed
    return new, [*others, replace(mine, at=me.at) if me is not None and is_same else mine]


def _left_out(me: Manager | None, kept: frozenset[Path]) -> frozenset[Path]:
    """Return the fields that a manager no longer applies, and that nobody keeps, nor anything in them."""
    held = _with_parents(kept)
    return frozenset() if me is None else frozenset(path for path in me.fields if path not in held)


def _with_parents(paths: Iterable[Path]) -> frozenset[Path]:
    """Return paths and all that they lead through."""
    return frozenset(path[:length] for path in paths for length in range(1, len(path) + 1))


def updated(old: Data, new: Data, name: str, at: str, subresource: str = "") -> list[Manager]:
    """Return the managers after ``name`` has made ``new`` of ``old`` without applying. None manage nothing yet."""
    before, kind = managers_of(old), old["kind"]
    held, now = leaves(old, kind), leaves(new, kind)
    changed, gone = _changed(held, now), _gone(held, now)
    if not before or not (changed or gone):
        return before
    mine = Manager(name, UPDATE, old["apiVersion"], changed, at, subresource)
    me = next((one for one in before if _is(one, mine)), None)
    if me is not None:
        mine = replace(mine, fields=(me.fields | changed) - gone, at=at if changed else me.at)
    others = [replace(one, fields=one.fields - changed - gone) for one in before if one is not me]
    return _capped([one for one in [*others, mine] if one.fields])


def _capped(managers: list[Manager]) -> list[Manager]:
    """Merge the oldest updates of each API version if there are too many.

    Source: upstream ``apimachinery/pkg/util/managedfields/internal/capmanagers.go``.
    """
    updaters = sorted((one for one in managers if one.how == UPDATE), key=_place)
    excess, firsts, ancient = len(updaters) - MOST_UPDATERS, dict[str, Manager](), dict[str, Manager]()
    merged_ones: list[Manager] = []
    for one in updaters:
        if excess <= 0:
            break
        first = firsts.setdefault(one.api_version, one)
        if first is one:
            continue
        if one.api_version not in ancient:
            merged_ones.append(first)
        held = ancient.get(one.api_version, first)
        ancient[one.api_version] = replace(one, name=ANCIENT, subresource="", fields=held.fields | one.fields)
        merged_ones.append(one)
        excess -= 1
    return [*(one for one in managers if one not in merged_ones), *ancient.values()]


def check_name(name: str, options: str, needed: bool) -> None:
    """Raise ``Refused`` if a manager must not be named so. ``options``: the kind of the options that name it."""
    errors = []
    if needed and not name:
        errors.append(FieldError("fieldManager", "FieldValueRequired", "Required value: is required for apply patch"))
    if len(name.encode()) > LONGEST:
        text = f"Too long: may not be more than {LONGEST} bytes"
        errors.append(FieldError("fieldManager", "FieldValueTooLong", text))
    for place, letter in enumerate(name):
        if not letter.isprintable():
            text = f"Invalid value: {json.dumps(name)}: invalid character U+{ord(letter):04X} (at position {place})"
            errors.append(FieldError("fieldManager", "FieldValueInvalid", text))
    if errors:
        raise invalid(options, "meta.k8s.io", "", errors)


def _is(one: Manager, other: Manager) -> bool:
    return (one.name, one.how, one.api_version, one.subresource) == (
        *(other.name, other.how, other.api_version, other.subresource),
    )


def _everybody(old: Data, at: str) -> Manager:
    """Return the manager of an object that nobody has applied on the server yet."""
    fields = leaves({name: value for name, value in old.items() if name != "status"}, old["kind"])
    return Manager(BEFORE, UPDATE, old["apiVersion"], frozenset(fields) - UNMANAGED, at)


def _applied_by_kubectl(old: Data, api_version: str) -> frozenset[Path]:
    """Return the fields that still are as kubectl has applied them itself: it may go on with them on the server."""
    try:
        last = json.loads((old["metadata"].get("annotations") or {}).get(LAST_APPLIED, ""))
    except ValueError:
        return frozenset()
    if not isinstance(last, Mapping) or last.get("apiVersion") != api_version:
        return frozenset()
    now = leaves(old, old["kind"])
    return frozenset(path for path, value in leaves(last, old["kind"]).items() if path in now and now[path] == value)


def _changed(old: Mapping[Path, Any], new: Mapping[Path, Any]) -> frozenset[Path]:
    """Return the fields that are new or have another value."""
    return frozenset(path for path, value in new.items() if path not in old or old[path] != value) - UNMANAGED


def _gone(old: Iterable[Path], new: Iterable[Path]) -> frozenset[Path]:
    """Return the fields that were there. Who has applied null or an empty mapping manages it, also if it has parts."""
    return frozenset(old) - _with_parents(new)


def _conflict(conflicts: Mapping[Manager, frozenset[Path]]) -> Refused:
    """Return the error, in the words of the API server."""
    rows = sorted((_described(one), shown(path)) for one, fields in conflicts.items() for path in fields)
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {who}", "field": path} for who, path in rows
    ]
    if len(rows) == 1:
        text = f"Apply failed with 1 conflict: conflict with {rows[0][0]}: {rows[0][1]}"
    else:
        groups = groupby(rows, key=lambda row: row[0])
        lines = [line for who, of in groups for line in (f"conflicts with {who}:", *(f"- {path}" for _, path in of))]
        text = f"Apply failed with {len(rows)} conflicts: {chr(10).join(lines)}"
    return Refused(409, text, {"causes": causes}, "Conflict")


def _described(manager: Manager) -> str:
    """Return a manager as conflicts name it."""
    part = f' with subresource "{manager.subresource}"' if manager.subresource else ""
    at = f" at {manager.at}" if manager.at else ""
    return f'"{manager.name}"{part}' + (f" using {manager.api_version}{at}" if manager.how == UPDATE else "")
