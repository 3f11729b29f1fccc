"""Changes of a cluster as data: what to edit, and the commands that do it.

Source: design of the sandbox.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_engine import commands
from scheduler_engine.answers.shown import of_author, spec_of_author
from scheduler_engine.api.objects import KubeObject, Pod
from scheduler_engine.api.taints import UNSCHEDULABLE
from scheduler_engine.framework.facts import Value
from scheduler_engine.simulation import Simulation

ASSIGNED = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")
"""The metadata that the API server assigns to a new object."""
PATCHED = ("tolerations", "schedulingGates")
"""The fields of a pod's spec that a patch may change in these ways. For any other, the pod is replaced."""
REPLACED = ("Pod", "PersistentVolumeClaim")
"""Kinds of which most fields may not change."""
RANKS = (
    *(
        "ungate",
        "scheduler",
        "uncordon",
        "tolerate",
        "untaint",
        "request",
        "selector-value",
        "skew",
        "soften",
        "unspread",
        "port",
    ),
    *(
        "unselect",
        "node-affinity",
        "no-node-affinity",
        "affinity",
        "no-affinity",
        "anti-affinity",
        "claim",
        "claim-class",
        "class",
        "volume",
        "label",
        "neighbour",
        "enlarge",
    ),
    *("delete", "scale", "resource-claims", "priority", "node"),
)
"""Kind of change, the one that changes least first."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of the object ``key`` of ``kind``, at ``path`` of its manifest.

    ``action``: set (``value``; None deletes the field), append or drop (``value``, of a list), create (``value`` is the
    manifest) or delete (the object).
    """

    kind: str
    key: str
    action: str
    path: tuple[str, ...] = ()
    value: Any = None


@dataclass(frozen=True, slots=True)
class Change:
    """One thing to do. ``kind``: of ``RANKS``; ``values``: the places of its sentence, by name, for ``wording``.

    ``amount`` ranks changes of one kind, the smallest first; its unit depends on the kind.
    """

    kind: str
    edits: tuple[Edit, ...]
    values: tuple[tuple[str, Value], ...] = ()
    amount: int = 0

    @property
    def identity(self) -> tuple[str, str]:
        """Return the same for the same change."""
        return self.kind, repr(self.edits)

    @property
    def size(self) -> tuple[int, int]:
        return RANKS.index(self.kind), self.amount


def change(kind: str, edits: Iterable[Edit], amount: int = 0, /, **values: Value) -> Change:
    return Change(kind, tuple(edits), tuple(values.items()), amount)


def edited(manifest: Mapping[str, Any], edits: Iterable[Edit]) -> dict[str, Any]:
    """Return a copy of the manifest after the edits; the edits of other objects must not be among them."""
    changed = copy.deepcopy(dict(manifest))
    for edit in edits:
        _edit(changed, edit)
    return changed


def _edit(manifest: dict[str, Any], edit: Edit) -> None:
    *outer, last = edit.path
    held: Any = manifest
    for name in outer:
        held = held[int(name)] if isinstance(held, list) else held.setdefault(name, {})
    if edit.action == "append":
        held[last] = [*(held.get(last) or ()), edit.value]
    elif edit.action == "drop":
        items = list(held.get(last) or ())
        items.remove(edit.value)
        held[last] = items
        if not items:
            del held[last]
    elif edit.value is None:
        held.pop(last, None)
    else:
        held[last] = edit.value


def fresh(pod: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest of a pod as somebody would apply it: without what the cluster added later."""
    manifest = {name: value for name, value in pod.items() if name != "status"}
    metadata = pod.get("metadata") or {}
    manifest["metadata"] = {name: value for name, value in metadata.items() if name not in ASSIGNED}
    return manifest


def commands_for(simulation: Simulation, edits: Sequence[Edit]) -> Iterator[commands.Command]:
    """Yield the commands that make the edits, object by object, in the order of first mention."""
    objects = dict.fromkeys((edit.kind, edit.key) for edit in edits)
    for kind, key in objects:
        mine = [edit for edit in edits if (edit.kind, edit.key) == (kind, key)]
        if mine[0].action == "create":
            yield commands.Apply((mine[0].value,))
        elif mine[0].action == "delete":
            yield commands.Delete(kind, key)
        else:
            live = simulation.api.get(kind, key)
            assert live is not None
            if kind in REPLACED and not all(edit.path[1] in PATCHED for edit in mine):
                yield _replacement(simulation, live, mine)
            else:
                yield from (_node if kind == "Node" else _patch)(live, mine)


def _replacement(simulation: Simulation, live: KubeObject, edits: Sequence[Edit]) -> commands.Command:
    """Return the command that replaces the object. Its manifest counts as applied, so it has no defaults in it."""
    after = edited(fresh(live.manifest), edits)
    written, filled = spec_of_author(simulation, live)
    return commands.Replace(live.kind, live.key, {**after, "spec": of_author(after["spec"], filled, written)})


def _node(live: KubeObject, edits: Sequence[Edit]) -> Iterator[commands.Command]:
    taints = [edit for edit in edits if edit.path == ("spec", "taints")]
    cordons = [edit for edit in edits if edit.path == ("spec", "unschedulable")]
    if cordons:
        yield commands.Cordon(live.name, on=False)
    for edit in taints:
        # The taint of a cordon goes with it.
        if edit.value["key"] != UNSCHEDULABLE or not cordons:
            yield commands.Taint(live.name, edit.value["key"], edit.value["effect"], on=False)
    rest = [edit for edit in edits if edit not in taints and edit not in cordons]
    if rest:
        yield from _patch(live, rest)


def _patch(live: KubeObject, edits: Sequence[Edit]) -> Iterator[commands.Command]:
    """Yield one merge patch with the new values of all fields that the edits touch."""
    after = edited(live.manifest, edits)
    changes: dict[str, Any] = {}
    for edit in edits:
        value: Any = after
        for name in edit.path:
            value = value.get(name) if isinstance(value, Mapping) else None
        for name in reversed(edit.path):
            value = {name: value}
        # Not ``merge``: a None must stay, because it deletes the field.
        _lay(changes, value)
    yield commands.Patch(live.kind, live.key, changes)


def _lay(changes: dict[str, Any], more: Mapping[str, Any]) -> None:
    for name, value in more.items():
        if isinstance(value, Mapping) and isinstance(changes.get(name), dict):
            _lay(changes[name], value)
        else:
            changes[name] = value


def make(copied: Simulation, edits: Sequence[Edit]) -> None:
    """Make the edits in a scratch copy by commands. Pods that end by them are gone at once, as after a grace period.

    Raises Rejected.
    """
    already = {pod.uid for pod in copied.api.pods() if pod.terminating}
    for command in commands_for(copied, edits):
        copied.execute(command)
    ending = [pod.key for pod in copied.api.pods() if pod.terminating and pod.uid not in already]
    for key in ending:
        copied.api.remove("Pod", key)
    if ending:
        copied.deliver()


def pod_after(pod: Pod, edits: Sequence[Edit]) -> Pod:
    """Return the pod with its own edits made."""
    mine = [edit for edit in edits if (edit.kind, edit.key) == ("Pod", pod.key)]
    return Pod(edited(pod.manifest, mine))
