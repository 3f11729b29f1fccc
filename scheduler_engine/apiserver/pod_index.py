"""An index of unfinished pods, to avoid a scan of all finished ones: an owner whose pods keep failing has
thousands of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduler_engine.api.objects import Pod


@dataclass(slots=True)
class PodIndex:
    """``in_namespace``: namespace → its unfinished pods, in order of creation; ``on_node``: node → the unfinished pods
    bound to it, in any order.
    """

    in_namespace: dict[str, dict[str, Pod]] = field(default_factory=dict)
    on_node: dict[str, dict[str, Pod]] = field(default_factory=dict)

    def update(self, old: Pod | None, new: Pod | None, created: Mapping[str, int]) -> None:
        """Add (``old`` is None), change or remove (``new`` is None) a pod. ``created``: key of a pod → its rank."""
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
            # It starts again, behind pods that were created after it.
            self.in_namespace[now.namespace] = {key: there[key] for key in sorted(there, key=created.__getitem__)}
        if now.node_name:
            self.on_node.setdefault(now.node_name, {})[now.key] = now


def _take(index: dict[str, dict[str, Pod]], name: str, key: str) -> None:
    del index[name][key]
    if not index[name]:
        del index[name]
