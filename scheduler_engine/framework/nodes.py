"""Nodes by slot: a small stable number for each node of a snapshot, so that arrays can hold one value per node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from scheduler_engine.framework.amounts import Mask, NodeAmounts
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.sharing import Rows, Table

SlotArray = NDArray[np.intp]
NO_SLOT = -1
MOST_CHANGES = 4
"""The log of changed slots holds at most so many per node; a reader that is further behind starts anew."""


class Changes:
    """A log of changed slots, oldest first. ``forgotten`` older entries are no longer in the list."""

    __slots__ = ("forgotten", "slots")

    def __init__(self) -> None:
        self.slots: Rows[int] = Rows()
        self.forgotten = 0

    def note(self, slot: int, nodes: int) -> None:
        self.slots.append(slot)
        if len(self.slots) > MOST_CHANGES * nodes + 64:
            half = len(self.slots) // 2
            self.forgotten += half
            del self.slots[:half]

    @property
    def position(self) -> int:
        """The number of changes so far."""
        return self.forgotten + len(self.slots)

    def since(self, position: int) -> list[int] | None:
        """Return the slots that have changed since; None if the log does not reach back so far."""
        if position < self.forgotten:
            return None
        return self.slots[position - self.forgotten :]


class Topology:
    """The domains of one topology key. ``codes``: slot → place of its value in ``values``, -1 without the label."""

    __slots__ = ("codes", "key", "places", "values")

    def __init__(self, key: str) -> None:
        self.key = key
        self.codes: SlotArray = np.zeros(0, dtype=np.intp)
        self.values: Rows[str] = Rows()
        self.places: Table[str, int] = Table()

    def put(self, info: NodeInfo) -> None:
        if info.slot >= len(self.codes):
            more = np.full(max(info.slot + 1 - len(self.codes), info.slot), NO_SLOT, dtype=np.intp)
            self.codes = np.concatenate((self.codes, more))
        value = info.node.labels.get(self.key) if info.node is not None else None
        self.codes[info.slot] = NO_SLOT if value is None else self.place_of(value)

    def place_of(self, value: str) -> int:
        place = self.places.get(value)
        if place is None:
            place = self.places[value] = len(self.values)
            self.values.append(value)
        return place


class Slots:
    """The slots of one snapshot.

    ``infos``: slot → NodeInfo. ``changes`` of NodeInfos, and ``replacements`` of the Node objects in them. ``amounts``
    by slot. ``marks``: by slot, whether pods there have (anti-)affinity, and whether required anti-affinity.
    """

    __slots__ = ("amounts", "changes", "free", "infos", "marks", "replacements", "topologies")

    def __init__(self) -> None:
        self.infos: Rows[NodeInfo] = Rows()
        self.free: Rows[int] = Rows()
        self.changes = Changes()
        self.replacements = Changes()
        self.amounts = NodeAmounts()
        self.marks: Mask = np.zeros((2, 0), dtype=bool)
        self.topologies: dict[str, Topology] = {}

    def put(self, info: NodeInfo) -> None:
        """Give a new node a slot. A list of nodes that somebody still holds keeps the slot's former node."""
        if self.free:
            info.slot = self.free.pop()
            self.infos = Rows(self.infos)
            self.infos[info.slot] = info
        else:
            info.slot = len(self.infos)
            self.infos.append(info)

    def drop(self, info: NodeInfo) -> None:
        """Free the slot of a node that is gone. Whoever counts what is on it must look again."""
        self.free.append(info.slot)
        self.changes.note(info.slot, len(self.infos))
        self.amounts.drop(info.slot)

    def note_change(self, info: NodeInfo, replaced: bool) -> None:
        """Put the new ``info`` of a node in its slot. ``replaced``: its Node object has changed, not only its pods."""
        self.infos[info.slot] = info
        self.changes.note(info.slot, len(self.infos))
        if replaced:
            self.replacements.note(info.slot, len(self.infos))
            for topology in self.topologies.values():
                topology.put(info)
        if info.slot >= self.marks.shape[1]:
            more = np.zeros((2, max(info.slot + 1 - self.marks.shape[1], info.slot)), dtype=bool)
            self.marks = np.concatenate((self.marks, more), axis=1)
        self.marks[:, info.slot] = bool(info.pods_with_affinity), bool(info.pods_with_required_anti_affinity)
        self.amounts.put(info)

    def topology(self, key: str) -> Topology:
        """Return the domains of a topology key; they are kept up to date from the first time on."""
        topology = self.topologies.get(key)
        if topology is None:
            topology = self.topologies[key] = Topology(key)
            for info in self.infos:
                topology.put(info)
        return topology


class Nodes(Sequence[NodeInfo]):
    """Some nodes of a snapshot, in an order."""

    __slots__ = ("infos", "slots")

    def __init__(self, infos: Sequence[NodeInfo], slots: SlotArray) -> None:
        self.infos = infos
        self.slots = slots

    def __len__(self) -> int:
        return len(self.slots)

    def __iter__(self) -> Iterator[NodeInfo]:
        return map(self.infos.__getitem__, self.slots.tolist())

    @overload
    def __getitem__(self, index: int) -> NodeInfo: ...

    @overload
    def __getitem__(self, index: slice) -> Nodes: ...

    def __getitem__(self, index: int | slice) -> NodeInfo | Nodes:
        if isinstance(index, slice):
            return Nodes(self.infos, self.slots[index])
        return self.infos[int(self.slots[index])]

    def __repr__(self) -> str:
        return f"Nodes({[info.name for info in self]})"


def nodes_of(infos: Iterable[NodeInfo]) -> Nodes:
    """Return the nodes without slots of a snapshot: each stands under its place in ``infos``."""
    if isinstance(infos, Nodes):
        return infos
    listed = list(infos)
    return Nodes(listed, np.arange(len(listed)))


class NodeScores(Mapping[str, int]):
    """Node name → score. ``numbers`` are in the order of ``nodes``: of 64 bits, or Python's where these overflow."""

    __slots__ = ("_by_name", "nodes", "numbers")

    def __init__(self, nodes: Nodes, numbers: NDArray[Any]) -> None:
        self.nodes = nodes
        self.numbers = numbers
        self._by_name: dict[str, int] | None = None

    def names(self) -> list[str]:
        return [info.name for info in self.nodes]

    @property
    def by_name(self) -> dict[str, int]:
        if self._by_name is None:
            self._by_name = dict(zip(self.names(), self.numbers.tolist(), strict=True))
        return self._by_name

    def __getitem__(self, name: str) -> int:
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"NodeScores({self.by_name})"


def numbers_from(values: Sequence[int]) -> NDArray[Any]:
    """Return the integers as an array; one of Python's integers if 64 bits are too few."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array(values, dtype=object)
