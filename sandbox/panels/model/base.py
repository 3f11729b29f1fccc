"""All models of one trace, and how to read them; how entries change them stands beside, one module per concern."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container
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
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.trace import events as ev


class Models:
    """``clock_us``, ``head`` (commands in force), ``length`` (commands that exist), ``seed`` of the draws, ``who`` gave
    the last command, ``people`` (command → who gave it), ``guide`` (steps of the scenario), ``expected``
    (what is expected of the run), ``witness`` (what plugins looked at) and ``stuck`` (the log leads further
    than it can be replayed) may be set by the caller.

    ``schedulers``: replica → what belongs to it, for those that schedule; ``scheduler`` is the one in focus, whose
    fields the World passes on. ``acting``: the replica that began or did something last, ``moved_last``: its cycle.
    ``applied``: kind → key → the entry that tells what somebody applied last, and what became of it. ``given``: what
    the last command applied, None when it was another one.
    ``admission_plugins``: those that are switched on and off by default.
    ``assumed_ttl_us``: after which an assumed pod expires in any cache, 0 = never. ``changed``: kind → number of the
    entry that last changed an object of that kind. ``starts``: how many entries there were before each command.
    ``instants``: (number of the first entry, simulated microseconds) of each time at which
    something happened; ``moved``: (number of the entry, the move) of each pod that went from one queue to another.
    ``present``: the World that this one is the past of, None for the present one itself. ``rests``: after how many
    entries the engine stood between two steps, and the simulated microseconds then. ``boxes``: number of a cycle → what
    the timeline drew for it last, and what that followed from.
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

    def __init__(self) -> None:
        self.entries: list[ev.Entry] = []
        self.latest: dict[type[ev.Event], int] = {}
        self.changed: dict[str, int] = {}
        self.starts = [0]
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
        self.given: Applied | None = None
        self.kube_events: list[KubeEvent] = []
        self.health = node_health.Health()
        self.evictions = eviction_log.EvictionLog()
        self.election = election.ElectionLog()

    # --- schedulers ------------------------------------------------------------------------------------------------

    def of(self, entry: ev.Entry) -> SchedulerState:
        """The state of the scheduler that ``entry`` is about; it begins empty when it is new."""
        found = self.schedulers.get(entry.replica)
        if found is None:
            if not entry.replica and self.election.replicas:
                return self.scheduler
            found = self.begin(entry.replica)
        return found

    def begin(self, replica: str) -> SchedulerState:
        """A scheduler starts with an empty queue and an empty cache."""
        self.schedulers[replica] = SchedulerState(replica)
        return self.schedulers[replica]

    def look_at(self, replica: str) -> None:
        """Bring a scheduler into focus; one that does not schedule, or "": the one that acted last."""
        if len(self.schedulers) == 1 and self.schedulers.get(self.scheduler.replica) is self.scheduler:
            return
        found = self.schedulers.get(replica) or self.schedulers.get(self.acting)
        self._focus(found or next(iter(self.schedulers.values()), None) or SchedulerState())

    def stop(self, replica: str, why: str, at_us: int) -> None:
        """A scheduler is gone, with its queue and its cache."""
        gone = self.schedulers.pop(replica, None)
        if gone is not None:
            gone.abandon(why, at_us)
            if gone is self.scheduler:
                self.look_at("")

    def _focus(self, scheduler: SchedulerState) -> None:
        """Put the pods where this scheduler assumes them to be."""
        if scheduler is self.scheduler:
            return
        for uid in self.scheduler.cache.assumed:
            self._assume(self.scheduler.cache.pods[uid].key, uid, "")
        self.scheduler = scheduler
        for uid in scheduler.cache.assumed:
            held = scheduler.cache.pods[uid]
            self._assume(held.key, uid, held.node)

    def _assume(self, key: str, uid: str, node: str) -> None:
        """A cache may still know a pod that has gone, when another one has come by that name."""
        pod = self.pods.get(key)
        if pod is None or pod.pod.uid != uid:
            return
        before, pod.assumed_on = pod.node, node
        if not pod.pod.finished:
            self._place(key, before, pod.node)

    # --- moments ------------------------------------------------------------------------------------------------------

    def rest_at(self, entry: int) -> int:
        """How many entries there were when the engine first stood still after ``entry``."""
        place = bisect_left(self.rests, (entry, -1))
        return self.rests[place][0] if place < len(self.rests) else entry

    def moment_of(self, entry: int) -> Moment:
        """The address of the moment after so many entries."""
        command = bisect_left(self.starts, entry) - 1
        return Moment(command, entry - self.starts[command])

    def entry_of(self, moment: Moment) -> int:
        """How many entries there were at a moment; of what is none in this trace, at the nearest one before."""
        if moment.command >= len(self.starts):
            return len(self.entries)
        return min(self.starts[moment.command] + moment.entries, self.end_of(moment.command))

    def end_of(self, command: int) -> int:
        """How many entries there were when a command had ended."""
        return self.starts[command + 1] if command + 1 < len(self.starts) else len(self.entries)

    # --- reading ---------------------------------------------------------------------------------------------------

    def cycle_in_view(self, number: int) -> Cycle | None:
        """The attempt that was asked for, or the one in focus."""
        return self.by_number.get(number) or self.cycle

    def cycle_of_choice(self, number: int, pod: str) -> Cycle | None:
        """The attempt that was asked for, else the last one of the chosen pod, else the one in focus.

        Where the scheduler in view has not tried the pod, the last attempt of any other, which may be gone.
        """
        others = self.attempts.get(pod, ())[-1:]
        return self.by_number.get(number) or self.attempt_of(pod, self.scheduler) or next(iter(others), self.cycle)

    def attempt_of(self, pod: str, scheduler: SchedulerState) -> Cycle | None:
        """The last attempt of one scheduler at ``pod``."""
        attempts = reversed(self.attempts.get(pod, ()))
        return next((cycle for cycle in attempts if cycle.replica == scheduler.replica), None)

    def latest_but(self, kinds: Container[type[ev.Event]]) -> int:
        """Number of the last entry that is of none of ``kinds``: while it stays, nothing else has happened."""
        return max((number for kind, number in self.latest.items() if kind not in kinds), default=0)

    def lane(self, name: str) -> list[Queued]:
        return [queued for queued in self.queue.values() if queued.lane == name]

    def in_lane(self, name: str) -> list[Queued]:
        """Return who is in a lane: in flight also deleted pods whose names others have."""
        found = self.lane(name)
        return [*found, *self.replaced.values()] if name == "inFlight" else found

    def pods_of(self, node: str) -> list[PodState]:
        return [self.pods[key] for key in self.pods_on.get(node, ()) if key in self.pods]

    def nominated_to(self, node: str) -> list[PodState]:
        return [
            self.pods[key]
            for key, where in self.nominations.items()
            if where == node and key in self.pods and not self.pods[key].node
        ]

    def used(self, node: str) -> dict[str, int]:
        """What the bound and assumed pods of a node ask for: resource → amount, ``pods`` included."""
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
