"""What people type and choose on a room's pages stays theirs, and goes where they meant it to go."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

from tests.browser.test_workshop import ask, join, open_room, workbench
from tests.browser.workbench import Eventually

Open = Callable[..., Page]


def room_with(new_page: Open, *names: str) -> tuple[Page, list[Page]]:
    trainer = new_page()
    code = open_room(trainer, "node-selector")
    people = []
    for name in names:
        person = new_page()
        person.goto("/join/")
        join(person, code, name)
        people.append(person)
    return trainer, people


def test_a_new_question_begins_without_ticks(new_page: Open) -> None:
    trainer, (ada,) = room_with(new_page, "Ada")
    ask(trainer, "First?", "yes\nno\nperhaps")
    ada.locator("#asked").get_by_label("no", exact=True).check()
    ask(trainer, "Second?", "red\ngreen\nblue")
    ada.locator("#asked").get_by_label("green").wait_for()
    assert ada.locator("#asked :checked").count() == 0


def test_a_button_that_an_update_would_move_does_what_was_pressed(new_page: Open) -> None:
    trainer, (ada,) = room_with(new_page, "Ada")
    ask(trainer, "Which?", "*yes\nno")
    other = new_page()
    other.goto(trainer.url)
    trainer.get_by_role("button", name="Hide question").hover()
    trainer.mouse.down()
    other.get_by_role("button", name="Reveal").click()
    ada.locator("#asked form").wait_for(state="detached")
    assert trainer.get_by_role("button", name="Reveal").is_visible(), "the update waits"
    trainer.mouse.up()
    ada.locator("#asked-box").wait_for(state="detached")
    trainer.get_by_role("button", name="Hide question").wait_for(state="detached")


def test_a_sent_sandbox_waits_until_typing_ends(new_page: Open, eventually: Eventually) -> None:
    trainer, (ada,) = room_with(new_page, "Ada")
    bench = workbench(ada)
    bench.locator("#add").click()
    bench.locator("#add-paste").click()
    bench.locator("#manifests").fill("kind: Pod", force=True)
    before = ada.locator("#desk-own").get_attribute("src")
    trainer.locator("[name=scenario]").select_option("nothing-fits")
    trainer.get_by_role("button", name="Send to all").click()
    ada.locator("#sent").wait_for()
    trainer.get_by_role("button", name="Eyes here").click()
    ada.locator("#desk-trainer").wait_for()
    trainer.get_by_role("button", name="Show own sandboxes").click()
    ada.locator("#desk-trainer").wait_for(state="detached")
    assert bench.locator("#manifests").input_value() == "kind: Pod"
    assert ada.locator("#desk-own").get_attribute("src") == before
    ada.get_by_role("button", name="Open it").click()
    eventually(lambda: ada.locator("#desk-own").count() and ada.locator("#desk-own").get_attribute("src") != before)
    assert not ada.locator("#sent").is_visible()


def test_a_participant_who_has_left_is_no_longer_selected(new_page: Open) -> None:
    trainer, (ada, _) = room_with(new_page, "Ada", "Ben")
    trainer.get_by_label("Choose Ada").check()
    trainer.get_by_role("button", name="Send to 1 chosen").wait_for()
    ada.get_by_text("More", exact=True).click()
    ada.on("dialog", lambda dialog: dialog.accept())
    ada.get_by_role("button", name="Leave the room").click()
    trainer.get_by_role("button", name="Send to all").wait_for()


def test_a_timer_runs_by_the_clock_of_the_server(new_page: Open, eventually: Eventually) -> None:
    trainer, (ada,) = room_with(new_page, "Ada")
    ada.clock.install()
    ada.clock.set_system_time(ada.evaluate("Date.now() + 180000"))
    ada.reload()
    trainer.locator("[name=minutes]").fill("2")
    trainer.locator("[name=minutes]").press("Enter")
    ada.locator("#strip .timer").wait_for()
    eventually(lambda: ada.locator("#strip .timer").inner_text().startswith("1:"))


def test_a_link_in_a_frame_of_the_room_opens_beside_it(new_page: Open) -> None:
    trainer, (ada,) = room_with(new_page, "Ada")
    before = ada.locator("#desk-own").get_attribute("src")
    with ada.expect_popup() as opened:
        workbench(ada).locator(".bar .brand").click()
    assert opened.value.url.endswith("/")
    assert ada.frames[1].url.endswith(str(before))
    trainer.get_by_role("tab", name="Your sandbox").click()
    with trainer.expect_popup():
        workbench(trainer).locator(".bar .brand").click()


def test_each_form_to_join_keeps_what_is_typed_in_the_other(new_page: Open, allowed_console_errors: list[str]) -> None:
    allowed_console_errors += ["422", "404"]
    page = new_page()
    page.goto("/workshop/")
    page.locator("[name=title]").fill("Monday")
    page.locator("[name=code]").fill("nobody")
    page.get_by_role("button", name="Join").click()
    page.get_by_text("There is no open room with this code").wait_for()
    assert page.locator("[name=title]").input_value() == "Monday"
    page.locator("#door-open summary").click()
    page.locator("[name=text]").fill("kind: Scenario\n")
    page.locator("[name=code]").fill("abc")
    page.get_by_role("button", name="Open the room").click()
    page.get_by_text("No room was opened.").wait_for()
    assert page.locator("[name=code]").input_value() == "abc"
    assert page.locator("[name=title]").input_value() == "Monday"


def test_a_returning_participant_can_still_come_back_after_their_name_is_refused(
    new_page: Open, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("422")
    trainer, (kim,) = room_with(new_page, "Kim")
    code = trainer.locator(".room-in .room-code").inner_text()
    again = kim.context.new_page()
    again.goto(f"/join/{code}/")
    again.get_by_role("link", name="Return").wait_for()
    again.locator("[name=name]").fill("Kim")
    again.get_by_role("button", name="Join").click()
    again.get_by_text("is here already. If it is you, enter your code.").wait_for()
    again.get_by_role("link", name="Return").click()
    workbench(again).locator("#do-stage").wait_for()


def test_notes_are_saved_as_typed_and_nothing_replaces_them(
    new_page: Open, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.extend(["Failed to load resource", "Response Status Error Code"])
    _, (ada,) = room_with(new_page, "Ada")
    phone = new_page()
    notes = {page: page.locator("#notes textarea") for page in (ada, phone)}
    ada.locator("#notes summary").click()
    notes[ada].press_sequentially("Filter asks every node.")
    ada.locator("#notes-state").get_by_text("Saved", exact=True).wait_for()
    phone.goto(ada.url)
    phone.locator("#notes summary").click()
    eventually(lambda: notes[phone].input_value() == "Filter asks every node.")
    notes[phone].fill("From the phone.")
    phone.locator("#notes-state").get_by_text("Saved", exact=True).wait_for()
    notes[ada].press_sequentially(" Score ranks.")
    ada.locator("#notes-form").get_by_role("alert").get_by_text("Another page has saved other notes").wait_for()
    assert notes[ada].input_value() == "Filter asks every node. Score ranks."
    ada.on("dialog", lambda dialog: dialog.accept())
    ada.reload()
    eventually(lambda: notes[ada].input_value() == "From the phone.")
