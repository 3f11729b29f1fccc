"""Commands that take long, and logs too long to replay in time."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from typing import Any

from playwright.sync_api import APIResponse, Page, Route

from tests.browser.conftest import Server
from tests.browser.workbench import apply, connected, head, open_blank, open_lesson, text

Eventually = Callable[..., Any]


def node(name: str) -> dict[str, Any]:
    capacity = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"capacity": capacity}}


def pod(name: str) -> dict[str, Any]:
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "100m"}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}


PORTIONS = 3
"""Commands that bring the pods. One with all of them would take long on a busy machine."""


def test_a_long_command_shows_its_progress_and_can_be_stopped(
    page: Page, new_page: Callable[..., Page], eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("409")
    open_blank(page)
    apply(page, *(node(f"node-{number}") for number in range(300)))
    for portion in range(PORTIONS):
        apply(page, *(pod(f"pod-{portion}-{number}") for number in range(500)))
    here = 1 + PORTIONS
    eventually(lambda: head(page) == here)
    beside = new_page()
    beside.goto(page.url)
    connected(beside)
    page.keyboard.press("e")
    page.locator("#running").wait_for(state="visible")
    progress = re.compile(r"Nothing is changed until it is done\. [1-9]\d* of 1500 pods bound at 00:00\.0\.")
    for each in (page, beside):
        eventually(lambda each=each: progress.search(text(each, "#running")))
    page.locator("#stop").click()
    eventually(lambda: "Stopped before its end. Nothing was changed." in text(page, "#notice"))
    for each in (page, beside):
        each.locator("#running").wait_for(state="hidden")
    assert head(page) == here
    page.keyboard.press("s")
    eventually(lambda: head(page) == here + 1)


REPLACE = "button => { const other = button.cloneNode(true); button.replaceWith(other); htmx.process(other); }"


def test_the_end_of_a_command_arrives_even_if_the_button_was_replaced(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors += ["ERR_FAILED", "422", "htmx:"]
    open_lesson(page, "a-scheduling-cycle")
    page.locator("#les-skip").click()
    page.locator("#panel-lesson[data-part='1']").wait_for()
    held: list[tuple[Route, APIResponse]] = []
    page.route("**/lesson/turn/", lambda route: held.append((route, route.fetch())))

    def skip() -> Route:
        """Skip a part whose answer does not come. The button is replaced, as updates may do."""
        part = page.locator("#panel-lesson").get_attribute("data-part")
        page.locator("#les-skip").click()
        eventually(lambda: page.locator("#panel-lesson").get_attribute("data-part") != part and held)
        page.locator("#les-skip").evaluate(REPLACE)
        page.locator("#running").wait_for(state="visible")
        return held.pop()[0]

    skip().fulfill(status=204)
    page.locator("#running").wait_for(state="hidden")
    skip().fulfill(status=422, body='<div class="toast" data-notice><p>That is refused.</p></div>')
    page.locator("#notice").get_by_text("That is refused.").wait_for()
    page.locator("#running").wait_for(state="hidden")
    skip().abort()
    page.locator("#notice").get_by_text("The server did not answer").wait_for()
    page.locator("#running").wait_for(state="hidden")


def test_a_log_that_cannot_be_replayed_leads_back_with_one_click(
    own_server: Server, new_page: Callable[..., Page], eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors += ["WebSocket", "ERR_CONNECTION_REFUSED", "object Event"]
    page = new_page(base_url=own_server.url)
    open_blank(page)
    for name in ("first", "second", "third"):
        apply(page, node(name))
    eventually(lambda: head(page) == 3)
    own_server.kill()
    with sqlite3.connect(own_server.directory / "db.sqlite3") as database:
        database.execute("UPDATE sandbox_commandrecord SET command = ? WHERE n = 2", ['{"kind":"stage"}'])
    database.close()
    own_server.start()
    page.reload()
    page.locator("#now-back").wait_for()
    assert re.search("cannot replay command 2", text(page, "#sentence-text"))
    assert "first" in text(page, "#panel-cluster")
    assert "third" not in text(page, "#panel-cluster")
    page.locator("#now-back").click()
    eventually(lambda: head(page) == 1)
    eventually(lambda: "cannot replay command" not in text(page, "#sentence-text"))
