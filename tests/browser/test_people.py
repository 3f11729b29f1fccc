"""Coming back to a room: same browser, second tab, another device, and a browser that stores nothing."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

from tests.browser.test_workshop import join, open_room, workbench
from tests.browser.workbench import Eventually

NO_STORAGE = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('', 'SecurityError'); }})"


def test_the_same_browser_returns_and_another_one_returns_by_the_code(
    new_page: Callable[..., Page], eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors += ["404", "422", "htmx:responseError"]
    trainer, anna = new_page(), new_page()
    code = open_room(trainer, "node-selector")
    anna.goto("/join/")
    join(anna, code, "Anna")
    home = anna.url
    assert not anna.context.cookies()
    assert anna.locator("[data-code]").is_hidden(), "this browser remembers the participant"
    trainer.locator("[data-person]", has_text="Anna").click()
    trainer.locator("#person [name=name]").fill("Countess")
    trainer.get_by_role("button", name="Rename").click()
    anna.locator("[data-name]", has_text="Countess").wait_for()

    # A second tab of the same browser is offered the same page.
    tab = anna.context.new_page()
    tab.goto(f"/join/{code}/")
    eventually(lambda: "You were here as Countess" in tab.locator("#known").inner_text())
    tab.get_by_role("link", name="Return").click()
    workbench(tab).locator("#do-stage").wait_for()
    assert tab.url == home

    # If nothing can be stored, the code is shown beside the name, and leads back.
    blocked = new_page()
    blocked.add_init_script(NO_STORAGE)
    blocked.goto("/join/")
    join(blocked, code, "Iris")
    digits = blocked.locator("[data-code]").inner_text().removeprefix("code ")
    blocked.goto(f"/join/{code}/")
    assert blocked.locator("#known").is_hidden()
    blocked.locator("[name=name]").fill("iris")
    blocked.get_by_role("button", name="Join").click()
    assert "“iris” is too close to “Iris”" in blocked.locator("#join-error").inner_text()
    blocked.locator("[name=back]").fill(digits)
    blocked.get_by_role("button", name="Join").click()
    workbench(blocked).locator("#do-stage").wait_for()
    assert blocked.locator("[data-name]").inner_text() == "Iris"

    # A removed participant is not led back to the deleted page.
    trainer.locator("[data-person]", has_text="Countess").click()
    trainer.get_by_role("button", name="Remove from room").click()
    anna.get_by_text("You are no longer in this room").wait_for()
    assert anna.evaluate("localStorage.getItem('rooms')") == "{}"
    anna.goto(f"/join/{code}/")
    assert anna.locator("#known").is_hidden()
