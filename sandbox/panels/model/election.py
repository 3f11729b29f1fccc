"""The replicas of the scheduler, their tries, and the record in the lock over time.

Nothing fences, so what each replica believes is kept beside what the lock says.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction

from sandbox.words.phrases import listed
from sandbox.words.say import say
from scheduler_engine.trace import events as ev

MOST_SPANS, MOST_TRIES, MOST_TAKEOVERS, MOST_TOLD = 60, 600, 60, 40


@dataclass(slots=True)
class Span:
    """What a replica was from ``start_us`` (simulated) on; ``end_us`` None = still is."""

    start_us: int
    state: str
    schedules: bool
    paused: bool
    reachable: bool
    end_us: int | None = None


@dataclass(slots=True)
class Lease:
    """The time for which a replica believes that nobody else may lead: ``end_us`` moves with every renewal."""

    start_us: int
    end_us: int


@dataclass
class Replica:
    """``now`` is what it is since ``at_us``; ``tried`` its last try, at ``tried_us``. ``tries``: (when, outcome).

    ``ended``: why it stopped, when it did.
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
        """Microseconds that its own clock shows at the simulated time ``clock_us``."""
        return self.now.own_us + int((clock_us - self.at_us) * Fraction(self.now.rate))


@dataclass
class ElectionLog:
    """``lock`` is the record since ``lock_us``. ``takeovers``: (when, who leads from then on, transitions).

    ``told``: (when, sentence), of what is worth a sentence.
    """

    configured: ev.ReplicasConfigured | None = None
    replicas: dict[str, Replica] = field(default_factory=dict)
    lock: ev.LockChanged | None = None
    lock_us: int = 0
    takeovers: deque[tuple[int, str, int]] = field(default_factory=lambda: deque(maxlen=MOST_TAKEOVERS))
    told: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=MOST_TOLD))

    @property
    def several(self) -> bool:
        """There is more than one replica, so that it matters which one did something."""
        return len(self.replicas) > 1

    @property
    def elects(self) -> bool:
        return self.configured is not None and self.configured.leader_elect

    def nobody(self) -> str:
        """Why no scheduler works, and what helps; "" when there are no replicas."""
        if not self.replicas:
            return ""
        if all(replica.now.state == "stopped" for replica in self.replicas.values()):
            return say("election.all-stopped")
        if self.lock is None or not self.lock.holder:
            return say("election.nobody-yet")
        return say("election.nobody", holder=self.lock.holder)

    def idle(self) -> str:
        """Why nobody schedules just now; "" when somebody does, or when there are no replicas."""
        having = {name: one.now for name, one in self.replicas.items() if one.now.schedules}
        if not having:
            return self.nobody()
        if any(not now.paused for now in having.values()):
            return ""
        return say("election.nobody-works", names=listed(list(having)), count=len(having))

    def stands_still(self, name: str) -> bool:
        return name in self.replicas and self.replicas[name].now.paused


def lock_name(event: ev.ReplicasConfigured) -> str:
    return f"{KINDS.get(event.lock, event.lock)} {event.lock_key}"


KINDS = {"leases": "Lease", "endpoints": "Endpoints", "configmaps": "ConfigMap"}
