"""The pages of a room in each state and at three sizes: the workbench is tall enough, and nothing is cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, Route

from tests.browser.test_workshop import open_room
from tests.browser.workbench import Eventually

SIZES = [{"width": 1440, "height": 900}, {"width": 390, "height": 844}, {"width": 1920, "height": 1080}]
WITH_QUESTION, WITHOUT = 0.4, 0.6
"""The workbench's least shares of the window."""
LONG = "Which of these nodes takes the pod, if the taint and the spread over the zones are both to hold? " * 3
NAMES = [f"node-pool-of-a-rather-long-name-west-1-{number:02}"[:40] for number in range(60)]
SHORT = {"ask": "Which queue?", "choices": "*activeQ\nbackoffQ\nunschedulablePods"}
MANY = {"ask": LONG, "choices": "\n".join(["*" + NAMES[0], *NAMES[1:]])}

STATES: dict[str, tuple[list[tuple[str, str, dict[str, str]]], str, str]] = {
    "nothing asked": ([], "#asked.is-none", "#asked.is-none"),
    "asked": ([("trainer", "ask/", SHORT)], "#asked form", "#asked .asked-n:text('0 of')"),
    "answered": (
        [("person", "answer/", {"number": "1", "chosen": "activeQ"})],
        "#asked [role=status]:text('Answered')",
        "#asked :text('1 of')",
    ),
    "no more answers": ([("trainer", "end/", {"number": "1"})], "#asked meter", "#asked .asked-n"),
    "revealed": ([("trainer", "reveal/", {"number": "1"})], "#asked .asked-v", "#asked .is-yes"),
    "a long question": ([("trainer", "ask/", MANY)], "#asked :text('question 2')", "#asked :text('question 2')"),
    "a long question revealed": ([("trainer", "reveal/", {"number": "2"})], "#asked meter", "#asked .is-yes"),
    "put away": ([("trainer", "put-away/", {"number": "2"})], "#asked.is-none", "#asked.is-none"),
    "frozen, with a timer": (
        [("trainer", "freeze/", {"on": "1"}), ("trainer", "timer/", {"minutes": "5"})],
        "#strip :text('paused the room')",
        ".timer",
    ),
    "eyes here": (
        [("trainer", "freeze/", {"on": "0"}), ("trainer", "eyes/", {"on": "1"})],
        "#strip :text('Eyes here')",
        "#asked",
    ),
    "eyes here and a question": ([("trainer", "ask/", SHORT)], "#asked form", "#asked .asked-n"),
    "a hand up, and help": (
        [
            ("trainer", "put-away/", {"number": "3"}),
            ("trainer", "eyes/", {"on": "0"}),
            ("person", "hand/", {"on": "1"}),
            ("person", "help/", {"on": "1"}),
        ],
        "#strip :text('Lower hand')",
        "#asked.is-none",
    ),
    "a lesson": (
        [("trainer", "send/", {"scenario": "lesson:three-queues"})],
        "#room:has(#strip :text('sent you')) #desk iframe",
        "#asked",
    ),
    "closed": ([("trainer", "close/", {})], "#strip :text('closed')", "#corner.is-closed, #controls :text('closed')"),
}  # fmt: skip
"""The requests, and who sends them, that bring a room into a state; then a participant's page, and the others'."""

MEASURE = """() => {
  const visible = (frame) => frame.checkVisibility({ visibilityProperty: true });
  const shown = [...document.querySelectorAll('iframe')].filter(visible);
  const frame = shown.map((frame) => frame.getBoundingClientRect())[0] ?? null;
  const asked = document.querySelector('#asked');
  return {
    frames: shown.length,
    share: frame && (Math.min(frame.bottom, innerHeight) - Math.max(frame.top, 0)) / innerHeight,
    wide: [document.documentElement, ...document.querySelectorAll('#asked, .asked-b, .room-main, .room-side, #strip')]
      .filter((part) => part.scrollWidth > part.clientWidth + 1).map((part) => part.id || part.className || 'page'),
    asked: Boolean(asked) && !asked.classList.contains('is-none'),
  };
}"""


