"""Actions of the browser tests on a workbench: open it, send commands, and read it.

After a helper waits for a command, all panels in view show the new state: they come in one message. A click that only
selects or opens something takes effect a moment later, and so does the answer to a button: use `eventually` after
these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import APIResponse, Page

from tests.browser.conftest import wait_until

Eventually = Callable[..., Any]


EXAMPLE = "three-zones-one-gpu-pool"
"""The scenario that the start page opens with its largest button."""


def new_sandbox(page: Page, **form: str) -> str:
    """Create a sandbox without the page. Return its path. ``scenario`` or ``lesson`` names its content."""
    response = page.request.post("/new/", form=form, max_redirects=0)
    assert response.status == 302, f"{response.status} {response.text()}"
    return response.headers["location"]


def open_new(page: Page, query: str = "", **form: str) -> None:
    """Open a new sandbox, faster than by the start page's buttons, which have separate tests."""
    page.goto(new_sandbox(page, **form) + query)
    connected(page)


def open_scenario(page: Page, slug: str) -> None:
    open_new(page, scenario=slug)


def open_example(page: Page) -> None:
    open_scenario(page, EXAMPLE)


def open_blank(page: Page) -> None:
    open_new(page)


def open_lesson(page: Page, slug: str) -> None:
    open_new(page, lesson=slug)


def arrive(page: Page) -> None:
    """Wait for the workbench that a button of the start page leads to."""
    page.wait_for_url(re.compile("/s/"))
    connected(page)


def connected(page: Page) -> None:
    page.locator("#app").wait_for()
    page.locator("#lost").wait_for(state="hidden")


def head(page: Page) -> int:
    """Return the number of commands that the page shows."""
    return int(page.locator("#panel-toolbar").get_attribute("data-head") or -1)


def text(page: Page, selector: str) -> str:
    """Return the text of the one element, with single spaces."""
    return " ".join(page.locator(selector).inner_text().split())


def level(page: Page) -> int:
    """Wait until the page shows everything done, by others too. Return the number of commands.

    Of two updates close together, a page shows only the last one. A test that counts on from an older number waits
    forever.
    """
    server, place = page.url.partition("?")[0].split("/s/")
    about = f"{server}/api/v1/sandboxes/{place.rstrip('/')}"
    # After a restart, a busy machine may still be opening the sandbox.
    response = wait_until(lambda: (answer := page.request.get(about)).status != 409 and answer)
    assert response.ok, f"{response.status} {response.text()}"
    done: int = response.json()["head"]
    wait_until(lambda: head(page) == done)
    return done


def press(page: Page, eventually: Eventually, *keys: str) -> None:
    """Press keys that are commands, in order. Wait for each result on the page."""
    for key in keys:
        after = level(page) + (-1 if key == "b" else 1)
        page.keyboard.press(key)
        eventually(lambda after=after: head(page) == after)


def click(page: Page, eventually: Eventually, selector: str) -> None:
    """Click a button that is one command. Return when its result is on the page."""
    after = level(page) + 1
    page.locator(selector).click()
    eventually(lambda: head(page) == after)


BUSY = ("still opening", "still running in this sandbox")
"""Parts of refusals that are over as soon as the sandbox is free: nothing was done."""


def post(page: Page, path: str, **form: str) -> None:
    """Send what a button sends, without the page, as somebody else does."""
    address = f"{page.url.partition('?')[0]}{path}"

    def answer() -> APIResponse | None:
        """Return None while the sandbox is opening or works, which takes long on a busy machine."""
        answered = page.request.post(address, form=form)
        return None if answered.status == 409 and any(word in answered.text() for word in BUSY) else answered

    response: APIResponse = wait_until(answer)
    assert response.ok, f"{response.status} {response.text()}"


def apply(page: Page, *manifests: dict[str, Any]) -> None:
    """Apply objects in one command, without the page."""
    post(page, "apply/", manifests="\n---\n".join(map(json.dumps, manifests)))


def open_editor(page: Page) -> None:
    """Open the drawer for pasting manifests."""
    page.locator("#add").click()
    page.locator("#add-paste").click()
    page.locator("#editor .ace_content").wait_for()


def write(page: Page, manifests: str) -> None:
    page.evaluate("text => ace.edit('editor').session.setValue(text)", manifests)


def press_apply(page: Page) -> None:
    page.locator("#form-paste .btn-ink").click()


def closed(page: Page, eventually: Eventually) -> None:
    """Wait until the drawer is closed: while it is open, it gets the keys."""
    eventually(lambda: not page.locator("#drawer").is_visible())


def paste(page: Page, eventually: Eventually, manifests: str) -> None:
    """Paste valid manifests. Return when they are on the page and the drawer is closed."""
    after = level(page) + 1
    open_editor(page)
    write(page, manifests)
    press_apply(page)
    eventually(lambda: head(page) == after)
    closed(page, eventually)


def head_sent(page: Page) -> Callable[[], int]:
    """Return a function that reads `head` from the page's newest message. Call this before the page is opened.

    The page may not have drawn that message yet.
    """
    heads = [-1]

    def note(message: str | bytes) -> None:
        if match := re.search(r'data-head="(\d+)"', str(message)):
            heads.append(int(match[1]))

    page.on("websocket", lambda socket: socket.on("framereceived", note))

    def newest() -> int:
        page.evaluate("0")  # Playwright reports messages only while a call runs.
        return heads[-1]

    return newest


def count_posts(page: Page, path: str) -> list[str]:
    """Return a list that grows by the body of each request the page sends to `path` of its sandbox."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or "") if request.url.endswith(path) else None)
    return sent


def popup(page: Page) -> list[str]:
    """Return the entries in the completion list of an editor."""
    rows = page.locator(".ace_autocomplete:visible .ace_line[aria-label]")
    return [str(row) for row in rows.evaluate_all("rows => rows.map(row => row.getAttribute('aria-label'))")]
