"""What the site and an engine's process say to each other, over a socket of this machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sandbox.storage.records import Plan, Position
from sandbox.worker.job import KINDS, Kind
from sandbox.worker.jobs import JOBS
from sandbox.worker.live import Live

QUICK, SLOW = "quick", "slow"
"""The lanes: where a job is handed back after a blink, and where it may go on."""
PATIENCE_SECONDS = {QUICK: 0.1, SLOW: 0.2}
"""Of CPU time, for which a job may keep the other sandboxes of a process in this lane waiting."""
TOLD = 0
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
        """Do it, in this process."""
        return JOBS[self.name](live, self.position, *self.arguments, **self.keywords)

    @property
    def characters(self) -> int:
        """Length of the texts among its arguments."""
        texts = (text for item in self.arguments for text in (item if isinstance(item, list) else [item]))
        return sum(len(text) for text in texts if isinstance(text, str | bytes))


@dataclass(frozen=True, slots=True)
class Asked:
    """Site → engine: a call. ``may_part``: there is room for one more process, should it take long in the slow lane."""

    number: int
    call: Call
    may_part: bool


@dataclass(frozen=True, slots=True)
class Ready:
    """Nursery → site, first of all: it takes orders."""


@dataclass(frozen=True, slots=True)
class Order:
    """Site → nursery: one more engine that serves all."""

    slot: int
    lane: str


@dataclass(frozen=True, slots=True)
class Hello:
    """Engine → site, first of all. It has a ``slot``, or a ``sandbox_id`` and ``job``, of what it parted with."""

    pid: int
    slot: int | None = None
    sandbox_id: UUID | None = None
    job: int | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """Engine → site: a question to the log, ``keys`` or ``between``. The answer is sent as it is."""

    question: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """Engine → site: what a job gave, or the error that it raised."""

    job: int
    value: Any = None
    error: Exception | None = None
    seconds: float = 0.0
    """Of CPU time."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Engine → site: how far a job that takes long has come, in words."""

    job: int
    text: str


@dataclass(frozen=True, slots=True)
class HandedBack:
    """Engine → site: the job takes longer than one may here. Nothing of it was kept."""

    job: int


@dataclass(frozen=True, slots=True)
class Parted:
    """Engine → site: a process of its own goes on with the job and has its sandbox; it says hello by itself."""

    job: int
