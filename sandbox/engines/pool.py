"""The site's side of the engines: which process has which sandbox, and what waits for it.

A sandbox belongs to one of ``ENGINE_PROCESSES`` processes, by its id, until a long job makes it part: then it has a
process of its own, of which there are ``ENGINE_LONG`` at most. A process that ends takes nothing with it that cannot be
replayed; its jobs are asked again, once, of another.
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
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import AuthenticationError
from multiprocessing.connection import Listener
from pathlib import Path
from threading import Lock, RLock, Thread, Timer
from typing import Any
from uuid import UUID

from django.db import DatabaseError, close_old_connections, connections

from sandbox.engines.errors import STOPPED, Busy, Lost, Occupied, Stopped
from sandbox.engines.jobs import COMMANDS
from sandbox.engines.line import Line
from sandbox.engines.messages import TOLD, Answer, Ask, Hello, Job, Parted
from sandbox.records import Database, Plan, Position

log = logging.getLogger(__name__)

SENT_AHEAD = 3
"""Jobs that a process which serves all has at once: the one that it does, and the next ones."""
SHORT_SECONDS = 0.1
SHORT_FIRST = 4
MOST_LENGTHY = 10_000
MOST_QUEUED = 400
"""Jobs that wait for one process."""
MOST_SECONDS = 600.0
"""For which a replay may go on; the next one starts from where it came to."""
LOST = "The engine of this sandbox ended. Nothing was changed; try again."
OPENING = "This sandbox is being opened: its commands are carried out once more, which takes a while."
RESTART_SECONDS = 1.0
"""How long to wait before a process that could not even start is tried again."""
STOPPING_SECONDS = 3.0
"""How long a process may take to stop a job before it is killed."""


@dataclass(slots=True)
class Pending:
    """A job that somebody waits for. ``stop``: it is to end as soon as its process can be told."""

    plan: Plan
    position: Position
    name: str
    arguments: tuple[Any, ...]
    number: int = 0
    future: Future[Any] = field(default_factory=Future)
    engine: Process | None = None
    stop: bool = False
    began: float = 0.0


@dataclass(slots=True, eq=False)
class Process:
    """One engine. ``home``: the sandbox that it has for itself; ``slot``: its place among those that serve all."""

    slot: int | None = None
    pid: int = 0
    home: UUID | None = None
    line: Line | None = None
    sent: dict[int, Pending] = field(default_factory=dict)
    """Number → job that it has not answered yet. It does one at a time; the next ones lie ready for it."""
    queue: deque[Pending] = field(default_factory=deque)
    """Jobs of sandboxes whose last one was short."""
    slow: deque[Pending] = field(default_factory=deque)
    """The others'. After ``SHORT_FIRST`` short ones comes one of them, so that nobody waits for ever."""
    turns: int = 0
    sending: Lock = field(default_factory=Lock)

    @property
    def waiting(self) -> list[Pending]:
        return [*self.queue, *self.slow]

    def next(self) -> Pending | None:
        """Takes the job whose turn it is."""
        self.turns += 1
        first, second = self.queue, self.slow
        if self.turns % (SHORT_FIRST + 1) == 0:
            first, second = second, first
        return first.popleft() if first else second.popleft() if second else None


