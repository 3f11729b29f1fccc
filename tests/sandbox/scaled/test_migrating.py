"""Several processes find an empty database, or no static files, at the same moment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
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
    command = ["manage.py", "migrate", "-v0"]
    assert at_once(command, settings) == ""
    assert subprocess.run([sys.executable, *command, "--check"], cwd=ROOT, env=settings, check=False).returncode == 0


def test_processes_that_collect_static_files_at_the_same_moment_all_succeed(tmp_path: Path) -> None:
    settings = environment(tmp_path, STATIC_ROOT=str(tmp_path / "static"))
    code = "import django; django.setup(); from sandbox.server import site; site.collect(); site.check_static()"
    assert at_once(["-c", code], settings) == ""


def at_once(arguments: list[str], settings: dict[str, str]) -> str:
    """Start Python several times at the same moment. Return what those say that fail."""
    command = [sys.executable, *arguments]
    with ExitStack() as stack:
        started = [
            stack.enter_context(subprocess.Popen(command, cwd=ROOT, env=settings, stderr=subprocess.PIPE, text=True))
            for _ in range(PROCESSES)
        ]
        said = [process.communicate(timeout=PATIENCE)[1] for process in started]
    return "".join(text for process, text in zip(started, said, strict=True) if process.returncode)
