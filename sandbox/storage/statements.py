"""The statements of every command as SQL. Django takes longer to compose them than the database to run them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from sandbox.storage.failures import read_again
from sandbox.storage.models import CommandRecord, Expectation, Guess, Sandbox
from sandbox.storage.records import Place, Position, Record

SANDBOX, RECORD = Sandbox._meta.db_table, CommandRecord._meta.db_table
NOTES = (Expectation._meta.db_table, Guess._meta.db_table)
"""Tables whose rows belong to a moment of the log."""


FIELDS = "state, head, length, revision, expected_at, log_bytes, turns"
"""The columns of ``Place``."""


def sandbox(sandbox_id: UUID) -> Sandbox | None:
    rows = Sandbox.objects.raw(f"SELECT * FROM {SANDBOX} WHERE id = %s", [_key(sandbox_id)])
    return read_again(lambda: next(iter(rows.iterator()), None))


def place(sandbox_id: UUID, lock: bool = False) -> Place:
    """Return the place of a sandbox. ``lock``: lock its row for the transaction. Raises ``Sandbox.DoesNotExist``."""
    select = f"SELECT {FIELDS} FROM {SANDBOX} WHERE id = %s{_locking() if lock else ''}"
    row = read_again(lambda: _run(select, _key(sandbox_id)).fetchone())
    if row is None:
        raise Sandbox.DoesNotExist
    return _place(row)


def _place(row: Sequence[Any]) -> Place:
    return Place(Position(*row[:3]), *row[3:])


def _locking() -> str:
    return " FOR UPDATE" if connection.features.has_select_for_update else ""


def drop_from(sandbox_id: UUID, n: int) -> int:
    """Delete the records of the log from place ``n`` on. Return how many characters their commands had."""
    condition = f"FROM {RECORD} WHERE sandbox_id = %s AND branch_id IS NULL AND n >= %s"
    dropped: int = _run(f"SELECT COALESCE(SUM(LENGTH(command)), 0) {condition}", _key(sandbox_id), n).fetchone()[0]
    _run(f"DELETE {condition}", _key(sandbox_id), n)
    return dropped


def set_place(sandbox_id: UUID, now: Place, grown: int = 0, by_owner: bool = False) -> None:
    """Store the place of a sandbox, and the time as its last use.

    ``grown``: characters by which its log has grown. ``by_owner``: the owner made the change, not a helper.
    """
    position, used = now.position, _now()
    _run(
        f"UPDATE {SANDBOX} SET state = %s, head = %s, length = %s, revision = %s, expected_at = %s,"
        " turns = %s, log_bytes = log_bytes + %s, last_used = %s, acted = COALESCE(%s, acted) WHERE id = %s",
        *(position.state, position.head, position.length, now.revision, now.expected_at, now.turns),
        *(grown, used, used if by_owner else None, _key(sandbox_id)),
    )


COLUMNS = "sandbox_id, n, command, who, by_helper, at, mark"
IF_HERE = f"INSERT INTO {RECORD} ({COLUMNS}) SELECT id, %s, %s, %s, %s, %s, %s FROM"
HERE = f"{SANDBOX} WHERE id = %s AND state = %s AND head = %s AND length = %s"
AHEAD = "head = %s, length = %s, revision = revision + 1, log_bytes = log_bytes + %s, last_used = %s, acted"
IN_ONE = (
    f"WITH here AS (SELECT id FROM {HERE} FOR UPDATE), record AS ({IF_HERE} here RETURNING id)"
    f" UPDATE {SANDBOX} SET state = record.id, {AHEAD} = COALESCE(%s, acted) FROM record"
    f" WHERE {SANDBOX}.id = %s RETURNING {FIELDS}"
)
"""PostgreSQL: append a record and move the place, if the sandbox is still where it was. One round trip, one commit."""
FIRST = f"{IF_HERE} {HERE} RETURNING id"
SECOND = f"UPDATE {SANDBOX} SET state = %s, {AHEAD} = COALESCE(%s, acted) WHERE id = %s RETURNING {FIELDS}"
"""SQLite: the same in two statements, in a transaction that has the database's write lock."""


def append_next(
    sandbox_id: UUID, at: Position, command: str, who: str, by_helper: bool = False, mark: str = ""
) -> tuple[Place, Record] | None:
    """Append a command to a log whose head ``at`` is its end, and commit. Return the new place and the record.

    Return None, with nothing changed, if the sandbox is no longer there. ``by_helper``: a helper executed it.
    """
    n, used, key = at.head + 1, _now(), _key(sandbox_id)
    here, values = (key, at.state, at.head, at.length), (n, command, who, by_helper, used, mark)
    ahead = (n, n, len(command), used, None if by_helper else used, key)
    if connection.features.has_select_for_update:
        row = _run(IN_ONE, *here, *values, *ahead).fetchone()
    else:
        with transaction.atomic():
            added = _run(FIRST, *values, *here).fetchone()
            row = added and _run(SECOND, *added, *ahead).fetchone()
    if row is None:
        return None
    now = _place(row)
    return now, Record(n, now.position.state, command, who, mark)


def append(sandbox_id: UUID, n: int, command: str, who: str, by_helper: bool = False, mark: str = "") -> Record:
    """Add a record at place ``n``, which must be free. Return it."""
    (key,) = _run(
        f"INSERT INTO {RECORD} ({COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s) RETURNING id",
        *(_key(sandbox_id), n, command, who, by_helper, _now(), mark),
    ).fetchone()
    return Record(n, key, command, who, mark)


def set_marks(rows: Sequence[tuple[str, int, str]]) -> None:
    """Store marks of records. ``rows``: mark, key of the record, and the mark that it must have until now."""
    if rows:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(f"UPDATE {RECORD} SET mark = %s WHERE id = %s AND mark = %s", rows)


def move_expectations(sandbox_id: UUID, before: int, now: int, until: int | None) -> bool:
    """Move expectations and guesses from record ``before`` to record ``now``. Return True if there were any.

    ``until``: only those within the first ``until`` entries of the record's trace, None = all.
    """
    upto = "" if until is None else " AND entries <= %s"
    parameters = (now, _key(sandbox_id), before, *([] if until is None else [until]))
    moved = [
        _run(f"UPDATE {table} SET state = %s WHERE sandbox_id = %s AND state = %s{upto}", *parameters).rowcount
        for table in NOTES
    ]
    return any(moved)


def _run(sql: str, *parameters: Any) -> Any:
    cursor = connection.cursor()
    cursor.execute(sql, parameters)
    return cursor


def _key(sandbox_id: UUID) -> Any:
    return Sandbox._meta.pk.get_db_prep_value(sandbox_id, connection)


def _now() -> Any:
    return connection.ops.adapt_datetimefield_value(timezone.now())
