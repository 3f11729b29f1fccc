"""What becomes of the pods if nodes are drained or lost, and which nodes could be removed.

The commands of a person run on a scratch copy, with all controllers, for some minutes of simulated time. Source: design
of the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from scheduler_engine import commands
from scheduler_engine.answers.looking import leading_schedulers, scratch
from scheduler_engine.api.objects import Pod
from scheduler_engine.simulation import Simulation
from scheduler_engine.timeline import SECOND_US
from scheduler_engine.trace.events import (
    CycleFinished,
    CycleStarted,
    Event,
    EvictionAnswered,
    PodEvicted,
    PostFilterRan,
)

SECONDS = 600
"""How long pods have to leave and to find places: a drain asks again every 5 s, and PodGC needs a minute."""
MOVED, WAITS, LOST, BLOCKED, KEPT, NOT_REPLACED = "moved", "waits", "lost", "blocked", "kept", "not-replaced"
UNNEEDED = "unneeded"
FINE = (MOVED, KEPT, UNNEEDED)
"""Outcomes that do not keep a node from being removed."""
PREEMPTED, EVICTED = "preempted", "evicted"


@dataclass(frozen=True, slots=True)
class Leaver:
    """What becomes of one pod of a leaving node. ``outcome`` is one of:

    ``moved``: its replacement is on ``node``; ``waits``: it has no place, ``message`` says why; ``lost``: no controller
    replaces it; ``not-replaced``: its controller makes no other one; ``blocked``: ``budgets`` refuse its eviction, in
    the words of ``message``; ``kept``: a drain leaves pods of DaemonSets; ``unneeded``: a DaemonSet needs no pod for a
    node that is gone. ``replacement``: the key of the new pod.
    """

    pod: str
    outcome: str
    replacement: str = ""
    node: str = ""
    message: str = ""
    budgets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Displaced:
    """A pod of another node that had to go, and what becomes of it, as of a leaver.

    ``cause``: ``preempted``, to make room on ``node`` for the pod ``by``; or ``evicted`` by the kubelet of ``node``,
    which says why in ``by``.
    """

    left: Leaver
    cause: str
    by: str
    node: str


@dataclass(frozen=True, slots=True)
class Leaving:
    """``leavers``: the pods of the leaving nodes, in order of creation. ``displaced``: pods of other nodes that had to
    go. A pod that is done, or that its controller no longer wants, did not have to. ``last``: no other node remains.
    """

    leavers: tuple[Leaver, ...]
    displaced: tuple[Displaced, ...]
    last: bool = False

    @property
    def can_go(self) -> bool:
        """Return True if the nodes can be removed."""
        return self.is_fine and not self.last

    @property
    def is_fine(self) -> bool:
        """Return True if every pod has a place, and no other pod lost its own."""
        return not self.displaced and self.have_places

    @property
    def have_places(self) -> bool:
        """Return True if every pod has a place, and every other pod that lost its own has a new one."""
        return all(item.outcome in FINE for item in (*self.leavers, *(other.left for other in self.displaced)))


@dataclass(frozen=True, slots=True)
class Departure:
    """A leave that is tried now, for those who report its progress. ``twin``: the scratch copy, which changes.

    ``uids``: the pods that were on the leaving nodes.
    """

    twin: Simulation
    uids: frozenset[str]

    @property
    def gone(self) -> int:
        """Return how many of the pods have left so far."""
        return len(self.uids) - sum(pod.uid in self.uids for pod in self.twin.api.pods())


Watch = Callable[[Departure], None]
"""Called with each departure before it begins."""


def drain(simulation: Simulation, node: str, watch: Watch | None = None) -> Leaving:
    """Return what becomes of a node's pods if it is drained, with all flags that let ``kubectl drain`` proceed.

    Raises Rejected if there is no such node.
    """
    return _leave(simulation, (node,), (_drain(node),), watch)[0]


def lose(simulation: Simulation, nodes: Sequence[str], watch: Watch | None = None) -> Leaving:
    """Return what becomes of the pods of nodes that are gone at once, such as those of a zone. Raises Rejected."""
    return _leave(simulation, tuple(nodes), tuple(commands.Delete("Node", node) for node in nodes), watch)[0]


def removable(simulation: Simulation, watch: Watch | None = None) -> Iterator[tuple[str, Leaving]]:
    """Yield each node, in order of creation, with what a drain does to its pods. It is removable if it ``can_go``."""
    for node in simulation.api.list("Node"):
        yield node.name, drain(simulation, node.name, watch)


def removable_together(simulation: Simulation, watch: Watch | None = None) -> Iterator[tuple[str, bool]]:
    """Yield each node with whether it can be drained and removed after those before, the fewest pods first.

    A greedy choice: another one may remove more.
    """
    current = scratch(simulation)
    counts = {node.name: len(current.api.unfinished_on(node.name)) for node in current.api.list("Node")}
    for node in sorted(counts, key=lambda name: counts[name]):
        left, twin = _leave(current, (node,), (_drain(node),), watch)
        if left.can_go:
            twin.execute(commands.Delete("Node", node))
            twin.execute(commands.Run())
            current = twin
        yield node, left.can_go


def _drain(node: str) -> commands.Command:
    return commands.Drain(node, force=True, ignore_daemonsets=True, delete_emptydir_data=True)


def _leave(
    simulation: Simulation, nodes: tuple[str, ...], given: tuple[commands.Command, ...], watch: Watch | None
) -> tuple[Leaving, Simulation]:
    """Execute the commands on a copy; return what becomes of the pods, and the copy.

    Before that, pods that wait get their turn, and binding cycles end: otherwise a pod would be bound to a node that
    has been drained meanwhile.
    """
    twin = scratch(simulation)
    twin.execute(commands.Settle())
    _end_bindings(twin)
    before = [pod for pod in twin.api.pods() if pod.node_name and not pod.finished and not pod.terminating]
    leaving = [pod for pod in before if pod.node_name in nodes]
    if watch is not None:
        watch(Departure(twin, frozenset(pod.uid for pod in leaving)))
    known = {pod.uid for pod in twin.api.pods()}
    first = len(twin.recorder.entries)
    for command in (*given, commands.Run(), commands.Advance(SECONDS), commands.Run()):
        twin.execute(command)
    events = [entry.event for entry in twin.recorder.entries[first:]]
    after = {pod.uid: pod for pod in twin.api.pods()}
    new: dict[str, list[Pod]] = {}
    for pod in after.values():
        if pod.uid not in known and not pod.terminating:
            new.setdefault(_owner(pod), []).append(pod)
    remaining = {pod.uid for pod in after.values() if not pod.terminating and not pod.finished}
    there = {node.name for node in twin.api.list("Node")}
    leavers = tuple(_leaver(pod, pod.uid in remaining, pod.node_name in there, new, events) for pod in leaving)
    causes = _causes(events)
    displaced = tuple(
        Displaced(_leaver(pod, False, pod.node_name in there, new, events), *causes[pod.key], pod.node_name)
        for pod in before
        if pod.node_name not in nodes and pod.key in causes and pod.uid not in remaining
    )
    return Leaving(leavers, displaced, there <= {*nodes}), twin


def _end_bindings(twin: Simulation) -> None:
    """Let time pass until no pod is being bound, at most ``SECONDS``: a PreBind may wait for a volume."""
    until_us = twin.now_us + SECONDS * SECOND_US
    while any(scheduler.bindings for scheduler in leading_schedulers(twin)):
        due_us = twin.timeline.next_us()
        if due_us is None or due_us > until_us:
            return
        twin.execute(commands.Advance(max(due_us - twin.now_us, 1) / SECOND_US))


def _causes(events: Sequence[Event]) -> dict[str, tuple[str, str]]:
    """Return the key of each pod that others drove away → ``Displaced.cause`` and ``by``, the first of each pod."""
    causes: dict[str, tuple[str, str]] = {}
    pods: dict[int, str] = {}
    for event in events:
        if isinstance(event, CycleStarted):
            pods[event.cycle] = event.pod
        elif isinstance(event, PostFilterRan):
            for victim in event.victims:
                causes.setdefault(victim, (PREEMPTED, pods[event.cycle]))
        elif isinstance(event, PodEvicted):
            causes.setdefault(event.pod, (EVICTED, event.message))
    return causes


def _owner(pod: Pod) -> str:
    """Return the uid of the pod's controller, "" without one."""
    return pod.controller_ref["uid"] if pod.controller_ref is not None else ""


