"""The messages between the web process and a worker, over a Unix socket."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sandbox.storage.records import Plan, Position
from sandbox.worker.job import KINDS, Kind
from sandbox.worker.jobs import JOBS
from sandbox.worker.live import Live
from sandbox.worker.so_far import SoFar

QUICK, SLOW = "quick", "slow"
"""The lanes. The quick one hands a long job back, the slow one may continue with it."""
PATIENCE_SECONDS = {QUICK: 0.1, SLOW: 0.2}
"""CPU seconds for which a job may keep the other sandboxes of a process in this lane waiting."""
NO_ANSWER = 0
"""Number of a call that has no answer."""


@dataclass(frozen=True, slots=True)
class Call:
    """A job, by its name, for one sandbox at one position."""

    plan: Plan
    position: Position
    name: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        return KINDS[JOBS[self.name].kind]

    def work(self, live: Live) -> Any:
        """Run the job in this process."""
        live.so_far = None
        return JOBS[self.name](live, self.position, *self.arguments, **self.keywords)

    @property
    def characters(self) -> int:
        """Total length of the texts among its arguments."""
        texts = (text for item in self.arguments for text in (item if isinstance(item, list) else [item]))
        return sum(len(text) for text in texts if isinstance(text, str | bytes))


@dataclass(frozen=True, slots=True)
class JobMessage:
    """Web process → worker: a call. ``may_fork``: the worker may fork if the job takes long in the slow lane."""

    number: int
    call: Call
    may_fork: bool


@dataclass(frozen=True, slots=True)
class Ready:
    """Nursery → web process, its first message: it takes orders."""


@dataclass(frozen=True, slots=True)
class Order:
    """Web process → nursery: start one more worker for many sandboxes."""

    slot: int
    lane: str


@dataclass(frozen=True, slots=True)
class Hello:
    """First message on a worker's line, with its ``slot``, or the ``sandbox_id`` and ``job`` it is dedicated to."""

    pid: int
    slot: int | None = None
    sandbox_id: UUID | None = None
    job: int | None = None


@dataclass(frozen=True, slots=True)
class LogQuestion:
    """Worker → web process: call the method ``question`` of ``records.Log``. The answer is sent without a wrapper."""

    question: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """Worker → web process: the result of a job, or the error that it raised."""

    job: int
    value: Any = None
    error: Exception | None = None
    seconds: float = 0.0
    """CPU time of the job."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Worker → web process: the progress of a long job."""

    job: int
    so_far: SoFar


@dataclass(frozen=True, slots=True)
class HandedBack:
    """Worker → web process: the job takes too long for the quick lane. Its result so far was dropped."""

    job: int


@dataclass(frozen=True, slots=True)
class Dedicated:
    """Worker → web process: a fork, with its own ``Hello``, continues the job and has the sandbox for itself."""

    job: int
