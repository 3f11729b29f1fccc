"""What would let a pending pod run: the smallest changes, each proved on a copy of the simulation.

The order of fixes, the smallest first; of two fixes of one kind only the smaller is given:

===== ============================================================================================================
rank  what
===== ============================================================================================================
1     fewer changes: combinations of two are tried only if no single change is enough, then those of three
2     kinds in the order of ``RANKS``: what changes a line of the pod, then what changes a node, then what harms others.
      A kind in ``INSTEAD`` is tried only if the smaller kind does not help
3     the amount of a change: missing millicores or bytes, skew, the priority of a deleted pod
4     the order of nodes in the nodeTree
===== ============================================================================================================

A fix is proved on two scratch copies: after its commands a node passes every filter at once, and the pod still has a
node when all controllers have acted (``lasting``). Other pending pods do not compete for it. To raise a priority, a
cycle must nominate a node (``priorities``). ``MOST_TRIES`` limits the tries.
Source: design of the sandbox.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, product
from math import prod
from typing import Any

from scheduler_engine.answers.changes import Change, Edit, change, make
from scheduler_engine.answers.lasting import bound_after, settle_volumes
from scheduler_engine.answers.looking import Look, look, scratch
from scheduler_engine.answers.new_nodes import new_nodes
from scheduler_engine.answers.priorities import preempting
from scheduler_engine.answers.remedies import Obstacle, before_nodes, obstacles
from scheduler_engine.answers.seen import seen_on
from scheduler_engine.api.objects import Pod
from scheduler_engine.api.pod_groups import group_of
from scheduler_engine.errors import Rejected
from scheduler_engine.own_plugins import IN_TREE
from scheduler_engine.plugins.registry import OUT_OF_TREE
from scheduler_engine.simulation import Simulation

MOST_CHANGES = 3
MOST_TRIES = 150
MOST_OF_A_KIND = 6
"""Tries for each combination of kinds."""
MOST_PRODUCT = 512
"""Ways to remove a node's obstacles; a node with more is left out."""
INSTEAD = {"scale": "delete"}
"""Kind → the smaller one that it replaces."""


Identities = frozenset[tuple[str, str]]
"""Which changes a combination has; only compared, never iterated."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A proved fix. ``node``: where the pod runs then, or is nominated; ``victims``: whom preemption deletes."""

    changes: tuple[Change, ...]
    node: str
    victims: tuple[str, ...] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        return tuple(edit for item in self.changes for edit in item.edits)


@dataclass(frozen=True, slots=True)
class Try:
    """Progress: ``number`` combinations were tried; ``fix``: what the last one proved, None = nothing."""

    number: int
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Facing:
    """``fits``: nothing remains; ``before``: what may help before any node is asked; ``on_nodes``: their obstacles."""

    fits: bool = False
    before: tuple[Change, ...] = ()
    on_nodes: tuple[list[Obstacle], ...] = ()


@dataclass(slots=True)
class Search:
    """``tried``: combinations → the fix, or None. ``facing``: what must change first → what remains to change."""

    simulation: Simulation
    pod: Pod
    tried: dict[Identities, Fix | None] = field(default_factory=dict)
    facing: dict[Identities, Facing] = field(default_factory=dict)

    def prove(self, changes: Sequence[Change]) -> Fix | None:
        """Make the changes in a copy, and look. Each combination is tried once."""
        key = frozenset(item.identity for item in changes)
        if key not in self.tried:
            self.tried[key] = self._proved(changes)
        return self.tried[key]

    def _proved(self, changes: Sequence[Change]) -> Fix | None:
        edits = [edit for item in changes for edit in item.edits]
        try:
            at_once = passes(self.simulation, self.pod, edits)
            if not changes or not at_once:
                return Fix((), at_once[0]) if at_once else None
            node = bound_after(self.simulation, self.pod, edits)
        except Rejected:
            # The API server refuses some combinations, such as an invalid manifest: no fix.
            return None
        return Fix(tuple(changes), node) if node else None


def passes(simulation: Simulation, pod: Pod, edits: Sequence[Edit]) -> tuple[str, ...]:
    """Return the nodes that pass every filter right after the edits, on a copy, or once it has the volumes. Raises
    Rejected.
    """
    copied = scratch(simulation)
    make(copied, edits)
    settle_volumes(copied, edits)
    after = copied.api.pod(pod.key)
    looked = look(copied, after) if after is not None and not after.scheduling_gates else None
    return looked.feasible if looked is not None else ()


def strangers(simulation: Simulation, pod: Pod) -> tuple[str, ...]:
    """Return who also decides where the pod may run, and what would satisfy them is not known: plugins that are not
    Kubernetes' own, and extenders.
    """
    framework = simulation.scheduler.profiles.get(pod.scheduler_name)
    if framework is None:
        return ()
    plugins = [plugin.name for point in ("preFilter", "filter") for plugin in framework.points[point]]
    asked = [name for name in plugins if name not in IN_TREE or (name in OUT_OF_TREE and group_of(pod))]
    extenders = [one.name for one in framework.handle.extenders if one.filter_verb and one.is_interested(pod)]
    return tuple(dict.fromkeys(asked + extenders))


