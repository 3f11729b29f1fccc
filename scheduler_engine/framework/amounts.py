"""What every node of a snapshot has and has in use, as arrays by slot: for plugins that judge all nodes at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_engine.framework.node_info import NodeInfo

IntArray = NDArray[np.int64]
Mask = NDArray[np.bool_]
MOST = 2**55
"""Up to this amount a percentage fits into 64 bits; with a larger one, plugins judge node by node."""
BASIC = ("cpu", "memory", "ephemeral-storage")
PODS, PODS_THERE, NON_ZERO_CPU, NON_ZERO_MEMORY, FIRST_AMOUNT = range(5)
"""The first rows of the table; after them, two rows per resource: allocatable and requested."""


class NodeAmounts:
    """One row per kind of amount, one column per slot: millicores, bytes, whole units.

    ``rows``: resource → the row of its allocatable amount; the requested one is below. ``large``: the slots with an
    amount over ``MOST``.
    """

    __slots__ = ("large", "rows", "table")

    def __init__(self) -> None:
        self.rows = {name: FIRST_AMOUNT + 2 * place for place, name in enumerate(BASIC)}
        self.table: IntArray = np.zeros((FIRST_AMOUNT + 2 * len(BASIC), 0), dtype=np.int64)
        self.large: dict[int, None] = {}

    def put(self, info: NodeInfo) -> None:
        """Write the amounts of a node that has changed."""
        have, used = info.allocatable, info.requested
        for name in (*have.scalar, *used.scalar):
            if name not in self.rows:
                self.rows[name] = len(self.table)
                self.table = np.concatenate((self.table, np.zeros((2, self.table.shape[1]), dtype=np.int64)))
        if info.slot >= self.table.shape[1]:
            more = np.zeros((len(self.table), max(info.slot + 1 - self.table.shape[1], info.slot)), dtype=np.int64)
            self.table = np.concatenate((self.table, more), axis=1)
        values: list[Any] = [
            have.allowed_pod_number,
            len(info.pods),
            info.non_zero_requested.milli_cpu,
            info.non_zero_requested.memory,
            have.milli_cpu,
            used.milli_cpu,
            have.memory,
            used.memory,
            have.ephemeral_storage,
            used.ephemeral_storage,
        ]
        for name in [*self.rows][len(BASIC) :]:
            values += have.scalar.get(name, 0), used.scalar.get(name, 0)
        if max(values) > MOST or min(values) < -MOST:
            self.large[info.slot] = None
        else:
            self.large.pop(info.slot, None)
            self.table[:, info.slot] = values

    def drop(self, slot: int) -> None:
        self.large.pop(slot, None)

    def allocatable(self, resource: str) -> IntArray:
        """Return slot → amount."""
        row = self.rows.get(resource)
        return self._nothing() if row is None else self.table[row]

    def requested(self, resource: str) -> IntArray:
        row = self.rows.get(resource)
        return self._nothing() if row is None else self.table[row + 1]

    def non_zero_requested(self, resource: str) -> IntArray:
        """Return what counts for scoring: containers without a request of cpu or memory have the defaults."""
        rows = {"cpu": NON_ZERO_CPU, "memory": NON_ZERO_MEMORY}
        return self.table[rows[resource]] if resource in rows else self.requested(resource)

    def _nothing(self) -> IntArray:
        return np.zeros(self.table.shape[1], dtype=np.int64)

    def __deepcopy__(self, memo: dict[int, object]) -> NodeAmounts:
        copied = NodeAmounts()
        copied.rows, copied.table, copied.large = dict(self.rows), self.table.copy(), dict(self.large)
        return copied
