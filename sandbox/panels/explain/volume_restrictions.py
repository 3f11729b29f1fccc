"""VolumeRestrictions in words and numbers: who else uses a disk or a claim.

Source: seed 002 §6; upstream ``plugins/volumerestrictions``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.panels.explain.model import Case, Explanation, Line, names, passes, refuses
from sandbox.panels.words.say import say

DISK_IN_USE = "node(s) had no available disk"
CLAIM_IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
DISKS = {"gcePersistentDisk": "pdName", "awsElasticBlockStore": "volumeID", "iscsi": "iqn", "rbd": "image"}
"""Volume source → the field that names the disk."""


def restrictions_filter(case: Case) -> Explanation:
    lines: list[Line] = []
    disk_users, claim_users = _disk_users(case, lines), _claim_users(case, lines)
    if disk_users:
        text = say("volumes.disk-in-use", pod=case.name, node=case.node.name, names=names(disk_users))
        return refuses(text, lines, DISK_IN_USE)
    if claim_users:
        text = say("volumes.claim-in-use", count=len(claim_users), pod=case.name, names=names(claim_users))
        return refuses(text, lines, CLAIM_IN_USE)
    return passes(say("volumes.nobody-in-the-way", pod=case.name), lines)


def _disk_users(case: Case, lines: list[Line]) -> list[str]:
    users: dict[str, None] = {}
    for volume in case.pod.volumes:
        for kind, field in DISKS.items():
            if volume.get(kind) is None:
                continue
            held = [
                info.pod.key
                for info in case.here
                for other in info.pod.volumes
                if other.get(kind) is not None and _clash(kind, volume[kind], other[kind])
            ]
            users |= dict.fromkeys(held)
            said = _used_by(held) if held else say("volumes.disk-free")
            lines.append(Line(f"{kind} {volume[kind].get(field)}", said, say("volumes.disk-note")))
    return list(users)


def _used_by(pods: list[str]) -> str:
    return say("volumes.in-use-by", names=names(dict.fromkeys(pods)))


def _clash(kind: str, mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    if kind != "awsElasticBlockStore" and mine.get("readOnly") and theirs.get("readOnly"):
        return False
    if kind == "rbd":
        shared = set(mine.get("monitors") or ()) & set(theirs.get("monitors") or ())
        if not shared or (mine.get("pool") or "rbd") != (theirs.get("pool") or "rbd"):
            return False
    return bool(mine.get(DISKS[kind]) == theirs.get(DISKS[kind]))


def _claim_users(case: Case, lines: list[Line]) -> list[str]:
    """Anywhere in the cluster; nominated pods count by the claim's name alone."""
    users: dict[str, None] = {}
    for name in case.pod.claim_names:
        claim = case.seen.pre_filter.get("PersistentVolumeClaim", f"{case.pod.namespace}/{name}")
        if claim is None or "ReadWriteOncePod" not in (claim.spec.get("accessModes") or ()):
            continue
        using = [
            info.pod.key
            for node in case.seen.nodes
            for info in case.seen.pods_on.get(node, ())
            if info.pod.namespace == case.pod.namespace and name in info.pod.claim_names
        ]
        using += [info.pod.key for info in case.nominated if name in info.pod.claim_names]
        users |= dict.fromkeys(using)
        said = _used_by(using) if using else say("volumes.claim-free")
        lines.append(Line(say("volumes.claim", claim=name), said, say("volumes.claim-note")))
    return list(users)
