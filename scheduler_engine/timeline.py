"""Simulated time: an integer number of microseconds, and timers on a heap.

Timers are ``(time, serial, bound method, arguments)``: plain data that can be copied and stored at any moment. Two
timers of the same time run in the order in which they were set.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from scheduler_engine.trace.events import Recorder

SECOND_US = 1_000_000

Callback = Callable[..., None]


@dataclass(order=True, slots=True)
class Timer:
    at_us: int
    serial: int
    callback: Callback = field(compare=False)
    args: tuple[Any, ...] = field(compare=False, default=())
    housekeeping: bool = field(compare=False, default=False)


@dataclass(slots=True)
class Timeline:
    """The clock of a simulation; the recorder shows the same time on every trace event."""

    recorder: Recorder
    timers: list[Timer] = field(default_factory=list)
    serial: int = 0

    @property
    def now_us(self) -> int:
        return self.recorder.now_us

    def after(self, delay_us: int, callback: Callback, *args: Any, housekeeping: bool = False) -> int:
        """Call ``callback(*args)`` in ``delay_us``. Housekeeping timers repeat for ever and do not count as work
        to wait for. Gives the timer's number, for ``cancel``.
        """
        self.serial += 1
        heapq.heappush(self.timers, Timer(self.now_us + delay_us, self.serial, callback, args, housekeeping))
        return self.serial

    def cancel(self, serial: int) -> None:
        """Forget a timer; nothing happens when it has fired."""
        self.timers = [timer for timer in self.timers if timer.serial != serial]
        heapq.heapify(self.timers)

    def next_us(self) -> int | None:
        """When the next timer fires."""
        return self.timers[0].at_us if self.timers else None

    def has_work(self) -> bool:
        """Some timer other than housekeeping is waiting."""
        return any(not timer.housekeeping for timer in self.timers)

    def fire_next(self) -> None:
        """Move the clock to the next timer and run it."""
        timer = heapq.heappop(self.timers)
        self.recorder.now_us = max(self.now_us, timer.at_us)
        timer.callback(*timer.args)

    def move_to(self, now_us: int) -> None:
        """Let time pass; timers up to then must have fired."""
        self.recorder.now_us = now_us
