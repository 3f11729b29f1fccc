"""One candidate: try to acquire or renew, release, and track who it believes leads.

There is no fencing: an elector knows only what it has seen, and judges expiry by its own clock from the moment it
saw a change. Source: seed 003; upstream ``client-go/tools/leaderelection/leaderelection.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from scheduler_engine.apiserver.errors import ApiError
from scheduler_engine.errors import Rejected
from scheduler_engine.leaderelection.clock import ElectorClock
from scheduler_engine.leaderelection.locks import ResourceLock
from scheduler_engine.leaderelection.record import LeaderElectionRecord
from scheduler_engine.timeline import SECOND_US

JITTER_FACTOR = 1.2
SECOND_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class LeaderElectionConfig:
    """Durations are nanoseconds, as ``durations.py`` reads them: Kubernetes judges them to the nanosecond.

    The callbacks are methods of plain objects, so that an elector can be copied and stored: ``on_started_leading()``,
    ``on_stopped_leading()`` (also when it never led), ``on_new_leader(identity)``.
    """

    lock: ResourceLock | None
    on_started_leading: Callable[[], None] | None
    on_stopped_leading: Callable[[], None] | None
    on_new_leader: Callable[[str], None] | None = None
    lease_duration_ns: int = 15 * SECOND_NS
    renew_deadline_ns: int = 10 * SECOND_NS
    retry_period_ns: int = 2 * SECOND_NS
    release_on_cancel: bool = True
    name: str = "kube-scheduler"


RULES: tuple[tuple[Callable[[LeaderElectionConfig], bool], str], ...] = (
    (lambda c: c.lease_duration_ns > c.renew_deadline_ns, "leaseDuration must be greater than renewDeadline"),
    (
        lambda c: c.renew_deadline_ns > int(JITTER_FACTOR * c.retry_period_ns),
        "renewDeadline must be greater than retryPeriod*JitterFactor",
    ),
    (lambda c: c.lease_duration_ns > 0, "leaseDuration must be greater than zero"),
    (lambda c: c.renew_deadline_ns > 0, "renewDeadline must be greater than zero"),
    (lambda c: c.retry_period_ns > 0, "retryPeriod must be greater than zero"),
    (lambda c: c.on_started_leading is not None, "OnStartedLeading callback must not be nil"),
    (lambda c: c.on_stopped_leading is not None, "OnStoppedLeading callback must not be nil"),
    (lambda c: c.lock is not None, "Lock must not be nil."),
    (lambda c: c.lock is not None and c.lock.identity != "", "Lock identity is empty"),
)
"""(condition, message if it does not hold), in the order checked."""


def validate(config: LeaderElectionConfig) -> str:
    """Return the first error; "" if there is none."""
    return next((message for holds, message in RULES if not holds(config)), "")


def new_leader_elector(config: LeaderElectionConfig, clock: ElectorClock) -> LeaderElector:
    """Create an elector. Raises Rejected with the first error in ``config``."""
    wrong = validate(config)
    if config.lock is None or wrong:
        raise Rejected(wrong)
    return LeaderElector(config, config.lock, clock)


@dataclass(slots=True)
class LeaderElector:
    """``observed_time_us`` is by its own clock, None before it has seen anything; ``observed_raw`` is the text last
    compared, None before the first read. ``last_message`` says why the last try failed, "" if it did not;
    ``last_outcome`` is created, acquired, renewed, released, held (by another) or failed. ``last_steps``: (step,
    result) of the last try, see ``ElectorTried``.
    """

    config: LeaderElectionConfig
    lock: ResourceLock
    clock: ElectorClock
    observed_record: LeaderElectionRecord = field(default_factory=LeaderElectionRecord)
    observed_raw: str | None = None
    observed_time_us: int | None = None
    reported_leader: str = ""
    last_message: str = ""
    last_outcome: str = ""
    last_steps: list[tuple[str, str]] = field(default_factory=list)

    # --- beliefs ---

    def get_leader(self) -> str:
        """Return the holder last seen; "" if there is none."""
        return self.observed_record.holder_identity

    def is_leader(self) -> bool:
        """Return True if it believes that it leads; it may be wrong."""
        return self.get_leader() == self.lock.identity

    def is_lease_valid(self, now_us: int) -> bool:
        """Return True if ``now_us`` is strictly before the end of the lease, counted from its last seen change."""
        if self.observed_time_us is None:
            return False
        return self.observed_time_us + self.observed_record.lease_duration_seconds * SECOND_US > now_us

    def valid_until_us(self) -> int | None:
        """Return the end of the last seen lease by its own clock, in simulated microseconds; None: it saw none."""
        if self.observed_time_us is None or not self.observed_record.holder_identity:
            return None
        end_us = self.observed_time_us + self.observed_record.lease_duration_seconds * SECOND_US
        return self.clock.timeline.now_us + self.clock.simulated_us(end_us - self.clock.now_us())

    def check(self, max_tolerable_expired_us: int) -> str:
        """Return why a leader is unhealthy that has not renewed for too long; "" if it is healthy."""
        if not self.is_leader() or self.observed_time_us is None:
            return ""
        age_us = self.clock.now_us() - self.observed_time_us
        if age_us * 1000 > self.config.lease_duration_ns + max_tolerable_expired_us * 1000:
            return f"failed election to renew leadership on lease {self.config.name}"
        return ""

    # --- acquire, renew, release ---

    def try_acquire_or_renew(self) -> bool:
        """Try once; return True if this elector then holds the lock.

        A leader with a valid lease first writes without reading; otherwise it reads, judges and writes.
        """
        self.last_message, self.last_outcome, self.last_steps = "", "failed", []
        succeeded = "renewed" if self.is_leader() else "acquired"
        now_us = self.clock.now_us()
        seconds = self.config.lease_duration_ns // SECOND_NS
        record = LeaderElectionRecord(self.lock.identity, seconds, acquire_time_us=now_us, renew_time_us=now_us)
        if self.is_leader() and self.is_lease_valid(now_us):
            observed = self.observed_record
            # Kept if the write fails: an elector that must take the lock again still writes the old acquire time.
            record = self._continued(record, observed)
            if self._write("fast path", self.lock.update, record, "Failed to update lock optimistically", succeeded):
                return True
        try:
            old, raw = self.lock.get()
        except ApiError as problem:
            if problem.reason == "NotFound":
                failure = "error initially creating leader election record"
                return self._write("create", self.lock.create, record, failure, "created")
            self.last_message = f"error retrieving resource lock {self.lock.describe()}: {problem.message}"
            self.last_steps.append(("get", "failed"))
            return False
        self.last_steps.append(("get", "done"))
        return self._judge_and_update(record, old, raw, now_us, succeeded)

    def _judge_and_update(
        self, record: LeaderElectionRecord, old: LeaderElectionRecord, raw: str, now_us: int, succeeded: str
    ) -> bool:
        """Handle an existing lock: note a change, respect a holder with a valid lease, else write."""
        if raw != (self.observed_raw or ""):
            self._observe(old)
            self.observed_raw = raw
        if old.holder_identity and self.is_lease_valid(now_us) and not self.is_leader():
            self.last_message = f"lock is held by {old.holder_identity} and has not yet expired"
            self.last_outcome = "held"
            self.last_steps.append(("judge", "held"))
            return False
        self.last_steps.append(("judge", "own" if self.is_leader() else "ended" if old.holder_identity else "free"))
        if self.is_leader():
            record = self._continued(record, old)
        else:
            record = replace(record, leader_transitions=old.leader_transitions + 1)
        return self._write("update", self.lock.update, record, "Failed to update lock", succeeded)

    def release(self) -> bool:
        """Release the lock, if this elector holds it; also return True if it does not."""
        self.last_message, self.last_outcome, self.last_steps = "", "failed", []
        try:
            old, _ = self.lock.get()
        except ApiError as problem:
            self.last_message = f"error retrieving resource lock {self.lock.describe()}: {problem.message}"
            if problem.reason == "NotFound":
                self.last_message = f"lease lock not found: {self.lock.describe()}"
            return False
        if not self.is_leader():
            self.last_outcome = "held"
            return True
        now_us = self.clock.now_us()
        free = LeaderElectionRecord("", 1, now_us, now_us, old.leader_transitions)
        return self._write("release", self.lock.update, free, "Failed to release lock", "released")

    def maybe_report_transition(self) -> None:
        """Report the holder if it differs from the last one reported."""
        if self.get_leader() != self.reported_leader:
            self.reported_leader = self.get_leader()
            if self.config.on_new_leader is not None:
                self.config.on_new_leader(self.reported_leader)

    @staticmethod
    def _continued(record: LeaderElectionRecord, old: LeaderElectionRecord) -> LeaderElectionRecord:
        return replace(record, acquire_time_us=old.acquire_time_us, leader_transitions=old.leader_transitions)

    def _write(
        self,
        step: str,
        write: Callable[[LeaderElectionRecord], None],
        record: LeaderElectionRecord,
        failure: str,
        success: str,
    ) -> bool:
        try:
            write(record)
        except ApiError as problem:
            self.last_message = f"{failure}: {problem.message}"
            self.last_steps.append((step, "failed"))
            return False
        self.last_steps.append((step, "done"))
        self.last_message, self.last_outcome = "", success
        self._observe(record)
        return True

    def _observe(self, record: LeaderElectionRecord) -> None:
        self.observed_record = record
        self.observed_time_us = self.clock.now_us()
