"""A participant with a phone sees their sandbox, whatever the room asks: what is open is short, and folds to a line."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.browser.axe import PHONE, violations
from tests.browser.test_room_layout import stand_in
from tests.browser.test_workshop import ask, open_room
from tests.browser.workbench import Eventually

Open = Callable[..., Page]
NODES = "\n".join(["*no node", *(f"node-{zone}{number}" for zone in "abc" for number in range(1, 9))])
OPEN, FOLDED = 0.45, 0.8
"""The least shares of the window that show the sandbox while something is open above it, and while nothing is."""
MOST = 0.4
"""The largest share of the window of what is open."""
MEASURE = """() => {
  const box = (id) => document.getElementById(id).getBoundingClientRect();
  const room = document.getElementById('room');
  return {
    top: box('desk').top, height: box('desk').height, asked: box('asked').height, inquiries: box('inquiries').height,
    below: room.scrollHeight - room.clientHeight, wide: room.scrollWidth - room.clientWidth,
    open: document.querySelectorAll('.line[open]').length,
  };
}"""
SEEN = """element => {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return element.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
}"""


@pytest.fixture
def two(new_page: Open) -> tuple[Page, Page]:
    """Return a trainer, and a participant on a phone whose sandbox is a blank page."""
    trainer, person = new_page(), new_page(viewport=PHONE, has_touch=True, bypass_csp=True)
    person.route("**/s/**", stand_in)
    person.goto(f"/join/{open_room(trainer, 'node-selector')}/")
    person.locator("[name=name]").fill("Phoebe")
    person.get_by_role("button", name="Join").click()
    person.locator("iframe[title='Your sandbox']").wait_for()
    return trainer, person


def faults(person: Page, state: str) -> list[str]:
    """Return what is wrong with the heights of a participant's page."""
    got, height = person.evaluate(MEASURE), PHONE["height"]
    limits = {
        "something else is open": got["open"] <= 1,
        "the sandbox is a strip": height - got["top"] >= (OPEN if got["open"] else FOLDED) * height,
        "the sandbox is squeezed": got["height"] >= FOLDED * height,
        "the sandbox is out of reach": got["top"] + got["height"] <= height + got["below"] + 1,
        "what is open is too tall": max(got["asked"], got["inquiries"]) <= MOST * height,
        "the page scrolls although nothing is open": got["open"] or got["below"] == 0,
        "the page scrolls sideways": got["wide"] == 0,
    }
    return [f"{state}: {fault}: {got}" for fault, holds in limits.items() if not holds]


def test_a_question_leaves_the_sandbox_its_height_in_each_state(two: tuple[Page, Page], eventually: Eventually) -> None:
    trainer, person = two
    line, box = person.locator("#asked-box summary"), person.locator("#asked-box")
    results = faults(person, "nothing asked")
    ask(trainer, "Which node does payments-1 get, if the taint and the spread are both to hold?", NODES)
    person.locator("#asked form").wait_for()
    results += faults(person, "asked")
    last = person.locator("#asked").get_by_label("node-c8", exact=True)
    last.check()
    assert last.evaluate(SEEN), "no button covers what was chosen"
    button = person.locator("#asked").get_by_role("button", name="Answer")
    assert button.evaluate(SEEN)
    button.focus()
    button.press("Enter")
    person.get_by_text("Answered: node-c8").wait_for()
    assert box.get_attribute("open") is None
    assert line.evaluate("line => line === document.activeElement"), "the focus is not lost"
    results += faults(person, "answered")
    line.tap()
    last.wait_for()
    assert last.is_checked()
    results += faults(person, "answered, unfolded")

    person.locator("#inquiries summary").tap()
    person.get_by_label("Your question").wait_for()
    eventually(lambda: not last.is_visible())
    for number in range(3):
        assert person.request.post(f"{person.url}inquire/", form={"text": f"Why is node-c{number} cordoned? " * 7}).ok
    eventually(lambda: person.locator("#inquiries li").count() == 3)
    results += faults(person, "questions to the trainer")
    line.tap()
    eventually(lambda: not person.get_by_label("Your question").is_visible())
    person.locator("#asked").get_by_label("node-a1", exact=True).check()
    person.locator("#asked").get_by_role("button", name="Change answer").click()
    person.get_by_text("Answered: node-a1").wait_for()
    assert box.get_attribute("open") is None, "a changed answer folds again"

    trainer.get_by_role("button", name="Reveal").click()
    person.get_by_text("Not quite. Right: no node").wait_for()
    results += faults(person, "revealed")
    line.tap()
    first = person.locator("#asked .bars-l")
    first.first.wait_for()
    assert [text.split()[:2] for text in first.all_inner_texts()[:2]] == [["✓", "no"], ["✗", "node-a1"]]
    assert all(bar.evaluate(SEEN) for bar in first.all()[:2]), "the right answer and the own one are seen first"
    results += faults(person, "revealed, unfolded")
    assert not violations(person, "#asked")
    assert not results, "\n".join(results)


def test_a_question_unfolds_by_itself_unless_somebody_types(two: tuple[Page, Page], eventually: Eventually) -> None:
    trainer, person = two
    person.locator("#inquiries summary").tap()
    own = person.get_by_label("Your question")
    own.press_sequentially("Half a que")
    ask(trainer, "Which queue?", "*activeQ\nbackoffQ")
    line = person.locator("#asked-box summary")
    line.get_by_text("Which queue?").wait_for()
    assert own.is_visible()
    own.press_sequentially("stion")
    line.tap()
    person.locator("#asked").get_by_label("backoffQ").check()
    eventually(lambda: not own.is_visible())
    person.locator("#inquiries summary").tap()
    assert own.input_value() == "Half a question"
    eventually(lambda: not person.locator("#asked form").is_visible())
    person.get_by_role("button", name="Ask the trainer").tap()
    eventually(lambda: own.input_value() == "")
    ask(trainer, "And now?", "a\nb")
    person.locator("#asked").get_by_label("b", exact=True).wait_for()
    eventually(lambda: not own.is_visible())
    assert person.locator("#asked :checked").count() == 0


def test_a_free_answer_is_not_folded_away_from_who_goes_on_typing(two: tuple[Page, Page]) -> None:
    trainer, person = two
    ask(trainer, "What surprised you?", "")
    field = person.get_by_label("Your answer")
    field.fill("Donaudampfschifffahrtsgesellschaftskapitaen" * 2)
    person.request.post(f"{person.url}answer/", form={"number": "1", "chosen": "From another device"})
    person.get_by_text("Answered: From another device").wait_for()
    field.press_sequentially("!")
    assert field.input_value().endswith("kapitaen!")
    person.locator("#asked").get_by_role("button", name="Change answer").click()
    person.get_by_text("Answered: Donaudampf").wait_for()
    assert not field.is_visible()
    assert not faults(person, "a long answer")
