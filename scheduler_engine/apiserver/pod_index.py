"""Which pods have not ended, so that nobody has to look at all that have: an owner whose pods fail for ever has
thousands of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduler_engine.api.objects import Pod

Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class PodIndex:
    """``in_namespace``: namespace → its pods that have not ended, in order of creation; ``on_node``: node → those that
    are bound to it, in any order; ``ended``: uid of a controller → labels → how many of its pods with these have ended.
    """

    in_namespace: dict[str, dict[str, Pod]] = field(default_factory=dict)
    on_node: dict[str, dict[str, Pod]] = field(default_factory=dict)
    ended: dict[str, dict[Labels, int]] = field(default_factory=dict)

    def update(self, old: Pod | None, new: Pod | None, created: Mapping[str, int]) -> None:
        """A pod comes (``old`` is None), changes or goes (``new`` is None). ``created``: key of a pod → its turn."""
        if old is not None and old.finished:
            self._count_ended(old, -1)
        if new is not None and new.finished:
            self._count_ended(new, 1)
        was, now = (pod if pod is not None and not pod.finished else None for pod in (old, new))
        if was is not None and now is None:
            _take(self.in_namespace, was.namespace, was.key)
        if was is not None and was.node_name and (now is None or now.node_name != was.node_name):
            _take(self.on_node, was.node_name, was.key)
        if now is None:
            return
        there = self.in_namespace.setdefault(now.namespace, {})
        there[now.key] = now
        if was is None and old is not None:
            # It begins anew, behind pods that were made after it.
            self.in_namespace[now.namespace] = {key: there[key] for key in sorted(there, key=created.__getitem__)}
        if now.node_name:
            self.on_node.setdefault(now.node_name, {})[now.key] = now

    def _count_ended(self, pod: Pod, more: int) -> None:
        reference = pod.controller_ref
        if reference is None:
            return
        held, labels = self.ended.setdefault(reference["uid"], {}), tuple(sorted(pod.labels.items()))
        held[labels] = held.get(labels, 0) + more
        if not held[labels]:
            del held[labels]
        if not held:
            del self.ended[reference["uid"]]


def _take(index: dict[str, dict[str, Pod]], name: str, key: str) -> None:
    del index[name][key]
    if not index[name]:
        del index[name]
