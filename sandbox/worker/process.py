"""The process of an engine: one job after the other.

It holds the live simulations of many sandboxes. In the quick lane a job that takes longer than a blink is handed back,
and its sandbox forgotten; the site has it done in the slow lane, which stands back when the machine is busy. When a
job takes long even for that, the process parts: a fork goes on with the job and keeps its sandbox, while this process
forgets that sandbox and serves the others at once. So a long command keeps nobody waiting but those who look at its
sandbox, and can be stopped, or killed, for itself alone.
"""

from __future__ import annotations

import gc
import logging
import os
import resource
import signal
import sys
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import AuthenticationError, Pipe
from types import FrameType
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import Error as DatabaseFailure

from sandbox.limits.quotas import OverQuota
from sandbox.storage.records import Expected, Plan, Record, Studied
from sandbox.worker import rendering
from sandbox.worker.errors import BROKE_DOWN, STOPPED, Broken, Busy, EngineError, Stopped, TooLarge
from sandbox.worker.line import Line
from sandbox.worker.live import Live, ReplayFailed, StateGone
from sandbox.worker.messages import (
    PATIENCE_SECONDS,
    QUICK,
    SLOW,
    TOLD,
    Answer,
    Ask,
    Asked,
    HandedBack,
    Hello,
    Parted,
    Progress,
)
from sandbox.worker.nursery import connect
from sandbox.worker.progress import progress
from scheduler_engine.errors import Rejected

log = logging.getLogger(__name__)

ANSWERS = (Rejected, OverQuota, StateGone, ReplayFailed, DatabaseFailure)
"""Errors that are answers."""
TICK_SECONDS = 0.5
"""Of CPU time, after which a process that has parted looks whether the site is still there, and tells it how far it is,
again and again."""
IDLE_SECONDS = 60.0
"""How long a process that has parted stays without a job. Its sandbox is replayed elsewhere when it is needed."""
BYTES_A_BLOCK = 85
"""Of memory for each block that Python's allocator has given out, as measured with simulations of several sizes."""
FULL = 0.75
"""Of the memory that a process may have: from there on it looks for garbage, then gives up what can be made anew."""
GROWN = 1.05
"""How much more there has to be than after the last look for garbage."""


class Interrupted(BaseException):
    """Not an ``Exception``: nothing on the way from the engine to the loop may take it for an error of its own."""


class Forgotten(Interrupted):
    """The job goes on elsewhere, which ``message`` says; its sandbox is not this process's any more."""

    def __init__(self, message: HandedBack | Parted) -> None:
        super().__init__()
        self.message = message


class Halted(Interrupted):
    """The job is to end, with this error as its answer."""

    def __init__(self, error: EngineError) -> None:
        super().__init__(str(error))
        self.error = error


