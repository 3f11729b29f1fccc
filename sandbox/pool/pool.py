"""The site's side of the engines: which process has which sandbox, and what waits for it.

A sandbox belongs to one of ``ENGINE_PROCESSES`` processes of the quick lane, by its id, until one of its jobs takes
longer than a blink: then it goes over to the slow lane, one process for all of these, until it has been quick for a
while. A job that takes long even for that makes it part: then it has a process of its own, of which there are
``ENGINE_LONG`` at most. A process that ends takes nothing with it that cannot be replayed; its jobs are asked again,
once, of another.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict, deque
from itertools import count
from multiprocessing import AuthenticationError
from multiprocessing.connection import Listener
from pathlib import Path
from threading import Event, RLock, Thread, Timer
from typing import Any
from uuid import UUID

from django.db import Error as DatabaseFailure
from django.db import close_old_connections, connections

from sandbox.limits.fairness import give_way
from sandbox.pool.lanes import (
    HANDED_BACK_SECONDS,
    MOST_QUICK_CHARACTERS,
    NEW_SECONDS,
    PARTED_SECONDS,
    SENT_AHEAD,
    Known,
    Pending,
    Process,
)
from sandbox.runtime.layers import publish
from sandbox.storage.records import Database
from sandbox.worker.errors import STOPPED, Busy, Lost, Occupied, Stopped
from sandbox.worker.line import Line
from sandbox.worker.messages import (
    QUICK,
    SLOW,
    TOLD,
    Answer,
    Ask,
    Asked,
    Call,
    HandedBack,
    Hello,
    Order,
    Parted,
    Progress,
    Ready,
)

log = logging.getLogger(__name__)

MOST_KNOWN = 10_000
"""Sandboxes of which something is known."""
MOST_QUEUED = 400
"""Jobs that wait for one process."""
MOST_SECONDS = 600.0
"""For which a replay may go on; the next one starts from where it came to."""
TOO_BUSY = "The server is busy with other sandboxes. Nothing was changed; try again in a moment."
LOST = "The engine of this sandbox ended. Nothing was changed; try again."
OPENING = "This sandbox is being opened: its commands are replayed, which takes a while."
RESTART_SECONDS = 1.0
"""How long to wait before a process that could not even start is tried again."""
STARTING_SECONDS = 60.0
"""How long the first ones who ask wait for the engines to start, on however busy a machine."""
STOPPING_SECONDS = 3.0
"""How long a process may take to stop a job before it is killed."""


class Pool:
    """The engines of this web process. Its lock guards the tables; nothing is waited for while it is held."""

    def __init__(self, processes: int, long: int) -> None:
        self.long = long
        self.lock = RLock()
        self.numbers = count(1)
        self.slots = [Process(slot, QUICK if slot < processes else SLOW) for slot in range(processes + 1)]
        self.homes: dict[UUID, Process] = {}
        self.jobs: dict[int, Pending] = {}
        self.known: OrderedDict[UUID, Known] = OrderedDict()
        """Those that were asked last."""
        self.records = Database()
        self.closing = False
        self.begun = Event()
        """Set once the first engine has started, or none will any more."""
        self.folder = tempfile.mkdtemp(prefix="scheduler-sandbox-")
        self.key = secrets.token_bytes(32)
        self.listener = Listener(str(Path(self.folder) / "engines"), family="AF_UNIX", backlog=64, authkey=self.key)
        Thread(target=self._accept, name="engines", daemon=True).start()
        self.nursery: Line | None = None
        self.child = self._start()
        Thread(target=self._watch, name="nursery-end", daemon=True).start()

    def _start(self) -> subprocess.Popen[str]:
        """The nursery, which starts the others."""
        command = [sys.executable, "-m", "sandbox.worker", str(self.listener.address)]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, cwd=Path(__file__).resolve().parents[2])
        assert child.stdin is not None
        with child.stdin:
            child.stdin.write(self.key.hex() + "\n")
        return child

    def _watch(self) -> None:
        """When the nursery has ended, another takes its place; the engines go on."""
        while True:
            self.child.wait()
            with self.lock:
                ready, self.nursery = self.nursery, None
            if ready is not None:
                ready.close()
            if self.closing:
                return
            log.error("the process that starts engines has ended; another one is started")
            time.sleep(RESTART_SECONDS)
            with self.lock:
                if self.closing:
                    return
                try:
                    self.child = self._start()
                except OSError:
                    log.exception("it cannot be started; that is tried again")

    def _order(self, process: Process) -> None:
        """Have a process made for a slot; a nursery that is not ready yet, or not any more, is told once it is."""
        assert process.slot is not None
        with self.lock:
            try:
                if self.nursery is not None:
                    self.nursery.post(Order(process.slot, process.lane))
            except OSError:
                log.info("the nursery ended before it got an order")

    def _replace(self, process: Process) -> None:
        """One that served all has ended; another takes its place."""
        assert process.slot is not None
        if time.monotonic() - process.born < RESTART_SECONDS and not self.closing:
            log.error("an engine ended at once; it is tried again")
            time.sleep(RESTART_SECONDS)
        with self.lock:
            if not self.closing:
                # What had not begun has nothing to do with it.
                self.slots[process.slot] = Process(process.slot, process.lane, waiting=process.waiting)
                process.waiting = deque()
                self._order(self.slots[process.slot])

    def close(self) -> None:
        """End all engines. Whoever waits is told."""
        with self.lock:
            if self.closing:
                return
            self.closing = True
            pids = [process.pid for process in (*self.slots, *self.homes.values()) if process.pid]
        self.begun.set()
        self.listener.close()
        self.child.kill()
        for pid in pids:
            _signal(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- asking ---

    def ask(self, call: Call, seconds: float) -> Any:
        """The answer of the sandbox's engine. Raises what the job raises, or an ``EngineError``.

        A command that takes more than ``seconds`` is stopped. A replay goes on without whoever asked for it: what it
        came to is there for the next one who asks.
        """
        self._check_free(call.plan.sandbox_id)
        try:
            return self._wait(Pending(call), seconds)
        except Lost:
            if self.closing:
                raise
            # Nothing of it was recorded. Should the job itself be what ends processes, the next answer says so.
            return self._wait(Pending(call), seconds)

    def _check_free(self, sandbox_id: UUID) -> None:
        """Raises ``Occupied`` when a replay goes on that somebody did not wait for."""
        with self.lock:
            jobs = [job for job in self.jobs.values() if job.sandbox_id == sandbox_id]
        for job in jobs:
            if job.engine is not None and time.monotonic() - job.began > MOST_SECONDS:
                self._halt(job)
            raise Occupied(" ".join(filter(None, (OPENING, job.progress))))

    def tell(self, call: Call) -> None:
        """A job that nobody waits for, and that is over at once: it has no answer, and goes before what waits."""
        with self.lock:
            process = self.homes.get(call.plan.sandbox_id) or self._slot(call.plan.sandbox_id)
        if process.line is not None:
            self._send(process, Asked(TOLD, call, False))

    def _wait(self, pending: Pending, seconds: float) -> Any:
        self._enqueue(pending)
        give_way()
        self.begun.wait(STARTING_SECONDS)
        try:
            return pending.future.result(seconds)
        except TimeoutError:
            with self.lock:
                if pending.engine is None:
                    self._give_up(pending, Busy(TOO_BUSY))
                elif not pending.call.kind.stops:
                    raise Occupied(" ".join(filter(None, (OPENING, pending.progress)))) from None
                else:
                    self._halt(pending)
        try:
            return pending.future.result(2 * STOPPING_SECONDS)
        except TimeoutError:
            raise Stopped(STOPPED) from None

    def stop(self, sandbox_id: UUID) -> bool:
        """Stop what runs in the sandbox, or waits to; False when nothing does."""
        with self.lock:
            found = [job for job in self.jobs.values() if job.sandbox_id == sandbox_id]
            for pending in found:
                if pending.engine is None:
                    self._give_up(pending, Stopped(STOPPED))
                else:
                    self._halt(pending)
        return bool(found)

    def _give_up(self, pending: Pending, error: Exception) -> None:
        """One that has not begun, or not here."""
        for process in (*self.slots, *self.homes.values()):
            if pending in process.waiting:
                process.waiting.remove(pending)
        self._forget(pending)
        _fail(pending, error)

    def _halt(self, pending: Pending) -> None:
        """At once when its process has nothing else to do, else when it has parted."""
        with self.lock:
            pending.stop = True
            self._signal_if_alone(pending, signal.SIGUSR1)
        # Where the machine has no time for it, a process does not even come to end its job.
        timer = Timer(STOPPING_SECONDS, self._signal_if_alone, (pending, signal.SIGKILL))
        timer.daemon = True
        timer.start()

    def _signal_if_alone(self, pending: Pending, number: signal.Signals) -> None:
        """To the process that has the job, if it has nothing but that sandbox."""
        with self.lock:
            process = pending.engine
            if process is not None and process.home is not None and pending.number in process.sent:
                _signal(process.pid, number)

    def _enqueue(self, pending: Pending) -> None:
        with self.lock:
            pending.number = next(self.numbers)
            if pending.call.characters > MOST_QUICK_CHARACTERS or pending.call.kind.slow:
                self._know(pending.sandbox_id).slow_down()
            process = self.homes.get(pending.sandbox_id) or self._slot(pending.sandbox_id)
            if len(process.waiting) >= MOST_QUEUED:
                raise Busy(TOO_BUSY)
            self.jobs[pending.number] = pending
            process.waiting.append(pending)
        self._next(process)

    def _slot(self, sandbox_id: UUID) -> Process:
        """Of the slots, the last one is the slow lane."""
        return self.slots[-1 if self._know(sandbox_id).slow else sandbox_id.int % (len(self.slots) - 1)]

    def _know(self, sandbox_id: UUID) -> Known:
        found = self.known.get(sandbox_id)
        if found is None:
            found = self.known[sandbox_id] = Known(NEW_SECONDS, time.monotonic())
        self.known.move_to_end(sandbox_id)
        if len(self.known) > MOST_KNOWN:
            self.known.popitem(last=False)
        return found

    def _next(self, process: Process) -> None:
        """Hand a process what waits for it, a little more than it can do now: so it never waits for the site."""
        while True:
            with self.lock:
                if process.line is None or len(process.sent) >= SENT_AHEAD[process.lane]:
                    return
                pending = self._take_turn(process)
                if pending is None:
                    return
                process.sent[pending.number] = pending
                pending.engine, pending.began = process, time.monotonic()
                # Only one that does part takes the place of one that rests.
                may_part = process.home is None and (len(self.homes) < self.long or self._resting() is not None)
                # In the lock, because of the order.
                self._send(process, Asked(pending.number, pending.call, may_part))

    def _take_turn(self, process: Process) -> Pending | None:
        now = time.monotonic()
        chosen = process.first(lambda job: self._know(job.sandbox_id).use(now), now)
        if chosen is not None:
            process.waiting.remove(chosen)
        return chosen

    def _send(self, process: Process, message: Any) -> None:
        assert process.line is not None
        try:
            process.line.post(message)
        except OSError:
            log.info("engine %s ended before it got a message", process.pid)  # Its reader sees to the rest.

    def _resting(self) -> Process | None:
        """The process of one sandbox that has rested for longest."""
        return next((process for process in self.homes.values() if not process.sent and not process.waiting), None)

    def _make_room(self) -> None:
        """One more has parted: those that rest go, the first ones first, until there are no more than may be."""
        while len(self.homes) > self.long and (resting := self._resting()) is not None:
            assert resting.home is not None
            del self.homes[resting.home]
            _signal(resting.pid, signal.SIGKILL)

    def _forget(self, pending: Pending) -> None:
        self.jobs.pop(pending.number, None)

    # --- what processes say ---

    def _accept(self) -> None:
        while not self.closing:
            try:
                line = Line(self.listener.accept())
            except (OSError, EOFError, AuthenticationError, AssertionError):
                continue  # One that died before it was known, or the end.
            try:
                hello = line.recv()
            except (OSError, EOFError):
                line.close()  # One that died before it had said hello.
                continue
            if isinstance(hello, Ready | Hello):
                self._welcome(hello, line)
            else:
                log.error("an engine began with %s instead of its name; it is not let in", type(hello).__name__)
                line.close()

    def _welcome(self, hello: Ready | Hello, line: Line) -> None:
        with self.lock:
            if isinstance(hello, Ready):
                self.nursery = line
                for slot in self.slots:
                    if slot.line is None:
                        self._order(slot)
                return
            if hello.slot is not None:
                process = self.slots[hello.slot]
                if process.line is not None:
                    line.close()  # Ordered of two nurseries, one after the other.
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
                        _signal(hello.pid, signal.SIGUSR1)
                self._make_room()
        self.begun.set()
        Thread(target=self._read, args=(process, line), name=f"engine-{hello.pid}", daemon=True).start()
        self._next(process)

    def _read(self, process: Process, line: Line) -> None:
        """What a process says, to its end."""
        try:
            while True:
                message = line.recv()
                if isinstance(message, Ask):
                    self._send(process, self._look_up(message))
                elif isinstance(message, HandedBack):
                    self._take_back(process, message)
                elif isinstance(message, Progress):
                    self._take_note(message)
                else:
                    self._take(process, message)
        except (EOFError, OSError):
            log.info("engine %s has ended", process.pid)
        finally:
            if process.slot is not None:
                self._replace(process)
            # Only now, so that nobody asks it any more.
            self._lost(process)
            line.close()
            connections.close_all()  # Of this thread, which looked into the log for the process.

    def _take_back(self, process: Process, message: HandedBack) -> None:
        """The sandbox and all its jobs go over to the slow lane."""
        with self.lock:
            pending = process.sent.pop(message.job, None)
            if pending is not None:
                sandbox_id = pending.sandbox_id
                self._know(sandbox_id).note(HANDED_BACK_SECONDS, time.monotonic())
                self._know(sandbox_id).slow_down()
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
        """The sandbox's browsers are told how far it is, also those that have not asked for it."""
        with self.lock:
            pending = self.jobs.get(message.job)
        if pending is not None:
            pending.progress = message.text
            publish(pending.tell, pending.sandbox_id, {"type": "sandbox.progress", "text": message.text})

    def _look_up(self, question: Ask) -> Any:
        """What the log answers, or the error that the job is to raise."""
        close_old_connections()
        try:
            return getattr(self.records, question.question)(*question.arguments)
        except DatabaseFailure as error:
            return error
        finally:
            close_old_connections()

    def _take(self, process: Process, message: Answer | Parted) -> None:
        with self.lock:
            pending = self.jobs.get(message.job)
            process.sent.pop(message.job, None)
            if pending is not None:
                seconds = message.seconds if isinstance(message, Answer) else PARTED_SECONDS
                self._know(pending.sandbox_id).note(seconds, time.monotonic())
            if pending is not None and isinstance(message, Answer):
                self._forget(pending)
                if message.error is not None:
                    _fail(pending, message.error)
                elif not pending.future.done():
                    pending.future.set_result(message.value)
        self._next(process)

    def _lost(self, process: Process) -> None:
        """A process is gone, and what it was asked with it."""
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


def _fail(pending: Pending, error: Exception) -> None:
    """Unless it has been answered meanwhile; to be called in the pool's lock."""
    if not pending.future.done():
        pending.future.set_exception(error)


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        log.info("engine %s has ended already", pid)
