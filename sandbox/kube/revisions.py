"""ControllerRevisions of StatefulSets and DaemonSets, read from the history of their templates.

The controllers of a sandbox know a revision by the hash of its template and store no objects for it. The trace has
every template that an owner had. So these follow from it, as the real controllers would have created them. Source:
upstream ``pkg/controller/history``, ``statefulset/stateful_set_utils.go`` and ``daemon/update.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sandbox.panels.model.world import World
from scheduler_engine.api.objects import timestamp
from scheduler_engine.apiserver.pod_index import REVISION_LABEL
from scheduler_engine.controllers.naming import template_hash
from scheduler_engine.trace.events import ObjectAdded, ObjectDeleted, ObjectModified

KIND = "ControllerRevision"
HASH_LABEL = {"StatefulSet": "controller.kubernetes.io/hash", "DaemonSet": "controller-revision-hash"}
"""Kind of the owner → the label that has the hash."""
HISTORY_LIMIT = 10
"""Old revisions that an owner keeps by default."""


@dataclass(frozen=True, slots=True)
class _Revision:
    """``owner``: as it was at its first use, which is entry ``made``. ``version``: of the owner when it got its number.

    A template that is used again keeps everything but the number.
    """

    owner: Mapping[str, Any]
    number: int
    made: int
    made_us: int
    version: str


History = dict[str, _Revision]
"""Hash of a template → its revision."""
Live = dict[str, tuple[str, str]]
"""Key of a pod → uid of its controller, and its revision: the hash, with the name of a StatefulSet before it."""


def controller_revisions(world: World) -> dict[str, dict[str, Any]]:
    """Return the ControllerRevisions of all owners that exist, by key."""
    histories: dict[tuple[str, str], History] = {}
    pods: Live = {}
    for entry in world.entries:
        event = entry.event
        if isinstance(event, ObjectDeleted):
            if event.kind == "Pod":
                pods.pop(event.key, None)
        elif not isinstance(event, ObjectAdded | ObjectModified):
            continue
        elif event.kind == "Pod":
            _note_pod(pods, event.key, event.manifest["metadata"])
        elif event.kind in HASH_LABEL:
            history = histories.setdefault((event.kind, event.key), {})
            if isinstance(event, ObjectAdded):
                history.clear()
            _note(history, event.manifest, entry.n, entry.at_us)
            _truncate(history, event.manifest, pods)
    rows = (
        _manifest(kind, value, revision)
        for (kind, key), history in histories.items()
        if key in world.objects.get(kind, {})
        for value, revision in history.items()
    )
    return {f"{row['metadata']['namespace']}/{row['metadata']['name']}": row for row in rows}


def _note_pod(pods: Live, key: str, metadata: Mapping[str, Any]) -> None:
    revision = (metadata.get("labels") or {}).get(REVISION_LABEL)
    owners = [one for one in metadata.get("ownerReferences") or () if one.get("controller")]
    if revision and owners:
        pods[key] = owners[0].get("uid", ""), revision
    else:
        pods.pop(key, None)


def _note(history: History, owner: Mapping[str, Any], entry: int, at_us: int) -> None:
    """Note the template of an owner. One that is used again becomes the newest revision."""
    value, version = template_hash(owner["spec"]["template"]), owner["metadata"]["resourceVersion"]
    newest = max((one.number for one in history.values()), default=0)
    held = history.get(value)
    if held is None:
        history[value] = _Revision(owner, newest + 1, entry, at_us, version)
    elif held.number < newest:
        history[value] = replace(held, number=newest + 1, version=version)


def _truncate(history: History, owner: Mapping[str, Any], pods: Live) -> None:
    """Drop the oldest revisions beyond the owner's history limit. None that is in use, by the owner or a pod."""
    limit = owner["spec"].get("revisionHistoryLimit", HISTORY_LIMIT)
    if len(history) - 1 <= limit:
        return
    old = sorted(history, key=lambda value: history[value].number)[:-1]
    prefix = f"{owner['metadata']['name']}-" if owner["kind"] == "StatefulSet" else ""
    used = {revision for uid, revision in pods.values() if uid == owner["metadata"]["uid"]}
    used.add((owner.get("status") or {}).get("currentRevision", ""))
    unused = [value for value in old if f"{prefix}{value}" not in used]
    # A StatefulSet keeps so many that are not in use, a DaemonSet so many that are not the newest.
    excess = len(unused if owner["kind"] == "StatefulSet" else old) - limit
    for value in unused[: max(excess, 0)]:
        del history[value]


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
            "resourceVersion": revision.version,
            "creationTimestamp": timestamp(revision.made_us),
            "labels": {**((template.get("metadata") or {}).get("labels") or {}), HASH_LABEL[kind]: value},
            **({"annotations": annotations} if annotations else {}),
            "ownerReferences": [{**reference, "controller": True, "blockOwnerDeletion": True}],
        },
        "data": {"spec": {"template": {**template, "$patch": "replace"}}},
        "revision": revision.number,
    }
