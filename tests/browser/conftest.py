"""The real server in a process of its own, and a Chromium that takes every console error for a failure."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Response, sync_playwright

from tests.conftest import chromium

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
REPORT_CSP_VIOLATIONS = """document.addEventListener("securitypolicyviolation", event =>
    console.error(`CSP: ${event.violatedDirective} refused ${event.blockedURI || event.sourceFile}`))"""


def wait_until(holds: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Calls `holds` until it gives something true, which is returned; AssertionError with the last value after that."""
    end = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < end, f"not within {seconds} s, last seen: {value!r}"
        time.sleep(0.05)
    return value


@dataclass
class Server:
    """The site as `make run` serves it, on a free port, with a database and static files in `directory`."""

    directory: Path
    port: int = 0
    process: subprocess.Popen[bytes] | None = None
    env: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.env = os.environ | {
            "DJANGO_SETTINGS_MODULE": "sandbox.settings",
            "DATABASE_URL": f"sqlite:///{self.directory / 'db.sqlite3'}",
            "STATIC_ROOT": str(self.directory / "static"),
            "SECRET_KEY": "only-for-tests",
            "CREATE_RATE": "100",
        }
        for command in ("migrate", "collectstatic"):
            subprocess.run(
                [sys.executable, "manage.py", command, "--no-input", "-v0"], cwd=ROOT, env=self.env, check=True
            )
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.directory / "log").read_text()

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        command = [sys.executable, "-m", "sandbox.server", "--port", str(self.port)]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, env=self.env, stdout=log, stderr=log)
        wait_until(self._answers, 120)

    def kill(self) -> None:
        """Ends the server as `kill -9` does; `start` serves the same data on the same port again."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        assert self.process, "the server was killed"
        assert self.process.poll() is None, self.log
        try:
            urlopen(self.url, timeout=5).close()
        except HTTPError as error:
            error.close()
        except OSError:
            return False
        return True


@pytest.fixture
def eventually() -> Callable[..., Any]:
    """`eventually(lambda: page.locator("…").count() == 3)`: polls, as the CSP forbids Playwright's own waiting."""
    return wait_until


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests; each makes sandboxes of its own in it."""
    server = Server(tmp_path_factory.mktemp("server"))
    yield server
    server.kill()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """A server that the test may kill and start again."""
    server = Server(tmp_path)
    yield server
    server.kill()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture
def allowed_console_errors() -> list[str]:
    """Regular expressions of the console errors that the test provokes; empty until the test appends to it."""
    return []


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture
def new_page(
    browser: Browser, server: Server, allowed_console_errors: list[str], request: pytest.FixtureRequest
) -> Iterator[Callable[..., Page]]:
    """Opens pages that share nothing; `new_page(color_scheme="dark")` takes any option of a browser context.

    Without further words nothing moves in them: what moves takes a browser without a graphics card half of its time.

    The test fails at its end if any page met a console error, an uncaught exception or a CSP violation. Of a test that
    failed the last answers of the server are printed, what the pages say of them, and the end of the server's log.
    """
    contexts = []
    problems: list[str] = []
    answers: list[str] = []

    def answered(response: Response) -> None:
        answers.append(f"{response.request.method} {response.url} {response.status}")

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            problems.append(f"{message.text} ({message.location['url']})")

    def open_page(**options: Any) -> Page:
        usual = {"base_url": server.url, "viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"}
        options = usual | options
        context = browser.new_context(**options)
        contexts.append(context)
        context.add_init_script(REPORT_CSP_VIOLATIONS)
        context.on("console", note)
        context.on("response", answered)
        context.on("weberror", lambda web_error: problems.append(str(web_error.error)))
        return context.new_page()

    yield open_page
    if request.node.stash.get(FAILED, False):
        said = [
            page.locator("#notice, [data-refusal], #lost:visible") for context in contexts for page in context.pages
        ]
        print(*answers[-20:], *(words for each in said for words in each.all_inner_texts() if words), sep="\n")
        print(server.log[-3000:])
    for context in contexts:
        context.close()
    unexpected = [text for text in problems if not any(re.search(known, text) for known in allowed_console_errors)]
    assert not unexpected, "\n".join(unexpected)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """One page, 1440×900; `page.goto("/")` is the first page of the site."""
    return new_page()
