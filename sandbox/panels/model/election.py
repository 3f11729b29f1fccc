"""The replicas of the scheduler, their tries to get the lock, and the lock's record over time.

Nothing fences a replica off, so what each one believes is recorded beside what the lock says.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction

from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine.trace import events as ev

MOST_SPANS, MOST_TRIES, MOST_TAKEOVERS, MOST_SENTENCES = 60, 600, 60, 40


@dataclass(slots=True)
class Span:
    """A state of a replica from ``start_us`` to ``end_us`` in simulated microseconds; None = it lasts."""

    start_us: int
    state: str
    schedules: bool
    paused: bool
    reachable: bool
    end_us: int | None = None

    def until(self, clock_us: int) -> int:
        """Return its end, or the present if it lasts."""
        return clock_us if self.end_us is None else self.end_us


@dataclass(slots=True)
class Lease:
    """The time in which a replica believes that nobody else may lead. Every renewal moves ``end_us``."""

    start_us: int
    end_us: int


@dataclass
class Replica:
    """One scheduler of several. ``now``: its state since ``at_us``; ``tried``: its last try, at ``tried_us``.

    ``ended``: why it stopped, if it did. ``tries``: (simulated microseconds, outcome).
    """

    now: ev.ReplicaChanged
    at_us: int
    tried: ev.ElectorTried | None = None
    tried_us: int = 0
    ended: str = ""
    spans: deque[Span] = field(default_factory=lambda: deque(maxlen=MOST_SPANS))
    leases: deque[Lease] = field(default_factory=lambda: deque(maxlen=MOST_SPANS))
    tries: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=MOST_TRIES))

    def shows_us(self, clock_us: int) -> int:
        """Return the time of its own clock, in microseconds, at the simulated time ``clock_us``."""
        return self.now.own_us + int((clock_us - self.at_us) * Fraction(self.now.rate))


@dataclass
class ElectionLog:
    """The history of the election. ``lock``: the lock's record since ``lock_us``.

    ``takeovers``: (simulated microseconds, new leader, leaderTransitions). ``sentences``: (the same, what happened).
    """

    configured: ev.ReplicasConfigured | None = None
    replicas: dict[str, Replica] = field(default_factory=dict)
    lock: ev.LockChanged | None = None
    lock_us: int = 0
    takeovers: deque[tuple[int, str, int]] = field(default_factory=lambda: deque(maxlen=MOST_TAKEOVERS))
    sentences: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=MOST_SENTENCES))

    @property
    def several(self) -> bool:
        """Return True if there is more than one replica, so that it matters which one did something."""
        return len(self.replicas) > 1

    @property
    def elects(self) -> bool:
        return self.configured is not None and self.configured.leader_elect

    def nobody(self) -> str:
        """Return why no scheduler works and what helps; "" if there are no replicas."""
        if not self.replicas:
            return ""
        if all(replica.now.state == "stopped" for replica in self.replicas.values()):
            return say("election.all-stopped")
        if self.lock is None or not self.lock.holder:
            return say("election.nobody-yet")
        return say("election.nobody", holder=self.lock.holder)

    def idle(self) -> str:
        """Return why nobody schedules now; "" if somebody does, or if there are no replicas."""
        scheduling = {name: replica.now for name, replica in self.replicas.items() if replica.now.schedules}
        if not scheduling:
            return self.nobody()
        if not all(now.paused for now in scheduling.values()):
            return ""
        return say("election.nobody-works", names=listed(list(scheduling)), count=len(scheduling))

    def is_paused(self, name: str) -> bool:
        return name in self.replicas and self.replicas[name].now.paused


def lock_name(event: ev.ReplicasConfigured) -> str:
    return f"{KINDS.get(event.lock, event.lock)} {event.lock_key}"


KINDS = {"leases": "Lease", "endpoints": "Endpoints", "configmaps": "ConfigMap"}
