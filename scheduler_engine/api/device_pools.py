"""Which devices a node can use: slices, grouped by pool.

Source: upstream ``dynamic-resource-allocation/structured/internal/experimental/pools_experimental.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from scheduler_engine.api.devices import Device, ResourceSlice
from scheduler_engine.api.objects import KubeObject, Node
from scheduler_engine.sharing import Rows


@dataclass(slots=True)
class Pool:
    """The slices of a pool that a node reaches, all of the newest generation. ``duplicate``: the name of a device that
    occurs twice, which makes the pool invalid. ``elsewhere``: number of its slices that the node does not reach.
    """

    driver: str
    name: str
    slices: list[ResourceSlice] = field(default_factory=list)
    elsewhere: int = 0

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"

    @property
    def generation(self) -> int:
        return _generation(self.slices[0])

    @property
    def incomplete(self) -> bool:
        known = len(self.slices) + self.elsewhere
        return known != ((self.slices[0].spec.get("pool") or {}).get("resourceSliceCount") or 0)

    @property
    def duplicate(self) -> str:
        seen: set[str] = set()
        for device in self.devices():
            if device.name in seen:
                return device.name
            seen.add(device.name)
        return ""

    def devices(self) -> Iterator[Device]:
        for item in self.slices:
            yield from item.devices


def _generation(item: ResourceSlice) -> int:
    return (item.spec.get("pool") or {}).get("generation") or 0


def in_order(slices: Iterable[KubeObject]) -> list[ResourceSlice]:
    """Return slices by driver, pool and name. The real scheduler goes through them in random order."""
    known = (item for item in slices if isinstance(item, ResourceSlice))
    return sorted(known, key=lambda item: (item.driver, item.pool, item.name))


@dataclass(slots=True)
class Slices:
    """All slices of a cycle, in order. ``local``: name of a node → positions of the slices that only it reaches;
    ``others``: positions of all other slices; ``counts``: (driver, pool) → generation → number of slices.
    """

    ordered: Rows[ResourceSlice]
    local: dict[str, list[int]] = field(default_factory=dict)
    others: list[int] = field(default_factory=list)
    counts: dict[tuple[str, str], dict[int, int]] = field(default_factory=dict)

    def of(self, node: Node) -> Iterator[ResourceSlice]:
        """Yield the slices that a node reaches, in order."""
        for position in sorted([*self.local.get(node.name, ()), *self.others]):
            item = self.ordered[position]
            if item.reaches(node.name, node.labels):
                yield item


def indexed(slices: Iterable[KubeObject]) -> Slices:
    """Sort slices, and note which belong to one node."""
    found = Slices(Rows(in_order(slices)))
    for position, item in enumerate(found.ordered):
        name = item.spec.get("nodeName")
        (found.local.setdefault(name, []) if name else found.others).append(position)
        counts = found.counts.setdefault((item.driver, item.pool), {})
        counts[_generation(item)] = counts.get(_generation(item), 0) + 1
    return found


def gather_pools(slices: Iterable[ResourceSlice]) -> Sequence[Pool]:
    """Group slices by pool. A newer generation replaces all older slices of its pool."""
    pools: dict[tuple[str, str], Pool] = {}
    for item in slices:
        pool = pools.setdefault((item.driver, item.pool), Pool(item.driver, item.pool))
        newer = bool(pool.slices) and _generation(item) - pool.generation
        if newer and newer < 0:
            continue
        if newer:
            pool.slices = []
        pool.slices.append(item)
    return list(pools.values())


def gather_whole_pools(slices: Slices, node: Node) -> Sequence[Pool]:
    """Group the slices that a node reaches by pool, and complete what is known of each by the slices for other nodes.

    A pool that is being replaced there is left out.
    """
    whole: list[Pool] = []
    for pool in gather_pools(slices.of(node)):
        if pool.incomplete:
            counts = slices.counts[pool.driver, pool.name]
            if max(counts) > pool.generation:
                continue
            pool.elsewhere = counts[pool.generation] - len(pool.slices)
        whole.append(pool)
    return whole
