"""Indexes of pods, so that nobody scans all of them: by node, by controller, and the unfinished ones by namespace.

An owner whose pods keep failing has thousands of finished ones, and an owner of thousands checks itself at each change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from scheduler_engine.api.objects import Pod
from scheduler_engine.sharing import Groups, Table

Owner = tuple[str, str]
"""Namespace and uid of a pod's controller. The uid is "" if the pod has none."""
Labels = tuple[tuple[str, str], ...]
JOB_INDEX = "batch.kubernetes.io/job-completion-index"
"""The annotation (and label) with the index of a pod of an Indexed Job."""
REVISION_LABEL = "controller-revision-hash"
"""The template of a StatefulSet or DaemonSet that a pod was made from."""


class Standing(NamedTuple):
    """What owners count of a pod. ``restarts``: of all its containers together; ``revision``: the name of
    the template that it was made from, None if its owner has no revisions.
    """

    finished: bool
    terminating: bool
    ready: bool
    restarts: int
    revision: str | None = None

    @property
    def active(self) -> bool:
        return not self.finished and not self.terminating


def restarts(pod: Pod) -> int:
    """Return the highest restart count of a container."""
    return max((status.get("restartCount") or 0 for status in pod.status.get("containerStatuses") or ()), default=0)


def all_restarts(pod: Pod) -> int:
    """Return how often containers were restarted, those that prepare the pod included."""
    statuses = (pod.status.get(name) or () for name in ("initContainerStatuses", "containerStatuses"))
    return sum(status.get("restartCount") or 0 for status in chain.from_iterable(statuses))


def owner_of(pod: Pod) -> Owner:
    reference = pod.controller_ref
    return pod.namespace, "" if reference is None else str(reference["uid"])


@dataclass(slots=True)
class PodIndex:
    """``created``: key of a pod → the number of pods created before; ``count``: the number of pods created so far.
    ``on_node``: node → the pods bound to it, in any order; ``unfinished_on``: node → those that are unfinished.
    ``unfinished``: namespace → its unfinished pods, in order of creation.

    ``of_owner``: controller → its pods, finished or not, in order of creation. ``standings``: controller → how many of
    its pods are in each state; ``labels``: controller → labels of its active pods → how many have them; ``indexes``:
    controller → indexes of its active pods (of an Indexed Job) → how many have them.
    """

    created: Table[str, int] = field(default_factory=Table)
    count: int = 0
    on_node: Groups[str, str, Pod] = field(default_factory=Groups)
    unfinished_on: Groups[str, str, Pod] = field(default_factory=Groups)
    unfinished: Groups[str, str, Pod] = field(default_factory=Groups)
    of_owner: Groups[Owner, str, Pod] = field(default_factory=Groups)
    standings: Groups[Owner, Standing, int] = field(default_factory=Groups)
    labels: Groups[Owner, Labels, int] = field(default_factory=Groups)
    indexes: Groups[Owner, str, int] = field(default_factory=Groups)

    def update(self, old: Pod | None, new: Pod | None) -> None:
        """Add (``old`` is None), change or remove (``new`` is None) a pod."""
        if old is None and new is not None:
            self.created[new.key] = self.count
            self.count += 1
        was, now = (pod if pod is not None and not pod.finished else None for pod in (old, new))
        if was is not None and now is None:
            self.unfinished.take(was.namespace, was.key)
        if now is not None:
            # One that starts again is behind pods that were created after it.
            self._put(self.unfinished, now.namespace, now, late=was is None and old is not None)
        _place(self.on_node, old, new)
        _place(self.unfinished_on, was, now)
        before, after = (None if pod is None else owner_of(pod) for pod in (old, new))
        if old is not None and before is not None and before != after:
            self.of_owner.take(before, old.key)
        if new is not None and after is not None:
            # So is one that gets another owner.
            self._put(self.of_owner, after, new, late=before not in (None, after))
        self._count(old, new)
        if old is not None and new is None:
            del self.created[old.key]

    def in_order(self, pods: Mapping[str, Pod]) -> Sequence[Pod]:
        """Return pods in order of creation."""
        return [pods[key] for key in sorted(pods, key=self.created.__getitem__)]

    def _put(self, groups: Groups[Any, str, Pod], group: str | Owner, pod: Pod, late: bool) -> None:
        """Store a pod in its group. ``late``: sort the group by creation afterwards."""
        there = groups.change(group)
        there[pod.key] = pod
        if late:
            in_order = {key: there[key] for key in sorted(there, key=self.created.__getitem__)}
            there.clear()
            there.update(in_order)

    def _count(self, old: Pod | None, new: Pod | None) -> None:
        """Count what owners count; pods without a controller count for nobody."""
        was, now = _counted(old), _counted(new)
        if was == now:
            return
        for counted, change in ((was, -1), (now, 1)):
            if counted is None:
                continue
            owner, standing, labels, index = counted
            _add(self.standings, owner, standing, change)
            if standing.active:
                _add(self.labels, owner, labels, change)
                if index:
                    _add(self.indexes, owner, index, change)


def _counted(pod: Pod | None) -> tuple[Owner, Standing, Labels, str] | None:
    if pod is None or pod.controller_ref is None:
        return None
    standing = Standing(pod.finished, pod.terminating, pod.ready, all_restarts(pod), pod.labels.get(REVISION_LABEL))
    return owner_of(pod), standing, tuple(pod.labels.items()), pod.annotations.get(JOB_INDEX, "")


def _add(counts: Groups[Owner, Any, int], owner: Owner, what: Standing | Labels | str, change: int) -> None:
    inner = counts.change(owner)
    inner[what] = inner.get(what, 0) + change
    if not inner[what]:
        counts.take(owner, what)


def _place(groups: Groups[str, str, Pod], old: Pod | None, new: Pod | None) -> None:
    """Store a pod under its node, and take it away from the node where it was."""
    if old is not None and old.node_name and (new is None or new.node_name != old.node_name):
        groups.take(old.node_name, old.key)
    if new is not None and new.node_name:
        groups.change(new.node_name)[new.key] = new
