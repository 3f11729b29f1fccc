"""Several processes find an empty database at the same moment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sandbox.served import ROOT, environment
from tests.servers import Postgres
from tests.waiting import PATIENCE

PROCESSES = 3
DATABASES: dict[str, Callable[[Path, Postgres], str]] = {
    "PostgreSQL": lambda folder, server: server.new_database(),
    "SQLite": lambda folder, server: f"sqlite:///{folder}/db.sqlite3",
}


@pytest.mark.parametrize("kind", DATABASES)
def test_processes_that_migrate_at_the_same_moment_all_succeed(
    tmp_path: Path, postgres_server: Postgres, kind: str
) -> None:
    settings = environment(tmp_path, DATABASE_URL=DATABASES[kind](tmp_path, postgres_server))
    command = [sys.executable, "manage.py", "migrate", "-v0"]
    output = {"cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    migrations = [subprocess.Popen(command, env=settings, **output) for _ in range(PROCESSES)]  # type: ignore[call-overload]
    said = [migration.communicate(timeout=PATIENCE)[0] for migration in migrations]
    assert [migration.returncode for migration in migrations] == [0] * PROCESSES, said
    assert subprocess.run([*command, "--check"], cwd=ROOT, env=settings, check=False).returncode == 0
