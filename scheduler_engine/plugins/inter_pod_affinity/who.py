"""The names of pods that count by a term in a domain, computed on demand.

Counting needs only numbers. Naming the pods takes a walk over all of them, so no cycle does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_engine.api.objects import Node
from scheduler_engine.framework.facts import Keys
from scheduler_engine.framework.node_info import AffinityTerm, NodeInfo, PodInfo

Pair = tuple[str, str]
"""(topology key, value)"""
Wish = tuple[str, AffinityTerm, int]
"""(kind, term, weight with its sign)"""
Met = tuple[Wish, Pair]
"""A wish that a pod meets or has, and the domain in which it counts."""
Meet = Callable[[PodInfo, Node], Iterable[Met]]
"""Return what counts for a pod on a node. A pod that counts twice by one wish is listed twice."""

NOBODY = Keys()


@dataclass(frozen=True, slots=True)
class Who:
    """``by_domain``: domain → wish → pods, both in the order of the walk. ``leaving``: those being deleted."""

    by_domain: Mapping[Pair, Mapping[Wish, Keys]]
    leaving: Mapping[str, None]

    def pods(self, wish: Wish, labels: Mapping[str, str]) -> Keys:
        """Return the pods that count by ``wish`` in the domain of a node with these labels."""
        key = wish[1].topology_key
        return self.by_domain.get((key, labels[key]), {}).get(wish, NOBODY) if key in labels else NOBODY

    def wishes(self, kinds: Sequence[str], key: str, labels: Mapping[str, str]) -> Iterator[tuple[Wish, Keys]]:
        """Yield the wishes of these kinds that count in the node's domain of ``key``."""
        value = labels.get(key)
        for wish, pods in self.by_domain.get((key, value), {}).items() if value is not None else ():
            if wish[0] in kinds and pods:
                yield wish, pods

    def changed(self, meet: Meet, node: Node, before: Sequence[PodInfo], now: Sequence[PodInfo]) -> Who:
        """Return a copy in which ``node`` has the pods ``now`` instead of ``before``."""
        had, has = ({info.pod.uid: info for info in infos} for infos in (before, now))
        gone = who_counts(meet, [NodeInfo(node, [info for uid, info in had.items() if uid not in has])])
        come = who_counts(meet, [NodeInfo(node, [info for uid, info in has.items() if uid not in had])])
        by_domain = dict(self.by_domain)
        for pair, wishes in gone.by_domain.items():
            known = by_domain[pair]
            by_domain[pair] = {wish: _without(pods, wishes.get(wish, NOBODY)) for wish, pods in known.items()}
        for pair, wishes in come.by_domain.items():
            known = by_domain.get(pair, {})
            by_domain[pair] = {**known, **{wish: Keys((*known.get(wish, ()), *pods)) for wish, pods in wishes.items()}}
        return Who(by_domain, {**self.leaving, **come.leaving})


def _without(pods: Keys, gone: Keys) -> Keys:
    return Keys(key for key in pods if key not in gone) if gone else pods


def who_counts(meet: Meet, nodes: Sequence[NodeInfo]) -> Who:
    """Return the pods that count on these nodes."""
    by_domain: dict[Pair, dict[Wish, list[str]]] = {}
    leaving: dict[str, None] = {}
    for info in nodes:
        if info.node is None:
            continue
        for existing in info.pods:
            for wish, pair in meet(existing, info.node):
                by_domain.setdefault(pair, {}).setdefault(wish, []).append(existing.pod.key)
                if existing.pod.terminating:
                    leaving[existing.pod.key] = None
    return Who(
        {pair: {wish: Keys(keys) for wish, keys in wishes.items()} for pair, wishes in by_domain.items()}, leaving
    )


class NamesPods:
    """A state that can name the pods it counts. The result is not copied, pickled or traced."""

    __slots__ = ("known",)
    known: Who | None

    def meet(self, existing: PodInfo, node: Node) -> Iterable[Met]:
        """Return what counts for a pod on a node."""
        raise NotImplementedError

    def who(self, nodes: Sequence[NodeInfo]) -> Who:
        """Name the pods on the counted ``nodes``."""
        if self.known is None:
            self.known = who_counts(self.meet, nodes)
        return self.known

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        return None, {**{name: getattr(self, name) for name in type(self).__slots__}, "known": None}