def fixes(simulation: Simulation, pod: Pod) -> Iterator[Try]:
    """Yield each try, with the fix if it proved one that is not larger than another of its kinds.

    ``pod`` is pending in ``simulation``, which stays as it is. Nothing is yielded if the pod fits as it is, or
    if there is no node.
    """
    search = Search(simulation, pod)
    if search.prove(()) is not None:
        return
    for count in range(1, MOST_CHANGES + 1):
        proved = False
        for found in _of_size(search, count):
            proved = proved or found.fix is not None
            yield found
        if proved:
            return


def _of_size(search: Search, count: int) -> Iterator[Try]:
    wanted = _candidates(search, count)
    tries: dict[tuple[str, ...], int] = {}
    proved: dict[tuple[str, ...], Fix] = {}
    for changes in wanted:
        kinds = tuple(item.kind for item in changes)
        smaller = tuple(INSTEAD.get(kind, kind) for kind in kinds)
        if smaller in proved or kinds in proved:
            continue
        if tries.get(kinds, 0) >= MOST_OF_A_KIND or len(search.tried) >= MOST_TRIES:
            continue
        tries[kinds] = tries.get(kinds, 0) + 1
        fix = search.prove(changes)
        if fix is not None:
            fix = _least(search, fix)
            kinds = tuple(item.kind for item in fix.changes)
            fix = None if kinds in proved else proved.setdefault(kinds, fix)
        yield Try(len(search.tried), fix)
    if count == 1:
        outcome = preempting(search.simulation, search.pod)
        if outcome is not None:
            yield Try(len(search.tried), Fix(*outcome))


def _least(search: Search, fix: Fix) -> Fix:
    """Return a part of the fix that is enough, or the fix itself."""
    for count in range(1, len(fix.changes)):
        for part in combinations(fix.changes, count):
            smaller = search.prove(part)
            if smaller is not None:
                return smaller
    return fix


def _candidates(search: Search, count: int) -> list[tuple[Change, ...]]:
    """Return the combinations of that many changes that should be enough on some node, the smallest first."""
    first = tuple(_first(search.simulation, search.pod))
    listed: dict[Identities, tuple[Change, ...]] = {}
    for changes in chain(_combined(search, first, count), _with_a_node(search, first, count)):
        ordered = tuple(sorted(changes, key=lambda item: item.size))
        listed.setdefault(frozenset(item.identity for item in ordered), ordered)
    return sorted(listed.values(), key=lambda items: [item.size for item in items])


def _first(simulation: Simulation, pod: Pod) -> Iterator[Change]:
    """Yield what must change before any node is asked: an unknown scheduler name, and gates."""
    if pod.scheduler_name not in simulation.scheduler.profiles:
        name = next(iter(simulation.scheduler.profiles))
        edit = Edit("Pod", pod.key, "set", ("spec", "schedulerName"), name)
        yield change("scheduler", [edit], old=pod.scheduler_name, name=name)
    if pod.scheduling_gates:
        dropped = [
            Edit("Pod", pod.key, "drop", ("spec", "schedulingGates"), {"name": name}) for name in pod.scheduling_gates
        ]
        yield change("ungate", dropped, gates=", ".join(pod.scheduling_gates))


def _combined(search: Search, first: tuple[Change, ...], count: int) -> Iterator[tuple[Change, ...]]:
    """Yield ``first`` with what removes all obstacles on a node, ``count`` changes in all."""
    key = frozenset(item.identity for item in first)
    if key not in search.facing:
        search.facing[key] = _facing(search, first)
    facing = search.facing[key]
    if facing.fits and len(first) == count:
        yield first
    for item in facing.before if len(first) < count else ():
        yield from _combined(search, (*first, item), count)
    for listed in facing.on_nodes:
        for chosen in product(*listed):
            changes = {item.identity: item for item in (*first, *chosen)}
            if len(changes) == count:
                yield tuple(changes.values())


def _facing(search: Search, first: tuple[Change, ...]) -> Facing:
    """Return what keeps the pod off each node after the changes ``first``."""
    copied, edits = scratch(search.simulation), [edit for item in first for edit in item.edits]
    try:
        make(copied, edits)
        settle_volumes(copied, edits)
    except Rejected:
        # The API server refuses these changes, so nothing follows from them.
        return Facing()
    pod = copied.api.pod(search.pod.key)
    looked = look(copied, pod) if pod is not None else None
    if pod is None or looked is None:
        return Facing()
    if looked.feasible or looked.pre_filter is not None:
        return Facing(bool(looked.feasible), tuple(before_nodes(copied, looked)))
    return Facing(on_nodes=tuple(_by_node(copied, looked)))


def _by_node(copied: Simulation, looked: Look) -> Iterator[list[Obstacle]]:
    notes: dict[object, Any] = {}
    for info in copied.scheduler.snapshot.list():
        seen = seen_on(copied, looked, info.name, notes)
        listed = obstacles(seen) if seen is not None else None
        if listed and prod(len(item) for item in listed) <= MOST_PRODUCT:
            yield listed


def _with_a_node(search: Search, first: tuple[Change, ...], count: int) -> Iterator[tuple[Change, ...]]:
    if len(first) + 1 == count:
        yield from ((*first, item) for item in new_nodes(search.simulation))
