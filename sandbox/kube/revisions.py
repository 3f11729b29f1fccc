"""ControllerRevisions of StatefulSets and DaemonSets, read from the history of their templates.

The controllers of a sandbox know a revision by the hash of its template and store no objects for it. The trace has
every template that an owner had. So these follow from it, as the real controllers would have created them. Source:
upstream ``pkg/controller/history``, ``statefulset/stateful_set_utils.go`` and ``daemon/update.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.panels.model.world import World
from scheduler_engine.api.objects import timestamp
from scheduler_engine.controllers.naming import template_hash
from scheduler_engine.trace.events import ObjectAdded, ObjectModified

KIND = "ControllerRevision"
HASH_LABEL = {"StatefulSet": "controller.kubernetes.io/hash", "DaemonSet": "controller-revision-hash"}
"""Kind of the owner → the label that has the hash."""
HISTORY_LIMIT = 10
"""Old revisions that an owner keeps by default."""


@dataclass(frozen=True, slots=True)
class _Revision:
    """``owner``: as it was when the template became its newest one. ``made``: entry of its first use."""

    owner: Mapping[str, Any]
    number: int
    made: int
    made_us: int


def controller_revisions(world: World) -> dict[str, dict[str, Any]]:
    """Return the ControllerRevisions of all owners that exist, by key."""
    histories: dict[tuple[str, str], dict[str, _Revision]] = {}
    for entry in world.entries:
        event = entry.event
        if not isinstance(event, ObjectAdded | ObjectModified) or event.kind not in HASH_LABEL:
            continue
        history = histories.setdefault((event.kind, event.key), {})
        if isinstance(event, ObjectAdded):
            history.clear()
        _note(history, event.manifest, entry.n, entry.at_us)
    rows = (
        _manifest(kind, value, revision)
        for (kind, key), history in histories.items()
        if (owner := world.objects.get(kind, {}).get(key)) is not None
        for value, revision in _kept(history, owner).items()
    )
    return {f"{row['metadata']['namespace']}/{row['metadata']['name']}": row for row in rows}


def _note(history: dict[str, _Revision], owner: Mapping[str, Any], entry: int, at_us: int) -> None:
    """Note the template of an owner. One that is used again becomes the newest revision."""
    value = template_hash(owner["spec"]["template"])
    newest = max((one.number for one in history.values()), default=0)
    held = history.get(value)
    if held is None or held.number < newest:
        made, made_us = (entry, at_us) if held is None else (held.made, held.made_us)
        history[value] = _Revision(owner, newest + 1, made, made_us)


def _kept(history: dict[str, _Revision], owner: Mapping[str, Any]) -> dict[str, _Revision]:
    """Return the revisions within the owner's history limit, the oldest first. The newest one is in use."""
    in_order = sorted(history.items(), key=lambda item: item[1].number)
    limit = owner["spec"].get("revisionHistoryLimit", HISTORY_LIMIT)
    return dict(in_order[max(0, len(in_order) - limit - 1) :])


def _manifest(kind: str, value: str, revision: _Revision) -> dict[str, Any]:
    metadata, template = revision.owner["metadata"], revision.owner["spec"]["template"]
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": metadata["name"], "uid": metadata["uid"]}
    annotations = metadata.get("annotations")
    return {
        "kind": KIND,
        "apiVersion": "apps/v1",
        "metadata": {
            "name": f"{metadata['name']}-{value}",
            "namespace": metadata["namespace"],
            "uid": f"00000000-0000-4000-a000-{revision.made:012x}",
            "resourceVersion": metadata["resourceVersion"],
            "creationTimestamp": timestamp(revision.made_us),
            "labels": {**((template.get("metadata") or {}).get("labels") or {}), HASH_LABEL[kind]: value},
            **({"annotations": annotations} if annotations else {}),
            "ownerReferences": [{**reference, "controller": True, "blockOwnerDeletion": True}],
        },
        "data": {"spec": {"template": {**template, "$patch": "replace"}}},
        "revision": revision.number,
    }
