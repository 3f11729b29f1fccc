"""Copies of the database: taken while the site serves, restored, and reports of damage at a start."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.server import backups
from sandbox.server.startup import CannotStart, make_private
from tests.conftest import PATIENCE
from tests.sandbox.served import ROOT, environment, served
from tests.sandbox.server.test_startup import refused

MODE = 0o777


def manage(directory: Path, *arguments: str) -> tuple[int, str]:
    """Run a command of ``manage.py``. Return its exit status and output."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(directory),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def spoil(path: Path) -> None:
    """Overwrite the middle of a database, as a failing disk does."""
    with path.open("r+b") as file:
        size = file.seek(0, 2)
        for place in range(4096, size, 8192):
            file.seek(place)
            file.write(b"\xa5" * 512)


def table(path: Path, rows: int = 2000) -> Path:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, name TEXT)")
        database.execute("CREATE INDEX names ON django_migrations (name)")
        database.executemany("INSERT INTO django_migrations (name) VALUES (?)", [(f"{n:09}" * 9,) for n in range(rows)])
    database.close()
    return path


def test_a_damaged_database_is_reported_at_the_start_and_a_copy_restores_everything(tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite3"
    with served(tmp_path) as first:
        base = first.sandbox(nodes=3)
        before = first.trace(base)
        status, said = manage(tmp_path, "backup", str(copy))
        assert (status, "The copy is complete" in said) == (0, True), said
        assert "already exists" in manage(tmp_path, "backup", str(copy))[1]
        assert "Another process already serves" in manage(tmp_path, "restore", str(copy))[1]
    database = tmp_path / "db.sqlite3"
    spoil(database)
    said = refused(tmp_path)
    assert said.startswith(f"The database {database} is damaged. Run: python manage.py restore COPY")
    status, said = manage(tmp_path, "restore", str(copy))
    assert (status, f"saved as {database}.before-1" in said) == (0, True), said
    with served(tmp_path) as again:
        assert again.ask("GET", base)[0] == 200
        assert again.trace(base) == before
        assert "node-2" in again.ask("GET", f"{base}panel/cluster/")[1]


def test_only_the_owner_can_read_the_data_and_everybody_the_static_files(tmp_path: Path) -> None:
    directory = tmp_path / "new"
    (tmp_path / "log").write_text("")
    directory.mkdir()
    var = tmp_path / "var"
    with served(directory, VAR_DIR=str(var), STATIC_ROOT=str(var / "static")) as site:
        site.sandbox(nodes=1)
        assert stat.S_IMODE(var.stat().st_mode) == 0o711
        private_files = [*var.glob("db.sqlite3*"), var / "secret_key"]
        modes = {path.name: oct(path.stat().st_mode & MODE) for path in private_files if path.suffix != ".serving"}
        assert {"db.sqlite3", "db.sqlite3-wal", "db.sqlite3-shm", "secret_key"} <= modes.keys()
        assert set(modes.values()) == {"0o600"}
        for path in (var / "static").rglob("*"):
            assert path.stat().st_mode & 0o044 == 0o044, path


def test_a_database_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = table(tmp_path / "db")
    beside = path.with_name("db-wal")
    beside.write_bytes(b"")
    for file in (path, beside):
        file.chmod(0o644)
    make_private(path)
    assert {file.stat().st_mode & MODE for file in (path, beside)} == {0o600}


def test_damage_is_detected_and_a_whole_database_is_not_called_damaged(tmp_path: Path) -> None:
    path = table(tmp_path / "db")
    assert backups.damage(path) == ""
    assert backups.damage(tmp_path / "none") == ""
    spoil(path)
    assert backups.damage(path)
    with pytest.raises(CannotStart, match="is damaged"):
        backups.check(path)


def test_a_start_looks_for_a_while_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backups, "STEPS", 1)
    assert backups.damage(table(tmp_path / "db"), seconds=0) == ""


def test_a_damaged_database_is_not_copied(tmp_path: Path) -> None:
    path = table(tmp_path / "db")
    spoil(path)
    with pytest.raises(CannotStart, match="is damaged"):
        backups.back_up(path, tmp_path / "copy")
    assert [file.name for file in tmp_path.iterdir()] == ["db"]


def test_an_empty_file_is_not_a_database(tmp_path: Path) -> None:
    empty, copy = tmp_path / "db.sqlite3", tmp_path / "copy"
    empty.touch()
    with pytest.raises(CannotStart, match=r"The database .*db\.sqlite3 does not exist yet"):
        backups.back_up(empty, copy)
    with pytest.raises(CannotStart, match=r"The folder .*none does not exist"):
        backups.back_up(empty, tmp_path / "none" / "copy")
    assert not copy.exists()
    assert backups.restore(empty, table(copy)) is None, "the folder was empty before"
    assert not backups.damage(empty)
    assert backups._is_ours(empty)


def other(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE recipes (name)")
    database.close()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(lambda path: None, "does not exist", id="nothing"),
        pytest.param(lambda path: path.write_text("dear diary, " * 99), "damaged, or is not a copy", id="a text"),
        pytest.param(other, "damaged, or is not a copy", id="a database of another program"),
        pytest.param(lambda path: spoil(table(path)), "damaged, or is not a copy", id="a damaged copy"),
    ],
)
def test_an_invalid_copy_is_not_restored(tmp_path: Path, make: object, said: str) -> None:
    path = table(tmp_path / "db")
    before = path.read_bytes()
    assert callable(make)
    make(tmp_path / "copy")
    with pytest.raises(CannotStart, match=said):
        backups.restore(path, tmp_path / "copy")
    assert path.read_bytes() == before
