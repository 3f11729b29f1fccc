"""The model of an import: a person's choices, and the result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.versions import DEFAULT, VERSIONS, release_of
from scheduler_engine.words import keys_of, say

Manifest = dict[str, Any]
OWNERS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")
"""Kinds whose controllers create and delete pods."""
MOST_EXAMPLES = 5
"""The number of names in a notice."""


@dataclass(frozen=True, slots=True)
class Choices:
    """A person's choices. ``namespaces`` and ``kinds`` are omitted; ``pod`` (``namespace/name``) will be scheduled
    first among those of its priority. ``kubernetes``: the version to follow, "" = that of the kubelets.
    """

    namespaces: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    anonymous: bool = False
    pod: str = ""
    kubernetes: str = ""
    feature_gates: Mapping[str, bool] | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something omitted. ``count``: how many alike; ``name`` is that of the first."""

    kind: str
    name: str
    reason: str
    place: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Notice:
    """A change or omission, as a sentence; ``key`` identifies it for tests and translations."""

    key: str
    count: int
    text: str
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Waiting:
    """A pod without a node. ``message``: of its PodScheduled condition, "" under made-up names; ``schedules``: this
    scheduler would take it.
    """

    key: str
    message: str
    schedules: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """``pods``: namespace → (bound, pending); ``kinds``: kind → number; ``offered``: kind → number before choices.

    ``namespaces``: every namespace before choices, with its number of objects.
    """

    nodes: int
    pods: dict[str, tuple[int, int]]
    kinds: dict[str, int]
    offered: dict[str, int]
    namespaces: dict[str, int]
    waiting: tuple[Waiting, ...]

    @property
    def bound(self) -> int:
        return sum(bound for bound, _ in self.pods.values())

    @property
    def pending(self) -> int:
        return sum(pending for _, pending in self.pods.values())


@dataclass(frozen=True, slots=True)
class Import:
    """``objects`` in an order that can be applied; ``terminating``: keys of pods that are being deleted;
    ``configuration``: the scheduler's, if any; ``pod``: the chosen one, under its name here. ``kubernetes`` with
    ``feature_gates``: the version to follow; ``kubelets``: that of the newest kubelet, "" if the dump has none.
    """

    objects: tuple[Manifest, ...]
    terminating: tuple[str, ...]
    configuration: Manifest | None
    notices: tuple[Notice, ...]
    skipped: tuple[Skipped, ...]
    summary: Summary
    pod: str = ""
    kubernetes: str = DEFAULT
    feature_gates: Mapping[str, bool] | None = None
    kubelets: str = ""

    def version_in_words(self) -> str:
        """Return which version the kubelets have, and which one is followed."""
        followed = release_of(self.kubernetes)
        if not self.kubelets:
            return say("import-versions.none", followed=followed)
        of_kubelets = release_of(self.kubelets) if self.kubelets in VERSIONS else ""
        how = "same" if of_kubelets == followed else "chosen" if of_kubelets else "unknown"
        return say(f"import-versions.{how}", kubelets=self.kubelets, followed=followed)

    def commands(self) -> list[Manifest]:
        """Return them in JSON form: all objects at once. Pods that are being deleted are deleted before their owners
        come, which would otherwise have one too many.
        """
        if not self.terminating:
            return [_apply(self.objects)]
        deletes = [{"kind": "delete", "object_kind": "Pod", "key": key} for key in self.terminating]
        owners = [item for item in self.objects if item["kind"] in OWNERS]
        things = [item for item in self.objects if item["kind"] not in OWNERS]
        return [_apply(things), *deletes, *([_apply(owners)] if owners else [])]


@dataclass(slots=True)
class NoticeLog:
    """Collects notices during an import: key → names they concern."""

    about: dict[str, list[str]] = field(default_factory=dict)

    def note(self, key: str, name: str = "", count: int = 1) -> None:
        """Count ``count`` more, of which one may be named."""
        self.about.setdefault(key, []).extend([name] * count)

    def notices(self, kubernetes: str) -> tuple[Notice, ...]:
        """Return the notices in the order of their table. ``kubernetes``: the version that is followed."""
        notices: list[Notice] = []
        for key in keys_of("import-notices"):
            names = self.about.get(key)
            if names:
                text = say(f"import-notices.{key}", count=len(names), version=kubernetes)
                examples = tuple(dict.fromkeys(name for name in names if name))[:MOST_EXAMPLES]
                notices.append(Notice(key, len(names), text, examples))
        return tuple(notices)


def _apply(manifests: Iterable[Manifest]) -> Manifest:
    return {"kind": "apply", "manifests": list(manifests)}


def key_of(manifest: Manifest) -> str:
    """Return ``namespace/name``, or only the name."""
    metadata = manifest["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else str(metadata["name"])


def is_waiting(manifest: Manifest) -> bool:
    """Return True for a pod without a node."""
    return manifest["kind"] == "Pod" and not manifest["spec"].get("nodeName")


def grouped(skipped: Iterable[Skipped]) -> tuple[Skipped, ...]:
    """Combine those of one kind and reason, in the order of the first."""
    by_name: dict[tuple[str, str], Skipped] = {}
    for item in skipped:
        name = (item.kind, item.reason)
        held = by_name.get(name)
        count = item.count + (held.count if held else 0)
        first = held or item
        by_name[name] = Skipped(first.kind, first.name, first.reason, first.place, count)
    return tuple(by_name.values())
