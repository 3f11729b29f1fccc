"""Which devices a node can use: slices, grouped by pool.

Source: upstream ``dynamic-resource-allocation/structured/internal/experimental/pools_experimental.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.api.devices import Device, ResourceSlice
from scheduler_engine.api.objects import KubeObject, Node
from scheduler_engine.sharing import Rows


@dataclass(slots=True)
class Pool:
    """The slices of a pool that a node reaches, all of the newest generation. ``duplicate``: the name of a device that
    occurs twice, which makes the pool invalid.
    """

    driver: str
    name: str
    slices: list[ResourceSlice] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"

    @property
    def generation(self) -> int:
        return _generation(self.slices[0])

    @property
    def incomplete(self) -> bool:
        return len(self.slices) != ((self.slices[0].spec.get("pool") or {}).get("resourceSliceCount") or 0)

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
    ``others``: positions of all other slices.
    """

    ordered: Rows[ResourceSlice]
    local: dict[str, list[int]] = field(default_factory=dict)
    others: list[int] = field(default_factory=list)

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


def common_selector(devices: Sequence[Device], node_name: str) -> dict[str, Any] | None:
    """Return where all devices of an allocation can be used, as a node selector; None: everywhere."""
    fields: list[dict[str, Any]] = []
    expressions: list[dict[str, Any]] = []
    for device in devices:
        spec = device.slice.spec
        if spec.get("nodeName"):
            only = {"key": "metadata.name", "operator": "In", "values": [node_name]}
            return {"nodeSelectorTerms": [{"matchFields": [only]}]}
        for term in (spec.get("nodeSelector") or {}).get("nodeSelectorTerms") or ():
            # Upstream adds both kinds of requirements to its own list.
            _add_new(term.get("matchFields") or (), fields)
            _add_new(term.get("matchExpressions") or (), expressions)
    term = {name: held for name, held in (("matchExpressions", expressions), ("matchFields", fields)) if held}
    return {"nodeSelectorTerms": [term]} if term else None


def _add_new(requirements: Iterable[dict[str, Any]], to: list[dict[str, Any]]) -> None:
    for requirement in requirements:
        if not any(_same(requirement, held) for held in to):
            to.append(requirement)


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    plain = all(one.get(name) == other.get(name) for name in ("key", "operator"))
    return plain and set(one.get("values") or ()) == set(other.get("values") or ())
