"""Kept results: what a plugin answered about each node, for all pods that look the same to it.

A plugin that signs a pod (``Plugin.sign``) gives the same verdict and the same raw score for every pod with that sign,
until the node changes. A column holds these answers by slot. The snapshot's log of changed slots says which of them
are out of date, so a cycle costs what has changed since the last one, not the number of nodes. Dry runs cannot use
columns: their NodeInfos change without the snapshot.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Handle
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Changes, Nodes, SlotArray, Slots
from scheduler_engine.framework.status import Status

MOST_CELLS = 4_000_000
"""The number of answers kept per profile: of the least recently used columns, all are dropped."""
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
        self.numbers: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.known: NDArray[np.int8] = np.zeros(0, dtype=np.int8)
        self.position = 0

    def update(self, nodes: int, changes: Changes) -> None:
        self.known = _forget(self.known, nodes, changes.since(self.position))
        if len(self.numbers) < len(self.known):
            self.numbers = np.concatenate((self.numbers, np.zeros(len(self.known) - len(self.numbers), dtype=np.int64)))
        self.position = changes.position


def _forget(column: NDArray[Any], nodes: int, changed: list[int] | None) -> NDArray[Any]:
    """Return the column, with room for ``nodes`` and with 0 for what has changed (None: anything may have)."""
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


class Columns:
    """All columns of one profile. A copy starts empty: columns only save time."""

    __slots__ = ("columns",)

    def __init__(self) -> None:
        self.columns: OrderedDict[tuple[str, str, Hashable], Any] = OrderedDict()

    def verdicts(self, plugin: Any, sign: Hashable, slots: Slots) -> Verdicts:
        column: Verdicts = self._column("filter", plugin, sign, slots)
        return column

    def raw_scores(self, plugin: Any, sign: Hashable, slots: Slots) -> RawScores:
        column: RawScores = self._column("score", plugin, sign, slots)
        return column

    def _column(self, point: str, plugin: Any, sign: Hashable, slots: Slots) -> Any:
        key = (point, plugin.name, sign)
        column = self.columns.get(key)
        if column is None:
            column = self.columns[key] = KINDS[point]()
            while len(self.columns) * len(slots.infos) > MOST_CELLS and len(self.columns) > 1:
                self.columns.popitem(last=False)
        else:
            self.columns.move_to_end(key)
        column.update(len(slots.infos), slots.changes if plugin.reads_pods else slots.replacements)
        return column

    def __deepcopy__(self, memo: dict[int, object]) -> Columns:
        return Columns()

    def __reduce__(self) -> tuple[Any, ...]:
        return Columns, ()


KINDS: Mapping[str, type[Verdicts] | type[RawScores]] = {"filter": Verdicts, "score": RawScores}


class Filters(Protocol):
    """The methods of the framework that a run of filters needs."""

    columns: Columns
    handle: Handle

    def ask(self, plugins: Sequence[Any], state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None: ...

    def nominated_for(self, pod: Pod, node_name: str) -> Sequence[Any]: ...

    def run_filter_plugins_with_nominated_pods(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None: ...


class FilterRun:
    """One pod's filters over the nodes of a snapshot: first those that sign the pod, then the ``others``.

    ``nominated``: the slots of nodes that must be asked anew, because nominated pods count there. ``tables``: column →
    code → status; the last one holds the statuses that were asked for in this run.
    """

    __slots__ = ("asked", "columns", "framework", "nominated", "others", "plugins", "pod", "state", "tables")

    def __init__(self, framework: Filters, state: CycleState, pod: Pod, slots: Slots, active: Sequence[Any]) -> None:
        self.framework = framework
        self.state = state
        self.pod = pod
        self.columns: list[Verdicts] = []
        for plugin in active:
            sign = plugin.sign(pod)
            if sign is None:
                break
            self.columns.append(framework.columns.verdicts(plugin, sign, slots))
        self.plugins = active[: len(self.columns)]
        self.others = active[len(self.columns) :]
        self.tables: list[list[Status | None]] = [*(column.statuses for column in self.columns), [None, None]]
        self.asked: dict[Status, int] = {}
        self.nominated = self._nominated() if framework.handle.nominator.has_nominations() else []

    def _nominated(self) -> list[int]:
        snapshot, counted = self.framework.handle.snapshot, []
        for name in self.framework.handle.nominator.nominated_nodes():
            info = snapshot.get(name)
            if info is not None and self.framework.nominated_for(self.pod, name):
                counted.append(info.slot)
        return counted

    def judge_together(self, order: SlotArray, slots: Slots) -> None:
        """Let the plugins that can do so judge all nodes without a kept verdict at once."""
        for plugin, column in zip(self.plugins, self.columns, strict=True):
            if not hasattr(plugin, "filter_all"):
                continue
            unknown = order[column.codes[order] == UNKNOWN]
            if len(unknown) >= WORTHWHILE and not slots.amounts.large:
                for status, places in plugin.filter_all(self.state, self.pod, unknown, slots.amounts):
                    column.keep(unknown[places], None if status is None else status.by(plugin.name))

    def known(self, order: SlotArray) -> Codes:
        """Return the kept verdicts on the nodes in ``order``: UNKNOWN where a plugin must be asked."""
        if not self.columns:
            codes = np.full(len(order), UNKNOWN if self.others else PASSED, dtype=np.int32)
        else:
            codes = self.columns[0].codes[order]
        for number, column in enumerate(self.columns[1:], 1):
            codes = np.where(codes & CODE_MASK == PASSED, column.codes[order] + (number << CODE_BITS), codes)
        if self.others:
            codes[codes & CODE_MASK == PASSED] = UNKNOWN
        if self.nominated:
            codes[np.isin(order, self.nominated)] = UNKNOWN
        return codes

    def code_of(self, status: Status) -> int:
        """Return the code of a status that ``verdict`` has returned."""
        own = self.tables[-1]
        code = self.asked.get(status)
        if code is None:
            code = self.asked[status] = len(own)
            own.append(status)
        return (len(self.columns) << CODE_BITS) + code

    def verdict(self, info: NodeInfo) -> Status | None:
        """Return the first failing plugin's status on the node, None if all pass; nominated pods count."""
        if info.slot in self.nominated:
            return self.framework.run_filter_plugins_with_nominated_pods(self.state, self.pod, info)
        for plugin, column in zip(self.plugins, self.columns, strict=True):
            code = column.codes[info.slot]
            if code == UNKNOWN:
                status = self.framework.ask((plugin,), self.state, self.pod, info)
                if status is None or status.is_rejected:
                    column.keep(info.slot, status)
            else:
                status = column.statuses[code]
            if status is not None:
                return status
        return self.framework.ask(self.others, self.state, self.pod, info) if self.others else None


