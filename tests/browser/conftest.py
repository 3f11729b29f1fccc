"""Start the real server in a separate process, and a Chromium in which every console error fails the test."""

import fcntl
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Response,
    WebError,
    expect,
    sync_playwright,
)

from tests.conftest import PATIENCE, chromium

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

expect.set_options(PATIENCE * 1000)
Idle = defaultdict[str, list[BrowserContext]]


def wait_until(holds: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Call `holds` until it returns something true, and return that. Else raise AssertionError with the last value."""
    end = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < end, f"not within {seconds} s, last seen: {value!r}"
        time.sleep(0.05)
    return value


def prepare(folder: Path) -> Path:
    """Create a database and the static files in `folder`, once for all processes that share it. Return `folder`."""
    folder.mkdir(exist_ok=True)
    ready = folder / "ready"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            for command in ("migrate", "collectstatic"):
                arguments = [sys.executable, "manage.py", command, "--no-input", "-v0"]
                subprocess.run(arguments, cwd=ROOT, env=environment(folder, folder), check=True)
            ready.touch()
    return folder


def environment(directory: Path, prepared: Path) -> dict[str, str]:
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.served_settings",
        "DATABASE_URL": f"sqlite:///{directory / 'db.sqlite3'}",
        "STATIC_ROOT": str(prepared / "static"),
        "SECRET_KEY": "only-for-tests",
        "CREATE_RATE": "100",
        # Other tests may take most of the machine.
        "COMMAND_SECONDS": str(PATIENCE),
    }


@dataclass
class Server:
    """The site as `make run` serves it: free port, database in `directory`. `prepared` comes from `prepare`."""

    directory: Path
    prepared: Path
    port: int = 0
    process: subprocess.Popen[bytes] | None = None
    env: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.env = environment(self.directory, self.prepared)
        shutil.copy(self.prepared / "db.sqlite3", self.directory)
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
        """Start the server and wait until it answers."""
        command = [sys.executable, "-m", "sandbox.server", "--port", str(self.port)]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, env=self.env, stdout=log, stderr=log)
        wait_until(self._answers)

    def kill(self) -> None:
        """End the server as `kill -9` does. `start` serves the same data on the same port again."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self) -> None:
        """End the server as an operator does, and wait for it."""
        assert self.process, "the server was killed"
        self.process.terminate()
        self.process.wait()
        self.process = None

    def _answers(self) -> bool:
        """Return True if a sandbox opens: the engines are ready later than the start page."""
        assert self.process, "the server was killed"
        assert self.process.poll() is None, self.log
        try:
            urlopen(f"{self.url}/new/", data=b"", timeout=PATIENCE).close()
        except HTTPError as error:
            error.close()
            return error.code != 503
        except OSError:
            return False
        return True


@pytest.fixture
def eventually() -> Callable[..., Any]:
    """Poll, as in `eventually(lambda: page.locator("…").count() == 3)`: the CSP forbids Playwright's own waiting."""
    return wait_until


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prepare a database and static files, shared by all workers of a run."""
    base = tmp_path_factory.getbasetemp()
    return prepare((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "prepared")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Iterator[Server]:
    """Run one server for all tests. Each creates its sandboxes there."""
    server = Server(tmp_path_factory.mktemp("server"), prepared)
    yield server
    server.kill()


@pytest.fixture
def own_server(tmp_path: Path, prepared: Path) -> Iterator[Server]:
    """Run a server that the test may kill and restart."""
    server = Server(tmp_path, prepared)
    yield server
    server.kill()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def idle() -> Idle:
    """Return unused browser contexts by their options. Their HTTP cache saves the next page most requests."""
    return defaultdict(list)


@pytest.fixture
def allowed_console_errors() -> list[str]:
    """Regular expressions of the console errors that the test provokes. Empty until the test appends to it."""
    return []


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    context = browser.new_context(**options)
    context.add_init_script(REPORT_CSP_VIOLATIONS)
    context.set_default_timeout(PATIENCE * 1000)
    return context


def forget(page: Page, origin: str) -> None:
    """Delete what earlier pages of the context have stored."""
    line = page.context.new_cdp_session(page)
    line.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    line.detach()


def leave(context: BrowserContext) -> None:
    """Close the pages of a context and revoke its permissions."""
    for page in context.pages:
        page.close()
    context.clear_cookies()
    context.clear_permissions()


@pytest.fixture
def new_page(
    browser: Browser, server: Server, idle: Idle, allowed_console_errors: list[str], request: pytest.FixtureRequest
) -> Iterator[Callable[..., Page]]:
    """Open pages that share nothing. `new_page(color_scheme="dark")` accepts any option of a browser context.

    Animations are off by default: without a graphics card they take half of a browser's time.

    Later tests reuse a context, with an empty storage: set routes and scripts on the page, not on the context. Only a
    context with a `base_url` is new, and closes with the test.

    The test fails at its end if any page had a console error, an uncaught exception or a CSP violation. If a test
    fails, the server's last answers, the pages' messages and the end of the server's log are printed.
    """
    opened: list[tuple[str, BrowserContext]] = []
    problems: list[str] = []
    answers: list[str] = []

    def answered(response: Response) -> None:
        answers.append(f"{response.request.method} {response.url} {response.status}")

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            problems.append(f"{message.text} ({message.location['url']})")

    def note_exception(web_error: WebError) -> None:
        problems.append(str(web_error.error))

    listeners = {"console": note, "response": answered, "weberror": note_exception}

    def open_page(**options: Any) -> Page:
        usual = {"base_url": server.url, "viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"}
        key = "" if "base_url" in options else repr(sorted((usual | options).items()))
        context = idle[key].pop() if idle[key] else new_context(browser, **usual | options)
        opened.append((key, context))
        for event, listener in listeners.items():
            context.on(event, listener)  # type: ignore[call-overload]
        page = context.new_page()
        forget(page, server.url)
        return page

    yield open_page
    failed = request.node.stash.get(FAILED, False)
    if failed:
        said = [page.locator("#notice, [data-refusal], #lost:visible") for _, one in opened for page in one.pages]
        print(*answers[-20:], *(words for each in said for words in each.all_inner_texts() if words), sep="\n")
        print(server.log[-3000:])
    for key, context in opened:
        if failed or not key:
            context.close()
            continue
        leave(context)
        for event, listener in listeners.items():
            context.remove_listener(event, listener)
        idle[key].append(context)
    unexpected = [text for text in problems if not any(re.search(known, text) for known in allowed_console_errors)]
    assert not unexpected, "\n".join(unexpected)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """Open one page, 1440×900. `page.goto("/")` opens the start page of the site."""
    return new_page()
