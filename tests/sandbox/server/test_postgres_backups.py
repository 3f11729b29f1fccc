"""Copies of a PostgreSQL database: taken while the site serves, and restored after everything was lost."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.sandbox.served import ROOT, environment, served
from tests.sandbox.server.test_probes import ALONE
from tests.servers import Postgres
from tests.waiting import PATIENCE

KEY = "k" * 50


def manage(directory: Path, url: str, *arguments: str, **more: str) -> tuple[int, str]:
    """Run a command of ``manage.py``. Return its exit status and output."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(directory, DATABASE_URL=url, SECRET_KEY=KEY, **more),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_everything_is_there_again_after_it_was_lost(tmp_path: Path, postgres_server: Postgres) -> None:
    url, copy = postgres_server.new_database(), tmp_path / "copy.dump"
    settings = {"DATABASE_URL": url, "SECRET_KEY": KEY, **ALONE}
    with served(tmp_path, **settings) as site:
        base = site.sandbox(nodes=3)
        assert site.ask("POST", f"{base}do/advance/", "seconds=5")[0] == 204
        before = site.trace(base)
        status, said = manage(tmp_path, url, "backup", str(copy))
        assert (status, "The copy is complete" in said) == (0, True), said
        assert copy.stat().st_mode & 0o777 == 0o600
        assert "already exists" in manage(tmp_path, url, "backup", str(copy))[1]
        assert "Another process already serves" in manage(tmp_path, url, "restore", str(copy))[1]
        after = site.sandbox(nodes=1)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE sandbox_commandrecord CASCADE")
    status, said = manage(tmp_path, url, "restore", str(copy))
    assert (status, f"saved as {copy}.before-1" in said) == (0, True), said
    with served(tmp_path, **settings) as again:
        assert again.trace(base) == before
        assert again.ask("GET", after)[0] == 404
        assert again.ask("POST", f"{base}do/advance/", "seconds=5")[0] == 204


def test_a_copy_fills_an_empty_database_of_another_server(tmp_path: Path, postgres_server: Postgres) -> None:
    first, second = postgres_server.new_database(), postgres_server.new_database()
    manage(tmp_path, first, "migrate", "-v0")
    manage(tmp_path, first, "backup", str(tmp_path / "copy"))
    status, said = manage(tmp_path, second, "restore", str(tmp_path / "copy"))
    assert (status, "saved as" in said) == (0, False), said
    assert manage(tmp_path, second, "migrate", "--check")[0] == 0


WRONG = {
    "no file": (lambda path: None, "copy does not exist"),
    "a text": (lambda path: path.write_text("dear diary"), "is damaged, or is not a copy of this site's database"),
    "a half copy": (lambda path: path.write_bytes(b"PGDMP\x01\x0e"), "is damaged, or is not a copy"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_an_invalid_copy_changes_nothing(tmp_path: Path, postgres_server: Postgres, kind: str) -> None:
    url, (make, said) = postgres_server.new_database(), WRONG[kind]
    make(tmp_path / "copy")
    manage(tmp_path, url, "migrate", "-v0")
    status, output = manage(tmp_path, url, "restore", str(tmp_path / "copy"))
    assert (status, said in output) == (1, True), output
    assert manage(tmp_path, url, "migrate", "--check")[0] == 0


def test_a_copy_that_cannot_be_restored_changes_nothing(tmp_path: Path, postgres_server: Postgres) -> None:
    url, copy = postgres_server.new_database(), tmp_path / "copy"
    manage(tmp_path, url, "migrate", "-v0")
    manage(tmp_path, url, "backup", str(copy))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE VIEW newer AS SELECT id FROM sandbox_sandbox")
    status, said = manage(tmp_path, url, "restore", str(copy))
    assert status == 1
    assert re.search("pg_restore failed, and nothing was changed: .*depend", said, re.DOTALL), said
    assert manage(tmp_path, url, "migrate", "--check")[0] == 0


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path, postgres_server: Postgres) -> None:
    status, said = manage(tmp_path, postgres_server.new_database(), "backup", str(tmp_path / "none" / "copy"))
    assert (status, f"The folder {tmp_path / 'none'} does not exist. Create it first." in said) == (1, True), said


def test_a_database_of_something_else_is_not_copied(tmp_path: Path, postgres_server: Postgres) -> None:
    status, said = manage(tmp_path, postgres_server.new_database(), "backup", str(tmp_path / "copy"))
    assert (status, "has no tables of this site" in said) == (1, True), said
    assert [path.name for path in tmp_path.iterdir()] == []


def test_without_the_programs_the_command_says_what_to_install(tmp_path: Path, postgres_server: Postgres) -> None:
    url = postgres_server.new_database()
    status, said = manage(tmp_path, url, "backup", str(tmp_path / "copy"), PATH=str(tmp_path))
    assert status == 1
    assert "pg_dump is not on the PATH. Install the client programs of PostgreSQL" in said
    status, said = manage(tmp_path, url, "restore", str(ROOT / "LICENSE"), PATH=str(tmp_path))
    assert (status, "pg_restore is not on the PATH." in said) == (1, True)


def test_a_database_that_cannot_be_reached_is_reported_without_its_password(
    tmp_path: Path, postgres_server: Postgres
) -> None:
    port = urlsplit(postgres_server.new_database()).port
    url = f"postgres://sandbox:secret-word@127.0.0.1:{port}/none"
    status, said = manage(tmp_path, url, "backup", str(tmp_path / "copy"))
    assert (status, 'database "none" does not exist' in said, "secret-word" in said) == (1, True, False), said
