"""An index of unfinished pods, to avoid a scan of all finished ones: an owner whose pods keep failing has
thousands of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduler_engine.api.objects import Pod
from scheduler_engine.sharing import Groups


@dataclass(slots=True)
class PodIndex:
    """``in_namespace``: namespace → its unfinished pods, in order of creation; ``on_node``: node → the unfinished pods
    bound to it, in any order.
    """

    in_namespace: Groups[str, str, Pod] = field(default_factory=Groups)
    on_node: Groups[str, str, Pod] = field(default_factory=Groups)

    def update(self, old: Pod | None, new: Pod | None, created: Mapping[str, int]) -> None:
        """Add (``old`` is None), change or remove (``new`` is None) a pod. ``created``: key of a pod → its rank."""
        was, now = (pod if pod is not None and not pod.finished else None for pod in (old, new))
        if was is not None and now is None:
            self.in_namespace.take(was.namespace, was.key)
        if was is not None and was.node_name and (now is None or now.node_name != was.node_name):
            self.on_node.take(was.node_name, was.key)
        if now is None:
            return
        there = self.in_namespace.change(now.namespace)
        there[now.key] = now
        if was is None and old is not None:
            # It starts again, behind pods that were created after it.
            in_order = {key: there[key] for key in sorted(there, key=created.__getitem__)}
            there.clear()
            there.update(in_order)
        if now.node_name:
            self.on_node.change(now.node_name)[now.key] = now
