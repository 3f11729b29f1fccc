"""A fix as commands of kubectl and manifests to copy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_engine import commands
from scheduler_engine.answers.changes import Edit, commands_for, edited
from scheduler_engine.answers.fixes import Fix
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.simulation import Simulation


@dataclass(frozen=True, slots=True)
class Patch:
    """One step. ``how``: its row of ``fix-steps``; ``places``: what that row names.

    ``manifest``: what to apply, or, of a pod that must be replaced, the fields that differ; None: nothing.
    """

    how: str
    places: Mapping[str, str]
    manifest: Mapping[str, Any] | None = None


def patches(simulation: Simulation, fix: Fix) -> Iterator[Patch]:
    """Yield the steps of a fix, in the order of its commands."""
    for command in commands_for(simulation, fix.edits):
        yield _STEPS[type(command)](simulation, fix.edits, command)


def _patch(simulation: Simulation, edits: Sequence[Edit], command: commands.Patch) -> Patch:
    places = {**_named(command.object_kind, command.key), "patch": json.dumps(command.changes, separators=(",", ":"))}
    live = simulation.api.get(command.object_kind, command.key)
    owner = live.controller_ref if live is not None and command.object_kind == "Pod" else None
    if owner is not None:
        return _of_owner(simulation, edited(live.manifest, edits) if live is not None else {}, edits, owner, places)
    mine = [edit for edit in edits if (edit.kind, edit.key) == (command.object_kind, command.key)]
    if live is not None and live.manifest.get("spec", {}).get("tolerations") and _appends(mine):
        # A merge patch would repeat all other tolerations.
        added = [{"op": "add", "path": "/spec/tolerations/-", "value": edit.value} for edit in mine]
        return Patch("json-patch", {**places, "patch": json.dumps(added, separators=(",", ":"))})
    return Patch("patch-status" if "status" in command.changes else "patch", places)


def _appends(edits: Sequence[Edit]) -> bool:
    return all((edit.action, edit.path) == ("append", ("spec", "tolerations")) for edit in edits)


def _cordon(simulation: Simulation, edits: Sequence[Edit], command: commands.Cordon) -> Patch:
    return Patch("uncordon", {"name": command.node})


def _taint(simulation: Simulation, edits: Sequence[Edit], command: commands.Taint) -> Patch:
    return Patch("untaint", {"name": command.node, "taint": f"{command.key}:{command.effect}-"})


def _delete(simulation: Simulation, edits: Sequence[Edit], command: commands.Delete) -> Patch:
    return Patch("delete", _named(command.object_kind, command.key))


def _apply(simulation: Simulation, edits: Sequence[Edit], command: commands.Apply) -> Patch:
    manifest = command.manifests[0]
    return Patch("create", {"kind": manifest["kind"]}, manifest)


def _replace(simulation: Simulation, edits: Sequence[Edit], command: commands.Replace) -> Patch:
    places, live = _named(command.object_kind, command.key), simulation.api.get(command.object_kind, command.key)
    mine = [edit for edit in edits if (edit.kind, edit.key) == (command.object_kind, command.key)]
    owner = live.controller_ref if isinstance(live, KubeObject) else None
    if owner is not None:
        return _of_owner(simulation, command.manifest, mine, owner, places)
    return Patch("replace", places, _fields(command.manifest, mine))


def _of_owner(
    simulation: Simulation,
    manifest: Mapping[str, Any],
    edits: Sequence[Edit],
    owner: Mapping[str, Any],
    places: Mapping[str, str],
) -> Patch:
    """Return the same change of the template from which the owner, or its own owner, makes its pods."""
    namespace = manifest.get("metadata", {}).get("namespace", "default")
    above = simulation.api.get(str(owner.get("kind")), f"{namespace}/{owner.get('name')}")
    owner = (above.controller_ref if above is not None else None) or owner
    own = {**places, "owner": f"{owner.get('kind')} {owner.get('name')}"}
    return Patch("template", own, _fields(manifest, [edit for edit in edits if edit.kind == "Pod"]))


def _fields(manifest: Mapping[str, Any], edits: Sequence[Edit]) -> dict[str, Any]:
    """Return the fields of the spec that the edits touch, as they are afterwards; of containers, only what changes."""
    shown: dict[str, Any] = {}
    for edit in edits:
        field, spec = edit.path[1], manifest["spec"]
        if field not in ("containers", "initContainers"):
            shown[field] = spec.get(field)
            continue
        container = spec[field][int(edit.path[2])]
        listed: list[dict[str, Any]] = shown.setdefault(field, [])
        entry = next((item for item in listed if item["name"] == container["name"]), None)
        if entry is None:
            entry = {"name": container["name"]}
            listed.append(entry)
        entry[edit.path[3]] = container.get(edit.path[3])
    return {"spec": shown}


def _named(kind: str, key: str) -> dict[str, str]:
    namespace, _, name = key.rpartition("/")
    return {"kind": kind.lower(), "name": name, "namespace": f" -n {namespace}" if namespace else ""}


_STEPS: Mapping[type[commands.Command], Any] = {
    commands.Patch: _patch,
    commands.Cordon: _cordon,
    commands.Taint: _taint,
    commands.Delete: _delete,
    commands.Apply: _apply,
    commands.Replace: _replace,
}
