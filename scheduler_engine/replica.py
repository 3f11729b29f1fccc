"""One replica of the scheduler: a process with a clock and a connection, and with a scheduler while it leads.

The lock knows it by its name, as it knows a host in seed 003: if it restarts before its lease expires, it takes its
own lock again. Source: seed 003; upstream ``cmd/kube-scheduler/app/server.go``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Protocol

from scheduler_engine.apiserver.connection import Connection
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.config.types import Configuration
from scheduler_engine.leaderelection.client import ApiServerClient
from scheduler_engine.leaderelection.clock import ElectorClock
from scheduler_engine.leaderelection.elector import LeaderElectionConfig, new_leader_elector
from scheduler_engine.leaderelection.locks import new_lock
from scheduler_engine.leaderelection.run import Election
from scheduler_engine.scheduler.scheduler import CycleNumbers, Scheduler
from scheduler_engine.timeline import ProcessTimers, Timeline
from scheduler_engine.trace.events import Recorder, ReplicaChanged
from scheduler_engine.versions import Rules

ACQUIRING, LEADING, STOPPED = "acquiring", "leading", "stopped"
ASKED_TO_STOP = "asked to stop"


@dataclass(frozen=True, slots=True)
class ElectionSettings:
    """How replicas elect a leader; durations in nanoseconds."""

    lock: str
    namespace: str
    name: str
    lease_duration_ns: int
    renew_deadline_ns: int
    retry_period_ns: int
    release_on_cancel: bool


class Group(Protocol):
    """Data shared by the replicas. ``last`` is the scheduler that began or ended last, ``assumed_ttl_us`` the ttl
    of their caches in microseconds, 0 = never.
    """

    api: ApiServer
    timeline: Timeline
    recorder: Recorder
    seed: int
    configuration: Configuration
    queue_rules: str
    rules: Rules
    numbers: CycleNumbers
    assumed_ttl_us: int
    last: Scheduler


class Replica:
    """One kube-scheduler on its own host. ``scheduler`` is None while it does not schedule.

    ``state``: acquiring, leading or stopped; without an election it leads as soon as it runs. ``random`` draws among
    equal nodes, ``jitter`` spreads the tries for the lock.
    """

    def __init__(self, group: Group, name: str, settings: ElectionSettings | None) -> None:
        self.group = group
        self.name = name
        self.settings = settings
        self.random = Random(f"{group.seed} {name}") if name else Random(group.seed)
        self.jitter = Random(f"{group.seed} {name} jitter")
        self.timers = ProcessTimers(group.timeline, name)
        self.connection = Connection(group.api)
        self.client = ApiServerClient(group.api)
        self.clock = ElectorClock(group.timeline, group.timeline.now_us, since_us=group.timeline.now_us)
        self.state = STOPPED
        self.election = self._new_election()
        self.scheduler: Scheduler | None = None

    def _new_election(self) -> Election | None:
        """Build an election. Raises Rejected when the settings are wrong."""
        settings = self.settings
        if settings is None:
            return None
        recorder = self.group.recorder
        lock = new_lock(settings.lock, settings.namespace, settings.name, self.client, self.name, recorder)
        config = LeaderElectionConfig(
            lock,
            self._lead,
            self._lost,
            None,
            settings.lease_duration_ns,
            settings.renew_deadline_ns,
            settings.retry_period_ns,
            settings.release_on_cancel,
        )
        return Election(new_leader_elector(config, self.clock), self.timers, self.jitter)

    # --- queries ---

    @property
    def runs(self) -> bool:
        """Return True if the process exists, even paused."""
        return self.state != STOPPED

    @property
    def works(self) -> bool:
        """Return True if its scheduler can work now."""
        return self.scheduler is not None and not self.timers.paused

    @property
    def reachable(self) -> bool:
        return self.connection.reachable

    def busy(self) -> bool:
        return self.works and self.scheduler is not None and self.scheduler.busy()

    def waits_for_time(self) -> bool:
        return self.works and self.scheduler is not None and self.scheduler.waits_for_time()

    def tries_per_second(self) -> Fraction:
        """Return the most tries for the lock per second of simulated time."""
        if self.settings is None or not self.runs:
            return Fraction(0)
        return self.clock.rate * 1_000_000_000 / self.settings.retry_period_ns

    def step(self) -> bool:
        """Run its next stage; return False if there is none."""
        if not self.works or self.scheduler is None:
            return False
        if self.group.recorder.replica == self.name:
            return self.scheduler.step()
        with self.group.recorder.doing(self.name):
            return self.scheduler.step()

    def work(self) -> bool:
        """Handle one watch event; return False if there is none."""
        if self.scheduler is None:
            return False
        if self.group.recorder.replica == self.name:
            return self.scheduler.work()
        with self.group.recorder.doing(self.name):
            return self.scheduler.work()

    def allow_waiting_pod(self, pod_key: str) -> bool:
        if not self.works or self.scheduler is None:
            return False
        with self.group.recorder.doing(self.name):
            return self.scheduler.allow_waiting_pod(pod_key)

    def configure(self, configuration: Configuration, rules: Rules) -> None:
        if self.scheduler is not None:
            with self.group.recorder.doing(self.name):
                self.scheduler.configure(configuration, rules)

    # --- actions on it ---

    def start(self, why: str) -> None:
        """Schedule, or with an election become a candidate; the first try is at once."""
        if self.election is None:
            self._schedule(why)
            return
        self.state = ACQUIRING
        self._tell(why)
        with self.group.recorder.doing(self.name):
            self.election.start()

    def restart(self) -> None:
        """Start a new process on the same host: the old one's knowledge is lost."""
        self.election = self._new_election()
        self.start("restarted")

    def kill(self) -> None:
        """End the process at once; the lock stays as it is."""
        if self.election is not None:
            self.election.kill()
        self._end("killed")

    def release(self) -> None:
        """Ask the process to end: a leader releases the lock, if configured to."""
        if self.election is None:
            self._end(ASKED_TO_STOP)
            return
        with self.group.recorder.doing(self.name):
            self.election.cancel()

    def pause(self) -> None:
        """Pause the process while time passes."""
        self.timers.paused = True
        self.connection.freeze()
        self._tell("paused")

    def resume(self) -> None:
        """Continue the process where it was; overdue work runs as soon as time moves."""
        self.timers.resume()
        self._thaw()
        self._tell("resumed")

    def partition(self) -> None:
        """Cut the connection between it and the API server."""
        self.client.reachable = self.connection.reachable = False
        self.connection.freeze()
        self._tell("cut off from the API server")

    def heal(self) -> None:
        self.client.reachable = self.connection.reachable = True
        self._thaw()
        self._tell("reaches the API server again")

    def _thaw(self) -> None:
        if self.reachable and not self.timers.paused:
            self.connection.thaw()

    def skew(self, by_us: int) -> None:
        self.clock.jump(by_us)
        self._tell(f"its clock was set {'forward' if by_us > 0 else 'back'} by {abs(by_us) / 1_000_000:g} s")

    def run_at(self, rate: Fraction) -> None:
        self.clock.set_rate(rate)
        self._tell(f"its clock runs {float(rate):g} times as fast as the true one")

    def _lead(self) -> None:
        self._schedule("became leader")

    def _lost(self) -> None:
        """Handle the election's end; its outcome says why."""
        assert self.election is not None
        self._end(ASKED_TO_STOP if self.election.outcome == "cancelled" else self.election.outcome)

    def _schedule(self, why: str) -> None:
        """Start a scheduler that knows only what the API server knows."""
        group = self.group
        self.state = LEADING
        self._tell(why, schedules=True)
        with group.recorder.doing(self.name):
            self.scheduler = Scheduler(
                self.connection,
                self.timers,
                group.recorder,
                self.random,
                group.configuration,
                group.queue_rules,
                group.numbers,
                group.rules,
            )
            self.scheduler.cache.ttl_us = group.assumed_ttl_us
            self.scheduler.list_objects()
        group.last = self.scheduler

    def _end(self, why: str) -> None:
        """Abandon its running cycles: their API writes stay, their assumptions are lost."""
        self.state = STOPPED
        self.timers.stop()
        self._thaw()
        if self.scheduler is not None:
            self.group.last, self.scheduler = self.scheduler, None
            self.group.api.unwatch(self.group.last.watch)
        self._tell(why)

    def _tell(self, why: str, schedules: bool = False) -> None:
        if self.name:
            schedules = schedules or self.scheduler is not None
            clock = self.clock.now_us(), str(self.clock.rate)
            paused = self.timers.paused
            event = ReplicaChanged(self.name, self.state, why, schedules, paused, self.reachable, *clock)
            self.group.recorder.add(event)
