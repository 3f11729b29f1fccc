"""The lock on the database outlives restarts of PostgreSQL, and lines that break without a word are given up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import psycopg

from tests.sandbox.served import ROOT, environment, served
from tests.sandbox.server.test_postgres_backups import KEY, manage
from tests.sandbox.server.test_probes import ALONE
from tests.servers import Postgres
from tests.waiting import until

LOCKS = (
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
OF_A_PROCESS = 2
"""Locks of a web process: one says that it serves, one which secret key it has."""


def locks(url: str) -> int:
    with psycopg.connect(url) as connection:
        return connection.execute(LOCKS).fetchone()[0]


def test_after_a_restart_of_postgres_the_site_has_its_lock_again(tmp_path: Path, own_postgres: Postgres) -> None:
    url, copy = own_postgres.new_database(), tmp_path / "copy"
    with served(tmp_path, DATABASE_URL=url, SECRET_KEY=KEY, **ALONE) as site:
        assert manage(tmp_path, url, "backup", str(copy))[0] == 0
        assert locks(url) == OF_A_PROCESS
        for end in (own_postgres.stop, own_postgres.kill):
            end()
            own_postgres.start()
            until(lambda: locks(url) == OF_A_PROCESS)
        status, said = manage(tmp_path, url, "restore", str(copy))
        assert (status, "Another process already serves" in said) == (1, True), said
        assert "the database is locked again" in (site.directory / "log").read_text()
    assert locks(url) == 0


def python(folder: Path, code: str, **settings: str) -> str:
    """Run code with these settings. Return its output."""
    command, own = [sys.executable, "-c", code], environment(folder, **settings)
    return subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=True).stdout


SHOWN = {
    "idle_in_transaction_session_timeout": "1min",
    "tcp_keepalives_idle": "20",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "2",
}
"""What PostgreSQL does on its side of each connection."""
OPTIONS = {"TCP_USER_TIMEOUT": 30_000, "TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 2}
ASK = f"""
import json, os, socket
import django
django.setup()
from django.db import connections
from sandbox.server.startup import lock_database
line = connections["default"]
line.ensure_connection()
options = []
for one in (line, lock_database(None, shared=True)):
    own = socket.socket(fileno=os.dup(one.connection.fileno()))
    with one.cursor() as cursor:
        shown = [cursor.execute(f"SHOW {{name}}").fetchone()[0] for name in {list(SHOWN)}]
    ours = {{name: own.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in {list(OPTIONS)}}}
    options.append(ours | dict(zip({list(SHOWN)}, shown)))
print(json.dumps(options))
"""


def test_a_line_to_postgres_that_breaks_without_a_word_is_given_up_soon(
    tmp_path: Path, postgres_server: Postgres
) -> None:
    asked = python(tmp_path, ASK, DATABASE_URL=postgres_server.new_database())
    assert json.loads(asked) == [OPTIONS | SHOWN] * 2


def test_options_of_the_address_of_the_database_come_first(tmp_path: Path, postgres_server: Postgres) -> None:
    url = f"{postgres_server.new_database()}?connect_timeout=9"
    ask = "from sandbox.settings import DATABASES; print(DATABASES['default']['OPTIONS']['connect_timeout'])"
    assert python(tmp_path, ask, DATABASE_URL=url) == "9\n"
