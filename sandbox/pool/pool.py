"""The pool of workers in the web process: which worker has which sandbox, and which jobs wait for it.

The id of a sandbox assigns it to one of ``ENGINE_PROCESSES`` workers of the quick lane. After a long job it moves to
the slow lane, one worker for all such sandboxes, until its jobs are short again. If a job takes long even there, the
worker forks, and the sandbox has a dedicated worker, of at most ``ENGINE_LONG``. When a worker ends, its simulations
can be replayed; its jobs are sent to another worker once.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections import OrderedDict, deque
from contextlib import nullcontext
from functools import partial
from itertools import count
from threading import Event, RLock, Thread
from typing import Any
from uuid import UUID

from django.db import Error as DatabaseFailure
from django.db import close_old_connections, connections

from sandbox.limits.fairness import give_way
from sandbox.pool.lanes import (
    DEDICATED_SECONDS,
    HANDED_BACK_SECONDS,
    MOST_QUICK_CHARACTERS,
    NEW_SECONDS,
    SENT_AHEAD,
    History,
    Pending,
    Process,
)
from sandbox.pool.nursery import RESTART_SECONDS, Nursery
from sandbox.runtime.callers import stopped_by
from sandbox.runtime.connections import give_back
from sandbox.runtime.layers import publish
from sandbox.storage.failures import read_again
from sandbox.storage.records import Database
from sandbox.words.say import say
from sandbox.worker.errors import STOPPED, Busy, Lost, Occupied, Stopped
from sandbox.worker.line import Line
from sandbox.worker.messages import (
    NO_ANSWER,
    QUICK,
    SLOW,
    Answer,
    Call,
    Dedicated,
    HandedBack,
    Hello,
    JobMessage,
    LogQuestion,
    Progress,
)
from sandbox.worker.so_far import SoFar

log = logging.getLogger(__name__)

MOST_HISTORIES = 10_000
"""Sandboxes whose history is remembered."""
MOST_QUEUED = 400
"""Jobs that wait for one worker."""
MOST_SECONDS = 600.0
"""Time limit of a replay. The next one continues from its last keyframe."""
TOO_BUSY = say("limits.busy")
LOST = say("limits.worker-ended")
OPENING = say("limits.opening")
BRIEF_SECONDS = 0.05
"""How long a request keeps its database connection while it waits. A longer wait gives it to others."""
STARTING_SECONDS = 60.0
"""How long the first callers wait for the workers to start, however busy the machine is."""
STOPPING_SECONDS = 3.0
"""How long a worker may take to stop a job before it is killed."""
SIGNAL_SECONDS = 0.1
"""How long the pool waits before it signals a stop again: a worker that has not read the job yet ignores the signal."""


class Pool:
    """The workers of this web process. The lock guards the tables; no thread waits for anything while holding it."""

    def __init__(self, processes: int, long: int) -> None:
        self.long = long
        self.lock = RLock()
        self.numbers = count(1)
        self.slots = [Process(slot, QUICK if slot < processes else SLOW) for slot in range(processes + 1)]
        self.homes: dict[UUID, Process] = {}
        self.jobs: dict[int, Pending] = {}
        self.histories: OrderedDict[UUID, History] = OrderedDict()
        """The sandboxes asked most recently."""
        self.records = Database()
        self.closing = False
        self.begun = Event()
        """Set once the first worker has started, or when the pool closes."""
        self.nursery = Nursery(self._order_missing, self._welcome)
        self.nursery.open()

    def _order_missing(self) -> None:
        """Order a worker for each slot that has none."""
        with self.lock:
            for process in self.slots:
                if process.line is None:
                    self._order(process)

    def _order(self, process: Process) -> None:
        assert process.slot is not None
        self.nursery.order(process.slot, process.lane)

    def _replace(self, process: Process) -> None:
        """Order another worker for the slot of one that has ended."""
        assert process.slot is not None
        if time.monotonic() - process.born < RESTART_SECONDS and not self.closing:
            log.error("a worker ended right after its start; trying again")
            time.sleep(RESTART_SECONDS)
        with self.lock:
            if not self.closing:
                # The waiting jobs have not caused the end.
                self.slots[process.slot] = Process(process.slot, process.lane, waiting=process.waiting)
                process.waiting = deque()
                self._order(self.slots[process.slot])

    def close(self) -> None:
        """End all workers. The callers of unfinished jobs get ``Lost``."""
        with self.lock:
            if self.closing:
                return
            self.closing = True
            pids = [process.pid for process in (*self.slots, *self.homes.values()) if process.pid]
        self.begun.set()
        self.nursery.close()
        for pid in pids:
            _signal(pid, signal.SIGKILL)

    # --- requests of the site ---

    def ask(self, call: Call, seconds: float) -> Any:
        """Return the answer of the sandbox's worker. Raises what the job raises, or an ``EngineError``.

        A job that stops (see ``Kind``) is stopped after ``seconds``, or when its caller leaves. Any other continues
        without its caller, because its replay helps the next one.
        """
        self._check_free(call.plan.sandbox_id)
        try:
            return self._wait(Pending(call), seconds)
        except Lost:
            if self.closing:
                raise
            # Nothing was recorded, so ask again. If the job itself kills workers, the second answer is Lost too.
            return self._wait(Pending(call), seconds)

    def _check_free(self, sandbox_id: UUID) -> None:
        """Raise ``Occupied`` if a job of the sandbox still runs after its caller gave up. Stop it if it is too old."""
        with self.lock:
            jobs = [job for job in self.jobs.values() if job.sandbox_id == sandbox_id]
        for job in jobs:
            if job.engine is not None and time.monotonic() - job.began > MOST_SECONDS:
                self._halt(job)
            raise Occupied(_opening(job))

    def tell(self, call: Call) -> None:
        """Send a short job without an answer, ahead of the waiting jobs. Drop it if the worker has not started."""
        with self.lock:
            process = self.homes.get(call.plan.sandbox_id) or self._slot(call.plan.sandbox_id)
        if process.line is not None:
            self._send(process, JobMessage(NO_ANSWER, call, False))

    def _wait(self, pending: Pending, seconds: float) -> Any:
        self._enqueue(pending)
        give_way()
        self.begun.wait(STARTING_SECONDS)
        with stopped_by(partial(self._stop, pending)) if pending.call.kind.stops else nullcontext():
            return self._answer_of(pending, seconds)

    def _answer_of(self, pending: Pending, seconds: float) -> Any:
        try:
            return _answer(pending, seconds)
        except TimeoutError:
            with self.lock:
                if pending.engine is None:
                    self._give_up(pending, Busy(TOO_BUSY))
                elif not pending.call.kind.stops:
                    raise Occupied(_opening(pending)) from None
                else:
                    self._halt(pending)
        try:
            return pending.future.result(2 * STOPPING_SECONDS)
        except TimeoutError:
            raise Stopped(STOPPED) from None

    def stop(self, sandbox_id: UUID) -> bool:
        """Stop all jobs of a sandbox that run or wait. Return False if there are none."""
        with self.lock:
            jobs = [job for job in self.jobs.values() if job.sandbox_id == sandbox_id]
            for pending in jobs:
                self._stop(pending)
        return bool(jobs)

    def _stop(self, pending: Pending) -> None:
        """Stop a job that runs or waits."""
        with self.lock:
            if pending.engine is None:
                self._give_up(pending, Stopped(STOPPED))
            else:
                self._halt(pending)

    def so_far(self, call: Call) -> SoFar | None:
        """Return the progress of a job like ``call`` that runs in the sandbox, None if there is no news."""
        wanted = call.plan.sandbox_id, call.name, call.arguments
        with self.lock:
            for job in self.jobs.values():
                if job.so_far is not None and (job.sandbox_id, job.call.name, job.call.arguments) == wanted:
                    return job.so_far
        return None

    def _give_up(self, pending: Pending, error: Exception) -> None:
        """Fail a job that no worker has."""
        for process in (*self.slots, *self.homes.values()):
            if pending in process.waiting:
                process.waiting.remove(pending)
        self._forget(pending)
        _fail(pending, error)

    def _halt(self, pending: Pending) -> None:
        """Stop a job: at once if its worker is dedicated to the sandbox, else when it forks."""
        with self.lock:
            pending.stop = True
        Thread(target=self._signal_until_ended, args=(pending,), name=f"stop-{pending.number}", daemon=True).start()

    def _signal_until_ended(self, pending: Pending) -> None:
        """Signal the worker of a job until the job ends. After ``STOPPING_SECONDS``, kill the worker.

        On an overloaded machine a worker may not get the CPU time to end its job.
        """
        until = time.monotonic() + STOPPING_SECONDS
        while time.monotonic() < until:
            if not self._signal_if_alone(pending, signal.SIGUSR1):
                return
            time.sleep(SIGNAL_SECONDS)
        self._signal_if_alone(pending, signal.SIGKILL)

    def _signal_if_alone(self, pending: Pending, number: signal.Signals) -> bool:
        """Signal the worker that has the job, if it has only that sandbox. Return False if the job has ended."""
        with self.lock:
            process = pending.engine
            if process is not None and process.home is not None and pending.number in process.sent:
                _signal(process.pid, number)
            return pending.number in self.jobs

    def _enqueue(self, pending: Pending) -> None:
        with self.lock:
            pending.number = next(self.numbers)
            if pending.call.characters > MOST_QUICK_CHARACTERS or pending.call.kind.slow:
                self._history(pending.sandbox_id).slow_down()
            process = self.homes.get(pending.sandbox_id) or self._slot(pending.sandbox_id)
            if len(process.waiting) >= MOST_QUEUED and not pending.call.kind.ahead:
                raise Busy(TOO_BUSY)
            self.jobs[pending.number] = pending
            process.waiting.append(pending)
        self._next(process)

    def _slot(self, sandbox_id: UUID) -> Process:
        """Return the slot of a sandbox. The last slot is the slow lane."""
        return self.slots[-1 if self._history(sandbox_id).slow else sandbox_id.int % (len(self.slots) - 1)]

    def _history(self, sandbox_id: UUID) -> History:
        history = self.histories.get(sandbox_id)
        if history is None:
            history = self.histories[sandbox_id] = History(NEW_SECONDS, time.monotonic())
        self.histories.move_to_end(sandbox_id)
        if len(self.histories) > MOST_HISTORIES:
            self.histories.popitem(last=False)
        return history

    def _next(self, process: Process) -> None:
        """Send a worker its next jobs, some ahead, so that it never waits for the web process."""
        while True:
            with self.lock:
                if process.line is None or len(process.sent) >= SENT_AHEAD[process.lane]:
                    return
                pending = self._take_turn(process)
                if pending is None:
                    return
                process.sent[pending.number] = pending
                pending.engine, pending.began = process, time.monotonic()
                # An idle dedicated worker makes room, but is only killed if this worker does fork.
                may_fork = process.home is None and (len(self.homes) < self.long or self._resting() is not None)
                # Sent under the lock, to keep the order.
                self._send(process, JobMessage(pending.number, pending.call, may_fork))

    def _take_turn(self, process: Process) -> Pending | None:
        now = time.monotonic()
        chosen = process.first(lambda job: self._history(job.sandbox_id).use(now), now)
        if chosen is not None:
            process.waiting.remove(chosen)
        return chosen

    def _send(self, process: Process, message: Any) -> None:
        assert process.line is not None
        try:
            process.line.post(message)
        except OSError:
            log.info("worker %s ended before it got a message", process.pid)  # Its reader thread does the rest.

    def _resting(self) -> Process | None:
        """Return the oldest dedicated worker without a job, or None."""
        return next((process for process in self.homes.values() if not process.sent and not process.waiting), None)

    def _make_room(self) -> None:
        """Kill idle dedicated workers, the oldest first, until no more than ``long`` are left."""
        while len(self.homes) > self.long and (resting := self._resting()) is not None:
            assert resting.home is not None
            del self.homes[resting.home]
            _signal(resting.pid, signal.SIGKILL)

    def _forget(self, pending: Pending) -> None:
        self.jobs.pop(pending.number, None)

    # --- messages from workers ---

    def _welcome(self, hello: Hello, line: Line) -> None:
        with self.lock:
            if hello.slot is not None:
                process = self.slots[hello.slot]
                if process.line is not None:
                    line.close()  # Two nurseries, one after the other, got the same order.
                    return
                process.line, process.pid, process.born = line, hello.pid, time.monotonic()
            else:
                assert hello.sandbox_id is not None
                process = Process(pid=hello.pid, home=hello.sandbox_id, line=line)
                self.homes[hello.sandbox_id] = process
                pending = self.jobs.get(hello.job or 0)
                if pending is not None:
                    process.sent[pending.number] = pending
                    pending.engine = process
                    if pending.stop:
                        self._halt(pending)
                self._make_room()
        self.begun.set()
        Thread(target=self._read, args=(process, line), name=f"engine-{hello.pid}", daemon=True).start()
        self._next(process)

    def _read(self, process: Process, line: Line) -> None:
        """Read the messages of a worker until it ends. Runs in a thread for each worker."""
        try:
            while True:
                message = line.recv()
                if isinstance(message, LogQuestion):
                    self._send(process, self._look_up(message))
                elif isinstance(message, HandedBack):
                    self._take_back(process, message)
                elif isinstance(message, Progress):
                    self._take_note(message)
                else:
                    self._take(process, message)
        except (EOFError, OSError):
            log.info("worker %s has ended", process.pid)
        finally:
            if process.slot is not None:
                self._replace(process)
            # After _replace, so that no new job can be sent to it.
            self._lost(process)
            line.close()
            connections.close_all()  # This thread has read the log for the worker.

    def _take_back(self, process: Process, message: HandedBack) -> None:
        """Move a sandbox and all its jobs to the slow lane."""
        with self.lock:
            pending = process.sent.pop(message.job, None)
            if pending is not None:
                sandbox_id = pending.sandbox_id
                self._history(sandbox_id).note(HANDED_BACK_SECONDS, time.monotonic())
                self._history(sandbox_id).slow_down()
                moving = [pending, *(job for job in process.waiting if job.sandbox_id == sandbox_id)]
                process.waiting = deque(job for job in process.waiting if job not in moving)
                pending.engine = None
                if pending.stop:
                    self._give_up(pending, Stopped(STOPPED))
                    moving.remove(pending)
                self.slots[-1].waiting.extend(moving)
        self._next(process)
        self._next(self.slots[-1])

    def _take_note(self, message: Progress) -> None:
        """Send the progress of a job to all browsers of its sandbox."""
        with self.lock:
            pending = self.jobs.get(message.job)
        if pending is not None:
            pending.so_far = message.so_far
            publish(pending.tell, pending.sandbox_id, {"type": "sandbox.progress", "text": message.so_far.text})

    def _look_up(self, question: LogQuestion) -> Any:
        """Return the log's answer to a worker's question, or the database error that its job will raise."""
        close_old_connections()
        try:
            return read_again(lambda: getattr(self.records, question.question)(*question.arguments))
        except DatabaseFailure as error:
            return error
        finally:
            close_old_connections()

    def _take(self, process: Process, message: Answer | Dedicated) -> None:
        with self.lock:
            pending = self.jobs.get(message.job)
            process.sent.pop(message.job, None)
            if pending is not None:
                seconds = message.seconds if isinstance(message, Answer) else DEDICATED_SECONDS
                self._history(pending.sandbox_id).note(seconds, time.monotonic())
            if pending is not None and isinstance(message, Answer):
                self._forget(pending)
                if message.error is not None:
                    _fail(pending, message.error)
                elif not pending.future.done():
                    pending.future.set_result(message.value)
        self._next(process)

    def _lost(self, process: Process) -> None:
        """Fail all jobs of a worker that has ended."""
        with self.lock:
            lost = [*process.sent.values(), *process.waiting]
            process.sent.clear()
            process.waiting.clear()
            for pending in lost:
                self._forget(pending)
            if process.home is not None and self.homes.get(process.home) is process:
                del self.homes[process.home]
            for pending in lost:
                _fail(pending, Stopped(STOPPED) if pending.stop else Lost(LOST))


def _opening(pending: Pending) -> str:
    """Return a sentence about a job that goes on without its caller."""
    return OPENING if pending.so_far is None else f"{OPENING} {pending.so_far.text}"


def _answer(pending: Pending, seconds: float) -> Any:
    """Wait for the answer to a job. Give the database connection to others if that takes long."""
    brief = min(BRIEF_SECONDS, seconds)
    try:
        return pending.future.result(brief)
    except TimeoutError:
        give_back()
    return pending.future.result(seconds - brief)


def _fail(pending: Pending, error: Exception) -> None:
    """Set the error of a job that has no answer yet. Call it under the pool's lock."""
    if not pending.future.done():
        pending.future.set_exception(error)


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        log.info("worker %s has ended already", pid)
