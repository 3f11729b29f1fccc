"""The statement that appends a command in PostgreSQL, beside others that change the same sandbox."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from sandbox.storage.statements import IN_ONE
from tests.sandbox.served import ROOT, environment
from tests.servers import Postgres
from tests.waiting import until

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WAITS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
CREATE = """
INSERT INTO sandbox_sandbox (id, edit_token_hash, view_token_hash, title, scenario, story, engine_version, seed,
  configuration, queue_rules, kubernetes, feature_gates, priority_numbers, created, last_used, head, length, state,
  log_bytes, revision, expected_at, frozen)
VALUES (%s, '', '', '', '', '', '', 1, 'null', 'v1.34', 'v1.34', '{}', false, now(), now(), 0, 0, 0, 0, 0, 0, false)
"""


@pytest.fixture(scope="module")
def database(postgres_server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> str:
    url = postgres_server.new_database()
    settings = environment(tmp_path_factory.mktemp("var"), DATABASE_URL=url)
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=settings, check=True)
    return url


@pytest.fixture
def sandbox_id(database: str) -> UUID:
    key = uuid4()
    with psycopg.connect(database) as connection:
        connection.execute(CREATE, [key])
    return key


@pytest.fixture
def other(database: str) -> Iterator[psycopg.Connection[Any]]:
    """Yield a connection of another web process."""
    with psycopg.connect(database) as connection:
        yield connection


def append(database: str, key: UUID, text: str = "{}", state: int = 0, head: int = 0) -> tuple[int, ...] | None:
    """Append a command as a web process does. Return the new place."""
    here, values = (key, state, head, head), (head + 1, text, "", False, NOW, "")
    with psycopg.connect(database, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        return connection.execute(IN_ONE, [*here, *values, head + 1, head + 1, len(text), NOW, None, key]).fetchone()


def log(database: str, key: UUID) -> list[tuple[int, str]]:
    with psycopg.connect(database) as connection:
        sql = "SELECT n, command FROM sandbox_commandrecord WHERE sandbox_id = %s ORDER BY n"
        return connection.execute(sql, [key]).fetchall()


def waits(database: str) -> bool:
    with psycopg.connect(database) as connection:
        return connection.execute(WAITS).fetchone() == (1,)


Change = Callable[[psycopg.Connection[Any], UUID], Any]


def beside(database: str, key: UUID, other: psycopg.Connection[Any], change: Change) -> tuple[int, ...] | None:
    """Append while ``change`` of another web process holds the row. Return the new place."""
    with ThreadPoolExecutor(1) as thread:
        change(other, key)
        appending = thread.submit(append, database, key)
        until(lambda: waits(database) or appending.done())
        other.commit()
        return appending.result()


def test_a_note_stored_meanwhile_counts_too(database: str, sandbox_id: UUID, other: psycopg.Connection[Any]) -> None:
    def note(connection: psycopg.Connection[Any], key: UUID) -> None:
        sql = "UPDATE sandbox_sandbox SET revision = revision + 1, expected_at = revision + 1 WHERE id = %s"
        connection.execute(sql, [key])

    place = beside(database, sandbox_id, other, note)
    assert place is not None
    assert place[1:] == (1, 1, 2, 1, len("{}"), "")
    assert log(database, sandbox_id) == [(1, "{}")]


def test_a_command_stored_meanwhile_wins(database: str, sandbox_id: UUID, other: psycopg.Connection[Any]) -> None:
    def command(connection: psycopg.Connection[Any], key: UUID) -> None:
        columns = "sandbox_id, n, command, who, by_helper, at"
        insert = f"INSERT INTO sandbox_commandrecord ({columns}) VALUES (%s, 1, 'theirs', '', false, now())"
        connection.execute(insert, [key])
        connection.execute("UPDATE sandbox_sandbox SET state = 7, head = 1, length = 1 WHERE id = %s", [key])

    assert beside(database, sandbox_id, other, command) is None
    assert log(database, sandbox_id) == [(1, "theirs")]


def test_a_sandbox_deleted_meanwhile_gets_no_command(
    database: str, sandbox_id: UUID, other: psycopg.Connection[Any]
) -> None:
    def delete(connection: psycopg.Connection[Any], key: UUID) -> None:
        connection.execute("DELETE FROM sandbox_sandbox WHERE id = %s", [key])

    assert beside(database, sandbox_id, other, delete) is None
    assert log(database, sandbox_id) == []


def test_of_many_commands_at_one_place_one_is_stored(database: str, sandbox_id: UUID) -> None:
    texts = [f"command {number}" for number in range(16)]
    with ThreadPoolExecutor(8) as threads:
        places = list(threads.map(lambda text: append(database, sandbox_id, text), texts))
    (stored,) = [text for text, place in zip(texts, places, strict=True) if place is not None]
    assert log(database, sandbox_id) == [(1, stored)]
