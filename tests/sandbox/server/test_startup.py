"""Errors at a start are reported in a sentence, and the next start repairs what an interrupted one left."""

from __future__ import annotations

import re
import resource
import shutil
import socket
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import urlopen

import pytest
from django.db import OperationalError

from sandbox.runtime import hosts
from sandbox.server import startup
from sandbox.server.startup import CannotStart, database_error_text, secret_key
from tests.sandbox.served import ROOT, Served, command, environment, served, static_files
from tests.waiting import PATIENCE, free_port


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Start a server and leave it running."""
    with served(tmp_path_factory.mktemp("first")) as running:
        yield running


def refused(directory: Path, *more: str, port: int = 0, **settings: str) -> str:
    """Return the output of a start that ends at once, with a status other than 0."""
    started = subprocess.run(
        [*command(port or free_port()), *more],
        cwd=ROOT,
        env=environment(directory, **settings),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert started.returncode == 1, started
    assert started.stdout == ""
    return started.stderr.strip()


def no_folder(directory: Path) -> str:
    (directory / "file").write_text("")
    return str(directory / "file" / "var")


def no_database(directory: Path) -> str:
    (directory / "db.sqlite3").write_text("dear diary, " * 100)
    return str(directory)


def newer_database(directory: Path) -> str:
    with sqlite3.connect(directory / "db.sqlite3") as database:
        database.execute("CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, app, name, applied)")
        database.execute("INSERT INTO django_migrations VALUES (1, 'sandbox', '9999_what_is_to_come', '2030-01-01')")
    database.close()
    return str(directory)


def as_it_is(directory: Path) -> str:
    return str(directory)


WRONG: dict[str, tuple[Callable[[Path], str], dict[str, str], str]] = {
    "a folder below a file": (
        no_folder,
        {},
        "{var} cannot be created: part of it is a file, not a folder. Set VAR_DIR to",
    ),
    "a file that is not a database": (
        no_database,
        {},
        "{var}/db.sqlite3 is not a SQLite database. Move it away, or set DATAB",
    ),
    "a database of a newer version": (
        newer_database,
        {},
        "The database is from a newer version of the site (9999_what_is",
    ),
    "a database in no folder": (
        as_it_is,
        {"DATABASE_URL": "sqlite:////no/where/db"},
        "The folder of /no/where/db.serving does not exist.",
    ),
    "an invalid limit": (as_it_is, {"SERVER_CONNECTIONS": "many"}, "SERVER_CONNECTIONS must be a positive number"),
}


@pytest.mark.parametrize(("prepare", "settings", "said"), WRONG.values(), ids=WRONG)
def test_an_error_at_the_start_is_reported_in_a_sentence(
    tmp_path: Path, prepare: Callable[[Path], str], settings: dict[str, str], said: str
) -> None:
    var = prepare(tmp_path)
    message = refused(Path(var), **settings)
    assert said.format(var=var) in message
    assert "\n" not in message


def test_a_port_in_use_is_reported_in_a_sentence(first: Served, tmp_path: Path) -> None:
    said = refused(tmp_path, port=first.port)
    assert said.startswith(f"Port {first.port} of 127.0.0.1 is in use. Stop the program there, or choose another port")
    assert refused(tmp_path, port=99999).startswith("The server cannot listen on port 99999 of 127.0.0.1: ")


def test_a_second_process_on_the_same_sqlite_database_is_refused(first: Served) -> None:
    said = refused(first.directory)
    assert said.startswith(f"Another process already serves {first.directory}/db.sqlite3. Without REDIS_URL, ")
    assert "DATABASE_URL and REDIS_URL" in said
    assert first.ask("GET", "/")[0] == 200


def test_processes_that_share_redis_may_share_a_database(tmp_path: Path) -> None:
    held = startup.lock_database(tmp_path / "db", shared=True)
    # A process owns its locks, so the second one is another process.
    script = (
        "import sys, pathlib; from sandbox.server import startup as s; s.lock_database(pathlib.Path(sys.argv[1]), %s)"
    )
    for shared, status in ((True, 0), (False, 1)):
        arguments = [command(0)[0], "-c", script % shared, str(tmp_path / "db")]
        assert subprocess.run(arguments, cwd=ROOT, capture_output=True, check=False).returncode == status
    held.close()


def test_a_full_disk_at_the_first_start_is_reported_in_a_sentence_and_the_next_start_continues(tmp_path: Path) -> None:
    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    started = subprocess.run(
        command(free_port()),
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        preexec_fn=no_room,
    )
    assert started.returncode == 1
    assert started.stderr.strip() == (
        f"{tmp_path} cannot grow as large as needed: this process has a file size limit (ulimit -f)."
    )
    assert not (tmp_path / "secret_key").exists()
    assert secret_key(tmp_path / "secret_key")


def test_a_start_repairs_an_interrupted_first_start(first: Served, tmp_path: Path) -> None:
    (tmp_path / "secret_key").write_text("")
    (tmp_path / "secret_key.new").write_text("half")
    # Partial tables: the first migration is applied and recorded, the second one is not.
    subprocess.run(
        [command(0)[0], "manage.py", "migrate", "-v0", "sandbox", "0001"],
        cwd=ROOT,
        env=environment(tmp_path, SECRET_KEY="only-for-this"),
        check=True,
    )
    # Files that were partly copied, and are newer than their originals.
    static = tmp_path / "static"
    shutil.copytree(static_files(), static)
    (static / ".collected").unlink()
    (static / "staticfiles.json").write_text('{"paths": {"js/')
    (static / "js" / "workbench.js").write_text("'use str")
    (cut_off,) = static.glob("js/workbench.*.js")
    whole = cut_off.read_text()
    cut_off.write_text("'use str")
    with served(tmp_path, STATIC_ROOT=str(static)) as server:
        assert server.ask("GET", server.ask("POST", "/new/")[2])[0] == 200
        assert server.ask("GET", f"/static/js/{cut_off.name}")[1] == whole
    assert len((tmp_path / "secret_key").read_text()) == 64
    assert not (tmp_path / "secret_key.new").exists()


def test_a_browser_may_keep_each_module_forever(first: Served) -> None:
    asked = [*static_files().glob("js/workbench.*.js")]
    for address in asked:
        asked += {address.parent / name for name in re.findall(r"'\./(.+\.js)';$", address.read_text(), re.M)} - {
            *asked
        }
    assert len(asked) > 20
    for address in asked:
        assert not re.search(r"""['"]\./[a-z-]+\.js['"]""", address.read_text()), (
            f"{address.name} imports by a plain name"
        )
        with urlopen(f"http://127.0.0.1:{first.port}/static/js/{address.name}") as answer:
            assert "immutable" in answer.headers["Cache-Control"], address.name


