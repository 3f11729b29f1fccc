"""Replicas of the scheduler and their election."""

from __future__ import annotations

from scheduler_engine.records import record
from scheduler_engine.trace.events.base import Event


@record(frozen=True, slots=True)
class ReplicasConfigured(Event):
    """The new replicas of the scheduler; earlier ones are gone. Durations are microseconds.

    ``lock`` is leases, endpoints or configmaps, ``lock_key`` the key of the object that holds the record; without
    ``leader_elect`` both are "" and every replica schedules.
    """

    replicas: tuple[str, ...]
    leader_elect: bool
    lock: str
    lock_key: str
    lease_duration_us: int
    renew_deadline_us: int
    retry_period_us: int
    release_on_cancel: bool


@record(frozen=True, slots=True)
class ReplicaChanged(Event):
    """The new state of a replica. ``state``: acquiring, leading or stopped; ``why`` says what happened.

    ``own_us`` is the current time on its clock, ``rate`` how fast that clock runs (a fraction as text, "1").
    ``schedules``: it has a working scheduler (a leader has; a paused or cut-off one still has).
    """

    replica: str
    state: str
    why: str
    schedules: bool
    paused: bool
    reachable: bool
    own_us: int
    rate: str


@record(frozen=True, slots=True)
class ElectorTried(Event):
    """A replica tried to take, renew or release the lock.

    ``outcome``: created, acquired, renewed, released, held (by another whose lease it believes to be valid) or
    failed; ``message`` explains the last two. ``holder`` is the leader that it now believes in, "" = none, and
    ``valid_until_us`` when that lease ends in its belief, in simulated microseconds (None: it has seen no lease).
    ``steps``: (step, result) in order: ``fast path``, ``get``, ``create``, ``update`` and ``release`` are done or
    failed; ``judge`` finds the lock held, ended, free or its own.
    """

    replica: str
    outcome: str
    message: str
    holder: str
    valid_until_us: int | None
    steps: tuple[tuple[str, str], ...] = ()


@record(frozen=True, slots=True)
class LockChanged(Event):
    """The new record in the lock; times are from the writer's clock, in microseconds."""

    writer: str
    holder: str
    lease_duration_seconds: int
    acquire_time_us: int | None
    renew_time_us: int | None
    leader_transitions: int
