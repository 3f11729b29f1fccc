"""Scheduler replicas that compete for a lock on a real in-memory API server."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from scheduler_engine.api.objects import merge
from scheduler_engine.api.scheme import Kind
from scheduler_engine.apiserver.store import ApiServer
from scheduler_engine.leaderelection.client import ApiServerClient
from scheduler_engine.leaderelection.clock import ElectorClock
from scheduler_engine.leaderelection.elector import LeaderElectionConfig, LeaderElector, new_leader_elector
from scheduler_engine.leaderelection.locks import new_lock
from scheduler_engine.leaderelection.run import LEADING, Election
from scheduler_engine.timeline import SECOND_US, ProcessTimers, Timeline
from scheduler_engine.trace.events import Recorder

KEY = "kube-system/kube-scheduler"
LOCK_OBJECTS = {
    "leases": Kind("Lease", ("coordination.k8s.io/v1",), "leases", True, ""),
    "endpoints": Kind("Endpoints", ("v1",), "endpoints", True, ""),
    "configmaps": Kind("ConfigMap", ("v1",), "configmaps", True, ""),
}


@dataclass
class Process:
    """Record a replica's callbacks, with their seconds."""

    name: str
    timeline: Timeline
    log: list[tuple[float, str]]

    def started(self) -> None:
        self.log.append((self.timeline.now_us / SECOND_US, f"{self.name} started leading"))

    def stopped(self) -> None:
        self.log.append((self.timeline.now_us / SECOND_US, f"{self.name} stopped leading"))

    def new_leader(self, identity: str) -> None:
        self.log.append((self.timeline.now_us / SECOND_US, f"{self.name} sees {identity or 'nobody'}"))


@dataclass
class World:
    """Replicas that share an API server. ``log`` collects their callbacks."""

    lock_type: str = "leases"
    timeline: Timeline = field(default_factory=lambda: Timeline(Recorder()))
    log: list[tuple[float, str]] = field(default_factory=list)
    electors: dict[str, LeaderElector] = field(default_factory=dict)
    elections: dict[str, Election] = field(default_factory=dict)
    clients: dict[str, ApiServerClient] = field(default_factory=dict)
    timers: dict[str, ProcessTimers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.server = ApiServer(self.timeline.recorder)
        self.server.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}})

    def add(self, *names: str, **durations: Any) -> World:
        for name in names:
            client = self.clients[name] = ApiServerClient(self.server)
            recorder = self.timeline.recorder
            lock = new_lock(self.lock_type, "kube-system", "kube-scheduler", client, name, recorder)
            process = Process(name, self.timeline, self.log)
            config = LeaderElectionConfig(lock, process.started, process.stopped, process.new_leader, **durations)
            self.electors[name] = new_leader_elector(config, ElectorClock(self.timeline))
            timers = self.timers[name] = ProcessTimers(self.timeline, name)
            self.elections[name] = Election(self.electors[name], timers, Random(len(self.elections)))
        return self

    def start(self) -> World:
        for election in self.elections.values():
            election.start()
        return self

    def tries(self, name: str) -> bool:
        return self.electors[name].try_acquire_or_renew()

    def to(self, second: float) -> World:
        """Let time pass up to ``second``."""
        end_us = round(second * SECOND_US)
        while (next_us := self.timeline.next_us()) is not None and next_us <= end_us:
            self.timeline.fire_next()
        self.timeline.move_to(end_us)
        return self

    @property
    def manifest(self) -> dict[str, Any]:
        lock = self.server.get(LOCK_OBJECTS[self.lock_type].name, KEY)
        assert lock is not None
        return lock.manifest

    @property
    def spec(self) -> dict[str, Any]:
        return self.manifest["spec"]

    @property
    def version(self) -> str:
        return self.manifest["metadata"]["resourceVersion"]

    def edit(self, changes: dict[str, Any]) -> None:
        self.server.put(merge(self.manifest, changes))

    def pause(self, name: str) -> World:
        self.timers[name].paused = True
        return self

    def resume(self, name: str) -> World:
        """Resume the replica. Overdue timers fire at this moment."""
        self.timers[name].resume()
        return self.to(self.timeline.now_us / SECOND_US)

    def leaders(self) -> list[str]:
        return [name for name, election in self.elections.items() if election.state == LEADING]

    def believers(self) -> list[str]:
        return [name for name, elector in self.electors.items() if elector.is_leader()]

    def happened(self, *texts: str) -> list[tuple[float, str]]:
        return [entry for entry in self.log if entry[1] in texts]
