"""A replica's election from start to stop: acquire, lead and renew, lose or give up.

All waiting is done with timers on the simulated clock, so that an election can be copied and stored at any moment.
Source: seed 003 (Run, acquire, renew); upstream ``client-go/tools/leaderelection/leaderelection.go`` and
``apimachinery/pkg/util/wait`` (JitterUntil, PollUntilContextTimeout).
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from scheduler_engine.leaderelection.elector import JITTER_FACTOR, LeaderElector
from scheduler_engine.timeline import Timers
from scheduler_engine.trace.events import ElectorTried

NOT_STARTED, ACQUIRING, LEADING, STOPPED = "not started", "acquiring", "leading", "stopped"

LEADER_ELECTION_LOST = "Leaderelection lost"
"""The text that kube-scheduler v1.34.1 logs before it exits; in seed 003 it is still ``lost master``."""
CANCELLED = "cancelled"
KILLED = "killed"


@dataclass(slots=True)
class Election:
    """``state`` is what the replica does, which may differ from what its elector has seen: an overtaken one still leads
    until its renew deadline. ``outcome`` says why it stopped.

    ``wake_serial`` counts timers, since only the last one set counts. ``deadline_us`` (simulated) ends the current
    renewal, None between renewals.
    """

    elector: LeaderElector
    timeline: Timers
    random: Random
    state: str = NOT_STARTED
    outcome: str = ""
    deadline_us: int | None = None
    wake_serial: int = 0

    def start(self) -> None:
        """Become a candidate; try at once."""
        self.state = ACQUIRING
        self._acquire()

    def cancel(self) -> None:
        """End in an orderly way; a leader releases the lock if configured to."""
        if self.state == ACQUIRING:
            self._stop(CANCELLED)
        elif self.state == LEADING:
            self._stop_leading(CANCELLED)

    def kill(self) -> None:
        """End the process: it does nothing more, and the lock stays as it is."""
        self._end(KILLED)

    # --- the two loops ---

    def _acquire(self) -> None:
        elector = self.elector
        acquired = elector.try_acquire_or_renew()
        self._tell()
        elector.maybe_report_transition()
        if not acquired:
            period_us = self._own_us(elector.config.retry_period_ns)
            self._wait(int(period_us * (1 + self.random.random() * JITTER_FACTOR)))
            return
        elector.lock.record_event("became leader")
        self.state = LEADING
        if elector.config.on_started_leading is not None:
            elector.config.on_started_leading()
        if self.state == LEADING:
            self._renew()

    def _renew(self) -> None:
        """Try to renew; a renewal begins with its first try and ends with a success or at its deadline."""
        config, now_us = self.elector.config, self.timeline.now_us
        retry_us = self._own_us(config.retry_period_ns)
        if self.deadline_us is None:
            self.deadline_us = now_us + self._own_us(config.renew_deadline_ns)
        if now_us >= self.deadline_us:
            self.elector.maybe_report_transition()
            self._stop_leading(LEADER_ELECTION_LOST)
            return
        renewed = self.elector.try_acquire_or_renew()
        self._tell()
        if renewed:
            self.deadline_us = None
            self.elector.maybe_report_transition()
            self._wait(retry_us)
        else:
            self._wait(min(retry_us, self.deadline_us - now_us))

    def _stop_leading(self, outcome: str) -> None:
        if self.elector.config.release_on_cancel:
            self.elector.release()
            self._tell()
        self.elector.lock.record_event("stopped leading")
        self._stop(outcome)

    def _stop(self, outcome: str) -> None:
        self._end(outcome)
        if self.elector.config.on_stopped_leading is not None:
            self.elector.config.on_stopped_leading()

    def _end(self, outcome: str) -> None:
        self.state, self.outcome, self.deadline_us = STOPPED, outcome, None
        self.wake_serial += 1

    def _tell(self) -> None:
        elector = self.elector
        if elector.lock.recorder is not None:
            said = elector.last_outcome, elector.last_message, elector.get_leader(), elector.valid_until_us()
            elector.lock.recorder.add(ElectorTried(elector.lock.identity, *said, tuple(elector.last_steps)))

    # --- waiting ---

    def _own_us(self, duration_ns: int) -> int:
        """Convert a duration on the elector's own clock to the simulated clock."""
        return self.elector.clock.simulated_us(duration_ns // 1000)

    def _wait(self, delay_us: int) -> None:
        self.wake_serial += 1
        self.timeline.after(max(delay_us, 1), self._wake, self.wake_serial, housekeeping=True)

    def _wake(self, serial: int) -> None:
        if serial != self.wake_serial:
            return
        if self.state == ACQUIRING:
            self._acquire()
        elif self.state == LEADING:
            self._renew()
