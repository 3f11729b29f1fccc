"""Replicas of the scheduler and their election."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_engine.trace.events.base import Event


@dataclass(frozen=True, slots=True)
class ReplicasConfigured(Event):
    """The replicas of the scheduler from now on; those before are gone. Durations are microseconds.

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


@dataclass(frozen=True, slots=True)
class ReplicaChanged(Event):
    """What a replica is from now on. ``state``: acquiring, leading or stopped; ``why`` says what happened.

    ``own_us`` is what its clock shows at this moment, ``rate`` how fast that clock runs (a fraction as text, "1").
    ``schedules``: it has a scheduler that works (a leader has; one that stands still or is cut off still has one).
    """

    replica: str
    state: str
    why: str
    schedules: bool
    paused: bool
    reachable: bool
    own_us: int
    rate: str


@dataclass(frozen=True, slots=True)
class ElectorTried(Event):
    """A replica tried to take, renew or release the lock.

    ``outcome``: created, acquired, renewed, released, held (by somebody whose lease it believes to be valid) or
    failed; ``message`` says why the last two. ``holder`` is who it believes leads from now on, "" = nobody, and
    ``valid_until_us`` when that lease ends in its belief, in simulated microseconds (None: it has seen no lease).
    ``steps``: (step, how it went) in order: ``fast path``, ``get``, ``create``, ``update`` and ``release`` are done or
    failed; ``judge`` finds the lock held, ended, free or its own.
    """

    replica: str
    outcome: str
    message: str
    holder: str
    valid_until_us: int | None
    steps: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LockChanged(Event):
    """The record in the lock from now on; times are what the writer's clock showed, in microseconds."""

    writer: str
    holder: str
    lease_duration_seconds: int
    acquire_time_us: int | None
    renew_time_us: int | None
    leader_transitions: int
