"""Simulated time: an integer number of microseconds, and timers in order.

Timers are ``(time, serial, bound method, arguments)``: plain data that can be copied and stored at any moment. Two
timers of the same time run in the order in which they were set.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any, Protocol

from scheduler_engine.trace.events import Recorder

SECOND_US = 1_000_000

Callback = Callable[..., None]


class Timers(Protocol):
    """The clock's methods for those who wait."""

    @property
    def now_us(self) -> int: ...

    def after(self, delay_us: int, callback: Callback, *args: Any, housekeeping: bool = False) -> int: ...


@dataclass(order=True, slots=True)
class Timer:
    at_us: int
    serial: int
    callback: Callback = field(compare=False)
    args: tuple[Any, ...] = field(compare=False, default=())
    housekeeping: bool = field(compare=False, default=False)


@dataclass(slots=True)
class Timeline:
    """The clock of a simulation; the recorder shows the same time on every trace event. ``timers``: in order of time.

    It is a sorted list, not a heap: thousands of pods may run, and to take one timer out leaves the others in order.
    """

    recorder: Recorder
    timers: list[Timer] = field(default_factory=list)
    serial: int = 0

    @property
    def now_us(self) -> int:
        return self.recorder.now_us

    def after(self, delay_us: int, callback: Callback, *args: Any, housekeeping: bool = False) -> int:
        """Call ``callback(*args)`` in ``delay_us``. Housekeeping timers repeat forever and do not count as work
        to wait for. Return the timer's number, for ``cancel``.
        """
        self.serial += 1
        insort(self.timers, Timer(self.now_us + delay_us, self.serial, callback, args, housekeeping))
        return self.serial

    def cancel(self, serial: int) -> None:
        """Cancel a timer; do nothing if it has fired."""
        self.timers = [timer for timer in self.timers if timer.serial != serial]

    def next_us(self) -> int | None:
        """Return when the next timer fires."""
        return self.timers[0].at_us if self.timers else None

    def has_work(self, until_us: float = inf) -> bool:
        """Return True if a timer other than housekeeping is due by then."""
        return any(not timer.housekeeping and timer.at_us <= until_us for timer in self.timers)

    def fire_next(self) -> None:
        """Move the clock to the next timer and run it. Raises OverBudget."""
        self.recorder.effort.count_step()
        timer = self.timers.pop(0)
        self.recorder.now_us = max(self.now_us, timer.at_us)
        timer.callback(*timer.args)

    def move_to(self, now_us: int) -> None:
        """Let time pass; timers up to then must have fired."""
        self.recorder.now_us = now_us


@dataclass(slots=True)
class ProcessTimers:
    """The timers of one process, which pause with it and end with it.

    Its work when one fires is attributed to it: ``name`` becomes the recorder's ``replica``. Timers that fall due in a
    pause wait in ``overdue`` and are due at once when the process continues.
    """

    timeline: Timeline
    name: str = ""
    count: int = 0
    pending: dict[int, int] = field(default_factory=dict)
    paused: bool = False
    overdue: list[tuple[Callback, tuple[Any, ...], bool]] = field(default_factory=list)

    @property
    def now_us(self) -> int:
        return self.timeline.now_us

    def after(self, delay_us: int, callback: Callback, *args: Any, housekeeping: bool = False) -> int:
        """Like ``Timeline.after``; the number returned is the process's own."""
        self.count += 1
        due = (self.count, callback, args, housekeeping)
        self.pending[self.count] = self.timeline.after(delay_us, self._due, *due, housekeeping=housekeeping)
        return self.count

    def _due(self, number: int, callback: Callback, args: tuple[Any, ...], housekeeping: bool) -> None:
        del self.pending[number]
        if self.paused:
            self.overdue.append((callback, args, housekeeping))
            return
        with self.timeline.recorder.doing(self.name):
            callback(*args)

    def resume(self) -> None:
        """Continue the process: overdue timers fire as soon as time moves."""
        self.paused = False
        overdue, self.overdue = self.overdue, []
        for callback, args, housekeeping in overdue:
            self.after(0, callback, *args, housekeeping=housekeeping)

    def stop(self) -> None:
        """End the process: its timers never fire."""
        for serial in self.pending.values():
            self.timeline.cancel(serial)
        self.pending, self.overdue, self.paused = {}, [], False
