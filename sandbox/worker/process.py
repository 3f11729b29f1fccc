"""The process of a worker: it does one job after the other.

It holds the live simulations of many sandboxes. In the quick lane it hands a long job back and drops the sandbox. The
web process then sends the job to the slow lane, which has a lower CPU priority. If the job takes long even there, the
worker forks: a dedicated worker continues the job and has that sandbox for itself. This process drops the sandbox and
serves the others. So a long command only delays people in its own sandbox, and can be stopped or killed alone.
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

from sandbox.kube.statuses import Refused
from sandbox.limits.quotas import OverQuota
from sandbox.storage.records import Expected, Plan, Record, Studied
from sandbox.words.say import say
from sandbox.worker import rendering
from sandbox.worker.errors import BROKE_DOWN, STOPPED, Broken, Busy, EngineError, Stopped, TooLarge
from sandbox.worker.line import Line
from sandbox.worker.live import Live, ReplayFailed, StateGone
from sandbox.worker.messages import (
    NO_ANSWER,
    PATIENCE_SECONDS,
    QUICK,
    SLOW,
    Answer,
    Dedicated,
    HandedBack,
    Hello,
    JobMessage,
    LogQuestion,
    Progress,
)
from sandbox.worker.nursery import connect
from sandbox.worker.progress import progress
from scheduler_engine.errors import Rejected

log = logging.getLogger(__name__)

ANSWERS = (Rejected, OverQuota, StateGone, ReplayFailed, DatabaseFailure, Refused)
"""Errors that a job raises on purpose. They are sent as its answer."""
TICK_SECONDS = 0.5
"""CPU seconds after which a dedicated worker checks if the web process lives, and reports progress, repeatedly."""
IDLE_SECONDS = 60.0
"""How long a dedicated worker waits for a job before it ends. Another worker replays its sandbox when needed."""
BYTES_A_BLOCK = 85
"""Memory per block of Python's allocator, measured with simulations of several sizes."""
FULL = 0.75
"""Share of a worker's memory limit at which it collects garbage, then drops simulations that can be replayed."""
GROWN = 1.05
"""Growth since the last garbage collection that triggers the next one."""


class Interrupted(BaseException):
    """Ends a job from outside. Not an ``Exception``, so that no code between engine and loop catches it."""


class Forgotten(Interrupted):
    """The job continues in another process, to which its sandbox now belongs. ``message`` reports that."""

    def __init__(self, message: HandedBack | Dedicated) -> None:
        super().__init__()
        self.message = message


class Halted(Interrupted):
    """The job ends with this error as its answer."""

    def __init__(self, error: EngineError) -> None:
        super().__init__(str(error))
        self.error = error