READABLE = 1.2 * 16
"""Font size in pixels that the last row can read on a projector of 1920×1080."""
ON_BEAMER = """least => {
  const box = (element) => element.getBoundingClientRect();
  const faults = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement: element } = texts.currentNode;
    if (!data.trim() || element.closest('.vh, meter, template') || !element.checkVisibility()) continue;
    const size = parseFloat(getComputedStyle(element).fontSize);
    if (size < least) faults.push(`${data.trim()}: ${size} px`);
  }
  for (const part of document.querySelectorAll('#asked, #asked *, .corner, .corner *')) {
    if (part.closest('.vh, meter, .is-none') || !part.checkVisibility()) continue;
    const { left, right, top, bottom } = box(part);
    const outside = left < 0 || top < 0 || right > innerWidth + 1 || bottom > innerHeight + 1;
    if (outside) faults.push(`${part.className || part.localName} is outside`);
  }
  const asked = document.querySelector('#asked');
  if (asked.scrollHeight > asked.clientHeight + 1) faults.push(`the question scrolls: ${asked.scrollHeight}`);
  for (const bar of document.querySelectorAll('#asked .bars-q li')) {
    const above = box(bar.querySelector('.bars-l')).bottom <= box(bar.querySelector('meter')).top;
    if (!above) faults.push('a name is not above its bar');
  }
  if (box(document.querySelector('iframe')).width < innerWidth * 0.6) faults.push('the workbench is too narrow');
  return faults;
}"""
ON_PHONE = """() => {
  const inView = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return bottom <= innerHeight && element.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
  };
  const wanted = document.querySelectorAll('#board tbody tr:first-child, #asked .asked-c button, #tab-do');
  return [...wanted].filter((element) => !inView(element)).map((element) => element.textContent.trim().slice(0, 20));
}"""


def stand_in(route: Route) -> None:
    """Replace the workbench, which has separate tests: these measure the room left for it."""
    route.fulfill(body="<!doctype html><title>Workbench</title>", content_type="text/html")


def faults(page: Page, state: str, size: dict[str, int], role: str) -> list[str]:
    page.set_viewport_size(size)  # type: ignore[arg-type]
    got: dict[str, Any] = page.evaluate(MEASURE)
    where = f"{role}, {state}, {size['width']}×{size['height']}"
    problems = [f"{where}: scrolls sideways: {got['wide']}"] if got["wide"] else []
    if role != "board":
        least = WITH_QUESTION if got["asked"] and role != "own" else WITHOUT
        if got["frames"] != 1 or got["share"] < least:
            problems.append(f"{where}: {got['frames']} workbenches, {got['share']} of the window")
    if role == "beamer" and size["width"] == 1920:
        problems += [f"{where}: {fault}" for fault in page.evaluate(ON_BEAMER, READABLE)]
    if role == "board" and size["width"] == 390:
        problems += [f"{where}: out of view: {name}" for name in page.evaluate(ON_PHONE)]
    return problems


def test_the_workbench_has_its_height_in_every_state_of_a_room(
    new_page: Callable[..., Page], eventually: Eventually
) -> None:
    trainer, person, beamer = new_page(), new_page(), new_page()
    for page in (trainer, person, beamer):
        page.route("**/s/**", stand_in)
    code = open_room(trainer)
    beamer.goto(str(trainer.get_by_role("link", name="Projector view").get_attribute("href")))
    person.goto(f"/join/{code}/")
    person.locator("[name=name]").fill("Somebody with a rather long name to show")
    person.get_by_role("button", name="Join").click()
    person.locator("iframe[title='Your sandbox']").wait_for()
    pages = {"trainer": trainer, "person": person}
    results = []
    for state, (done, at_person, elsewhere) in STATES.items():
        for who, path, fields in done:
            answer = pages[who].request.post(f"{pages[who].url}{path}", form=fields)
            assert answer.ok, f"{state}: {path}: {answer.text()}"
        for page, mark in ((person, at_person), (trainer, elsewhere), (beamer, elsewhere)):
            page.locator(mark).first.wait_for(state="attached")
        for size in SIZES:
            results += faults(person, state, size, "participant")
            results += faults(beamer, state, size, "beamer")
            results += faults(trainer, state, size, "board")
    for page in (trainer, beamer):
        assert page.locator(".while-open").count() > 0
        assert page.locator(".while-open:visible").count() == 0, "a closed room has nothing to join, send or ask"
    trainer.get_by_role("tab", name="Your sandbox").click()
    for size in SIZES:
        results += faults(trainer, "closed", size, "own")
    trainer.set_viewport_size(SIZES[1])  # type: ignore[arg-type]
    trainer.get_by_role("tab", name="Actions").click()
    assert not trainer.locator("#board").is_visible()
    assert trainer.locator("#controls").bounding_box()["y"] < SIZES[1]["height"] / 4  # type: ignore[index]
    trainer.set_viewport_size(SIZES[0])  # type: ignore[arg-type]
    eventually(lambda: trainer.locator("#board").is_visible() and trainer.locator("#controls").is_visible())
    assert not results, "\n".join(results)
