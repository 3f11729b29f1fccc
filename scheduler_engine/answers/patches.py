"""A fix as commands of kubectl and manifests to copy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_engine import commands
from scheduler_engine.answers.changes import Edit, commands_for, edited
from scheduler_engine.answers.fixes import Fix
from scheduler_engine.answers.removals import top_owner
from scheduler_engine.answers.shown import Spec, of_author, spec_of_author
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.simulation import Simulation


@dataclass(frozen=True, slots=True)
class Patch:
    """One step. ``how``: its row of ``fix-steps``; ``places``: what that row names.

    ``manifest``: what to apply, or, of a pod that must be replaced, the fields that differ, as their author would write
    them; None: nothing.
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
    if live is not None and live.controller_ref is not None and command.object_kind == "Pod":
        return _of_owner(simulation, live, edited(live.manifest, edits), edits, places)
    replicas = (command.changes.get("spec") or {}).get("replicas")
    if replicas is not None:
        return Patch("scale", {**places, "replicas": str(replicas)})
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
    assert live is not None
    mine = [edit for edit in edits if (edit.kind, edit.key) == (command.object_kind, command.key)]
    if live.controller_ref is not None:
        return _of_owner(simulation, live, command.manifest, mine, places)
    return Patch("replace", places, _fields(command.manifest, *spec_of_author(simulation, live), mine))


def _of_owner(
    simulation: Simulation,
    live: KubeObject,
    manifest: Mapping[str, Any],
    edits: Sequence[Edit],
    places: Mapping[str, str],
) -> Patch:
    """Return the same change of the template from which the owner, or its own owner, makes its pods."""
    reference, owner = live.controller_ref or {}, top_owner(simulation, live)
    kind, name = (reference.get("kind"), reference.get("name")) if owner is None else (owner.kind, owner.name)
    template = {} if owner is None else owner.spec.get("template") or {}
    mine = [edit for edit in edits if edit.kind == live.kind]
    fields = _fields(manifest, template.get("spec") or live.spec, live.spec, mine)
    return Patch("template", {**places, "owner": f"{kind} {name}"}, fields)


def _fields(after: Mapping[str, Any], written: Spec, filled: Spec, edits: Sequence[Edit]) -> dict[str, Any]:
    """Return the fields of the spec that the edits touch, as they are afterwards; of containers, only what changes.

    ``written``, ``filled``: the spec as its author wrote it, and as the API server filled it in.
    """
    shown: dict[str, Any] = {}
    for edit in (edit for edit in edits if edit.path[0] == "spec"):
        field, spec = edit.path[1], after["spec"]
        if field not in ("containers", "initContainers"):
            shown[field] = of_author(spec.get(field), filled.get(field), written.get(field))
            continue
        container = spec[field][int(edit.path[2])]
        own, held = (_named_item(part.get(field), container["name"]) for part in (written, filled))
        listed: list[dict[str, Any]] = shown.setdefault(field, [])
        entry = next((item for item in listed if item["name"] == container["name"]), None)
        if entry is None:
            entry = {"name": container["name"]}
            listed.append(entry)
        part = edit.path[3]
        entry[part] = of_author(container.get(part), held.get(part), own.get(part))
    return {"spec": shown}


def _named_item(items: Sequence[Mapping[str, Any]] | None, name: str) -> Mapping[str, Any]:
    """Return the container of that name, or an empty one."""
    return next((item for item in items or () if item.get("name") == name), {})


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
