"""An elector's own clock, which may be wrong and may run fast or slow. Source: seed 003 (skew and skew rate)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from scheduler_engine.timeline import Timers


@dataclass(slots=True)
class ElectorClock:
    """Shows ``own_us`` at the simulated microsecond ``since_us``; after that it runs ``rate`` times as fast.

    A fraction keeps the clock exact over any time; ``Fraction("1.1")`` gains 100 ms a second.
    """

    timeline: Timers
    own_us: int = 0
    rate: Fraction = Fraction(1)
    since_us: int = 0

    def now_us(self) -> int:
        """Return the microseconds on this clock."""
        return self.own_us + int((self.timeline.now_us - self.since_us) * self.rate)

    def jump(self, by_us: int) -> None:
        """Set the clock forward, or back if ``by_us`` is negative."""
        self.own_us += by_us

    def set_rate(self, rate: Fraction) -> None:
        """Run at ``rate`` (above 0) from now on. Raises ValueError."""
        if rate <= 0:
            raise ValueError("the rate of a clock must be greater than zero")
        self.own_us, self.since_us, self.rate = self.now_us(), self.timeline.now_us, rate

    def simulated_us(self, own_us: int) -> int:
        """Return how many simulated microseconds pass while this clock counts ``own_us``."""
        return -int(-own_us // self.rate)
