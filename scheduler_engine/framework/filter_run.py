"""One pod's filters over the nodes of a snapshot: kept verdicts, then many nodes at once, then node by node."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from typing import Any, Protocol

import numpy as np

from scheduler_engine.api.objects import Pod
from scheduler_engine.framework.amounts import Mask
from scheduler_engine.framework.columns import (
    CODE_BITS,
    CODE_MASK,
    FEW,
    PASSED,
    UNKNOWN,
    WORTHWHILE,
    Codes,
    Columns,
    Verdicts,
)
from scheduler_engine.framework.cycle_state import CycleState
from scheduler_engine.framework.interface import Handle
from scheduler_engine.framework.node_info import NodeInfo
from scheduler_engine.framework.nodes import Nodes, SlotArray, Slots
from scheduler_engine.framework.status import Code, Status


class Filters(Protocol):
    """The methods of the framework that a run of filters needs."""

    columns: Columns
    handle: Handle

    def ask(self, plugins: Sequence[Any], state: CycleState, pod: Pod, node_info: NodeInfo) -> Status | None: ...

    def nominated_for(self, pod: Pod, node_name: str) -> Sequence[Any]: ...

    def run_filter_plugins_with_nominated_pods(self, state: CycleState, pod: Pod, info: NodeInfo) -> Status | None: ...


class FilterRun:
    """One pod's filters over the nodes of a snapshot: first those that sign the pod, then the ``others``.

    ``rest``: those of the others that have not judged the nodes of the latest ``known`` together. ``nominated``: the
    slots of nodes that must be asked anew, because nominated pods count there. ``tables``: column →
    code → status; the last one holds the statuses that were asked for in this run.
    """

    __slots__ = ("asked", "columns", "framework", "nominated", "others", "plugins", "pod", "rest", "state", "tables")

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
        self.others = self.rest = active[len(self.columns) :]
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

    def known(self, order: SlotArray, infos: Sequence[NodeInfo]) -> Codes:
        """Return the verdicts on the nodes in ``order``: UNKNOWN where a plugin must be asked about the single node.

        Plugins judge many nodes at once where they can.
        """
        codes: Codes | None = None
        everywhere = PASSED
        for number, (plugin, column) in enumerate(zip(self.plugins, self.columns, strict=True)):
            if codes is None and column.pass_all():
                everywhere = PASSED + (number << CODE_BITS)
                continue
            held = column.codes.take(order)
            if codes is None:
                # Most plugins have no objection to these nodes: then one number stands for all codes.
                if (held == PASSED).all():
                    everywhere = PASSED + (number << CODE_BITS)
                    continue
                codes = np.full(len(order), everywhere, dtype=np.int32)
            passing = codes & CODE_MASK == PASSED
            places = (passing & (held == UNKNOWN)).nonzero()[0]
            unknown = order[places]
            if len(unknown) >= WORTHWHILE:
                for status, judged in self._together(plugin, Nodes(infos, unknown)) or ():
                    column.keep(unknown[judged], status)
            if self.others:
                # These judge together only what all before them have judged.
                for slot in unknown[column.codes[unknown] == UNKNOWN].tolist():
                    self._ask(plugin, column, infos[slot])
            held[places] = column.codes[unknown]
            codes = np.where(passing, held + (number << CODE_BITS), codes)
        if codes is None:
            codes = np.full(len(order), everywhere, dtype=np.int32)
        self.rest = self.others
        while self.rest and len(order) >= WORTHWHILE:
            passing = (codes & CODE_MASK == PASSED).nonzero()[0]
            verdicts = self._together(self.rest[0], Nodes(infos, order[passing]))
            if verdicts is None or (codes & CODE_MASK == UNKNOWN).any():
                break
            for status, judged in verdicts:
                if status is not None:
                    codes[passing[judged]] = self.code_of(status)
            self.rest = self.rest[1:]
        if self.rest:
            codes[codes & CODE_MASK == PASSED] = UNKNOWN
        if self.nominated:
            codes[np.isin(order, self.nominated)] = UNKNOWN
        return codes

    def _together(self, plugin: Any, nodes: Nodes) -> Iterable[tuple[Status | None, Mask]] | None:
        judged = plugin.filter_all(self.state, self.pod, nodes) if hasattr(plugin, "filter_all") else None
        if judged is None:
            return None
        return [(status and status.by(plugin.name), places) for status, places in judged]

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
            status = self._ask(plugin, column, info) if code == UNKNOWN else column.statuses[code]
            if status is not None:
                return status
        return self.framework.ask(self.rest, self.state, self.pod, info) if self.rest else None

    def _ask(self, plugin: Any, column: Verdicts, info: NodeInfo) -> Status | None:
        status = self.framework.ask((plugin,), self.state, self.pod, info)
        if status is None or status.is_rejected:
            column.keep(info.slot, status)
        return status


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

    def values(self) -> ValuesView[Status]:
        return self.read().values()

    def items(self) -> ItemsView[str, Status]:
        return self.read().items()

    def slots_for_code(self, code: Code) -> SlotArray:
        """Return the slots of the nodes whose status has ``code``."""
        wanted = [number for number in self._distinct() if self._status(number).code is code]
        return self.nodes.slots[np.isin(self.codes, wanted)]

    def counted(self) -> list[tuple[Status, int]]:
        """Return the number of nodes per status."""
        return [(self._status(code), int(np.count_nonzero(self.codes == code))) for code in self._distinct()]

    def __deepcopy__(self, memo: dict[int, object]) -> dict[str, Status]:
        return dict(self.read())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self.read(),)
