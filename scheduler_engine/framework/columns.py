"""Kept results: what a plugin answered about each node, for all pods that look the same to it.

A plugin that signs a pod (``Plugin.sign``) gives the same verdict and the same raw score for every pod with that sign,
until the node changes. A column holds these answers by slot. The snapshot's log of changed slots says which of them
are out of date, so a cycle costs what has changed since the last one, not the number of nodes. Dry runs cannot use
columns: their NodeInfos change without the snapshot.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_engine.framework.amounts import IntArray
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Changes, Nodes, SlotArray, Slots, Topology
from scheduler_engine.framework.status import Status

MOST_CELLS = 4_000_000
"""The number of answers kept per profile, and again as many that are cheap: the least recently used columns go."""
FEW = 16
"""So many different statuses are usual; they are picked out one after the other."""
WORTHWHILE = 4
"""From so many nodes on, judging them together is faster than one by one."""
MOST_STATUSES = 10_000
"""A column with more different statuses starts anew: its texts change with the nodes."""
UNKNOWN, PASSED = 0, 1
CODE_BITS = 16
CODE_MASK = (1 << CODE_BITS) - 1
Codes = NDArray[np.int32]
"""Per node: the number of a column, and in the lowest 16 bits the verdict's code in it."""


class Verdicts:
    """The verdicts of one plugin. ``codes``: slot → UNKNOWN, PASSED, or the place of the rejection in ``statuses``."""

    __slots__ = ("by_status", "codes", "position", "statuses")

    def __init__(self) -> None:
        self.codes: Codes = np.zeros(0, dtype=np.int32)
        self.statuses: list[Status | None] = [None, None]
        self.by_status: dict[Status, int] = {}
        self.position = 0

    def update(self, nodes: int, changes: Changes) -> None:
        """Forget the answers about nodes that have changed."""
        if len(self.statuses) > MOST_STATUSES:
            self.codes[:] = UNKNOWN
            self.statuses, self.by_status = [None, None], {}
        self.codes = _forget(self.codes, nodes, changes.since(self.position))
        self.position = changes.position

    def pass_all(self) -> bool:
        """Return True if all nodes are known to pass. This is faster than to look at some in an order."""
        codes = self.codes
        return bool(codes.size) and np.count_nonzero(codes == PASSED) == codes.size

    def keep(self, slots: int | SlotArray, status: Status | None) -> None:
        if status is None:
            self.codes[slots] = PASSED
            return
        code = self.by_status.get(status)
        if code is None:
            code = self.by_status[status] = len(self.statuses)
            self.statuses.append(status)
        self.codes[slots] = code


class RawScores:
    """The raw scores of one plugin, by slot; ``known``: slot → whether it has one. Scores that do not fit into 64 bits
    are not kept.
    """

    __slots__ = ("known", "numbers", "position")

    def __init__(self) -> None:
        self.numbers: IntArray = np.zeros(0, dtype=np.int64)
        self.known: NDArray[np.int8] = np.zeros(0, dtype=np.int8)
        self.position = 0

    def update(self, nodes: int, changes: Changes) -> None:
        self.known = _forget(self.known, nodes, changes.since(self.position))
        if not len(self.numbers):
            self.numbers = np.zeros(nodes, dtype=np.int64)
        elif len(self.numbers) < len(self.known):
            self.numbers = np.concatenate((self.numbers, np.zeros(len(self.known) - len(self.numbers), dtype=np.int64)))
        self.position = changes.position


def _forget(column: NDArray[Any], nodes: int, changed: list[int] | None) -> NDArray[Any]:
    """Return the column, with room for ``nodes`` and with 0 for what has changed (None: anything may have)."""
    if not len(column):
        return np.zeros(nodes, dtype=column.dtype)
    missing = nodes - len(column)
    if missing > 0:
        column = np.concatenate((column, np.zeros(missing, dtype=column.dtype)))
    if changed is None:
        column[:] = 0
    elif len(changed) == 1:
        column[changed[0]] = 0
    elif changed:
        column[changed] = 0
    return column


class Objects:
    """What is computed from each NodeInfo, by slot, until it changes."""

    __slots__ = ("kept", "position")

    def __init__(self) -> None:
        self.kept: dict[int, Any] = {}
        self.position = 0

    def update(self, changes: Changes) -> None:
        changed = changes.since(self.position)
        for slot in [*self.kept] if changed is None else changed:
            self.kept.pop(slot, None)
        self.position = changes.position


class Holders:
    """Where something is: ``held``: slot → what ``ask`` finds on the node; ``slots``: the reverse."""

    __slots__ = ("held", "position", "slots")

    def __init__(self) -> None:
        self.held: dict[int, Iterable[Hashable]] = {}
        self.slots: dict[Hashable, dict[int, None]] = {}
        self.position = 0

    def update(self, slots: Slots, ask: Callable[[NodeInfo], Iterable[Hashable]]) -> None:
        changed = slots.changes.since(self.position) if self.position else None
        if changed is None:
            self.held, self.slots = {}, {}
        free = dict.fromkeys(slots.free)
        for slot in range(len(slots.infos)) if changed is None else dict.fromkeys(changed):
            for item in self.held.pop(slot, ()):
                del self.slots[item][slot]
                if not self.slots[item]:
                    del self.slots[item]
            held = () if slot in free else dict.fromkeys(ask(slots.infos[slot]))
            if held:
                self.held[slot] = held
                for item in held:
                    self.slots.setdefault(item, {})[slot] = None
        self.position = slots.changes.position