def test_a_start_that_finds_its_static_files_leaves_them(first: Served, tmp_path: Path) -> None:
    before = (static_files() / "staticfiles.json").stat().st_mtime_ns
    with served(tmp_path) as again:
        assert again.ask("GET", "/")[0] == 200
    assert (static_files() / "staticfiles.json").stat().st_mtime_ns == before


def test_missing_tables_and_files_are_reported_with_the_command_that_creates_them(tmp_path: Path) -> None:
    arguments = [part for part in command(free_port()) if part != "--prepare"]
    settings = environment(tmp_path, STATIC_ROOT=str(tmp_path / "static"))
    for said, command_name in (("migrate", "migrate"), ("collectstatic", "collectstatic")):
        started = subprocess.run(
            arguments,
            cwd=ROOT,
            env=settings,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert started.returncode == 1
        assert started.stderr.strip().endswith(f"Run: python manage.py {said}")
        manage = [arguments[0], "manage.py", command_name, "--no-input", "-v0"]
        subprocess.run(manage, cwd=ROOT, env=settings, check=True)


def test_while_the_disk_is_full_nothing_changes_and_pages_are_still_there(first: Served) -> None:
    base = first.sandbox(nodes=3)
    size = (first.directory / "db.sqlite3-wal").stat().st_size
    resource.prlimit(first.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    for path in (f"{base}do/advance/", "/new/"):
        status, text, _ = first.ask("POST", path, "seconds=1")
        assert (status, "disk is full or cannot be written. Nothing was changed" in text) == (507, True)
    status, text, _ = first.ask("POST", "/import/", "text=" + "x" * (size + 3_000_000))
    assert (status, "disk has no room" in text) == (507, True)
    for path in ("", "panel/cluster/", "panel/status/"):
        assert first.ask("GET", base + path)[0] == 200
    assert 'data-head="1"' in first.ask("GET", f"{base}panel/toolbar/")[1]
    resource.prlimit(first.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert first.ask("POST", f"{base}do/advance/", "seconds=1")[0] == 204
    assert 'data-head="2"' in first.ask("GET", f"{base}panel/toolbar/")[1]


KEYS = {
    "none": None,
    "an empty one": b"",
    "a line break": b"\n",
    "a part of one": b"abcdef",
    "the rest after a power cut": bytes(64),
    "not text": b"\xff\xfe" * 40,
}


@pytest.mark.parametrize("left", KEYS.values(), ids=KEYS)
def test_a_secret_key_is_created_where_there_is_none(tmp_path: Path, left: bytes | None) -> None:
    path = tmp_path / "var" / "secret_key"
    if left is not None:
        path.parent.mkdir()
        path.write_bytes(left)
    key = secret_key(path)
    assert len(key) == 64
    assert path.stat().st_mode & 0o777 == 0o600
    assert secret_key(path) == key == path.read_text()


def test_servers_that_start_at_once_share_one_secret_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(20) as threads:
        keys = set(threads.map(secret_key, [tmp_path / "secret_key"] * 20))
    assert len(keys) == 1


def test_a_locked_database_is_reported_in_a_sentence(tmp_path: Path) -> None:
    one, two = (sqlite3.connect(tmp_path / "db", timeout=0) for _ in range(2))
    one.execute("BEGIN EXCLUSIVE")
    with pytest.raises(sqlite3.OperationalError) as locked:
        two.execute("BEGIN EXCLUSIVE")
    error = OperationalError()
    error.__cause__ = locked.value
    text = "Another program has locked the database db. Stop that program and start again."
    assert database_error_text(error, "db") == text
    one.close()
    two.close()


def test_as_many_files_may_be_open_as_the_system_allows() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, 4096) if hard != resource.RLIM_INFINITY else 4096
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, wanted), hard))
    try:
        startup.limits()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= wanted
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_no_key_is_created_in_an_impossible_folder(tmp_path: Path) -> None:
    with pytest.raises(CannotStart, match="part of it is a file, not a folder"):
        secret_key(Path(no_folder(tmp_path)) / "secret_key")


@pytest.mark.parametrize(
    ("bind", "host"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("192.168.7.20", "192.168.7.20")]
)
def test_a_server_with_one_address_is_reached_there(bind: str, host: str) -> None:
    assert hosts.own_hosts(bind) == [host]
    assert hosts.served_hosts(bind) == (host, "")


def test_a_server_for_a_room_is_reached_by_the_address_and_the_name_of_its_machine() -> None:
    names = hosts.own_hosts("0.0.0.0")
    assert f"{socket.gethostname()}.local" in names
    assert hosts.served_hosts("0.0.0.0") == ("127.0.0.1", names[0])
