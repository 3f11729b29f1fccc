"""The metrics of the web process: what ``sandbox/runtime/measures.py`` counts, and gauges of the present."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from prometheus_client import Metric, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from sandbox.limits.fairness import turns
from sandbox.pool.engines import Inside
from sandbox.pool.lanes import Process
from sandbox.pool.pool import Pool
from sandbox.runtime import measures
from sandbox.storage.records import Database, Record
from sandbox.worker.messages import QUICK, SLOW

DEDICATED = "dedicated"
LANES = (QUICK, SLOW, DEDICATED)


class CountedLog(Database):
    """The log that workers read, with a count of what they read to replay it."""

    def between(self, sandbox_id: UUID, after: int, upto: int) -> list[Record]:
        records = super().between(sandbox_id, after, upto)
        measures.REPLAYS.inc()
        measures.REPLAYED.inc(len(records))
        return records


class Metrics(Collector):
    """Call it for all metrics as text. ``server``: counts places. ``pool``: the workers, whose log it counts."""

    def __init__(self, server: Any, pool: Pool | Inside) -> None:
        self.server, self.pool = server, pool
        if isinstance(pool, Pool):
            pool.records = CountedLog()
        ProcessCollector(registry=measures.REGISTRY)
        measures.REGISTRY.register(self)

    def __call__(self) -> str:
        return generate_latest(measures.REGISTRY).decode()

    def collect(self) -> Iterator[Metric]:
        server = self.server
        waiting = sum(map(len, list(turns.waiting.values())))
        yield _gauge("sandbox_connections", "Open connections, live lines included.", server.connected.taken)
        yield _gauge("sandbox_live_lines", "Open live lines.", server.senders.taken)
        yield _gauge("sandbox_requests_present", "Requests that run or wait.", server.requests.taken)
        yield _gauge("sandbox_requests_waiting", "Requests that wait for their turn.", waiting)
        yield _gauge("sandbox_unread_clients", "Connections with more than 64 KiB unread.", len(server.stalled))
        yield from self._of_workers()

    def _of_workers(self) -> Iterator[Metric]:
        workers = _workers(self.pool)
        yield _by_lane("sandbox_engine_processes", "Workers.", Counter(lane for lane, _ in workers))
        sizes: Counter[str] = Counter()
        sent: Counter[str] = Counter()
        waiting: Counter[str] = Counter()
        for lane, process in workers:
            sizes[lane] += _resident_bytes(process.pid)
            sent[lane] += len(process.sent)
            waiting[lane] += len(process.waiting)
        yield _by_lane("sandbox_engine_resident_bytes", "Resident memory of workers; each counts shared pages.", sizes)
        yield _by_lane("sandbox_jobs_sent", "Jobs that a worker has.", sent)
        yield _by_lane("sandbox_jobs_waiting", "Jobs that wait for a worker.", waiting)


def _workers(pool: Pool | Inside) -> list[tuple[str, Process]]:
    """Return lane and worker of all workers that have started."""
    if isinstance(pool, Inside):
        return []
    with pool.lock:
        workers = [(process.lane, process) for process in pool.slots]
        workers += [(DEDICATED, process) for process in pool.homes.values()]
    return [(lane, process) for lane, process in workers if process.pid]


def _resident_bytes(pid: int) -> int:
    """Return the resident memory of a process, 0 if it has just ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _gauge(name: str, help_text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, help_text, value=value)


def _by_lane(name: str, help_text: str, values: Counter[str]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, help_text, labels=["lane"])
    for lane in LANES:
        family.add_metric([lane], values[lane])
    return family
