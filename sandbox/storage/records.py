"""The log as the engines read it: records of commands, and the keys by which they know a state again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from django.db.models import QuerySet

from sandbox.storage.models import CommandRecord, Expectation, Guess, Sandbox, Study
from scheduler_engine.queue.design_doc import QUEUES

QUEUE_RULES = tuple(QUEUES)
"""Names of the rule sets that a sandbox can have; the first is the default."""
AT_ONCE = 200
"""Records that one look into the log brings: a long log is never whole in memory."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a sandbox stands: ``state`` is the key of the record at ``head`` (0 = at the start)."""

    state: int
    head: int
    length: int

    @classmethod
    def of(cls, sandbox: Sandbox) -> Position:
        return cls(sandbox.state, sandbox.head, sandbox.length)


START = Position(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Place:
    """A position, and how many changes led to it: of two places of a sandbox the later one has the higher revision.

    ``expected_at``: the revision at which it changed what is expected of the sandbox.
    """

    position: Position
    revision: int
    expected_at: int = 0

    def then(self, position: Position, expected: bool = False) -> Place:
        """The place after one more change; ``expected``: one of what is expected, too."""
        revision = self.revision + 1
        return Place(position, revision, revision if expected else self.expected_at)


@dataclass(frozen=True, slots=True)
class Record:
    """A command of a log: its place from 1, its primary key, its JSON text, and who gave it."""

    n: int
    key: int
    command: str
    who: str


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a sandbox's simulation is made from, but its commands."""

    sandbox_id: UUID
    seed: int
    configuration: str
    queue_rules: str
    scenario: str
    story: str = ""
    """The scenario that somebody brought, as ``models.Sandbox.story``."""
    priority_numbers: bool = False
    """Pods may give their priority as a number alone."""

    @classmethod
    def of(cls, sandbox: Sandbox) -> Plan:
        told = sandbox.seed, sandbox.configuration, sandbox.queue_rules, sandbox.scenario, sandbox.story
        return cls(sandbox.pk, *told, sandbox.priority_numbers)


@dataclass(frozen=True, slots=True)
class Expected:
    """What somebody expects, as in ``models.Expectation``; ``text`` is JSON."""

    key: int
    state: int
    n: int
    entries: int
    text: str
    who: str


@dataclass(frozen=True, slots=True)
class Guessed:
    """What somebody answered, as in ``models.Guess``."""

    key: int
    part: int | None
    question: str
    named: str
    points: str
    state: int
    n: int
    entries: int
    who: str


@dataclass(frozen=True, slots=True)
class Studied:
    """The lesson of a sandbox as in ``models.Study``, ``slug`` "" where there is none; and what was guessed."""

    slug: str = ""
    shelf: str = ""
    text: str = ""
    part: int = 0
    progress: str = "{}"
    guesses: tuple[Guessed, ...] = ()


class Log(Protocol):
    """What an engine asks of the log of a sandbox."""

    def keys(self, sandbox_id: UUID, places: list[int]) -> dict[int, int]:
        """Place → key of the record that stands there now."""

    def between(self, sandbox_id: UUID, after: int, upto: int) -> list[Record]:
        """The next records after place ``after``, at most ``AT_ONCE`` and none beyond ``upto``."""

    def expected(self, sandbox_id: UUID) -> list[Expected]:
        """What is expected of a sandbox, the earliest moment first."""

    def studied(self, sandbox_id: UUID) -> Studied:
        """Its lesson, and what was guessed in it, the first guess first."""


def log_of(sandbox_id: UUID) -> QuerySet[CommandRecord]:
    """The records of a sandbox's log, without those of its branches."""
    return CommandRecord.objects.filter(sandbox=sandbox_id, branch=None)


class Database:
    """The log in the database."""

    def keys(self, sandbox_id: UUID, places: Iterable[int]) -> dict[int, int]:
        return dict(log_of(sandbox_id).filter(n__in=list(places)).values_list("n", "pk"))

    def between(self, sandbox_id: UUID, after: int, upto: int) -> list[Record]:
        found = log_of(sandbox_id).filter(n__gt=after, n__lte=upto).order_by("n")
        return [Record(*row) for row in found.values_list("n", "pk", "command", "who")[:AT_ONCE]]

    def expected(self, sandbox_id: UUID) -> list[Expected]:
        found = Expectation.objects.filter(sandbox=sandbox_id).order_by("n", "entries", "pk")
        return [Expected(*row) for row in found.values_list("pk", "state", "n", "entries", "expectation", "who")]

    def studied(self, sandbox_id: UUID) -> Studied:
        rows = Guess.objects.filter(sandbox=sandbox_id).order_by("pk")
        fields = ("pk", "part", "question", "named", "points", "state", "n", "entries", "who")
        guesses = tuple(Guessed(*row) for row in rows.values_list(*fields))
        found = Study.objects.filter(sandbox=sandbox_id).values_list("slug", "shelf", "text", "part", "progress")
        return Studied(*next(iter(found), ("", "", "", 0, "{}")), guesses)