class Pool:
    """The engines of this web process. Its lock guards the tables; nothing is waited for while it is held."""

    def __init__(self, processes: int, long: int) -> None:
        self.long = long
        self.lock = RLock()
        self.numbers = count(1)
        self.slots: list[Process] = []
        self.homes: dict[UUID, Process] = {}
        self.jobs: dict[int, Pending] = {}
        self.lengthy: OrderedDict[UUID, None] = OrderedDict()
        """Sandboxes whose last job was not short."""
        self.records = Database()
        self.closing = False
        self.folder = tempfile.mkdtemp(prefix="scheduler-sandbox-")
        self.key = secrets.token_bytes(32)
        self.listener = Listener(str(Path(self.folder) / "engines"), family="AF_UNIX", backlog=64, authkey=self.key)
        Thread(target=self._accept, name="engines", daemon=True).start()
        self.slots += [self._start(slot) for slot in range(processes)]

    def _start(self, slot: int) -> Process:
        command = [sys.executable, "-m", "sandbox.engines", str(self.listener.address)]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, cwd=Path(__file__).resolve().parents[2])
        assert child.stdin is not None
        with child.stdin:
            child.stdin.write(self.key.hex() + "\n")
        process = Process(slot, child.pid)
        Thread(target=self._watch, args=(process, child), name=f"engine-{child.pid}-end", daemon=True).start()
        return process

    def _watch(self, process: Process, child: subprocess.Popen[str]) -> None:
        """When one that serves all has ended, another takes its place."""
        child.wait()
        self._lost(process)
        if process.line is None and not self.closing:
            log.error("an engine could not start; it is tried again")
            time.sleep(RESTART_SECONDS)
        with self.lock:
            if not self.closing:
                assert process.slot is not None
                self.slots[process.slot] = self._start(process.slot)

    def close(self) -> None:
        """End all engines. Whoever waits is told."""
        with self.lock:
            if self.closing:
                return
            self.closing = True
            processes = [*self.slots, *self.homes.values()]
        self.listener.close()
        for process in processes:
            self._kill(process.pid)
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- asking ---

    def ask(self, plan: Plan, position: Position, name: str, arguments: tuple[Any, ...], seconds: float) -> Any:
        """The answer of the sandbox's engine. Raises what the job raises, or an ``EngineError``.

        A command that takes more than ``seconds`` is stopped. A replay goes on without whoever asked for it: what it
        came to is there for the next one who asks.
        """
        self._check_free(plan.sandbox_id)
        try:
            return self._wait(Pending(plan, position, name, arguments), seconds)
        except Lost:
            if self.closing:
                raise
            # Nothing of it was recorded. Should the job itself be what ends processes, the next answer says so.
            return self._wait(Pending(plan, position, name, arguments), seconds)

    def _check_free(self, sandbox_id: UUID) -> None:
        """Raises ``Occupied`` when a replay goes on that somebody did not wait for."""
        with self.lock:
            jobs = [job for job in self.jobs.values() if job.plan.sandbox_id == sandbox_id]
        for job in jobs:
            if job.engine is not None and time.monotonic() - job.began > MOST_SECONDS:
                self._halt(job)
            raise Occupied(OPENING)

    def tell(self, plan: Plan, position: Position, name: str, *arguments: Any) -> None:
        """A job that nobody waits for, and that is over at once: it has no answer, and goes before what waits."""
        with self.lock:
            process = self.homes.get(plan.sandbox_id) or self._slot(plan.sandbox_id)
        if process.line is not None:
            self._send(process, Job(TOLD, plan, position, name, arguments, False))

    def _wait(self, pending: Pending, seconds: float) -> Any:
        self._enqueue(pending)
        try:
            return pending.future.result(seconds)
        except TimeoutError:
            if pending.name not in COMMANDS:
                raise Occupied(OPENING) from None
            self._halt(pending)
        try:
            return pending.future.result(2 * STOPPING_SECONDS)
        except TimeoutError:
            raise Stopped(STOPPED) from None

    def stop(self, sandbox_id: UUID) -> bool:
        """Stop what runs in the sandbox; False when nothing does."""
        with self.lock:
            running = [
                job for job in self.jobs.values() if job.plan.sandbox_id == sandbox_id and job.engine is not None
            ]
        for pending in running:
            self._halt(pending)
        return bool(running)

    def _halt(self, pending: Pending) -> None:
        """At once when its process has nothing else to do, else when it has parted."""
        with self.lock:
            pending.stop = True
            if pending.engine is None:
                self._forget(pending)
                pending.future.set_exception(Stopped("The server was too busy for this. Nothing was changed."))
                return
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
            process = self.homes.get(pending.plan.sandbox_id) or self._slot(pending.plan.sandbox_id)
            if len(process.waiting) >= MOST_QUEUED:
                raise Busy("The server is busy with other sandboxes. Nothing was changed; try again in a moment.")
            self.jobs[pending.number] = pending
            (process.slow if pending.plan.sandbox_id in self.lengthy else process.queue).append(pending)
        self._next(process)

    def _slot(self, sandbox_id: UUID) -> Process:
        return self.slots[sandbox_id.int % len(self.slots)]

    def _next(self, process: Process) -> None:
        """Hand a process what waits for it, a little more than it can do now: so it never waits for the site."""
        while True:
            with self.lock:
                most = SENT_AHEAD if process.home is None else 1
                if process.line is None or len(process.sent) >= most:
                    return
                pending = process.next()
                if pending is None:
                    return
                if pending.stop:
                    continue
                process.sent[pending.number] = pending
                pending.engine, pending.began = process, time.monotonic()
                # Only one that does part takes the place of one that rests.
                may_part = process.home is None and (len(self.homes) < self.long or self._resting() is not None)
                what = (pending.plan, pending.position, pending.name, pending.arguments)
                # In the lock, because of the order; a process that reads its next job takes it in at once.
                self._send(process, Job(pending.number, *what, may_part))

    def _send(self, process: Process, message: Any) -> None:
        assert process.line is not None
        try:
            with process.sending:
                process.line.send(message)
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
            self._kill(resting.pid)

    def _forget(self, pending: Pending) -> None:
        self.jobs.pop(pending.number, None)

    # --- what processes say ---

    def _accept(self) -> None:
        while not self.closing:
            try:
                line = Line(self.listener.accept())
                hello = line.recv()
            except (OSError, EOFError, AuthenticationError):
                continue  # One that died before it had said hello, or the end.
            self._welcome(hello, line)

    def _welcome(self, hello: Hello, line: Line) -> None:
        with self.lock:
            if hello.sandbox_id is None:
                process = next((slot for slot in self.slots if slot.pid == hello.pid), None)
                if process is None:
                    line.close()
                    return
                process.line = line
            else:
                process = Process(None, hello.pid, hello.sandbox_id, line)
                self.homes[hello.sandbox_id] = process
                pending = self.jobs.get(hello.job or 0)
                if pending is not None:
                    process.sent[pending.number] = pending
                    pending.engine = process
                    if pending.stop:
                        _signal(hello.pid, signal.SIGUSR1)
                self._make_room()
        Thread(target=self._read, args=(process, line), name=f"engine-{hello.pid}", daemon=True).start()
        self._next(process)

    def _read(self, process: Process, line: Line) -> None:
        """What a process says, to its end."""
        try:
            while True:
                message = line.recv()
                if isinstance(message, Ask):
                    self._send(process, self._look_up(message))
                else:
                    self._take(process, message)
        except (EOFError, OSError):
            self._lost(process)
        finally:
            connections.close_all()  # Of this thread, which looked into the log for the process.

    def _note_length(self, sandbox_id: UUID, lengthy: bool) -> None:
        """Jobs of sandboxes that take long stand in a queue of their own."""
        self.lengthy.pop(sandbox_id, None)
        if lengthy:
            self.lengthy[sandbox_id] = None
            if len(self.lengthy) > MOST_LENGTHY:
                self.lengthy.popitem(last=False)

    def _look_up(self, question: Ask) -> Any:
        """What the log answers, or the error that the job is to raise."""
        close_old_connections()
        try:
            return getattr(self.records, question.question)(*question.arguments)
        except DatabaseError as error:
            return error
        finally:
            close_old_connections()

    def _take(self, process: Process, message: Answer | Parted) -> None:
        with self.lock:
            pending = self.jobs.get(message.job)
            process.sent.pop(message.job, None)
            if pending is not None:
                self._note_length(
                    pending.plan.sandbox_id, isinstance(message, Parted) or message.seconds > SHORT_SECONDS
                )
            if pending is not None and isinstance(message, Answer):
                self._forget(pending)
        if pending is not None and isinstance(message, Answer) and not pending.future.done():
            settle = pending.future.set_result if message.error is None else pending.future.set_exception
            settle(message.value if message.error is None else message.error)
        self._next(process)

    def _lost(self, process: Process) -> None:
        """A process is gone, and what it was asked with it."""
        with self.lock:
            lost = [*process.sent.values(), *process.waiting]
            process.sent.clear()
            process.queue.clear()
            process.slow.clear()
            for pending in lost:
                self._forget(pending)
            if process.home is not None and self.homes.get(process.home) is process:
                del self.homes[process.home]
        for pending in lost:
            if not pending.future.done():
                pending.future.set_exception(Stopped(STOPPED) if pending.stop else Lost(LOST))

    def _kill(self, pid: int) -> None:
        _signal(pid, signal.SIGKILL)


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        log.info("engine %s has ended already", pid)
