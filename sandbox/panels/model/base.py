"""All models of one trace, and how to read them. The modules in ``folding`` change them, one module per concern."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container
from typing import Any

from sandbox.panels.model import election, eviction_log, node_health
from sandbox.panels.model.applied import Applied
from sandbox.panels.model.cache import CacheState
from sandbox.panels.model.expected import Nothing, Watch
from sandbox.panels.model.guide import Guide
from sandbox.panels.model.lesson import Alone, Teacher
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.requeuing import Left, Requeuing
from sandbox.panels.model.schedulers import InFocus, SchedulerState
from sandbox.panels.model.state import Command, Cycle, Fault, KubeEvent, NodeState, PodState, Queued
from sandbox.panels.model.stuck import Stuck
from sandbox.panels.model.witness import Nobody, Witness
from scheduler_engine.api.objects import KubeObject, Node
from scheduler_engine.trace import events as ev

Applier = Callable[["Models", ev.Entry, Any], None]
"""Folds one entry with its event into the models."""
Appliers = dict[type[ev.Event], Applier]


class Models:
    """The state folded from one trace.

    The caller may set: ``clock_us``; ``head`` (commands in force) and ``length`` (commands in the log); ``seed`` of the
    draws; ``who`` gave the last command; ``people`` (command → who gave it); ``guide`` (steps of the scenario);
    ``expected`` (expectations); ``witness`` (what plugins looked at); ``stuck`` (the log cannot be replayed to its
    end).

    ``schedulers``: replica → its state, for replicas that schedule; ``scheduler`` is the one in focus, whose fields the
    World passes on. ``acting``: the replica that acted last; ``moved_last``: its cycle. ``applied``: kind → key → (the
    entry of its last apply, the object that was stored then). ``last_apply``: what the last command applied, None if
    that was another kind of command. ``admission_plugins``: enabled ones that are off by default. ``assumed_ttl_us``:
    after how long an assumed pod expires in a cache, 0 = never. ``changed``: kind → number of the entry that last
    changed an object of that kind. ``starts``: number of entries before each command. ``object_changes``: number of
    changes of objects, which is the resource version; ``changes_before``: that before each command. ``instants``:
    (number of the first entry, simulated microseconds) of each time at which something happened. ``moved``: (number of
    the entry, the move) of each pod that changed queues. ``present``: the World of which this one is the past, None for
    the present one. ``rests``: (number of entries, simulated microseconds) each time the engine stopped between two
    steps. ``last_uids``: name → uid of the pod that was deleted last under it. ``nodes``: those that exist, and ghosts;
    ``departed``: name → the deleted node, as it was last.
    ``boxes``: number of a cycle → the box that the timeline drew for it last, with the values it depends on.
    """

    queue = InFocus[dict[str, Queued]]()
    hints = InFocus[dict[str, list[ev.HintAnswered]]]()
    stayed = InFocus[dict[str, Left]]()
    moves = InFocus[dict[str, list[Queued]]]()
    requeuing = InFocus[Requeuing]()
    noted = InFocus[dict[str, list[tuple[str, str]]]]()
    replaced = InFocus[dict[str, Queued]]()
    nominations = InFocus[dict[str, str]]()
    cache = InFocus[CacheState]()
    next_start = InFocus[int]()
    cycle = InFocus[Cycle | None]()
    binding = InFocus[dict[int, Cycle]]()
    faults = InFocus[dict[int, Fault]]()
    groups = InFocus[dict[str, ev.PodGroupCounted]]()

    def __init__(self) -> None:
        self.entries: list[ev.Entry] = []
        self.latest: dict[type[ev.Event], int] = {}
        self.changed: dict[str, int] = {}
        self.starts = [0]
        self.object_changes = 0
        self.changes_before = [0]
        self.instants: list[tuple[int, int]] = []
        self.moved: list[tuple[int, ev.PodMoved]] = []
        self.present: Models | None = None
        self.rests: list[tuple[int, int]] = []
        self.boxes: dict[int, tuple[object, Any]] = {}
        self.clock_us = 0
        self.head = 0
        self.length = 0
        self.who = ""
        self.seed: int | None = None
        self.objects: dict[str, dict[str, dict[str, Any]]] = {}
        self.applied: dict[str, dict[str, tuple[ev.Entry, KubeObject]]] = {}
        self.pods: dict[str, PodState] = {}
        self.nodes: dict[str, NodeState] = {}
        self.departed: dict[str, NodeState] = {}
        self.pods_on: dict[str, dict[str, None]] = {}
        self.apps: dict[str, int] = {}
        self.scheduler = SchedulerState()
        self.schedulers: dict[str, SchedulerState] = {"": self.scheduler}
        self.acting = ""
        self.moved_last: Cycle | None = None
        self.cycles: list[Cycle] = []
        self.by_number: dict[int, Cycle] = {}
        self.attempts: dict[str, list[Cycle]] = {}
        self.configured: ev.Configured | None = None
        self.assumed_ttl_us = 0
        self.admission_plugins: tuple[str, ...] = ()
        self.people: dict[int, str] = {}
        self.guide = Guide()
        self.stuck: Stuck | None = None
        self.expected: Watch = Nothing()
        self.witness: Witness = Nobody()
        self.lesson: Teacher = Alone()
        self.commands: list[Command] = []
        self.last_apply: Applied | None = None
        self.kube_events: list[KubeEvent] = []
        self.last_uids: dict[str, str] = {}
        self.health = node_health.Health()
        self.evictions = eviction_log.EvictionLog()
        self.election = election.ElectionLog()

    # --- schedulers ------------------------------------------------------------------------------------------------

    def of(self, entry: ev.Entry) -> SchedulerState:
        """Return the state of the scheduler that ``entry`` is about; a new one starts empty."""
        scheduler = self.schedulers.get(entry.replica)
        if scheduler is None:
            if not entry.replica and self.election.replicas:
                return self.scheduler
            scheduler = self.begin(entry.replica)
        return scheduler

    def begin(self, replica: str) -> SchedulerState:
        """Add a scheduler with an empty queue and an empty cache."""
        self.schedulers[replica] = SchedulerState(replica)
        return self.schedulers[replica]

    def look_at(self, replica: str) -> None:
        """Bring a scheduler into focus: the one that acted last if ``replica`` is "" or does not schedule."""
        if len(self.schedulers) == 1 and self.schedulers.get(self.scheduler.replica) is self.scheduler:
            return
        scheduler = self.schedulers.get(replica) or self.schedulers.get(self.acting)
        self._focus(scheduler or next(iter(self.schedulers.values()), None) or SchedulerState())

    def stop(self, replica: str, why: str, at_us: int) -> None:
        """Remove a scheduler with its queue and its cache."""
        stopped = self.schedulers.pop(replica, None)
        if stopped is not None:
            stopped.abandon(why, at_us)
            if stopped is self.scheduler:
                self.look_at("")

    def _focus(self, scheduler: SchedulerState) -> None:
        """Bring a scheduler into focus: place the pods on the nodes that it assumes."""
        if scheduler is self.scheduler:
            return
        for uid in self.scheduler.cache.assumed:
            self._assume(self.scheduler.cache.pods[uid].key, uid, "")
        self.scheduler = scheduler
        for uid in scheduler.cache.assumed:
            cached_pod = scheduler.cache.pods[uid]
            self._assume(cached_pod.key, uid, cached_pod.node)

    def _assume(self, key: str, uid: str, node: str) -> None:
        """Record that the scheduler in focus assumes a pod on ``node``, unless another pod has its name by now."""
        pod = self.pods.get(key)
        if pod is None or pod.pod.uid != uid:
            return
        before, pod.assumed_on = pod.node, node
        if not pod.pod.finished:
            self._place(key, before, pod.node)

    # --- moments ------------------------------------------------------------------------------------------------------

    def rest_at(self, entry: int) -> int:
        """Return the number of entries when the engine first stopped at or after ``entry``."""
        place = bisect_left(self.rests, (entry, -1))
        return self.rests[place][0] if place < len(self.rests) else entry

    def moment_of(self, entry: int) -> Moment:
        """Return the moment after ``entry`` entries."""
        command = bisect_left(self.starts, entry) - 1
        return Moment(command, entry - self.starts[command])

    def entry_of(self, moment: Moment) -> int:
        """Return the number of entries at a moment; if this trace has no such moment, at the nearest one before."""
        if moment.command >= len(self.starts):
            return len(self.entries)
        return min(self.starts[moment.command] + moment.entries, self.end_of(moment.command))

    @property
    def stopped(self) -> str:
        """Return in words why the log cannot be replayed to its head, "" if it can."""
        return "" if self.stuck is None else self.stuck.text

    def changes_until(self, command: int) -> int:
        """Return the number of changes of objects at the end of a command."""
        at = command + 1
        return self.changes_before[at] if at < len(self.changes_before) else self.object_changes

    def end_of(self, command: int) -> int:
        """Return the number of entries at the end of a command."""
        return self.starts[command + 1] if command + 1 < len(self.starts) else len(self.entries)

    # --- reading ---------------------------------------------------------------------------------------------------

    def cycle_in_view(self, number: int) -> Cycle | None:
        """Return the chosen attempt, else the one in focus."""
        return self.by_number.get(number) or self.cycle

    def cycle_of_choice(self, number: int, pod: str) -> Cycle | None:
        """Return the chosen attempt, else the last one of the chosen pod, else the one in focus.

        If the scheduler in view has not tried the pod, its last attempt by any other counts, which may be gone.
        """
        existing = self.pods.get(pod)
        attempts = [cycle for cycle in self.attempts.get(pod, ()) if existing is None or cycle.is_of(existing.pod.uid)]
        own = (cycle for cycle in reversed(attempts) if cycle.replica == self.scheduler.replica)
        return self.by_number.get(number) or next(own, attempts[-1] if attempts else self.cycle)

    def attempt_of(self, pod: str, scheduler: SchedulerState) -> Cycle | None:
        """Return the last attempt of one scheduler for ``pod``."""
        attempts = reversed(self.attempts.get(pod, ()))
        return next((cycle for cycle in attempts if cycle.replica == scheduler.replica), None)

    def pod_of(self, cycle: Cycle) -> PodState | None:
        """Return the pod of an attempt; None if it is gone, even if another pod has its name."""
        pod = self.pods.get(cycle.pod)
        return pod if pod is not None and cycle.is_of(pod.pod.uid) else None

    def pod_at(self, key: str, entry: int) -> PodState | None:
        """Return the pod that had a name at an entry; None if it is gone, even if another pod has its name."""
        pod = self.pods.get(key)
        return pod if pod is not None and pod.added <= entry else None

    def regards_namesake(self, recorded: KubeEvent) -> bool:
        """Return True if an event regards a deleted pod whose name another pod now has."""
        pod = self.pods.get(recorded.event.regarding) if recorded.event.regarding_kind == "Pod" else None
        return pod is not None and not recorded.is_of(pod.pod)

    def place_of(self, pod: PodState) -> Queued | None:
        """Return a pod's place in the queue. A queue that is behind may hold a deleted pod of its name."""
        queued = self.queue.get(pod.key)
        return queued if queued is not None and queued.is_of(pod.pod.uid) else None

    def latest_but(self, kinds: Container[type[ev.Event]]) -> int:
        """Return the number of the last entry of any kind but ``kinds``: while it stays, nothing else has happened."""
        return max((number for kind, number in self.latest.items() if kind not in kinds), default=0)

    def lane(self, name: str) -> list[Queued]:
        return [queued for queued in self.queue.values() if queued.lane == name]

    def in_lane(self, name: str) -> list[Queued]:
        """Return the pods in a lane. In flight, these include deleted pods whose names other pods now have."""
        return self.lanes().get(name, [])

    def lanes(self) -> dict[str, list[Queued]]:
        """Return lane → its pods as ``in_lane`` does; a lane without pods may be missing."""
        by_lane: dict[str, list[Queued]] = {}
        for queued in self.queue.values():
            by_lane.setdefault(queued.lane, []).append(queued)
        if self.replaced:
            by_lane.setdefault("inFlight", []).extend(self.replaced.values())
        return by_lane

    def pods_of(self, node: str) -> list[PodState]:
        return [self.pods[key] for key in self.pods_on.get(node, ()) if key in self.pods]

    def existing_nodes(self) -> list[NodeState]:
        """Return the nodes without ghosts."""
        return [node for node in self.nodes.values() if not node.ghost]

    def nominated_to(self, node: str) -> list[PodState]:
        return [
            self.pods[key]
            for key, where in self.nominations.items()
            if where == node and key in self.pods and not self.pods[key].node
        ]

    def used(self, node: str) -> dict[str, int]:
        """Return what the bound and assumed pods of a node request: resource → amount, ``pods`` included."""
        total: dict[str, int] = {"pods": 0}
        for pod in self.pods_of(node):
            total["pods"] += 1
            for name, number in pod.requests.items():
                total[name] = total.get(name, 0) + number
        return total

    def _place(self, key: str, old: str, new: str) -> None:
        if old == new:
            return
        if old:
            self.pods_on.get(old, {}).pop(key, None)
            if not self.pods_on.get(old) and old in self.nodes and self.nodes[old].ghost:
                del self.nodes[old]
        if new:
            self.pods_on.setdefault(new, {})[key] = None
            if new not in self.nodes:
                self.nodes[new] = self.departed.get(new) or NodeState(Node({"metadata": {"name": new}}), ghost=True)
