"""All replicas of the scheduler: who leads, whose turn it is, and shared data.

There is no fencing: a replica that believes it leads schedules. A sandbox begins with one replica without a name,
which needs no election. Source: seed 003.
"""

from __future__ import annotations

from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.config.types import Configuration
from scheduler_engine.replica import ElectionSettings, Replica
from scheduler_engine.scheduler.scheduler import CycleNumbers, Scheduler
from scheduler_engine.timeline import SECOND_US, Timeline
from scheduler_engine.trace.events import AssumedPodsExpire, Recorder, ReplicasConfigured
from scheduler_engine.versions import Rules

NAME = "kube-scheduler"
MAX_TRIES = 120_000
"""The most tries for the lock in one command: each adds two of the trace entries that a command may add."""


class Replicas:
    """All replicas, and shared data. ``last`` is the scheduler that began or ended last.

    ``turn``: the replica with the next stage, if several schedule. ``configuration`` is for the next scheduler.
    """

    last: Scheduler

    def __init__(
        self,
        api: ApiServer,
        timeline: Timeline,
        recorder: Recorder,
        seed: int,
        configuration: Configuration,
        queue_rules: str,
        rules: Rules,
    ) -> None:
        self.api = api
        self.timeline = timeline
        self.recorder = recorder
        self.seed = seed
        self.configuration = configuration
        self.queue_rules, self.rules = queue_rules, rules
        self.numbers = CycleNumbers()
        self.assumed_ttl_us = 0
        self.turn = 0
        self.members = [Replica(self, "", None)]
        self.members[0].start("")

    def replace(self, count: int, settings: ElectionSettings | None) -> None:
        """End the present replicas, in good order if they can be reached, and start ``count`` others.

        Raises Rejected when ``settings`` are wrong; then nothing has changed.
        """
        names = [f"{NAME}-{number}" for number in range(1, count + 1)]
        members = [Replica(self, name, settings) for name in names]
        for member in self.members:
            if member.timers.paused:
                member.kill()
            elif member.runs:
                member.release()
        self.members, self.turn = members, 0
        self.recorder.add(_configured(names, settings))
        for member in members:
            member.start("started")

    @property
    def named(self) -> bool:
        """Return True if there are replicas, not just the initial scheduler."""
        return bool(self.members[0].name)

    @property
    def scheduler(self) -> Scheduler:
        """Return the scheduler that leads, of several the first; if none does, the last one that led, which is gone."""
        return next((member.scheduler for member in self.members if member.scheduler is not None), self.last)

    def scheduler_of(self, cycle: int) -> Scheduler | None:
        """Return the scheduler whose latest cycle has this number; None: it has begun another one, or is gone."""
        return next((item for item in self._known() if item.latest is not None and item.latest.number == cycle), None)

    def binder_of(self, cycle: int) -> Scheduler | None:
        """Return the scheduler that still has this cycle: it is the latest one, or binds its pod beside later ones."""
        return next((item for item in self._known() if item.cycle_numbered(cycle) is not None), None)

    def _known(self) -> list[Scheduler]:
        return [member.scheduler for member in self.members if member.scheduler is not None] or [self.last]

    def leaders(self) -> list[Replica]:
        """Return those with a scheduler, paused or not."""
        return [member for member in self.members if member.scheduler is not None]

    def expire_assumed_pods_after(self, ttl_us: int) -> None:
        """Set the ttl in all caches, present and future; 0 = never. It applies from the next binding that finishes."""
        self.assumed_ttl_us = ttl_us
        for member in self.leaders():
            assert member.scheduler is not None
            member.scheduler.cache.ttl_us = ttl_us
        self.recorder.add(AssumedPodsExpire(ttl_us))

    def work(self) -> bool:
        """Let one replica handle one watch event; return False if none has one."""
        return any(member.work() for member in self.members)

    def step(self, only_busy: bool = False) -> bool:
        """Run the next stage of the replica whose turn it is; return False if none has one.

        ``only_busy``: only of those with a cycle that can continue, so that no other pod is popped.
        """
        count = len(self.members)
        for index in range(self.turn, self.turn + count):
            member = self.members[index % count]
            if (not only_busy or member.busy()) and member.step():
                self.turn = (index + 1) % count
                return True
        return False

    def busy(self) -> bool:
        return any(member.busy() for member in self.members)

    def waits_for_time(self) -> bool:
        return any(member.waits_for_time() for member in self.members)

    def pods_after_errors(self) -> int:
        """Return how many pods back off after an error, 0 if anything else waits for time in a scheduler."""
        waiting = [member.scheduler for member in self.members if member.works and member.scheduler is not None]
        if any(item.bindings or len(item.queue.backoff_q.backoff_q) for item in waiting):
            return 0
        return sum(len(item.queue.backoff_q.error_backoff_q) for item in waiting)

    def works(self) -> bool:
        return any(member.works for member in self.members)

    def allow_waiting_pod(self, pod_key: str) -> bool:
        """Allow it wherever it waits on Permit; return False if it waits nowhere."""
        return sum(member.allow_waiting_pod(pod_key) for member in self.members) > 0

    def patience_us(self) -> int | None:
        """Return how much time one command may let pass; None if nobody tries for a lock."""
        rates = [member.tries_per_second() for member in self.members]
        return int(MAX_TRIES / sum(rates) * SECOND_US) if any(rates) else None

    def configure(self, configuration: Configuration, rules: Rules) -> None:
        """Let all replicas, present and future, use a configuration and the rules of a version."""
        self.configuration, self.rules = configuration, rules
        for member in self.members:
            member.configure(configuration, rules)
        if self.assumed_ttl_us and not rules.assumed_pods_may_expire:
            self.expire_assumed_pods_after(0)


def _configured(names: list[str], settings: ElectionSettings | None) -> ReplicasConfigured:
    if settings is None:
        return ReplicasConfigured(tuple(names), False, "", "", 0, 0, 0, False)
    return ReplicasConfigured(
        tuple(names),
        True,
        settings.lock,
        f"{settings.namespace}/{settings.name}",
        settings.lease_duration_ns // 1000,
        settings.renew_deadline_ns // 1000,
        settings.retry_period_ns // 1000,
        settings.release_on_cancel,
    )
