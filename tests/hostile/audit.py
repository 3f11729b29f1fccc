"""Check the database: logs without gaps, every answered command in them once, and equal to their replay.

``python -m tests.hostile.audit DATABASE_URL`` replays every log and prints sandbox → digest of its trace.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from scheduler_engine.errors import Rejected
from scheduler_engine.replay import replay, trace_digest
from tests.hostile.site import ROOT

NOBODYS = "nobody gave it"
ALL = "SELECT * FROM"
COLUMNS = "id, seed, configuration, queue_rules, kubernetes, feature_gates, head, length"
SQLITE = "sqlite:///"
TRAINER = "Trainer"
"""The author of a command that a room's trainer sent into other people's sandboxes."""
ANSWERED, REFUSED, UNKNOWN = "answered", "refused", "unknown"
"""What a client knows of its command: done, not done, or cut off in the middle."""


@dataclass(frozen=True, slots=True)
class Log:
    """One sandbox's row and records. ``commands`` holds (n, JSON text, who) of the log, ordered by n."""

    sandbox: str
    seed: int
    configuration: str
    queue_rules: str
    kubernetes: str
    feature_gates: str
    head: int
    length: int
    commands: tuple[tuple[int, str, str], ...]

    def digest(self) -> str:
        """Return the digest of a replay's trace, or the engine's refusal."""
        commands = [json.loads(text) for _, text, _ in self.commands]
        log = {"seed": self.seed, "configuration": json.loads(self.configuration), "queue_rules": self.queue_rules}
        log |= {"kubernetes": self.kubernetes, "feature_gates": json.loads(self.feature_gates)}
        try:
            return trace_digest(replay({**log, "commands": commands}))
        except Rejected as error:
            return f"does not replay: {error}"


Row = Mapping[str, Any]


@contextmanager
def reading(database: str) -> Iterator[Callable[[str], list[Row]]]:
    """Yield a function that returns the rows of a query. All are of one moment.

    ``database``: a ``DATABASE_URL``. Both databases give the same: ids are 32 digits, JSON is text.
    """
    if database.startswith(SQLITE):
        uri = f"file:{database.removeprefix(SQLITE)}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30)) as sqlite:
            sqlite.row_factory = sqlite3.Row
            sqlite.execute("BEGIN")
            yield lambda sql: [dict(row) for row in sqlite.execute(sql)]
    else:
        with psycopg.connect(database, row_factory=dict_row) as postgres:
            postgres.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            yield lambda sql: [{name: _plain(row[name]) for name in row} for row in postgres.execute(sql.encode())]


def _plain(value: Any) -> Any:
    if isinstance(value, UUID):
        return value.hex
    return json.dumps(value) if isinstance(value, list | dict) else value


def logs(database: str) -> dict[str, Log]:
    """Return sandbox → log, all at one moment. ``database``: a ``DATABASE_URL``."""
    with reading(database) as rows:
        sandboxes = rows(f"SELECT {COLUMNS} FROM sandbox_sandbox")
        records: dict[str, list[tuple[int, str, str]]] = {row["id"]: [] for row in sandboxes}
        for row in rows(
            "SELECT sandbox_id, n, command, who FROM sandbox_commandrecord WHERE branch_id IS NULL"
            " ORDER BY sandbox_id, n"
        ):
            records[row["sandbox_id"]].append((row["n"], row["command"], row["who"]))
    return {row["id"]: Log(*row.values(), tuple(records[row["id"]])) for row in sandboxes}


@dataclass(frozen=True, slots=True)
class RoomRows:
    """The database rows of one room. Rows are columns by name."""

    room: Row
    participants: list[Row]
    seats: list[Row]
    questions: list[Row]
    answers: list[Row]


def rooms(database: str) -> dict[str, RoomRows]:
    """Return id of a room → its rows, all at one moment. ``database``: a ``DATABASE_URL``."""
    with reading(database) as rows:
        rows_by_id = {row["id"]: RoomRows(row, [], [], [], []) for row in rows(f"{ALL} workshop_workshop")}
        for table in ("participants", "seats", "questions"):
            for row in rows(f"{ALL} workshop_{table.removesuffix('s')} ORDER BY id"):
                getattr(rows_by_id[row["workshop_id"]], table).append(row)
        of_question = {row["id"]: one for one in rows_by_id.values() for row in one.questions}
        for row in rows(f"{ALL} workshop_answer ORDER BY id"):
            of_question[row["question_id"]].answers.append(row)
    return rows_by_id


def gaps(logs: Iterable[Log]) -> list[str]:
    """Return logs that are not 1, 2 … length, or whose head is beyond the end."""
    wrong = []
    for log in logs:
        places = [n for n, _, _ in log.commands]
        if places != list(range(1, log.length + 1)) or log.head > log.length:
            wrong.append(f"{log.sandbox}: records {places[:3]} … {places[-3:]}, length {log.length}, head {log.head}")
    return wrong


def misplaced(outcomes: Mapping[str, str], logs: Iterable[Log]) -> list[str]:
    """Compare ``outcomes`` (label of a command → what its client knows) with the logs. Return the differences."""
    held = Counter(who for log in logs for _, _, who in log.commands if who and who != TRAINER)
    allowed = {ANSWERED: (1,), REFUSED: (0,), UNKNOWN: (0, 1)}
    wrong = [
        f"{label} was {outcome} and is in the logs {held[label]} times"
        for label, outcome in outcomes.items()
        if held[label] not in allowed[outcome]
    ]
    return wrong + [f"{label} is in the logs, and {NOBODYS}" for label in held if label not in outcomes]


def replays(database: str) -> list[str]:
    """Replay every log in two fresh processes with different hash seeds. Return differences and failed replays."""
    first, second = (_digests(database, seed) for seed in ("1", "2"))
    return [
        f"{sandbox}: {digest} and {second.get(sandbox)}"
        for sandbox, digest in first.items()
        if digest != second.get(sandbox) or " " in digest
    ]


def _digests(database: str, hash_seed: str) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.audit", database],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        check=True,
        capture_output=True,
    )
    return json.loads(done.stdout)


if __name__ == "__main__":
    json.dump({sandbox: log.digest() for sandbox, log in logs(sys.argv[1]).items()}, sys.stdout)
