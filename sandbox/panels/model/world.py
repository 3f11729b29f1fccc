"""The World: everything the panels show, folded from trace entries. No Django, no engine.

Looking back is folding a prefix of the trace; ``apply`` takes one entry at a time, so a live World only sees what is
new. Cycles of all schedulers stand in one history; queue, cache and snapshot are those of the scheduler in focus.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable
from functools import partial
from typing import Any

from sandbox.panels.model import cycles, election, eviction_log, node_health, queueing
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.schedulers import InFocus, SchedulerState
from sandbox.panels.model.state import Command, Cycle, Fault, KubeEvent, NodeState, PodState, Queued
from sandbox.panels.model.steps import Guide
from sandbox.panels.model.stuck import Stuck
from scheduler_engine.api.objects import Node, Pod
from scheduler_engine.trace import events as ev

REPLICA = re.compile(r"(-[0-9a-f]{6,10})?-([0-9]+|[a-z0-9]{5})$")
COLOURS = 10
BESIDE = ("entries", "objects", "present", "rests", "people", "guide", "stuck", "_appliers")
FOLDS = (queueing, cycles, node_health, eviction_log, election)


class World:
    """``clock_us``, ``head`` (commands in force), ``length`` (commands that exist), ``seed`` of the draws, ``who`` gave
    the last command, ``people`` (command → who gave it), ``guide`` (steps of the scenario) and ``stuck`` (the log leads
    further than it can be replayed) may be set by the caller.

    ``schedulers``: replica → what belongs to it, for those that schedule; ``scheduler`` is the one in focus, whose
    fields the World passes on. ``acting``: the replica that began or did something last, ``moved_last``: its cycle.
    ``changed``: kind → number of the entry that last changed an object of that kind. ``starts``: how many entries there
    were before each command. ``instants``: (number of the first entry, simulated microseconds) of each time at which
    something happened; ``moved``: (number of the entry, who went from which queue to which). ``present``: the World
    that this one is the past of, None for the present one itself. ``rests``: after how many entries the engine stood
    between two steps, and the simulated microseconds then.
    """

    queue = InFocus[dict[str, Queued]]()
    hints = InFocus[dict[str, list[ev.HintAnswered]]]()
    stayed = InFocus[dict[str, ev.HintAnswered]]()
    moves = InFocus[dict[str, list[Queued]]]()
    noted = InFocus[dict[str, list[tuple[str, str]]]]()
    nominations = InFocus[dict[str, str]]()
    zones = InFocus[tuple[tuple[str, tuple[str, ...]], ...]]()
    order = InFocus[tuple[str, ...]]()
    snapshot = InFocus[ev.SnapshotTaken | None]()
    snapshot_order = InFocus[tuple[str, ...]]()
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
        self.moved: list[tuple[int, str]] = []
        self.present: World | None = None
        self.rests: list[tuple[int, int]] = []
        self.clock_us = 0
        self.head = 0
        self.length = 0
        self.who = ""
        self.seed: int | None = None
        self.objects: dict[str, dict[str, dict[str, Any]]] = {}
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
        self.people: dict[int, str] = {}
        self.guide = Guide()
        self.stuck: Stuck | None = None
        self.commands: list[Command] = []
        self.kube_events: list[KubeEvent] = []
        self.health = node_health.Health()
        self.evictions = eviction_log.EvictionLog()
        self.election = election.ElectionLog()
        self._appliers = self._table()

    def _table(self) -> dict[type[ev.Event], list[Callable[[ev.Entry, Any], None]]]:
        """Type of event → what it changes here, in this order."""
        table: dict[type[ev.Event], list[Callable[[ev.Entry, Any], None]]] = {
            ev.CommandGiven: [self._command],
            ev.ObjectAdded: [self._stored],
            ev.ObjectModified: [self._stored],
            ev.ObjectDeleted: [self._deleted],
            ev.EventRecorded: [self._recorded],
            ev.CachePodChanged: [self._cache_pod],
            ev.CacheNodeChanged: [self._cache_node],
        }
        for module in FOLDS:
            for kind, apply in module.APPLIERS.items():
                table.setdefault(kind, []).append(partial(apply, self))
        return table

    @classmethod
    def fold(cls, entries: Iterable[ev.Entry]) -> World:
        world = cls()
        for entry in entries:
            world.apply(entry)
        world.look_at("")
        return world

    def changing(self) -> dict[str, Any]:
        """All of it but the trace and the objects, which ``again`` takes beside it, and what is made anew."""
        return {name: value for name, value in vars(self).items() if name not in BESIDE}

    @classmethod
    def again(
        cls, changing: dict[str, Any], entries: list[ev.Entry], objects: dict[str, dict[str, dict[str, Any]]]
    ) -> World:
        """The opposite of ``changing``."""
        world = cls.__new__(cls)
        vars(world).update(vars(cls()), **changing, entries=entries, objects=objects)
        world._appliers = world._table()
        return world

    def stand_in(self, present: World) -> None:
        """This is what ``present`` was some time ago: what is known beside the trace is the same."""
        self.present, self.seed, self.guide, self.people = present, present.seed, present.guide, present.people
        self.rests = present.rests
        self.length = present.length
        self.who = self.people.get(self.head, "")
        later = present.starts[self.head + 1 :]
        if later and later[0] == len(self.entries):
            self.clock_us = present.entries[later[0]].at_us
        else:
            place = bisect_left(self.rests, (len(self.entries), -1))
            self.clock_us = self.rests[place][1] if place < len(self.rests) else self.clock_us
        self.look_at("")

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
        ends = [*self.starts[moment.command + 1 : moment.command + 2], len(self.entries)]
        return min(self.starts[moment.command] + moment.entries, ends[0])

    def apply(self, entry: ev.Entry) -> None:
        self.entries.append(entry)
        self.latest[type(entry.event)] = len(self.entries)
        if not self.instants or entry.at_us > self.instants[-1][1]:
            self.instants.append((entry.n, entry.at_us))
        self.clock_us = max(self.clock_us, entry.at_us)
        for applier in self._appliers.get(type(entry.event), ()):
            applier(entry, entry.event)

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
        for key in self.scheduler.assumed:
            self._assume(key, "")
        self.scheduler = scheduler
        for key, node in scheduler.assumed.items():
            self._assume(key, node)

    def _assume(self, key: str, node: str) -> None:
        pod = self.pods.get(key)
        if pod is None:
            return
        before, pod.assumed_on = pod.node, node
        if not pod.pod.finished:
            self._place(key, before, pod.node)

    # --- reading ---------------------------------------------------------------------------------------------------

    def cycle_in_view(self, number: int) -> Cycle | None:
        """The attempt that was asked for, or the one in focus."""
        return self.by_number.get(number) or self.cycle

    def attempt_of(self, pod: str, scheduler: SchedulerState) -> Cycle | None:
        """The last attempt of one scheduler at ``pod``."""
        attempts = reversed(self.attempts.get(pod, ()))
        return next((cycle for cycle in attempts if cycle.replica == scheduler.replica), None)

    def latest_but(self, kinds: Container[type[ev.Event]]) -> int:
        """Number of the last entry that is of none of ``kinds``: while it stays, nothing else has happened."""
        return max((number for kind, number in self.latest.items() if kind not in kinds), default=0)

    def lane(self, name: str) -> list[Queued]:
        return [queued for queued in self.queue.values() if queued.lane == name]

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

    # --- objects ---------------------------------------------------------------------------------------------------

    def _stored(self, entry: ev.Entry, event: ev.ObjectAdded | ev.ObjectModified) -> None:
        self.objects.setdefault(event.kind, {})[event.key] = event.manifest
        self.changed[event.kind] = len(self.entries)
        if event.kind == "Pod":
            self._pod_stored(entry, event.key, Pod(event.manifest))
        elif event.kind == "Node":
            self.nodes[event.key] = NodeState(Node(event.manifest))

    def _pod_stored(self, entry: ev.Entry, key: str, pod: Pod) -> None:
        old = self.pods.get(key)
        assumed = old.assumed_on if old else ""
        state = PodState(pod, self._app(pod), old.added_us if old else entry.at_us, "" if pod.node_name else assumed)
        if pod.terminating:
            known = old.terminating_since_us if old else None
            state.terminating_since_us = entry.at_us if known is None else known
        self.pods[key] = state
        self._place(key, old.node if old else "", "" if pod.finished else state.node)

    def _deleted(self, entry: ev.Entry, event: ev.ObjectDeleted) -> None:
        self.objects.get(event.kind, {}).pop(event.key, None)
        self.changed[event.kind] = len(self.entries)
        if event.kind == "Pod":
            gone = self.pods.pop(event.key, None)
            for scheduler in self.schedulers.values():
                scheduler.nominations.pop(event.key, None)
                # Its cache forgets the pod later, when another one may have come by that name.
                scheduler.assumed.pop(event.key, None)
            if gone is not None:
                self._place(event.key, gone.node, "")
        elif event.kind == "Node" and event.key in self.nodes:
            node = self.nodes[event.key]
            if self.pods_on.get(event.key):
                node.ghost, node.left_us = True, entry.at_us
            else:
                del self.nodes[event.key]

    def _place(self, key: str, old: str, new: str) -> None:
        if old == new:
            return
        if old:
            self.pods_on.get(old, {}).pop(key, None)
            if not self.pods_on.get(old) and old in self.nodes and self.nodes[old].ghost:
                del self.nodes[old]
        if new:
            self.pods_on.setdefault(new, {})[key] = None

    def _app(self, pod: Pod) -> int:
        """Number of the colour of the pod's app (1–10), given out in order of first appearance."""
        name = app_name(pod)
        if name not in self.apps:
            self.apps[name] = len(self.apps) % COLOURS + 1
        return self.apps[name]

    def _recorded(self, entry: ev.Entry, event: ev.EventRecorded) -> None:
        last = self.kube_events[-1] if self.kube_events else None
        if last is not None and last.event == event:
            last.count, last.at_us = last.count + 1, entry.at_us
        else:
            self.kube_events.append(KubeEvent(entry.at_us, event))

    # --- cache -----------------------------------------------------------------------------------------------------

    def _cache_pod(self, entry: ev.Entry, event: ev.CachePodChanged) -> None:
        mine = self.of(entry)
        pod = self.pods.get(event.pod)
        if event.node in self.nodes:
            mine.changes[event.node] = f"{event.pod.rpartition('/')[2]} {event.what}"
        if pod is None or event.uid not in ("", pod.pod.uid):
            return
        if event.what == "assumed":
            mine.assumed[event.pod] = event.node
        elif event.what in ("forgotten", "expired", "removed", "confirmed"):
            mine.assumed.pop(event.pod, None)
        if event.what == "forgotten":
            attempt = self.attempt_of(event.pod, mine)
            if attempt is not None:
                attempt.forgotten = event.node
        if mine is self.scheduler:
            self._assume(event.pod, mine.assumed.get(event.pod, ""))

    def _cache_node(self, entry: ev.Entry, event: ev.CacheNodeChanged) -> None:
        """A scheduler that learns late of a node's end does not end the one that has come since."""
        node = self.nodes.get(event.node)
        if node is None:
            return
        mine = self.of(entry)
        mine.generations[event.node], mine.changes[event.node] = event.generation, f"node {event.what}"
        if event.what not in ("ghost", "removed") or event.node in self.objects.get("Node", ()):
            return
        if event.what == "ghost":
            node.ghost, node.left_us = True, entry.at_us
        else:
            del self.nodes[event.node]

    def _command(self, entry: ev.Entry, event: ev.CommandGiven) -> None:
        self.head = self.length = event.number
        self.starts.append(len(self.entries) - 1)
        self.commands.append(Command(event.number, event.kind, event.summary, entry.at_us, len(self.cycles)))


def app_name(pod: Pod) -> str:
    """Label ``app``, else the recommended name label, else the pod's name without its replica's ending."""
    labels = pod.labels
    given = labels.get("app") or labels.get("app.kubernetes.io/name") or labels.get("k8s-app")
    return given or REPLICA.sub("", pod.name) or pod.name