def _leaver(pod: Pod, stays: bool, node_stays: bool, new: dict[str, list[Pod]], events: Sequence[Event]) -> Leaver:
    """Take the pod's replacement out of ``new``: uid of an owner → its new pods."""
    reference = pod.controller_ref
    if stays:
        answers = [item for item in events if isinstance(item, EvictionAnswered) and item.pod == pod.key]
        if answers:
            return Leaver(
                pod.key, BLOCKED, message=answers[-1].cause or answers[-1].message, budgets=answers[-1].budgets
            )
        return Leaver(pod.key, KEPT)
    if reference is None:
        return Leaver(pod.key, LOST)
    replacements = new.get(reference["uid"], [])
    if not replacements:
        is_unneeded = reference["kind"] == "DaemonSet" and not node_stays
        return Leaver(pod.key, UNNEEDED if is_unneeded else NOT_REPLACED)
    # Those with a node first: it does not matter which of its pods a controller replaces.
    found = min(replacements, key=lambda item: (item.name != pod.name, not item.node_name))
    replacements.remove(found)
    if found.node_name:
        return Leaver(pod.key, MOVED, found.key, found.node_name)
    ended = [item for item in events if isinstance(item, CycleFinished) and item.pod == found.key]
    return Leaver(pod.key, WAITS, found.key, message=ended[-1].message if ended else "")
