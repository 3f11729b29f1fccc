"""Branches: the timelines that a sandbox left when somebody went back and did something else.

A branch holds the records that once followed its base record, which is in the log or in another branch. Records keep
their keys when they move, so each key still stands for the whole log up to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Sum
from django.db.models.functions import Length

from sandbox.storage.models import Branch, CommandRecord, Sandbox
from sandbox.storage.records import Position, log_of

MOST = 20
"""Branches of one sandbox. Beyond that, the oldest branch that no other branch starts from is deleted."""


@dataclass(frozen=True, slots=True)
class BranchRow:
    """A branch as a list shows it.

    ``after``: number of the command before it. ``count``: how many commands it has. ``first``: text of its first one.
    """

    key: int
    after: int
    count: int
    first: str
    who: str
    created: datetime


def branches_of(sandbox: Sandbox) -> list[BranchRow]:
    """Return the branches of a sandbox, newest first."""
    rows = []
    for branch in sandbox.branches.order_by("-created", "-pk"):
        records = branch.records.order_by("n")
        first = records.first()
        if first is not None:
            after, count = branch.first - 1, records.count()
            rows.append(BranchRow(branch.pk, after, count, first.command, first.who, branch.created))
    return rows


def move_to_branch(sandbox_id: UUID, n: int) -> None:
    """Move the log from place ``n`` on into a new branch. Call it in a transaction that locks the log."""
    tail = log_of(sandbox_id).filter(n__gte=n)
    if tail.exists():
        base = log_of(sandbox_id).filter(n=n - 1).values_list("pk", flat=True).first() or 0
        tail.update(branch=Branch.objects.create(sandbox_id=sandbox_id, base=base, first=n))


def make_room(sandbox_id: UUID, characters: int = 0) -> int:
    """Delete the oldest branches until ``MOST`` are left and ``characters`` are freed. Return how many were freed."""
    freed = 0
    while True:
        branches = list(Branch.objects.filter(sandbox=sandbox_id).order_by("created", "pk"))
        if len(branches) <= MOST and freed >= characters:
            return freed
        bases = {branch.base for branch in branches}
        base_branches = dict.fromkeys(
            CommandRecord.objects.filter(sandbox=sandbox_id, pk__in=bases).values_list("branch", flat=True)
        )
        leaf = next((branch for branch in branches if branch.pk not in base_branches), None)
        if leaf is None:
            return freed
        freed += leaf.records.aggregate(total=Sum(Length("command"), default=0))["total"]
        leaf.delete()


@dataclass(frozen=True, slots=True)
class Path:
    """How a branch is reached: the first ``common`` records of the log, then records of branches.

    ``parts``: each branch and the place up to which its records count, the branch in question first. ``last``: the
    place of its last record.
    """

    common: int
    parts: tuple[tuple[Branch, int], ...]
    last: int


def _path_to(sandbox_id: UUID, key: int) -> Path | None:
    """Return the path to branch ``key``, None if the branch is gone."""
    parts: list[tuple[Branch, int]] = []
    branch = Branch.objects.filter(sandbox=sandbox_id, pk=key).first()
    if branch is None:
        return None
    last = branch.records.order_by("-n").values_list("n", flat=True)[0]
    upto = last
    while branch is not None:
        parts.append((branch, upto))
        base = CommandRecord.objects.filter(sandbox=sandbox_id, pk=branch.base).select_related("branch").first()
        upto = base.n if base is not None else 0
        branch = base.branch if base is not None else None
    return Path(upto, tuple(parts), last)


def commands_of(sandbox_id: UUID, key: int) -> list[str] | None:
    """Return the texts of all commands from the start of the sandbox to the end of a branch; None: it is gone."""
    path = _path_to(sandbox_id, key)
    if path is None:
        return None
    groups = [log_of(sandbox_id).filter(n__lte=path.common)]
    groups += [part.records.filter(n__lte=end) for part, end in reversed(path.parts)]
    return [text for group in groups for text in group.order_by("n").values_list("command", flat=True)]


def reopen(sandbox_id: UUID, key: int) -> tuple[Position, int] | None:
    """Put the records of branch ``key`` back into the log. The records they replace become a branch.

    Return the new position and how many records stayed where they were, or None if the branch is gone. Call it in a
    transaction that locks the log.
    """
    path = _path_to(sandbox_id, key)
    if path is None:
        return None
    last = path.last
    move_to_branch(sandbox_id, path.common + 1)
    for part, end in reversed(path.parts):
        part.records.filter(n__lte=end).update(branch=None)
        rest = part.records.order_by("n").first()
        if rest is None:
            part.delete()
        else:
            part.base, part.first = log_of(sandbox_id).values_list("pk", flat=True).get(n=end), end + 1
            part.save(update_fields=["base", "first"])
    return Position(log_of(sandbox_id).values_list("pk", flat=True).get(n=last), last, last), path.common
