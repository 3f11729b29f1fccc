"""Black holes: nothing closes and nothing arrives. The page says so within five seconds of its own clock, keeps the
answers, and sends them or reports them lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Server
from tests.browser.proxy import Proxy, line_to
from tests.browser.test_workshop import ask, join, open_room
from tests.browser.workbench import EXAMPLE, Eventually, connected, head, new_sandbox, open_example

SOON_MS = 5000
LONG_MS = 15_000
# A line that fails to open is logged as an event without text.
KNOWN = ["ERR_", "htmx:", "WebSocket", "404", "422", r"^\[object Event\]"]


@pytest.fixture
def line(server: Server, allowed_console_errors: list[str]) -> Iterator[Proxy]:
    allowed_console_errors += KNOWN
    with line_to(server.port) as proxy:
        yield proxy


FRAMES: Counter[Page] = Counter()
"""Messages on the live lines of a page."""


def through(new_page: Callable[..., Page], line: Proxy) -> Page:
    """Return a page whose clock the test can advance. The clock also runs by itself."""
    page = new_page(base_url=line.url)
    page.clock.install()
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: FRAMES.update([page])))
    return page


def open_hole(page: Page, line: Proxy, eventually: Eventually) -> None:
    """Open the hole after the live line's first message: before that, the page waits for the line to open."""
    # Messages are counted only while a call to the page runs.
    eventually(lambda: page.locator("body").count() and FRAMES[page])
    line.hole()


def hear_nothing_for_long_enough(page: Page, eventually: Eventually) -> None:
    """Wait for five seconds of the page's clock without a message. A message on its way restarts the five seconds."""

    def silent() -> bool:
        before = FRAMES[page]
        page.clock.run_for(SOON_MS)
        return FRAMES[page] == before

    eventually(silent)


def answer(person: Page, choice: str) -> None:
    if person.locator("#asked-box").get_attribute("open") is None:
        person.locator("#asked-box summary").click()
    person.locator("#asked").get_by_label(choice, exact=True).check()
    person.locator("#asked form button").click()


def test_an_answer_in_a_black_hole_is_sent_or_reported_lost(
    new_page: Callable[..., Page], line: Proxy, eventually: Eventually
) -> None:
    trainer, person = new_page(), through(new_page, line)
    code = open_room(trainer, "node-selector")
    person.goto("/join/")
    join(person, code, "Carl")
    ask(trainer, "Which queue?", "*activeQ\nbackoffQ")
    answer(person, "backoffQ")
    person.get_by_text("Answered: backoffQ").wait_for()

    open_hole(person, line, eventually)
    hear_nothing_for_long_enough(person, eventually)
    assert person.locator("#lost").is_visible()
    assert "connection is lost" in person.locator("#lost").inner_text()
    answer(person, "activeQ")
    person.clock.run_for(SOON_MS)
    assert "Not sent yet: activeQ" in person.locator("[data-unsent]").inner_text()
    person.clock.run_for(LONG_MS)
    assert "1 of 1 have answered" in trainer.locator("#asked").inner_text()
    line.mend()
    person.get_by_text("Answered: activeQ").wait_for()
    person.locator("#lost").wait_for(state="hidden")
    eventually(lambda: not person.locator("[data-unsent]").inner_text())
    assert (
        person.evaluate("JSON.stringify(Object.values(JSON.parse(localStorage.rooms)).map(room => room.unsent))")
        == "[{}]"
    )

    # The page closes before the line is back: another page of this browser sends what it saved.
    line.hole()
    answer(person, "backoffQ")
    person.clock.run_for(SOON_MS)
    person.get_by_text("Not sent yet: backoffQ").wait_for()
    home = person.url
    again = person.context.new_page()
    person.close()
    line.mend()
    again.goto(home)
    again.get_by_text("Answered: backoffQ").wait_for()

    # A late answer in one tab does not replace a newer one from another tab.
    newer = again.context.new_page()
    newer.goto(home)
    newer.get_by_text("Answered: backoffQ").wait_for()
    again.route("**/answer/", lambda route: route.abort())
    answer(again, "activeQ")
    again.get_by_text("Not sent yet: activeQ").wait_for()
    answer(newer, "activeQ")
    newer.get_by_text("Answered: activeQ").wait_for()
    answer(newer, "backoffQ")
    newer.get_by_text("Answered: backoffQ").wait_for()
    again.unroute("**/answer/")
    again.evaluate("dispatchEvent(new Event('online'))")
    eventually(lambda: not again.locator("[data-unsent]").inner_text())
    newer.reload()
    newer.get_by_text("Answered: backoffQ").wait_for()

    # An answer that comes too late is reported as lost: the right one is already shown, or the next question was asked.
    for act, why in (
        (lambda: trainer.get_by_role("button", name="Reveal").click(), "the right one is already shown"),
        (lambda: ask(trainer, "And now?", "a\nb"), "the trainer has asked another question"),
    ):
        ask(trainer, "Again?", "*yes\nno")
        again.locator("#asked").get_by_label("yes", exact=True).wait_for()
        line.hole()
        answer(again, "yes")
        act()
        eventually(
            lambda: (
                "Again?" not in trainer.locator("#asked").inner_text()
                or trainer.get_by_role("button", name="Reveal").count() == 0
            )
        )
        line.mend()
        eventually(lambda why=why: f"Your answer arrived too late: {why}" in again.locator("#room").inner_text())

    # The room is gone.
    answer(again, "b")
    again.get_by_text("Answered: b").wait_for()
    line.hole()
    answer(again, "a")
    trainer.locator("[data-person]").click()
    trainer.get_by_role("button", name="Remove from room").click()
    trainer.locator("#person").wait_for(state="hidden")
    line.mend()
    again.get_by_text("Your last answer was not sent.").or_(
        again.get_by_text("Your answer was not sent")
    ).first.wait_for()