class Rejections(Mapping[str, Status]):
    """Node name → the status that rejected it, in the order visited.

    Most cycles only need to know how many there are, so the mapping is made when somebody reads it.
    """

    __slots__ = ("by_name", "codes", "nodes", "tables")

    def __init__(self, nodes: Nodes, codes: Codes, tables: Sequence[Sequence[Status | None]]) -> None:
        self.nodes = nodes
        self.codes = codes
        self.tables = tables
        self.by_name: dict[str, Status] | None = None

    def read(self) -> dict[str, Status]:
        if self.by_name is None:
            statuses = {code: self._status(code) for code in self._distinct()}
            names = (info.name for info in self.nodes)
            self.by_name = {name: statuses[code] for name, code in zip(names, self.codes.tolist(), strict=True)}
        return self.by_name

    def distinct(self) -> list[Status]:
        """Return the different statuses, in the order of their first nodes."""
        return [self._status(code) for code in self._distinct()]

    def _status(self, code: int) -> Status:
        status = self.tables[code >> CODE_BITS][code & CODE_MASK]
        assert status is not None, "a rejection has a status"
        return status

    def _distinct(self) -> list[int]:
        distinct: list[int] = []
        rest = self.codes
        while len(rest) and len(distinct) < FEW:
            distinct.append(int(rest[0]))
            rest = rest[rest != rest[0]]
        return [*distinct, *dict.fromkeys(rest.tolist())]

    def __getitem__(self, name: str) -> Status:
        return self.read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.read())

    def __len__(self) -> int:
        return len(self.nodes)

    def __deepcopy__(self, memo: dict[int, object]) -> dict[str, Status]:
        return dict(self.read())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self.read(),)