class RemoteLog:
    """The log, read through the web process."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def keys(self, sandbox_id: UUID, places: list[int]) -> dict[int, int]:
        return self.engine.ask(LogQuestion("keys", (sandbox_id, places)))

    def between(self, sandbox_id: UUID, after: int, upto: int) -> list[Record]:
        return self.engine.ask(LogQuestion("between", (sandbox_id, after, upto)))

    def expected(self, sandbox_id: UUID) -> list[Expected]:
        return self.engine.ask(LogQuestion("expected", (sandbox_id,)))

    def studied(self, sandbox_id: UUID) -> Studied:
        return self.engine.ask(LogQuestion("studied", (sandbox_id,)))


class Engine:
    """A worker in one of the states of ``STATES``. ``home``: the sandbox that it is dedicated to, else None."""

    def __init__(
        self, address: str, key: bytes, line: Line, lane: str, memory_limit: int, simulations_limit: int
    ) -> None:
        """``memory_limit``: limit of the process in bytes. ``simulations_limit``: limit of its simulations in bytes."""
        self.address, self.key, self.line = address, key, line
        self.memory_limit, self.simulations_limit = memory_limit, simulations_limit
        self.state = STATES[lane]
        os.nice(settings.ENGINE_NICE if lane == SLOW else 0)
        self.full = FULL * memory_limit
        """Bytes of this process at which it collects garbage."""
        self.worn_out = False
        """True if its freed memory is too fragmented to return: another worker must replace it."""
        self.lives: OrderedDict[UUID, Live] = OrderedDict()
        self.sizes: dict[UUID, int] = {}
        self.slow: set[UUID] = set()
        """Sandboxes that made others wait when there was no room to part. Their next job must part, or is refused."""
        self.inherited: Any = None
        self.home: UUID | None = None
        self.job: JobMessage | None = None
        self.ahead: deque[JobMessage] = deque()
        """Jobs that arrived during another job."""
        self.open = False
        """True while the job may be interrupted. A signal at another time is stored in ``due``."""
        self.due: Callable[[], None] | None = None
        self.ended: Interrupted | None = None
        """What ended the job. Python ignores exceptions in callbacks of weak references, so the job may still run."""
        self.log = RemoteLog(self)
        sys.unraisablehook = _report_ignored
        signal.signal(signal.SIGPROF, self._alarm)
        signal.signal(signal.SIGUSR1, self._stop)

    # --- the loop ---

    def serve(self) -> None:
        """Do jobs until the web process closes the connection, or until this process is idle or worn out.

        The pool sends waiting jobs to another worker.
        """
        while self.ahead or self.state.idle is None or self.line.poll(self.state.idle):
            try:
                job = self.ahead.popleft() if self.ahead else self.line.recv()
            except (EOFError, ConnectionResetError):
                return
            self.carry_out(job)
            self._tidy()
            if self.worn_out:
                return

    def carry_out(self, job: JobMessage) -> None:
        """Do one job, and send its answer."""
        self.job, self.due, self.ended = job, None, None
        blocks, start = sys.getallocatedblocks(), time.process_time()
        signal.setitimer(signal.ITIMER_PROF, self.state.patience, TICK_SECONDS)
        try:
            if job.call.plan.sandbox_id in self.slow and job.number != NO_ANSWER:
                self._fork()
            answer = self._answer(job)
            if self.ended is not None:
                raise self.ended
        except Forgotten as forgotten:
            self._forget(job.call.plan.sandbox_id)
            self.line.send(forgotten.message)
            return
        except Halted as halted:
            if job.call.plan.sandbox_id in self.lives:
                self.lives[job.call.plan.sandbox_id].invalidate()
            answer = Answer(job.number, error=halted.error)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.job = None
        if job.call.plan.sandbox_id in self.lives:
            grown = (sys.getallocatedblocks() - blocks) * BYTES_A_BLOCK
            self.sizes[job.call.plan.sandbox_id] = max(0, self.sizes.get(job.call.plan.sandbox_id, 0) + grown)
        if job.number != NO_ANSWER:
            self.line.send(replace(answer, seconds=time.process_time() - start))

    def _answer(self, job: JobMessage) -> Answer:
        try:
            live = self.live(job.call.plan)
            with self.interruptible():
                return Answer(job.number, job.call.work(live))
        except MemoryError:
            self._forget(job.call.plan.sandbox_id)
            gc.collect()
            return Answer(job.number, error=TooLarge(say("limits.memory")))
        except ANSWERS as error:
            return Answer(job.number, error=error)
        except Exception:
            log.exception("job %s failed", job.call.name)
            return Answer(job.number, error=Broken(BROKE_DOWN))

    def ask(self, question: LogQuestion) -> Any:
        """Return the web process' answer to a question during a job. The job is not interrupted meanwhile."""
        was_open, self.open = self.open, False
        _limit_data(None)
        self.line.send(question)
        while isinstance(answer := self.line.recv(), JobMessage):
            self.ahead.append(answer)
        _limit_data(self.memory_limit)
        self.open = was_open
        if was_open and self.due is not None:
            self.due()
        if isinstance(answer, Exception):
            raise answer
        return answer

    # --- simulations in memory ---

    def live(self, plan: Plan) -> Live:
        live = self.lives.get(plan.sandbox_id)
        if live is None:
            live = self.lives[plan.sandbox_id] = Live(plan, self.log)
        self.lives.move_to_end(plan.sandbox_id)
        return live

    def _forget(self, sandbox_id: UUID) -> None:
        self.sizes.pop(sandbox_id, None)
        self.slow.discard(sandbox_id)
        self.lives.pop(sandbox_id, None)
        rendering.cache.forget(sandbox_id)

    def _tidy(self) -> None:
        """Drop the least recently used simulations if they exceed the limit. Nobody waits for an answer now."""
        while len(self.lives) > 1 and sum(self.sizes.values()) > self.simulations_limit:
            self._forget(next(iter(self.lives)))
        if _data_bytes() > self.full:
            self._make_room()

    def _make_room(self) -> None:
        """Collect all garbage, then drop half of the simulations if that was not enough.

        Simulations have reference cycles, which only a full collection frees. With many it takes half a second.
        """
        gc.collect()
        if _data_bytes() > FULL * self.memory_limit:
            for sandbox_id in list(self.lives)[: len(self.lives) // 2]:
                self._forget(sandbox_id)
            gc.collect()
        self.full = max(FULL * self.memory_limit, GROWN * _data_bytes())
        self.worn_out = _data_bytes() > self.memory_limit

    # --- interruptions ---

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Allow signals and the memory limit to end the block.

        The block works on one sandbox alone, whose half-done state is dropped then. Outside of such a block, an
        interruption could leave half a message on the line, and no further message could be read.
        """
        self.open = True
        _limit_data(self.memory_limit)
        try:
            if self.due is not None:
                self.due()
            yield
        finally:
            self.open = False
            _limit_data(None)

    def _alarm(self, signum: int, frame: FrameType | None) -> None:
        # If a stop came while the job could not be interrupted, stop it now.
        stop = self._halt if self.due == self._halt else None
        self._interrupt(stop or partial(self.state.alarm, self), frame)

    def _stop(self, signum: int, frame: FrameType | None) -> None:
        # Without a job to stop, it came too early or too late. The pool signals until the job has ended.
        if self.job is not None and self.job.number != NO_ANSWER:
            self._interrupt(self._halt, frame)

    def _interrupt(self, act: Callable[[], None], frame: FrameType | None) -> None:
        if not self.open or _logs(frame):
            self.due = act
            return
        try:
            if self.ended is not None:
                raise self.ended
            act()
        except Interrupted as interruption:
            self.ended = interruption
            raise

    def _halt(self) -> None:
        raise Halted(Stopped(STOPPED))

    def _check_web_process(self) -> None:
        """Exit if the web process has ended; else report the progress of the job.

        The web process sends nothing during a job of a dedicated worker: only a closed connection is readable.
        """
        self.due = None
        if self.line.poll(0):
            os._exit(0)
        live = self.lives.get(self.home) if self.home is not None else None
        if self.job is not None and self.job.number != NO_ANSWER and live is not None:
            # A stop must not end the job in the middle of the message.
            was_open, self.open = self.open, False
            self.line.send(Progress(self.job.number, progress(live, self.job.call.position)))
            self.open = was_open
            if self.due is not None:
                self.due()

    def _hand_back(self) -> None:
        if self.job is not None:
            raise Forgotten(HandedBack(self.job.number))

    def _fork(self) -> None:
        """Fork. Raises ``Forgotten`` in this process; in the fork it returns, and the job continues.

        Raises ``Halted`` if there is no room for a fork.
        """
        job = self.job
        if job is None:
            return
        # Neither another signal nor a lack of memory may interrupt this.
        was_open, self.open, self.due = self.open, False, None
        _limit_data(None)
        if not job.may_fork:
            self.slow.add(job.call.plan.sandbox_id)
            raise Halted(Busy(say("limits.long-commands")))
        try:
            # Connect before forking: if the fork ends before it says anything, the web process sees it closed.
            fork_line = connect(self.address, self.key)
            hello_sent, tell_hello = Pipe(duplex=False)
            pid = os.fork()
        except (OSError, EOFError, AuthenticationError) as error:
            log.warning("cannot fork for a long job: %s", error)
            raise Halted(Busy(say("limits.no-fork"))) from None
        if pid:
            fork_line.send(Hello(pid, sandbox_id=job.call.plan.sandbox_id, job=job.number))
            tell_hello.send_bytes(b"known")
            for end in (hello_sent, tell_hello, fork_line):
                end.close()
            self.open = was_open
            raise Forgotten(Dedicated(job.number))
        # Both write to one line, so the fork waits for the Hello. If the parent died before it, exit.
        tell_hello.close()
        try:
            hello_sent.recv_bytes()
        except EOFError:
            os._exit(1)
        hello_sent.close()
        # The garbage collector must not touch other sandboxes' objects, so that their memory stays shared.
        gc.freeze()
        # Shared memory does not count towards the limit.
        self.memory_limit += _data_bytes()
        self.full = FULL * self.memory_limit
        os.nice(settings.ENGINE_NICER)
        home = job.call.plan.sandbox_id
        self.inherited, self.lives = self.lives, OrderedDict()
        if home in self.inherited:
            self.lives[home] = self.inherited[home]
        # A fork inherits no timer.
        signal.setitimer(signal.ITIMER_PROF, TICK_SECONDS, TICK_SECONDS)
        self.sizes = {home: self.sizes.get(home, 0)}
        self.home, self.state = home, STATES[DEDICATED]
        self.ahead.clear()
        self.line.close()
        self.line = fork_line
        self.slow.clear()
        self.open, self.due = was_open, None
        if was_open:
            _limit_data(self.memory_limit)


@dataclass(frozen=True, slots=True)
class State:
    """The behaviour of a worker.

    ``patience``: CPU seconds of a job before the first ``alarm``, which then repeats every ``TICK_SECONDS``.
    ``idle``: seconds without a job before the worker ends, None = it stays.
    """

    patience: float
    alarm: Callable[[Engine], None]
    idle: float | None = None


DEDICATED = "dedicated"
STATES = {
    QUICK: State(PATIENCE_SECONDS[QUICK], Engine._hand_back),
    SLOW: State(PATIENCE_SECONDS[SLOW], Engine._fork),
    DEDICATED: State(PATIENCE_SECONDS[SLOW], Engine._check_web_process, IDLE_SECONDS),
}
"""A fork of the nursery starts as ``quick`` or ``slow``, by its lane. A fork with one sandbox is ``dedicated``."""


def _report_ignored(ignored: sys.UnraisableHookArgs) -> None:
    """Write an exception that Python ignores, but not that a callback did not end the job: the next tick does."""
    if not isinstance(ignored.exc_value, Interrupted):
        sys.__unraisablehook__(ignored)


def _logs(frame: FrameType | None) -> bool:
    """Return True if ``logging`` is on the stack. A fork has new locks there, and could not release the old one."""
    while frame is not None:
        if frame.f_globals.get("__name__") == logging.__name__:
            return True
        frame = frame.f_back
    return False


def _limit_data(limit: int | None) -> None:
    """Limit the memory of this process to ``limit`` bytes, None = no limit. Beyond it Python raises ``MemoryError``."""
    soft = resource.RLIM_INFINITY if limit is None else limit
    resource.setrlimit(resource.RLIMIT_DATA, (soft, resource.RLIM_INFINITY))


def _data_bytes() -> int:
    """Return the bytes of this process that count towards ``RLIMIT_DATA``."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[5]) * resource.getpagesize()
