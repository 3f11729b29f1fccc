"""Simulations in memory: a cache of replays, never the truth.

A :class:`Live` stands at one state of one sandbox's log and moves to any other by replaying, starting from the
nearest keyframe.
"""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandbox.library.scenarios import guide
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.past import Past
from sandbox.panels.model.stuck import Stuck
from sandbox.panels.model.world import World
from sandbox.storage import commands
from sandbox.storage.records import Expected, Log, Plan, Position, Record, Studied
from sandbox.worker import simulations
from scheduler_engine.errors import OverBudget, Rejected
from scheduler_engine.simulation import Simulation

log = logging.getLogger(__name__)

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
    """The engine refuses, or breaks down over, a command that it once accepted."""


@dataclass(frozen=True, slots=True)
class Keyframe:
    """A copy that is never executed on, only copied again."""

    state: int
    who: str
    simulation: Simulation


class Live:
    """One sandbox's simulation and the world folded from its trace, at command ``n`` (key ``state``)."""

    def __init__(self, plan: Plan, records: Log) -> None:
        self.plan = plan
        self.records = records
        self.guide = guide(plan.scenario, plan.story)
        self.keyframes: dict[int, Keyframe] = {}
        self.drawn: dict[tuple[Any, ...], tuple[object, Any]] = {}
        """For rendering: what a panel of the present world was drawn from, and its fragment."""
        self.looks: dict[tuple[Any, ...], tuple[Position, float]] = {}
        """For rendering: what browsers look at → what they were shown last, and the seconds of CPU time that took."""
        self.spent = 0.0
        """Seconds of CPU time of executing since the last keyframe."""
        self.copying = 0.0
        """Seconds of CPU time that the last keyframe took."""
        self.people: dict[int, str] = {}
        """Who gave command n; right for every command before the one it stands at."""
        self.ran: tuple[int, int] | None = None
        """From which state so many commands were executed that the log may not hold yet."""
        self.wanted: Position | None = None
        """The position that could not be reached, if ``world.stuck`` tells of one."""
        self.read: dict[tuple[int, int, str | None], Simulation] = {}
        """For ``earlier``, what was read of the past, last of all the last: after so many commands, the key of the last
        one, and the text of one more that ended early.
        """
        self.led: tuple[tuple[Any, ...], Simulation | None] | None = None
        """For the lesson: after which command which steps were played on a copy last, and the copy; None: refused."""
        self.expecting: tuple[Expected, ...] = ()
        """What is expected since the sandbox's change ``expecting_at``."""
        self.expecting_at: int | None = None
        self.judged: dict[tuple[int, str], tuple[str, ...]] = {}
        """For ``expecting``: number of a command and path in the scenario → what was wrong where that command ended."""
        self.studied = Studied()
        """The lesson and the guesses, of the same change."""
        self._start_over()

    @property
    def size(self) -> int:
        """Number of nodes and pods."""
        return len(self.world.nodes) + len(self.world.pods)

    def _start_over(self) -> None:
        self._stand(0, 0, "", simulations.new_simulation(self.plan))

    def _stand(self, n: int, state: int, who: str, simulation: Simulation) -> None:
        self.n, self.state, self.who, self.simulation = n, state, who, simulation
        self.spent = 0.0
        self.drawn.clear()
        self.judged.clear()
        # Folded anew: a world shares the trace's entries, so that copying one would copy the whole trace.
        self.world, self.folded = World(), 0
        self.past = Past(self.world)
        self.world.seed, self.world.rests = self.plan.seed, simulation.recorder.rests
        self.world.people = self.people
        self.world.guide = self.guide
        self._fold()

    def lose_place(self) -> None:
        """Something was cut off in the middle: the next move starts from a keyframe."""
        self.state, self.ran = UNRECORDED, None

    def _fold(self) -> None:
        for entry in simulations.entries_from(self.simulation, self.folded):
            self.world.apply(entry)
            self.past.note()
            self.folded += 1
        self.world.clock_us = self.simulation.now_us

    def at(self, moment: Moment | None) -> World:
        """The world of a moment, at most the present one; of the latter's log."""
        return self.world if moment is None else self.past.at(moment)

    def text_of(self, n: int) -> str:
        """Command ``n`` as it is kept. Raises ``StateGone``."""
        found = self.records.between(self.plan.sandbox_id, n - 1, n)
        if not found:
            raise StateGone(n)
        return found[0].command

    def look_up_expected(self, expected_at: int | None) -> None:
        """Know what is expected of the sandbox, and its lesson, since its change ``expected_at``, None = now."""
        if expected_at is None or expected_at != self.expecting_at:
            self.expecting = tuple(self.records.expected(self.plan.sandbox_id))
            self.studied = self.records.studied(self.plan.sandbox_id)
            self.expecting_at = expected_at

    def log_until(self, moment: Moment | None) -> tuple[int, str | None]:
        """The log that ends at a moment: how many commands, and the text of one more that ends early; None: none does.

        Raises ``Rejected`` when the command cannot end there.
        """
        world = self.at(moment)
        if world is self.world:
            return self.world.head, None
        here = world.moment_of(len(world.entries))
        if self.world.end_of(here.command) == len(world.entries):
            return here.command, None
        return here.command - 1, commands.ended_early(self.text_of(here.command), here.entries)

    def texts(self, after: int, upto: int) -> Iterator[str]:
        """The commands of the log after so many, as they are kept. Raises ``StateGone``."""
        while after < upto:
            found = self.records.between(self.plan.sandbox_id, after, upto)
            if not found:
                raise StateGone(after)
            yield from (record.command for record in found)
            after = found[-1].n

    def stands_at(self, position: Position) -> bool:
        return position == (self.wanted or Position(self.state, self.n, position.length))

    def move_to(self, position: Position) -> None:
        """Stand at ``position``, or, when a command on the way there fails, before it: ``world.stuck`` then tells why.

        Raises ``StateGone``.
        """
        if not self.stands_at(position):
            self._forget_failure()
            self._jump(position)
            try:
                self._replay_to(position)
            except ReplayFailed as error:
                self._stand_before(position, error)
        self.world.head, self.world.length = position.head, position.length
        self.world.who = self.who

    def check_whole(self) -> None:
        """Raises ``ReplayFailed`` when it stands before a command that fails."""
        if self.world.stuck is not None:
            raise ReplayFailed(self.world.stuck.reason)

    def _replay_to(self, position: Position) -> None:
        """Raises ``ReplayFailed`` or ``StateGone``."""
        while self.n < position.head:
            tail = self.records.between(self.plan.sandbox_id, self.n, position.head)
            if not tail:
                raise StateGone(position)
            for record in tail:
                self._replay(record)
        if self.state != position.state:
            raise StateGone(position)

    def _replay(self, record: Record) -> None:
        try:
            self.execute([record.command])
        except MemoryError:
            raise
        except Exception as error:
            # Whatever it is, the log cannot be replayed beyond this command; who has it open is told, and can go back.
            log.exception("command %s of sandbox %s cannot be replayed", record.n, self.plan.sandbox_id)
            raise ReplayFailed(str(error) or type(error).__name__) from error
        self.arrive([record])

    def _stand_before(self, position: Position, error: ReplayFailed) -> None:
        """At the last command that can be replayed, which is the one it has arrived at."""
        n, state = self.n, self.state
        if state == UNRECORDED:
            state = self.records.keys(self.plan.sandbox_id, [n]).get(n, 0)
            self._jump(Position(state, n, position.length))
            self._replay_to(Position(state, n, position.length))
        self.wanted, self.world.stuck = position, Stuck(n + 1, str(error))
        self.drawn.clear()

    def _forget_failure(self) -> None:
        if self.wanted is not None:
            self.wanted = self.world.stuck = None
            self.drawn.clear()

    def _jump(self, position: Position) -> None:
        """Restart from what is nearest before ``position`` and still part of the log."""
        known = {n: frame.state for n, frame in self.keyframes.items()} | {self.n: self.state}
        kept = self.records.keys(self.plan.sandbox_id, list(known))
        self.keyframes = {n: frame for n, frame in self.keyframes.items() if kept.get(n) == frame.state}
        nearest = max((n for n in self.keyframes if n <= position.head), default=0)
        if nearest <= self.n <= position.head and kept.get(self.n, 0) == self.state:
            return
        if not nearest:
            self._start_over()
            return
        frame = self.keyframes[nearest]
        self._stand(nearest, frame.state, frame.who, copy.deepcopy(frame.simulation))

    def execute(self, texts: list[str]) -> list[str | None]:
        """Execute kept commands; for each, what is to be kept in place of the last one and itself, if the two merge.

        Raises ``Rejected``, with nothing changed.

        Until ``arrive`` tells their places in the log, or after any error, the next move starts from a keyframe.
        """
        self.remember()
        start, before = time.thread_time(), self.state
        kept = []
        self.ran = None
        for text in texts:
            state, self.state = self.state, UNRECORDED
            try:
                kept.append(simulations.execute(self.simulation, text))
            except OverBudget:
                raise  # The simulation has gone too far to be of use.
            except Rejected:
                self.state = state
                raise
            self._fold()
        self.spent += time.thread_time() - start
        self.ran = before, len(texts)
        return kept

    def arrive_from(self, state: int, records: list[Record]) -> bool:
        """What was executed from ``state`` stands in the log as ``records``; False if that was elsewhere."""
        if self.state != UNRECORDED or self.ran != (state, len(records)):
            return False
        self.arrive(records)
        return True

    def arrive(self, records: list[Record]) -> None:
        """The commands just executed stand in the log as ``records``."""
        for record in records:
            self.n, self.state, self.who = record.n, record.key, record.who
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
