"""What a person starts before a page's first update is still there afterwards."""

from __future__ import annotations

import time

from playwright.sync_api import Page, WebSocketRoute

from tests.browser.workbench import Eventually, open_lesson

SLOW_SECONDS = 1.5


def test_an_answer_that_is_chosen_before_the_first_update_stays_chosen(page: Page, eventually: Eventually) -> None:
    came: list[str] = []

    def slow(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def late(message: str | bytes) -> None:
            time.sleep(0 if came else SLOW_SECONDS)
            route.send(message)
            came.append(str(message))

        server.on_message(late)

    page.route_web_socket("**/ws/**", slow)
    open_lesson(page, "priority-and-priority-classes")
    choice = page.locator(".les-q input").first
    choice.check()
    eventually(lambda: page.wait_for_timeout(20) or came)  # messages are handled only while a call to the page runs
    page.wait_for_timeout(300)
    assert choice.is_checked()
