"""Simulations in memory. They are only a cache: the log is the truth, and each can be replayed from it.

A ``Live`` is at one state of one sandbox's log. It moves to any other state by replaying from the nearest keyframe.
"""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.content.scenarios import guide
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.past import Past
from sandbox.panels.model.stuck import Stuck
from sandbox.panels.model.world import World
from sandbox.storage import commands
from sandbox.storage.records import AT_ONCE, Expected, Log, Plan, Position, Record, Studied
from sandbox.worker import simulations
from sandbox.worker.decided import difference
from sandbox.worker.so_far import SoFar
from scheduler_engine.errors import OverBudget, Rejected
from scheduler_engine.lesson.walking import Walk
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.decisions import Decisions, comparable

log = logging.getLogger(__name__)

RECENT_KEYFRAMES = 10
MOST_KEYFRAMES = 24
"""Keyframes of a small sandbox. Large clusters have fewer, see ``_most_keyframes``."""
WORTH_COPIES, WORTH_SECONDS = 3, 0.02
"""Take a keyframe after executing for this many times the cost of a copy, and for at least these CPU seconds."""
MOST_LEFT = 2
"""Histories that are kept for clients after somebody went back."""
UNRECORDED = -1
"""State of a simulation that differs from every state of the log."""


class StateGone(Exception):
    """The log no longer has the wanted state: somebody went back and did something else."""


class ReplayFailed(Exception):
    """The engine refuses a command that it once accepted, or raises an unexpected error."""


class DecidedDifferently(ReplayFailed):
    """The engine decides a command differently than the version that once executed it."""


@dataclass(frozen=True, slots=True)
class Keyframe:
    """A copy of a simulation. It is never changed, only copied again."""

    state: int
    who: str
    simulation: Simulation


@dataclass(frozen=True, slots=True)
class Executed:
    """What commands come to in the log: ``texts`` to append. ``grows``: the first one replaces the log's last command.

    ``counts``: for each command, how many of the texts stand for it and those before it. ``marks``: what each text
    decided. ``learned``: mark, key and stored mark of records before them whose stored mark could not be compared.
    """

    texts: list[str]
    grows: bool
    counts: list[int]
    marks: list[str]
    learned: list[tuple[str, int, str]]