class RemoteLog:
    """The log, asked for through the site."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def keys(self, sandbox_id: UUID, places: list[int]) -> dict[int, int]:
        found: dict[int, int] = self.engine.ask(Ask("keys", (sandbox_id, places)))
        return found

    def between(self, sandbox_id: UUID, after: int, upto: int) -> list[Record]:
        found: list[Record] = self.engine.ask(Ask("between", (sandbox_id, after, upto)))
        return found

    def expected(self, sandbox_id: UUID) -> list[Expected]:
        found: list[Expected] = self.engine.ask(Ask("expected", (sandbox_id,)))
        return found

    def studied(self, sandbox_id: UUID) -> Studied:
        found: Studied = self.engine.ask(Ask("studied", (sandbox_id,)))
        return found


class Engine:
    """An engine, in one of the states of ``STATES``. ``home``: the sandbox that it has parted with, else None."""

    def __init__(self, address: str, key: bytes, line: Line, lane: str, most: int, held: int) -> None:
        """``most``: bytes that the process may have; ``held``: bytes of simulations that it keeps at most."""
        self.address, self.key, self.line, self.most, self.held = address, key, line, most, held
        self.state = STATES[lane]
        os.nice(settings.ENGINE_NICE if lane == SLOW else 0)
        self.full = FULL * most
        """Bytes of this process from which on it looks for garbage."""
        self.worn_out = False
        """What it has freed lies between what it has kept, so that nobody gets it: another engine is to begin anew."""
        self.lives: OrderedDict[UUID, Live] = OrderedDict()
        self.sizes: dict[UUID, int] = {}
        self.slow: set[UUID] = set()
        """Sandboxes that kept others waiting although there was no room to part: their next job does not begin here."""
        self.inherited: Any = None
        self.home: UUID | None = None
        self.job: Asked | None = None
        self.ahead: deque[Asked] = deque()
        """Jobs that came while another one was being done."""
        self.open = False
        """Whether the job may be interrupted here; a signal that comes at another moment is ``due`` later."""
        self.due: Callable[[], None] | None = None
        self.log = RemoteLog(self)
        signal.signal(signal.SIGPROF, self._alarm)
        signal.signal(signal.SIGUSR1, self._stop)

    # --- the loop ---

    def serve(self) -> None:
        """Until the site closes the connection, or this process is worn out; whoever waits is asked for elsewhere."""
        while self.ahead or self.state.idle is None or self.line.poll(self.state.idle):
            try:
                job = self.ahead.popleft() if self.ahead else self.line.recv()
            except (EOFError, ConnectionResetError):
                return
            self.carry_out(job)
            self._tidy()
            if self.worn_out:
                return

    def carry_out(self, job: Asked) -> None:
        """One job, and its answer."""
        self.job, self.due = job, None
        blocks, start = sys.getallocatedblocks(), time.process_time()
        signal.setitimer(signal.ITIMER_PROF, self.state.patience, TICK_SECONDS)
        try:
            if job.call.plan.sandbox_id in self.slow and job.number != TOLD:
                self._part()
            answer = self._answer(job)
        except Forgotten as forgotten:
            self._forget(job.call.plan.sandbox_id)
            self.line.send(forgotten.message)
            return
        except Halted as halted:
            if job.call.plan.sandbox_id in self.lives:
                self.lives[job.call.plan.sandbox_id].lose_place()
            answer = Answer(job.number, error=halted.error)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.job = None
        if job.call.plan.sandbox_id in self.lives:
            grown = (sys.getallocatedblocks() - blocks) * BYTES_A_BLOCK
            self.sizes[job.call.plan.sandbox_id] = max(0, self.sizes.get(job.call.plan.sandbox_id, 0) + grown)
        if job.number != TOLD:
            self.line.send(replace(answer, seconds=time.process_time() - start))

    def _answer(self, job: Asked) -> Answer:
        try:
            live = self.live(job.call.plan)
            with self.interruptible():
                return Answer(job.number, job.call.work(live))
        except MemoryError:
            self._forget(job.call.plan.sandbox_id)
            gc.collect()
            text = "This sandbox needs more memory than the limit allows. Nothing was changed."
            return Answer(job.number, error=TooLarge(text))
        except ANSWERS as error:
            return Answer(job.number, error=error)
        except Exception:
            log.exception("the job %s broke down", job.call.name)
            return Answer(job.number, error=Broken(BROKE_DOWN))

    def ask(self, question: Ask) -> Any:
        """The site's answer, in the middle of a job, which is not interrupted meanwhile."""
        was, self.open = self.open, False
        _limit_data(None)
        self.line.send(question)
        while isinstance(answer := self.line.recv(), Asked):
            self.ahead.append(answer)
        _limit_data(self.most)
        self.open = was
        if was and self.due is not None:
            self.due()
        if isinstance(answer, Exception):
            raise answer
        return answer

    # --- what it holds ---

    def live(self, plan: Plan) -> Live:
        found = self.lives.get(plan.sandbox_id)
        if found is None:
            found = self.lives[plan.sandbox_id] = Live(plan, self.log)
        self.lives.move_to_end(plan.sandbox_id)
        return found

    def _forget(self, sandbox_id: UUID) -> None:
        self.sizes.pop(sandbox_id, None)
        self.slow.discard(sandbox_id)
        self.lives.pop(sandbox_id, None)
        rendering.cache.forget(sandbox_id)

    def _tidy(self) -> None:
        """Simulations that were not used for longest make room, while nobody waits for an answer."""
        while len(self.lives) > 1 and sum(self.sizes.values()) > self.held:
            self._forget(next(iter(self.lives)))
        if _data_bytes() > self.full:
            self._make_room()

    def _make_room(self) -> None:
        """Simulations hold cycles, which only a full look finds: half a second when there are many."""
        gc.collect()
        if _data_bytes() > FULL * self.most:
            for sandbox_id in list(self.lives)[: len(self.lives) // 2]:
                self._forget(sandbox_id)
            gc.collect()
        self.full = max(FULL * self.most, GROWN * _data_bytes())
        self.worn_out = _data_bytes() > self.most

    # --- interruptions ---

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Inside, the work is on one sandbox alone: what is left half done is given up when a signal ends the block, or
        when there is no memory for it. Outside, half a message would have been read, and nobody be understood again.
        """
        self.open = True
        _limit_data(self.most)
        try:
            if self.due is not None:
                self.due()
            yield
        finally:
            self.open = False
            _limit_data(None)

    def _alarm(self, signum: int, frame: FrameType | None) -> None:
        # A stop that found the job in the middle of a line of the log is carried out now.
        stop = self._halt if self.due == self._halt else None
        self._interrupt(stop or partial(self.state.alarm, self), frame)

    def _stop(self, signum: int, frame: FrameType | None) -> None:
        if self.job is not None:
            self._interrupt(self._halt, frame)

    def _interrupt(self, act: Callable[[], None], frame: FrameType | None) -> None:
        if self.open and not _logs(frame):
            act()
        else:
            self.due = act

    def _halt(self) -> None:
        raise Halted(Stopped(STOPPED))

    def _see_to_the_site(self) -> None:
        """It sends nothing during a job, so that there is something to read only when the connection is closed.

        Whoever waits for the job learns how far it is.
        """
        self.due = None
        if self.line.poll(0):
            os._exit(0)
        live = self.lives.get(self.home) if self.home is not None else None
        if self.job is not None and self.job.number != TOLD and live is not None:
            self.line.send(Progress(self.job.number, progress(live, self.job.call.position)))

    def _hand_back(self) -> None:
        if self.job is not None:
            raise Forgotten(HandedBack(self.job.number))

    def _part(self) -> None:
        """Raises ``Forgotten`` in this process; the fork returns and goes on."""
        job = self.job
        if job is None:
            return
        # Nothing comes between: neither another signal nor a lack of memory.
        was, self.open, self.due = self.open, False, None
        _limit_data(None)
        if not job.may_part:
            self.slow.add(job.call.plan.sandbox_id)
            raise Halted(Busy("Too many long commands are running. Nothing was changed; try again later."))
        try:
            # Made here, so that the site sees it closed should the fork end before it has come to say anything.
            made = connect(self.address, self.key)
            known, tell = Pipe(duplex=False)
            pid = os.fork()
        except (OSError, EOFError, AuthenticationError) as error:
            log.warning("no process could be made for a long job: %s", error)
            raise Halted(Busy("This server has no room for a long command now. Nothing was changed.")) from None
        if pid:
            made.send(Hello(pid, sandbox_id=job.call.plan.sandbox_id, job=job.number))
            tell.send_bytes(b"known")
            for end in (known, tell, made):
                end.close()
            raise Forgotten(Parted(job.number))
        # Not a word before the Hello, as both speak on one line; none at all when that was never said.
        tell.close()
        try:
            known.recv_bytes()
        except EOFError:
            os._exit(1)
        known.close()
        # The objects of others are never looked at again, so that their memory stays shared.
        gc.freeze()
        # What it shares with the others does not count as its own.
        self.most += _data_bytes()
        self.full = FULL * self.most
        os.nice(settings.ENGINE_NICER)
        mine = job.call.plan.sandbox_id
        self.inherited, self.lives = self.lives, OrderedDict()
        if mine in self.inherited:
            self.lives[mine] = self.inherited[mine]
        # A fork inherits no timer.
        signal.setitimer(signal.ITIMER_PROF, TICK_SECONDS, TICK_SECONDS)
        self.sizes = {mine: self.sizes.get(mine, 0)}
        self.home, self.state = mine, STATES[PARTED]
        self.ahead.clear()
        self.line.close()
        self.line = made
        self.slow.clear()
        self.open, self.due = was, None
        if was:
            _limit_data(self.most)


@dataclass(frozen=True, slots=True)
class State:
    """What an engine does.

    ``patience``: seconds of CPU time for a job before the first ``alarm``, which then comes every ``TICK_SECONDS``.
    ``idle``: seconds without a job after which it ends; None = it stays.
    """

    patience: float
    alarm: Callable[[Engine], None]
    idle: float | None = None


PARTED = "parted"
STATES = {
    QUICK: State(PATIENCE_SECONDS[QUICK], Engine._hand_back),
    SLOW: State(PATIENCE_SECONDS[SLOW], Engine._part),
    PARTED: State(PATIENCE_SECONDS[SLOW], Engine._see_to_the_site, IDLE_SECONDS),
}
"""A nursery's fork begins ``quick`` or ``slow``, by its lane. One that parts with a sandbox becomes ``parted``."""


def _logs(frame: FrameType | None) -> bool:
    """Return True in the middle of a line of the log. A fork makes the locks of ``logging`` new, and could not give
    back the one that it holds there.
    """
    while frame is not None:
        if frame.f_globals.get("__name__") == logging.__name__:
            return True
        frame = frame.f_back
    return False


def _limit_data(most: int | None) -> None:
    """How much memory this process may have, in bytes; None = any amount. Beyond, a ``MemoryError`` is raised."""
    resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY if most is None else most, resource.RLIM_INFINITY))


def _data_bytes() -> int:
    """What this process has of the memory that ``RLIMIT_DATA`` limits."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[5]) * resource.getpagesize()
