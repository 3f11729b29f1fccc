"""The log as workers read it: records of commands, and positions that identify a state by its record's key."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from django.db.models import QuerySet

from sandbox.kube.turns import Turn, with_turn
from sandbox.storage.models import CommandRecord, Expectation, Guess, Sandbox, Study
from scheduler_engine.queue.design_doc import QUEUES
from scheduler_engine.versions import DEFAULT

QUEUE_RULES = tuple(QUEUES)
"""Names of the rule sets that a sandbox can have; the first is the default."""
AT_ONCE = 200
"""Records that one query of the log returns. A long log is never in memory as a whole."""


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a sandbox in its log. ``state``: key of the record at ``head``, 0 = the start."""

    state: int
    head: int
    length: int

    @classmethod
    def of(cls, sandbox: Sandbox) -> Position:
        return cls(sandbox.state, sandbox.head, sandbox.length)


START = Position(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Place:
    """A position with its revision, which each change of the sandbox increases.

    ``expected_at``: revision of the last change to its expectations, study or guesses. ``size``: characters of all its
    commands, those of its branches included; 0 if the place is not from the database. ``turns``: as
    ``models.Sandbox.turns``.
    """

    position: Position
    revision: int
    expected_at: int = 0
    size: int = field(default=0, compare=False)
    turns: str = field(default="", compare=False)

    @classmethod
    def of(cls, sandbox: Sandbox) -> Place:
        """Return the place of a sandbox when its row was read."""
        return cls(Position.of(sandbox), sandbox.revision, sandbox.expected_at, sandbox.log_bytes, sandbox.turns)

    def then(self, position: Position, expected: bool = False, grown: int = 0, left: int | None = None) -> Place:
        """Return the place after one more change.

        ``expected``: the change concerns what ``expected_at`` counts. ``grown``: characters by which the log has grown.
        ``left``: how many of the commands in force it leaves, None = all.
        """
        revision = self.revision + 1
        turns = self.turns
        if left is not None and left < self.position.head:
            turns = with_turn(turns, Turn(revision, left))
        return Place(position, revision, revision if expected else self.expected_at, self.size + grown, turns)


@dataclass(frozen=True, slots=True)
class Record:
    """A command of a log: its place from 1, its primary key, its JSON text, the label of its author, and its mark."""

    n: int
    key: int
    command: str
    who: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the simulation of a sandbox starts from. Its commands are replayed on top."""

    sandbox_id: UUID
    seed: int
    configuration: str
    queue_rules: str
    scenario: str
    story: str = ""
    """The uploaded scenario, as ``models.Sandbox.story``."""
    priority_numbers: bool = False
    """Pods may have a priority number without a PriorityClass."""
    kubernetes: str = DEFAULT
    """The version of Kubernetes that it begins under."""
    feature_gates: str = "{}"
    """Its gates that differ from the defaults of the version, as JSON text."""

    @classmethod
    def of(cls, sandbox: Sandbox) -> Plan:
        rules = sandbox.seed, sandbox.configuration, sandbox.queue_rules
        version = sandbox.kubernetes, sandbox.feature_gates
        return cls(sandbox.pk, *rules, sandbox.scenario, sandbox.story, sandbox.priority_numbers, *version)


@dataclass(frozen=True, slots=True)
class Expected:
    """A row of ``models.Expectation``. ``text`` is its JSON."""

    key: int
    state: int
    n: int
    entries: int
    text: str
    who: str


@dataclass(frozen=True, slots=True)
class Guessed:
    """A row of ``models.Guess``."""

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
    """A row of ``models.Study`` with the guesses of the sandbox. ``slug``: "" if the sandbox has no lesson."""

    slug: str = ""
    shelf: str = ""
    text: str = ""
    part: int = 0
    progress: str = "{}"
    guesses: tuple[Guessed, ...] = ()


class Log(Protocol):
    """What a worker reads of the log of a sandbox."""

    def keys(self, sandbox_id: UUID, places: list[int]) -> dict[int, int]:
        """Return place → key of the record that the log has there now. Places without a record are missing."""

    def between(self, sandbox_id: UUID, after: int, upto: int) -> list[Record]:
        """Return the records after place ``after``, up to ``upto`` and at most ``AT_ONCE`` of them."""

    def expected(self, sandbox_id: UUID) -> list[Expected]:
        """Return the expectations of a sandbox, earliest moment first."""

    def studied(self, sandbox_id: UUID) -> Studied:
        """Return the lesson of a sandbox and its guesses, first guess first."""


def log_of(sandbox_id: UUID) -> QuerySet[CommandRecord]:
    """Return the records of a sandbox's log, without those of its branches."""
    return CommandRecord.objects.filter(sandbox=sandbox_id, branch=None)


def last_command(sandbox: Sandbox, kind: str) -> dict[str, Any] | None:
    """Return the newest command of a kind up to the head of a sandbox's log, None if there is none."""
    # The texts of commands begin with their kind.
    records = log_of(sandbox.pk).filter(n__lte=sandbox.head, command__startswith=f'{{"kind":"{kind}"')
    text = records.order_by("-n").values_list("command", flat=True).first()
    return None if text is None else json.loads(text)


class Database:
    """The log, read from the database."""

    def keys(self, sandbox_id: UUID, places: Iterable[int]) -> dict[int, int]:
        return dict(log_of(sandbox_id).filter(n__in=list(places)).values_list("n", "pk"))

    def between(self, sandbox_id: UUID, after: int, upto: int) -> list[Record]:
        records = log_of(sandbox_id).filter(n__gt=after, n__lte=upto).order_by("n")
        return [Record(*row) for row in records.values_list("n", "pk", "command", "who", "mark")[:AT_ONCE]]

    def expected(self, sandbox_id: UUID) -> list[Expected]:
        expectations = Expectation.objects.filter(sandbox=sandbox_id).order_by("n", "entries", "pk")
        return [Expected(*row) for row in expectations.values_list("pk", "state", "n", "entries", "expectation", "who")]

    def studied(self, sandbox_id: UUID) -> Studied:
        rows = Guess.objects.filter(sandbox=sandbox_id).order_by("pk")
        fields = ("pk", "part", "question", "named", "points", "state", "n", "entries", "who")
        guesses = tuple(Guessed(*row) for row in rows.values_list(*fields))
        studies = Study.objects.filter(sandbox=sandbox_id).values_list("slug", "shelf", "text", "part", "progress")
        return Studied(*next(iter(studies), ("", "", "", 0, "{}")), guesses)
