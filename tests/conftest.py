"""What all tests share: which of them run on this machine, golden files, the test database."""

import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from tests.servers import own_postgres, own_redis, postgres_programs, postgres_server, redis_server
from tests.waiting import PATIENCE

__all__ = ("PATIENCE", "own_postgres", "own_redis", "postgres_server", "redis_server")

# Tests start hundreds of processes here, and each would compile the site again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

BROWSER_TESTS = Path(__file__).parent / "browser"
DONE = count(1)
LEFT_OUT = pytest.StashKey[dict[str, int]]()

LONG_FILES = ("tests/browser/test_every_lesson.py",)
"""Files of long tests that share no fixture of their module."""

CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Return the path of this system's Chromium, if any. Prefer the lighter headless build."""
    return next(filter(None, map(shutil.which, CHROMIUMS)), None)


def kubectl_of_debian() -> Path | None:
    """Return the path of Debian's kubectl, which is older than ours: unpacked by `.ci/run`, or installed."""
    places = (Path(sys.executable).parent.parent / "debian/usr/bin/kubectl", Path("/usr/bin/kubectl"))
    return next(filter(Path.exists, places), None)


@dataclass(frozen=True)
class Needed:
    """A program that some tests need: those with one of ``names`` as a marker or fixture.

    ``path``: where it is, None = not on this machine.
    """

    names: tuple[str, ...]
    path: Callable[[], object | None]
    install: str

    def needs(self, item: pytest.Item) -> bool:
        return any(name in getattr(item, "fixturenames", ()) or item.get_closest_marker(name) for name in self.names)


NEEDED = {
    "Chromium": Needed(("browser",), chromium, "chromium-headless-shell (or put google-chrome on the PATH)"),
    "PostgreSQL": Needed(("postgres_server", "own_postgres"), postgres_programs, "postgresql"),
    "Redis": Needed(("redis_server", "own_redis"), lambda: shutil.which("redis-server"), "redis-server"),
    "systemd-analyze": Needed(("systemd",), lambda: shutil.which("systemd-analyze"), "systemd"),
    "kubectl of Debian": Needed(("debian_kubectl",), kubectl_of_debian, "kubernetes-client"),
    "nginx": Needed(("nginx",), lambda: shutil.which("nginx"), "nginx"),
}
"""Name of a program → which tests need it. Without it they are left out, but not in CI."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return twice the number of processors: tests with servers and browsers wait for half of their time."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each process whole files, so that their fixtures are built once, but of a long file one test at a time."""
    from xdist.scheduler import LoadFileScheduling

    if config.getoption("dist") != "loadfile":
        return None

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if nodeid.startswith(LONG_FILES) else super()._split_scope(nodeid)

    return Scheduling(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="rewrite the golden files instead of comparing with them")


def pytest_itemcollected(item: pytest.Item) -> None:
    if BROWSER_TESTS in item.path.parents:
        item.add_marker("browser")


@pytest.hookimpl(trylast=True)  # After -k and -m have selected.
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for name, program in NEEDED.items():
        left_out = [item for item in items if program.needs(item)]
        if left_out and not program.path():
            config.stash.setdefault(LEFT_OUT, {})[name] = len(left_out)
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if item not in left_out]
    # Run browser tests last: Playwright has an event loop in this thread, where Django refuses database access.
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
    if config.getoption("--golden"):
        items[:] = [item for item in items if "golden" in getattr(item, "fixturenames", ())]


def pytest_runtest_logfinish(nodeid: str) -> None:
    """Say in CI how far the run is, when, and how busy the machine is: a run that is ended for its length shows it."""
    done = next(DONE)
    if done % 500 == 0 and os.environ.get("CI") == "true" and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\n{time.strftime('%T')}: {done} tests, load {os.getloadavg()[0]:.1f}", file=sys.__stdout__, flush=True)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take from a process of xdist what it left out. All processes collect the same tests."""
    node.config.stash.setdefault(LEFT_OUT, {}).update(getattr(node, "workeroutput", {}).get("left out", {}))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    left_out = session.config.stash.get(LEFT_OUT, {})
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left out"] = left_out
    elif left_out and os.environ.get("CI") == "true":
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if session.config.getoption("--golden") and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if left_out := config.stash.get(LEFT_OUT, {}):
        terminalreporter.section("left out", yellow=True)
        for name, number in left_out.items():
            terminalreporter.line(f"This machine has no {name}. Tests that did not run: {number}.")
            terminalreporter.line(f"To run them too: apt-get install {NEEDED[name].install}.")
        if os.environ.get("CI") == "true":
            terminalreporter.line("CI=true allows nothing to be left out.", red=True)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Return a function that compares a text with its file; `make golden` rewrites the file instead."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert text == path.read_text(), f"{path} differs; if the change is wanted: make golden"

    return compare


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Use a database file: in SQLite's shared memory, threads would hit locks that the site never hits."""
    connection = connections["default"]
    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")