class Live:
    """The simulation of one sandbox and the world folded from its trace, at command ``n`` with the key ``state``."""

    def __init__(self, plan: Plan, records: Log) -> None:
        self.plan = plan
        self.records = records
        self.guide = guide(plan.scenario, plan.story)
        self.keyframes: dict[int, Keyframe] = {}
        self.drawn: dict[tuple[Any, ...], tuple[object, Any]] = {}
        """For ``rendering``: panel and parameters → the data it was last drawn from, and its fragment."""
        self.looks: dict[tuple[Any, ...], tuple[Position, float]] = {}
        """For ``rendering``: what a browser looks at → the position drawn last, and the CPU seconds of drawing it."""
        self.spent = 0.0
        """CPU seconds of executing since the last keyframe."""
        self.copying = 0.0
        """CPU seconds of the last keyframe's copy."""
        self.people: dict[int, str] = {}
        """Number of a command → label of its author. Right for all commands before ``n``."""
        self.executed: tuple[int, int] | None = None
        """State before the commands executed last, and the number of their records. The log may not have them yet."""
        self.learned: dict[int, tuple[str, str]] = {}
        """Key of a replayed record whose mark is not ``comparable`` → its mark now, and the stored one."""
        self.unreachable: Position | None = None
        """The position that a replay could not reach; ``world.stuck`` has the reason. Else None."""
        self.past_simulations: dict[tuple[int, int, str | None], Simulation] = {}
        """For ``earlier``: simulations of the past, the last one read at the end.

        The key: number of whole commands, key of the last one's record, and text of one more that ends early, if any.
        """
        self.played: tuple[tuple[Any, ...], Simulation | None] | None = None
        """For the lesson: the command and steps last played on a copy, and the copy, None if a step was refused."""
        self.walked: tuple[Any, int, int, Walk] | None = None
        """For the lesson: what the last walk was about, its last command with its key, and the walk."""
        self.boards: dict[tuple[Any, ...], Any] = {}
        """For ``witness``: what was asked about all nodes at rest → the answer, while nothing has changed since."""
        self.so_far: Callable[[], SoFar] | None = None
        """Returns the progress of the running job, None = its replay says enough. Called at any moment of the job."""
        self.expecting: tuple[Expected, ...] = ()
        """The expectations as of revision ``expecting_at``."""
        self.expecting_at: int | None = None
        self.judged: dict[tuple[int, str], tuple[str, ...]] = {}
        """For ``expecting``: number of a command and path in the scenario → errors at the end of that command."""
        self.told: dict[int, tuple[int, int]] = {}
        """For ``kube``: what clients have heard of this history, as ``kube.versions.Told.until``."""
        self.left: list[tuple[World, dict[int, tuple[int, int]]]] = []
        """Histories of which clients have heard until somebody went back, the newest first."""
        self.studied = Studied()
        """The lesson and the guesses as of the same revision."""
        self.world = World()
        self._start_over()

    @property
    def size(self) -> int:
        """Number of nodes and pods."""
        return len(self.world.nodes) + len(self.world.pods)

    def _start_over(self) -> None:
        self._reset(0, 0, "", simulations.new_simulation(self.plan))

    def _reset(self, n: int, state: int, who: str, simulation: Simulation) -> None:
        self.n, self.state, self.who, self.simulation = n, state, who, simulation
        self.spent = 0.0
        self.drawn.clear()
        self.boards.clear()
        self.judged.clear()
        self.walked = None
        if self.told:
            self.left = [(self.world, self.told), *self.left[: MOST_LEFT - 1]]
            self.told = {}
        # Fold again from the start: a world shares the entries of the trace, so copying it would copy the whole trace.
        self.world, self.folded, self.decisions = World(), 0, Decisions()
        self.past = Past(self.world)
        self.world.seed, self.world.rests = self.plan.seed, simulation.recorder.rests
        self.world.people = self.people
        self.world.guide = self.guide
        self._fold()

    @property
    def is_recorded(self) -> bool:
        """Return False while commands are executed, and after one that failed."""
        return self.state != UNRECORDED

    def invalidate(self) -> None:
        """Mark the simulation as half-changed: the next move starts from a keyframe."""
        self.state, self.executed = UNRECORDED, None

    def _fold(self) -> None:
        for entry in simulations.entries_from(self.simulation, self.folded):
            self.world.apply(entry)
            self.decisions.add(entry)
            self.past.note()
            self.folded += 1
        self.world.clock_us = self.simulation.now_us

    def at(self, moment: Moment | None) -> World:
        """Return the world of a moment of the present log, at most the present world."""
        return self.world if moment is None else self.past.at(moment)

    def text_of(self, n: int) -> str:
        """Return the text of command ``n`` in the log. Raises ``StateGone``."""
        records = self.records.between(self.plan.sandbox_id, n - 1, n)
        if not records:
            raise StateGone(n)
        return records[0].command

    def look_up_expected(self, expected_at: int | None) -> None:
        """Read the expectations and the lesson from the database, unless they are those of revision ``expected_at``.

        None = read them in any case.
        """
        if expected_at is None or expected_at != self.expecting_at:
            self.expecting = tuple(self.records.expected(self.plan.sandbox_id))
            self.studied = self.records.studied(self.plan.sandbox_id)
            self.expecting_at = expected_at

    def log_until(self, moment: Moment | None) -> tuple[int, str | None]:
        """Return the log that ends at a moment: number of whole commands, and text of one more that ends early or None.

        Raises ``Rejected`` if that command cannot end there, or ``StateGone``.
        """
        world = self.at(moment)
        if world is self.world:
            return self.n, None  # Not the head of the log, if the log stops here.
        here = world.moment_of(len(world.entries))
        if self.world.end_of(here.command) == len(world.entries):
            return here.command, None
        return here.command - 1, commands.ended_early(self.text_of(here.command), here.entries)

    def mark_until(self, moment: Moment | None) -> str:
        """Return the mark of the command that is running at a moment, if it ended there."""
        world, decisions = self.at(moment), Decisions()
        for entry in world.entries[world.starts[-1] :]:
            decisions.add(entry)
        return decisions.mark()

    def texts_until(self, moment: Moment | None) -> list[str]:
        """Return the commands that lead to a moment, of which the last one may end early. Raises as ``log_until``."""
        whole, ended = self.log_until(moment)
        return [*self.texts(0, whole), *(() if ended is None else (ended,))]

    def texts(self, after: int, upto: int) -> Iterator[str]:
        """Yield the texts of the commands after place ``after``, up to ``upto``. Raises ``StateGone``."""
        while after < upto:
            records = self.records.between(self.plan.sandbox_id, after, upto)
            if not records:
                raise StateGone(after)
            yield from (record.command for record in records)
            after = records[-1].n

    def is_at(self, position: Position) -> bool:
        return position == (self.unreachable or Position(self.state, self.n, position.length))

    def move_to(self, position: Position) -> None:
        """Move to ``position``. If a command on the way fails, stop before it and set ``world.stuck`` to the reason.

        Raises ``StateGone``.
        """
        if not self.is_at(position):
            self._forget_failure()
            self._jump(position)
            try:
                self._replay_to(position)
            except ReplayFailed as error:
                self._stand_before(position, error)
        self.world.head, self.world.length = position.head, position.length
        self.world.who = self.who

    def check_replayed(self) -> None:
        """Raise ``ReplayFailed`` if the last move stopped before a command that fails."""
        if self.world.stuck is not None:
            raise ReplayFailed(self.world.stuck.text)

    def _replay_to(self, position: Position) -> None:
        """Execute the commands of the log up to ``position``. Raises ``ReplayFailed`` or ``StateGone``."""
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
            self.execute([record.command], are_new=False)
        except MemoryError:
            raise
        except Exception as error:
            # Whatever the error, replay stops before this command. The page shows the reason, and people can go back.
            log.exception("command %s of sandbox %s cannot be replayed", record.n, self.plan.sandbox_id)
            raise ReplayFailed(simulations.reason_of(error, self.simulation, record.command)) from error
        mark = self.decisions.mark()
        if record.mark != mark and comparable(record.mark):
            log.error("command %s of sandbox %s is decided differently", record.n, self.plan.sandbox_id)
            raise DecidedDifferently(difference(record.mark, mark))
        if not comparable(record.mark):
            self.learned[record.key] = mark, record.mark
        self.arrive([record])

    def _stand_before(self, position: Position, error: ReplayFailed) -> None:
        """Move to the last command that can be replayed, and set ``world.stuck``."""
        n, state = self.n, self.state
        if state == UNRECORDED:
            state = self.records.keys(self.plan.sandbox_id, [n]).get(n, 0)
            self._jump(Position(state, n, position.length))
            self._replay_to(Position(state, n, position.length))
        self.unreachable, self.world.stuck = position, Stuck(n + 1, str(error), isinstance(error, DecidedDifferently))
        self.drawn.clear()

    def _forget_failure(self) -> None:
        if self.unreachable is not None:
            self.unreachable = self.world.stuck = None
            self.drawn.clear()

    def _jump(self, position: Position) -> None:
        """Restart from the nearest keyframe before ``position`` in the log. Stay if the present state is nearer."""
        states = {n: frame.state for n, frame in self.keyframes.items()} | {self.n: self.state}
        in_log = self.records.keys(self.plan.sandbox_id, list(states))
        self.keyframes = {n: frame for n, frame in self.keyframes.items() if in_log.get(n) == frame.state}
        nearest = max((n for n in self.keyframes if n <= position.head), default=0)
        if nearest <= self.n <= position.head and in_log.get(self.n, 0) == self.state:
            return
        if not nearest:
            self._start_over()
            return
        frame = self.keyframes[nearest]
        self._reset(nearest, frame.state, frame.who, copy.deepcopy(frame.simulation))

    def execute(
        self,
        texts: Iterable[str],
        are_new: bool = True,
        refusals: Sequence[str] = (),
        check: Callable[[int], None] | None = None,
    ) -> Executed:
        """Execute commands one after the other. Take each text after executing the one before it.

        Call ``arrive`` with their records afterwards: until then, and after an error, the next move starts from a
        keyframe. ``are_new``: they are not in the log. ``refusals``: for each command a part of the refusal after which
        it is left out, "" = none. ``check``: called with the number of each before it is executed. Raises ``Rejected``,
        or what ``check`` raises; the log has none of the commands then.
        """
        self.take_keyframe()
        start, before = time.thread_time(), self.state
        stored, marks = list[str](), list[str]()
        grows, counts = False, list[int]()
        self.executed = None
        for number, text in enumerate(texts):
            if check is not None:
                check(number)
            done, merged = self._execute(text, are_new, refusals[number] if refusals else "")
            if merged is not None:
                grows = grows or not stored
                stored[-1:], marks[-1:] = [merged], [self.decisions.mark()]
            elif done:
                stored.append(text)
                marks.append(self.decisions.mark())
            counts.append(len(stored))
        self.spent += time.thread_time() - start
        self.executed = before, len(stored)
        return Executed(stored, grows, counts, marks, self._hand_over() if are_new else [])

    def _hand_over(self) -> list[tuple[str, int, str]]:
        """Return marks of replayed records to store, at most ``AT_ONCE``. The others follow with the next command."""
        rows = [(mark, key, stored) for key, (mark, stored) in self.learned.items()][:AT_ONCE]
        for _, key, _ in rows:
            del self.learned[key]
        return rows

    def _execute(self, text: str, is_new: bool, refusal: str) -> tuple[bool, str | None]:
        """Return True unless the command was refused as expected, and the text that it and the last one merge to."""
        state, self.state = self.state, UNRECORDED
        try:
            merged = simulations.execute(self.simulation, text, is_new)
        except OverBudget:
            raise  # The simulation is half-changed.
        except Rejected as error:
            self.state = state
            if not refusal or refusal not in str(error):
                raise
            return False, None
        self._fold()
        return True, merged

    def arrive_from(self, state: int, records: list[Record]) -> bool:
        """Call ``arrive`` if the last commands executed are ``records``, from ``state`` on. Return False if not."""
        if self.state != UNRECORDED or self.executed != (state, len(records)):
            return False
        self.arrive(records)
        return True

    def arrive(self, records: list[Record]) -> None:
        """Set the state to that of ``records``, in which the log has the commands just executed."""
        for record in records:
            self.n, self.state, self.who = record.n, record.key, record.who
            self.world.who = self.people[record.n] = record.who

    def take_keyframe(self, at_any_price: bool = False) -> None:
        """Take a keyframe of this state if replaying to it costs enough."""
        keyframe = self.keyframes.get(self.n)
        if self.state in (0, UNRECORDED) or (keyframe and keyframe.state == self.state):
            return
        if self.spent < max(WORTH_COPIES * self.copying, WORTH_SECONDS) and not at_any_price:
            return
        start = time.thread_time()
        self.keyframes[self.n] = Keyframe(self.state, self.who, copy.deepcopy(self.simulation))
        self.copying = time.thread_time() - start
        self.spent = 0.0
        while len(self.keyframes) > self._most_keyframes():
            del self.keyframes[_most_dispensable(sorted(self.keyframes))]

    def _most_keyframes(self) -> int:
        """Return how many keyframes to store: fewer for larger clusters, so that memory stays about the same."""
        return max(3, min(MOST_KEYFRAMES, 10_000 // (1 + self.size)))


def _most_dispensable(places: list[int]) -> int:
    """Return the place of the keyframe to drop. The newest ones stay, older ones thin out with age."""
    old = places[:-RECENT_KEYFRAMES]
    if len(old) < 2:
        return places[0]
    last = places[-1]
    gaps = {n: (after - before) / (last - n) for before, n, after in zip([0, *places], old, places[1:], strict=False)}
    return min(gaps, key=lambda n: gaps[n])