def test_a_workbench_says_that_nothing_arrives_and_continues_afterwards(
    new_page: Callable[..., Page], line: Proxy, eventually: Eventually
) -> None:
    page = through(new_page, line)
    open_example(page)
    before = head(page)
    open_hole(page, line, eventually)
    page.locator("#do-stage").click()
    hear_nothing_for_long_enough(page, eventually)
    assert page.locator("#lost").is_visible()
    page.clock.run_for(LONG_MS)
    assert "The server did not answer" in page.locator("#notice").inner_text(), (
        "a hanging request is given up and reported"
    )
    line.mend()
    page.locator("#lost").wait_for(state="hidden")
    eventually(lambda: head(page) == before + 1)


def test_a_trainers_form_keeps_its_text_when_no_answer_comes(
    new_page: Callable[..., Page], line: Proxy, eventually: Eventually
) -> None:
    trainer = through(new_page, line)
    open_room(trainer, "node-selector")
    trainer.get_by_role("tab", name="Your sandbox").click()
    trainer.get_by_role("tab", name="Everyone").click()
    open_hole(trainer, line, eventually)
    ask(trainer, "Kept?", "yes\nno")
    trainer.clock.run_for(SOON_MS + LONG_MS)
    eventually(lambda: "The server did not answer" in trainer.locator("#room").inner_text())
    assert trainer.locator("[name=ask]").input_value() == "Kept?"


def test_an_embed_says_that_nothing_comes(new_page: Callable[..., Page], line: Proxy, eventually: Eventually) -> None:
    page = through(new_page, line)
    page.goto(f"{new_sandbox(page, scenario=EXAMPLE)}embed/?panels=sentence&live=1")
    open_hole(page, line, eventually)
    hear_nothing_for_long_enough(page, eventually)
    assert page.locator("#em-note").inner_text() == "The connection is lost. Trying again."
    line.mend()
    eventually(lambda: page.locator("#em-note").inner_text() == "")


def test_a_line_that_does_not_open_is_reported_as_early_as_a_lost_one(
    new_page: Callable[..., Page], line: Proxy, eventually: Eventually
) -> None:
    home = new_sandbox(new_page(), scenario=EXAMPLE)
    line.close_lines()
    for path, selector in ((home, "#lost"), (f"{home}embed/?panels=sentence&live=1", "#em-note")):
        page = through(new_page, line)
        with page.expect_websocket():
            page.goto(path)
        page.clock.run_for(SOON_MS)
        assert "connection is lost" in page.locator(selector).inner_text()
    line.mend()
    eventually(lambda: page.locator("#em-note").inner_text() == "")


def test_a_page_says_that_its_sandbox_is_gone(page: Page) -> None:
    home = new_sandbox(page, scenario=EXAMPLE)
    page.goto(home)
    connected(page)
    sandbox = home.removeprefix("/s/").removesuffix("/")
    assert page.request.delete(f"/api/v1/sandboxes/{sandbox}").status == 204
    page.locator("#lost").wait_for()
    assert page.locator("#lost").inner_text().startswith("This link no longer works.")
