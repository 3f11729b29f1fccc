"""Simulations in memory: a cache of replays, never the truth.

A :class:`Live` stands at one state of one sandbox's log and moves to any other by replaying, starting from the
nearest keyframe. Whoever uses one holds its ``lock``.
"""

from __future__ import annotations

import copy
import time
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock, RLock
from typing import Any
from uuid import UUID

from django.conf import settings

from sandbox import engine, memory
from sandbox.guide import guide
from sandbox.models import CommandRecord, Sandbox
from sandbox.panels.world import World
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation

RECENT_KEYFRAMES = 10
MOST_KEYFRAMES = 24
"""Keyframes of one small sandbox; large clusters keep fewer (see ``_room``)."""
WORTH_COPIES, WORTH_SECONDS = 3, 0.02
"""A keyframe is worth while for so much executing: times what a copy costs, and seconds of CPU time at least."""
UNRECORDED = -1
"""State of a simulation that differs from every state of the log."""


class StateGone(Exception):
    """The log no longer holds the wanted state: somebody went back and did something else."""


class ReplayFailed(Exception):
    """The engine refuses a command it once accepted."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a sandbox stands: ``state`` is the key of the record at ``head`` (0 = at the start)."""

    state: int
    head: int
    length: int

    @classmethod
    def of(cls, sandbox: Sandbox) -> Position:
        return cls(sandbox.state, sandbox.head, sandbox.length)


@dataclass(frozen=True, slots=True)
class Keyframe:
    """A copy that is never executed on, only copied again."""

    state: int
    who: str
    simulation: Simulation


class Live:
    """One sandbox's simulation and the world folded from its trace, at command ``n`` (key ``state``)."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox_id: UUID = sandbox.id
        self.seed = sandbox.seed
        self.configuration = sandbox.configuration
        self.queue_rules = sandbox.queue_rules
        self.guide = guide(sandbox.scenario)
        self.lock = RLock()
        self.keyframes: dict[int, Keyframe] = {}
        self.drawn: dict[tuple[Any, ...], tuple[object, Any]] = {}
        """For rendering: what a panel of the present world was drawn from, and its fragment."""
        self.spent = 0.0
        """Seconds of CPU time of executing since the last keyframe."""
        self.copying = 0.0
        """Seconds of CPU time that the last keyframe took."""
        self.people: dict[int, str] = {}
        """Who gave command n; right for every command before the one it stands at."""
        self._start_over()

    @property
    def size(self) -> int:
        """Number of nodes and pods."""
        return len(self.world.nodes) + len(self.world.pods)

    def _start_over(self) -> None:
        self._stand(0, 0, "", engine.new_simulation(self.seed, self.configuration, self.queue_rules))

    def _stand(self, n: int, state: int, who: str, simulation: Simulation) -> None:
        self.n, self.state, self.who, self.simulation = n, state, who, simulation
        self.spent = 0.0
        self.drawn.clear()
        # Folded anew: a world shares the trace's entries, so that copying one would copy the whole trace.
        self.world, self.folded = World(), 0
        self.world.seed = self.seed
        self.world.people = self.people
        self.world.guide = self.guide
        self._fold()

    def _fold(self) -> None:
        for entry in engine.entries_from(self.simulation, self.folded):
            self.world.apply(entry)
            self.folded += 1
        self.world.clock_us = self.simulation.now_us

    def stands_at(self, position: Position) -> bool:
        return (self.n, self.state) == (position.head, position.state)

    def move_to(self, position: Position) -> None:
        """Stand at ``position``. Raises ``StateGone`` or ``ReplayFailed``."""
        if not self.stands_at(position):
            self._jump(position)
            tail = CommandRecord.objects.filter(sandbox=self.sandbox_id, n__gt=self.n, n__lte=position.head)
            for record in tail.order_by("n").iterator():
                self._replay(record)
            if self.state != position.state:
                raise StateGone(position)
        self.world.head, self.world.length = position.head, position.length
        self.world.who = self.who

    def _jump(self, position: Position) -> None:
        """Restart from what is nearest before ``position`` and still part of the log."""
        known = {n: frame.state for n, frame in self.keyframes.items()} | {self.n: self.state}
        kept = dict(CommandRecord.objects.filter(sandbox=self.sandbox_id, n__in=known).values_list("n", "pk"))
        self.keyframes = {n: frame for n, frame in self.keyframes.items() if kept.get(n) == frame.state}
        nearest = max((n for n in self.keyframes if n <= position.head), default=0)
        if nearest <= self.n <= position.head and kept.get(self.n, 0) == self.state:
            return
        memory.dropped(self.size)
        if not nearest:
            self._start_over()
            return
        frame = self.keyframes[nearest]
        self._stand(nearest, frame.state, frame.who, copy.deepcopy(frame.simulation))

    def _replay(self, record: CommandRecord) -> None:
        try:
            self.execute(record.command)
        except Rejected as error:
            raise ReplayFailed(f"command {record.n}: {error}") from error
        self.arrive(record)

    def execute(self, text: str) -> None:
        """Execute a kept command. Raises ``Rejected``, with nothing changed.

        Until ``arrive`` tells its place in the log, or after any other error, the next move starts from a keyframe.
        """
        self.remember()
        start = time.thread_time()
        state, self.state = self.state, UNRECORDED
        try:
            engine.execute(self.simulation, text)
        except Rejected:
            self.state = state
            raise
        self._fold()
        self.spent += time.thread_time() - start

    def arrive(self, record: CommandRecord) -> None:
        """The command just executed stands in the log as ``record``."""
        self.n, self.state, self.who = record.n, record.pk, record.who
        self.world.who = self.people[record.n] = record.who

    def remember(self, at_any_price: bool = False) -> None:
        """Keep a keyframe of this state, when replaying to it has come to cost enough."""
        known = self.keyframes.get(self.n)
        if self.state in (0, UNRECORDED) or (known and known.state == self.state):
            return
        if self.spent < max(WORTH_COPIES * self.copying, WORTH_SECONDS) and not at_any_price:
            return
        start = time.thread_time()
        self.keyframes[self.n] = Keyframe(self.state, self.who, copy.deepcopy(self.simulation))
        self.copying = time.thread_time() - start
        self.spent = 0.0
        while len(self.keyframes) > self._room():
            del self.keyframes[_most_dispensable(sorted(self.keyframes))]

    def _room(self) -> int:
        """Fewer keyframes for larger clusters: about the same memory for each sandbox."""
        return max(3, min(MOST_KEYFRAMES, 10_000 // (1 + self.size)))


def _most_dispensable(places: list[int]) -> int:
    """The keyframe whose loss costs least: the newest ones stay, older ones thin out with age."""
    old = places[:-RECENT_KEYFRAMES]
    if len(old) < 2:
        return places[0]
    last = places[-1]
    gaps = {n: (after - before) / (last - n) for before, n, after in zip([0, *places], old, places[1:], strict=False)}
    return min(gaps, key=lambda n: gaps[n])


_lives: OrderedDict[UUID, Live] = OrderedDict()
_lives_lock = Lock()


def live(sandbox: Sandbox) -> Live:
    """The live simulation of ``sandbox``, made on first use; the least recently used one makes room for it."""
    with _lives_lock:
        found = _lives.get(sandbox.id)
        if found is None:
            found = _lives[sandbox.id] = Live(sandbox)
        _lives.move_to_end(sandbox.id)
        while len(_lives) > settings.LIVE_SANDBOXES:
            _, least_used = _lives.popitem(last=False)
            memory.dropped(least_used.size * (1 + len(least_used.keyframes)))
        return found
