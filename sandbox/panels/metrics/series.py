"""Trace entries as time series over simulated time, which the charts of the metrics panel draw.

``Series.apply`` takes one entry at a time. Each line keeps at most ``POINTS`` points: when simulated time exceeds them,
all lines become half as fine. A point keeps the highest and the last value of its stretch of time, so that a peak
within an instant (pods come, pods are bound) stays visible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from sandbox.panels.metrics.usage import RESOURCES, Usage, Value
from sandbox.panels.model.world import World
from sandbox.words.amounts import SECOND
from scheduler_engine.trace import events as ev
from scheduler_engine.trace.counters import QUEUES, Counters

POINTS = 120
FINEST_US = SECOND // 10
"""The stretch of simulated time that one point covers at first."""
MOST_GONE = 40
"""Most lines per chart of things that are gone; they are kept in case they come back."""


@dataclass(slots=True)
class Point:
    """``at_us``: when ``last`` became true, in simulated microseconds."""

    at_us: int
    highest: Value
    last: Value


@dataclass(slots=True)
class Line:
    points: list[Point] = field(default_factory=list)

    @property
    def last(self) -> Value:
        return self.points[-1].last if self.points else None

    @property
    def highest(self) -> Value:
        return _higher(point.highest for point in self.points)

    def put(self, at_us: int, value: Value, width_us: int) -> None:
        """Add the value from ``at_us`` on; times only rise."""
        if self.points and self.last == value:
            return
        self._add(Point(at_us, value, value), width_us)

    def coarsen(self, width_us: int) -> None:
        """Merge the points that fall into one stretch of ``width_us``."""
        points, self.points = self.points, []
        for point in points:
            self._add(point, width_us)

    def _add(self, point: Point, width_us: int) -> None:
        before = self.points[-1] if self.points else None
        if before is not None and before.at_us // width_us == point.at_us // width_us:
            point.highest = _higher((before.highest, point.highest))
            self.points[-1] = point
        else:
            self.points.append(point)


def _higher(values: Iterable[Value]) -> Value:
    return max((value for value in values if value is not None), default=None)


class Series:
    """``lines``: chart → label → line.

    Charts: ``pending``, ``incoming``, ``attempts``, ``preemption``, and ``<resource>/node`` and ``<resource>/zone`` in
    percent. ``folded``: number of entries so far. ``width_us``: what one point covers.
    """

    def __init__(self) -> None:
        self.counters = Counters()
        self.usage = Usage()
        self.folded = 0
        self.width_us = FINEST_US
        self.lines: dict[str, dict[Any, Line]] = {}
        self._gone: dict[str, dict[Any, None]] = {}
        self._appliers: dict[type[ev.Event], Callable[[ev.Entry], None]] = {
            ev.PodMoved: self._moved,
            ev.StageFinished: self._attempted,
            ev.CycleFinished: self._attempted,
            ev.PostFilterRan: self._preempted,
            ev.ObjectAdded: self._used,
            ev.ObjectModified: self._used,
            ev.ObjectDeleted: self._used,
            ev.CachePodChanged: self._used,
            ev.ReplicasConfigured: self._used,
            ev.ReplicaChanged: self._used,
        }

    def apply(self, entry: ev.Entry) -> None:
        self.folded += 1
        self.counters.apply(entry)
        applier = self._appliers.get(type(entry.event))
        if applier is not None:
            self._make_room(entry.at_us)
            applier(entry)

    def of(self, chart: str) -> dict[Any, Line]:
        return self.lines.get(chart, {})

    def _make_room(self, at_us: int) -> None:
        if at_us < POINTS * self.width_us:
            return
        while at_us >= POINTS * self.width_us:
            self.width_us *= 2
        for lines in self.lines.values():
            for line in lines.values():
                line.coarsen(self.width_us)

    def _put(self, chart: str, at_us: int, values: Mapping[Any, Value]) -> None:
        lines = self.lines.setdefault(chart, {})
        for label, value in values.items():
            lines.setdefault(label, Line()).put(at_us, value, self.width_us)
            self._note(chart, label, value)

    def _note(self, chart: str, label: Any, value: Value) -> None:
        """Record whether a line is gone; beyond ``MOST_GONE`` drop the one that has been gone longest."""
        labels = self._gone.setdefault(chart, {})
        labels.pop(label, None)
        if value is not None:
            return
        labels[label] = None
        if len(labels) > MOST_GONE:
            oldest = next(iter(labels))
            del labels[oldest], self.lines[chart][oldest]

    def _count(self, chart: str, at_us: int, values: Mapping[Any, int]) -> None:
        """Put the values of counters. Before their first value, counters were 0."""
        lines = self.of(chart)
        self._put(chart, 0, {label: 0 for label in values if label not in lines})
        self._put(chart, at_us, values)

    def _moved(self, entry: ev.Entry) -> None:
        self._count("pending", entry.at_us, {queue: self.counters.pending[queue] for queue in QUEUES})
        self._count("incoming", entry.at_us, self.counters.incoming)

    def _attempted(self, entry: ev.Entry) -> None:
        self._count("attempts", entry.at_us, self.counters.attempts)

    def _preempted(self, entry: ev.Entry) -> None:
        counts = {"attempts": self.counters.preemption_attempts, "victims": self.counters.victims.total}
        self._count("preemption", entry.at_us, counts)

    def _used(self, entry: ev.Entry) -> None:
        for node, zone in self.usage.apply(entry.event):
            for resource in RESOURCES:
                self._put(f"{resource}/node", entry.at_us, {node: self.usage.of_node(node, resource)})
                self._put(f"{resource}/zone", entry.at_us, {zone: self.usage.of_zone(zone, resource)})


_series: WeakKeyDictionary[World, Series] = WeakKeyDictionary()


def series_of(world: World) -> Series:
    """Return the series of a world's trace so far. It is folded only on demand: a closed panel costs nothing."""
    series = _series.get(world)
    if series is None:
        series = _series[world] = Series()
    for entry in world.entries[series.folded :]:
        series.apply(entry)
    return series
