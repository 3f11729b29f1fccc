"""What all tests share: which of them run on this machine, golden files, the test database."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connections

# Tests start hundreds of processes here, and each would compile the site again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

BROWSER_TESTS = Path(__file__).parent / "browser"
LEFT_OUT = pytest.StashKey[int]()

PATIENCE = 300
"""Seconds after which a test gives up waiting, on however busy a machine."""

CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Return the path of this system's Chromium, if any. Prefer the lighter headless build."""
    return next(filter(None, map(shutil.which, CHROMIUMS)), None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one more than the number of processors: tests with servers and browsers often wait."""
    return (os.cpu_count() or 1) + 1


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="rewrite the golden files instead of comparing with them")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    browser = [item for item in items if BROWSER_TESTS in item.path.parents]
    others = [item for item in items if BROWSER_TESTS not in item.path.parents]
    for item in browser:
        item.add_marker("browser")
    if browser and not chromium():
        if os.environ.get("CI") == "true":
            raise pytest.UsageError("CI=true allows nothing to be left out, but the browser tests need Chromium")
        config.stash[LEFT_OUT] = len(browser)
        config.hook.pytest_deselected(items=browser)
        browser = []
    # Run browser tests last: Playwright has an event loop in this thread, where Django refuses database access.
    items[:] = others + browser
    if config.getoption("--golden"):
        items[:] = [item for item in items if "golden" in getattr(item, "fixturenames", ())]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if session.config.getoption("--golden") and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.section("left out", yellow=True)
        terminalreporter.line(f"{left_out} browser tests did not run: this machine has no Chromium.")
        terminalreporter.line(
            "To run them too: apt-get install chromium-headless-shell (or put google-chrome on the PATH)."
        )


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