class Tally:
    """Sums per topology domain over all pods, kept by what each node adds to them.

    ``parts``: slot → (topology key, place of the domain, number) of its pods; ``sums``: topology key → sums by the
    domain's place; ``count``: how many parts there are.
    """

    __slots__ = ("count", "parts", "position", "sums")

    def __init__(self) -> None:
        self.parts: dict[int, list[Part]] = {}
        self.sums: dict[str, IntArray] = {}
        self.position = 0
        self.count = 0

    def update(self, slots: Slots, ask: Callable[[NodeInfo], list[Part]], nodes: Sequence[NodeInfo]) -> None:
        """Bring up to date what ``ask`` returns about each node. ``nodes``: those that can have parts at all."""
        changed = slots.changes.since(self.position) if self.position else None
        if changed is None:
            self.parts, self.sums, self.count = {}, {}, 0
            changed = [info.slot for info in nodes]
        free = dict.fromkeys(slots.free)
        for slot in dict.fromkeys(changed):
            self._add(self.parts.pop(slot, ()), -1)
            parts = [] if slot in free else ask(slots.infos[slot])
            if parts:
                self.parts[slot] = parts
                self._add(parts, 1)
        self.position = slots.changes.position

    def _add(self, parts: Sequence[Part], sign: int) -> None:
        self.count += sign * len(parts)
        for key, place, number in parts:
            sums = self.sums.get(key)
            if sums is None or place >= len(sums):
                sums = self.sums[key] = grown(np.zeros(0, dtype=np.int64) if sums is None else sums, place + 1)
            sums[place] += sign * number

    def by_domain(self, topology: Topology) -> IntArray:
        """Return the sums of all domains of a topology key."""
        sums = self.sums.get(topology.key, np.zeros(0, dtype=np.int64))
        return grown(sums, len(topology.values))[: len(topology.values)] if len(sums) < len(topology.values) else sums


Part = tuple[str, int, int]


def grown(column: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the column with room for ``size`` entries, and for as many again."""
    if len(column) >= size:
        return column
    return np.concatenate((column, np.zeros(2 * size - len(column), dtype=column.dtype)))


class Columns:
    """All columns of one profile. A copy starts empty: columns only save time.

    ``cheap``: those of plugins that judge many nodes at once. They are many, one per shape of pod, and must not drive
    out those that take a look at every node.
    """

    __slots__ = ("cheap", "columns")

    def __init__(self) -> None:
        self.cheap: OrderedDict[Hashable, Any] = OrderedDict()
        self.columns: OrderedDict[Hashable, Any] = OrderedDict()

    def verdicts(self, plugin: Any, sign: Hashable, slots: Slots) -> Verdicts:
        cheap = hasattr(plugin, "filter_all")
        column: Verdicts = self._column((Verdicts, plugin.name, sign), Verdicts, slots, cheap)
        column.update(len(slots.infos), slots.changes if plugin.reads_pods else slots.replacements)
        return column

    def raw_scores(self, plugin: Any, sign: Hashable, slots: Slots) -> RawScores:
        cheap = hasattr(plugin, "score_all")
        column: RawScores = self._column((RawScores, plugin.name, sign), RawScores, slots, cheap)
        column.update(len(slots.infos), slots.changes if plugin.reads_pods else slots.replacements)
        return column

    def numbers(
        self, sign: Hashable, nodes: Nodes, slots: Slots, ask: Callable[[NodeInfo], int], *, reads_pods: bool = True
    ) -> IntArray:
        """Return what ``ask`` says about each of the nodes; it is asked again about a node that has changed."""
        column: RawScores = self._column(sign, RawScores, slots)
        column.update(len(slots.infos), slots.changes if reads_pods else slots.replacements)
        for slot in nodes.slots[column.known[nodes.slots] == 0].tolist():
            column.numbers[slot] = ask(slots.infos[slot])
            column.known[slot] = 1
        return column.numbers[nodes.slots]

    def objects(self, sign: Hashable, slots: Slots) -> dict[int, Any]:
        """Return a dict by slot, for whatever follows from a NodeInfo alone. It lacks nodes that have changed."""
        column: Objects = self._column(sign, Objects, slots)
        column.update(slots.changes)
        return column.kept

    def holders(
        self, sign: Hashable, slots: Slots, ask: Callable[[NodeInfo], Iterable[Hashable]]
    ) -> dict[Hashable, dict[int, None]]:
        """Return item → slots of the nodes that have it, according to ``ask``."""
        holders: Holders = self._column(sign, Holders, slots)
        holders.update(slots, ask)
        return holders.slots

    def other(self, sign: Hashable, make: Callable[[], Any], slots: Slots) -> Any:
        """Return what ``make`` has made for ``sign``: a plugin's own arrays by slot, which it keeps up to date."""
        return self._column(sign, make, slots)

    def tally(
        self, sign: Hashable, slots: Slots, ask: Callable[[NodeInfo], list[Part]], nodes: Sequence[NodeInfo]
    ) -> Tally:
        """Return sums over all nodes; see ``Tally.update``."""
        tally: Tally = self._column(sign, Tally, slots)
        tally.update(slots, ask, nodes)
        return tally

    def _column(self, key: Hashable, kind: Callable[[], Any], slots: Slots, cheap: bool = False) -> Any:
        columns = self.cheap if cheap else self.columns
        column = columns.get(key)
        if column is None:
            column = columns[key] = kind()
            while len(columns) * len(slots.infos) > MOST_CELLS and len(columns) > 1:
                columns.popitem(last=False)
        else:
            columns.move_to_end(key)
        return column

    def __deepcopy__(self, memo: dict[int, object]) -> Columns:
        return Columns()

    def __reduce__(self) -> tuple[Any, ...]:
        return Columns, ()
