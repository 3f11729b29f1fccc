"""What was left behind by going back: branches of a sandbox's log, which can be listed and reopened.

A branch holds the records that once followed its base, which stands in the log or in another branch. Records keep their
keys wherever they are, so that each key goes on standing for the whole log up to it.
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
"""Branches of one sandbox; the oldest one that no other one starts from makes room."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A branch for people: ``after`` how many commands it starts, how many there are, and the text of its first."""

    key: int
    after: int
    count: int
    first: str
    who: str
    created: datetime


def listed(sandbox: Sandbox) -> list[Listed]:
    """The newest first."""
    found = []
    for branch in sandbox.branches.order_by("-created", "-pk"):
        records = branch.records.order_by("n")
        first = records.first()
        if first is not None:
            found.append(Listed(branch.pk, branch.first - 1, records.count(), first.command, first.who, branch.created))
    return found


def put_aside(sandbox_id: UUID, n: int) -> None:
    """The records of the log from place ``n`` on become a branch. To be called in a transaction that locks the log."""
    tail = log_of(sandbox_id).filter(n__gte=n)
    if tail.exists():
        base = log_of(sandbox_id).filter(n=n - 1).values_list("pk", flat=True).first() or 0
        tail.update(branch=Branch.objects.create(sandbox_id=sandbox_id, base=base, first=n))


def make_room(sandbox_id: UUID, wanted: int = 0) -> int:
    """Drop the oldest branches while there are more than ``MOST``, and until they have given back ``wanted``
    characters; how many they have given back.
    """
    freed = 0
    while True:
        branches = list(Branch.objects.filter(sandbox=sandbox_id).order_by("created", "pk"))
        if len(branches) <= MOST and freed >= wanted:
            return freed
        bases = {branch.base for branch in branches}
        held = dict.fromkeys(
            CommandRecord.objects.filter(sandbox=sandbox_id, pk__in=bases).values_list("branch", flat=True)
        )
        leaf = next((branch for branch in branches if branch.pk not in held), None)
        if leaf is None:
            return freed
        freed += leaf.records.aggregate(total=Sum(Length("command"), default=0))["total"]
        leaf.delete()


def reopen(sandbox_id: UUID, key: int) -> Position | None:
    """Make the log what it is at the end of branch ``key``; what the log holds beyond becomes a branch itself.

    The new position; None when there is no such branch any more. To be called in a transaction that locks the log.
    """
    way: list[tuple[Branch, int]] = []
    branch = Branch.objects.filter(sandbox=sandbox_id, pk=key).first()
    if branch is None:
        return None
    last = branch.records.order_by("-n").values_list("n", flat=True)[0]
    upto = last
    while branch is not None:
        way.append((branch, upto))
        base = CommandRecord.objects.filter(sandbox=sandbox_id, pk=branch.base).select_related("branch").first()
        upto = base.n if base is not None else 0
        branch = base.branch if base is not None else None
    put_aside(sandbox_id, upto + 1)
    for part, end in reversed(way):
        part.records.filter(n__lte=end).update(branch=None)
        rest = part.records.order_by("n").first()
        if rest is None:
            part.delete()
        else:
            part.base, part.first = log_of(sandbox_id).values_list("pk", flat=True).get(n=end), end + 1
            part.save(update_fields=["base", "first"])
    return Position(log_of(sandbox_id).values_list("pk", flat=True).get(n=last), last, last)
