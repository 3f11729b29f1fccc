"""The past in Chromium: drag, click, use keys and links, and continue from there."""

from __future__ import annotations

from random import Random

import pytest
from playwright.sync_api import Page, Route

from tests.browser.workbench import Eventually, click, open_example, press, text


@pytest.fixture
def settled(page: Page, eventually: Eventually) -> Page:
    """Open the example with all its pods tried, in one command."""
    open_example(page)
    press(page, eventually, "e")
    eventually(lambda: page.locator(".cyc").count() > 3)
    return page


def past(page: Page) -> bool:
    return page.locator("#panel-sentence.is-past").count() == 1


def knob(page: Page) -> float:
    box = page.locator("#knob").bounding_box()
    assert box is not None
    return box["x"]


def test_every_panel_goes_back_with_the_knob_and_nothing_is_selected(settled: Page, eventually: Eventually) -> None:
    page, before = settled, text(settled, "#panel-queues")
    box = page.locator(".cyc button").nth(1).bounding_box()
    assert box is not None
    page.mouse.move(knob(page) + 1, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 30, box["y"] + 20, steps=6)
    eventually(lambda: past(page) and page.locator(".cyc.is-now #cyc-2").count() == 1)
    page.mouse.up()
    assert page.evaluate("getSelection().toString()") == ""
    assert text(page, "#panel-queues") != before
    assert "The past, 00:00.0" in text(page, "#panel-sentence")
    assert page.locator("#panel-queues [data-lane=inFlight]").count() == 1
    page.locator("#now-follow").click()
    eventually(lambda: not past(page) and text(page, "#panel-queues") == before)


def test_the_arrow_keys_go_stage_by_stage_and_home_and_end_to_the_ends(settled: Page, eventually: Eventually) -> None:
    page = settled
    stages = []
    for _ in range(3):
        before = page.locator("#panel-timeline").get_attribute("data-now")
        page.keyboard.press("ArrowLeft")
        eventually(lambda before=before: page.locator("#panel-timeline").get_attribute("data-now") != before)
        stages.append(page.locator("#panel-ribbon .is-now button").get_attribute("id"))
    assert stages == ["st-Bind", "st-PreBind", "st-Permit"]
    page.keyboard.press("Shift+ArrowLeft")
    eventually(lambda: page.locator(".cyc.is-now").count() == 1 and past(page))
    page.keyboard.press("Home")
    eventually(lambda: page.locator("#panel-cluster [data-node]").count() == 0)
    page.keyboard.press("End")
    eventually(lambda: not past(page))


def test_a_link_opens_at_its_moment_and_a_reload_stays(settled: Page, eventually: Eventually) -> None:
    page = settled
    page.locator(".cyc:nth-of-type(3) .tk").nth(3).click()
    eventually(lambda: past(page) and "at=" in page.url)
    page.locator("#tab-cache").click()
    eventually(lambda: page.title() and "tab=cache" in page.url)
    texts = [text(page, f"#panel-{name}") for name in ("sentence", "queues", "cluster", "cache")]
    page.reload()
    eventually(lambda: [text(page, f"#panel-{name}") for name in ("sentence", "queues", "cluster", "cache")] == texts)
    page.locator("#share").click()
    other = page.context.new_page()
    other.goto(page.locator("#share-moment").input_value())
    eventually(lambda: [text(other, f"#panel-{name}") for name in ("queues", "cache")] == [texts[1], texts[3]])
    assert other.locator("#goto").count() == 0


def test_going_back_into_the_middle_saves_a_timeline_which_can_be_reopened(
    settled: Page, eventually: Eventually
) -> None:
    page, whole = settled, text(settled, "#panel-status")
    page.locator(".cyc:nth-of-type(3) .tk").nth(3).click()
    eventually(lambda: past(page))
    stage = page.locator("#panel-ribbon .is-now button").get_attribute("id")
    page.locator("#goto").click()
    eventually(lambda: not past(page) and "ended early" in text(page, "#panel-status"))
    assert page.locator("#panel-ribbon .is-now button").get_attribute("id") == stage
    click(page, eventually, "#do-stage")
    page.locator("#branches").click()
    eventually(lambda: page.locator("#branch-list button").count() == 1)
    page.locator("#branch-list button").click()
    eventually(lambda: text(page, "#panel-status") == whole)
    eventually(lambda: not page.locator("#dialog-branches").is_visible())


def test_the_list_of_branches_is_current_and_says_what_happened_to_an_old_one(
    settled: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors += ["Failed to load resource", "Response Status Error Code"]
    page, lists, asked = settled, list[Route](), list[Route]()
    page.locator(".cyc:nth-of-type(3) .tk").nth(3).click()
    eventually(lambda: past(page))
    page.locator("#goto").click()
    eventually(lambda: not past(page))
    click(page, eventually, "#do-stage")
    page.locator("#branches").click()
    eventually(lambda: page.locator("#branch-list button").count() == 1)
    page.route("**/branches/**", lambda route: lists.append(route))
    page.route("**/reopen/", lambda route: asked.append(route))
    page.locator("#branch-list button").click()
    eventually(lambda: page.evaluate("0") == 0 and asked)
    page.keyboard.press("Escape")
    page.locator("#branches").click()
    eventually(lambda: page.evaluate("0") == 0 and lists)
    assert page.locator("#branch-list button").count() == 0
    asked[0].fulfill(status=404, content_type="text/html", body="<div class=toast data-notice>It is gone.</div>")
    eventually(lambda: "It is gone." in text(page, "#notice"))
    lists[0].continue_()
    eventually(lambda: page.locator("#branch-list button").count() == 1)


def test_a_fork_opens_where_one_looks(settled: Page, eventually: Eventually) -> None:
    page, address = settled, settled.url
    page.locator(".cyc:nth-of-type(3) .tk").nth(3).click()
    eventually(lambda: past(page))
    stage = page.locator("#panel-ribbon .is-now button").get_attribute("id")
    page.locator("#branches").click()
    page.locator("#fork").click()
    eventually(lambda: page.title() and page.url.split("?")[0] != address.split("?")[0])
    eventually(lambda: page.locator("#panel-ribbon .is-now button").get_attribute("id") == stage)
    assert not past(page)


def test_after_an_action_its_author_sees_the_present(settled: Page, eventually: Eventually) -> None:
    page = settled
    page.locator("#cyc-1").click()
    eventually(lambda: past(page))
    page.locator("#do-advance-1, button:has-text('+1 s')").first.click()
    eventually(lambda: not past(page) and "at=" not in page.url)


WHERE = """() => {
    const part = name => document.getElementById(`panel-${name}`);
    const {now, nowEntry} = part('timeline').dataset;
    const line = document.getElementById('scroll-time').getBoundingClientRect();
    const knob = document.getElementById('knob').getBoundingClientRect();
    const marks = [...part('timeline').querySelectorAll('ol [data-entry]')].filter(mark => mark.checkVisibility());
    const reached = marks.filter(mark => !now || Number(mark.dataset.entry) <= Number(nowEntry));
    const last = reached.sort((a, b) => a.dataset.entry - b.dataset.entry).at(-1);
    const named = [part('status').innerText, part('toolbar').textContent,
                   document.getElementById('knob').ariaValueText];
    const from = last?.getBoundingClientRect().left ?? 0;
    const upto = last?.closest('li').getBoundingClientRect().right ?? 0;
    const at = !last || (knob.left >= from - 3 && knob.left <= upto + 60);
    return {
        visible: knob.left >= line.left - 1 && knob.left <= line.right + 1 && knob.height > 20,
        at, knob: knob.left, from, upto,
        past: [part('sentence'), part('toolbar'), part('timeline')].map(one => one.classList.contains('is-past')),
        commands: named.map(text => /command \\d+(?: of \\d+)?/.exec(text)?.[0]).filter(Boolean),
        asked: part('timeline').dataset.asked, now,
    };
}"""


def settled_at(page: Page, eventually: Eventually, done: str) -> None:
    """Assert that the playhead is visible at the moment in view, and that all positions on the page agree."""

    def holds() -> bool:
        values = page.evaluate(WHERE)
        said = len(set(values["commands"])) == 1 and len(values["commands"]) > 1
        return bool(values["visible"] and values["at"] and said and len(set(values["past"])) == 1)

    try:
        eventually(holds)
    except AssertionError:
        raise AssertionError(f"after {done}: {page.evaluate(WHERE)}") from None


KEYS = ["s", "n", "b", "b", "f", "ArrowLeft", "Shift+ArrowLeft", "End"]
CLICK_ONE = "(marks, place) => marks[Math.floor(place * marks.length)].click()"
"""Click a mark that exists at that instant: earlier marks may still be on their way."""
ACTS = [*KEYS, "mark", "mark", "goto", "goto", "branch", "stage"]


def walk(page: Page, eventually: Eventually, chance: Random) -> None:
    done: list[str] = []
    for _ in range(14):
        act = chance.choice(ACTS)
        done.append(act)
        if act == "mark":
            page.locator(".tl [data-entry]:visible").evaluate_all(CLICK_ONE, chance.random())
        elif act == "stage":
            stages = page.locator(".st button")
            stages.nth(chance.randrange(stages.count())).click()
        elif act == "goto":
            if not page.locator("#goto").is_enabled():
                continue
            page.locator("#goto").click()
            eventually(lambda: not past(page))
        elif act == "branch":
            page.locator("#branches").click()
            page.locator("#branch-list :is(li, p)").first.wait_for()
            if page.locator("#branch-list button").count():
                page.locator("#branch-list button").first.click()
                eventually(lambda: not page.locator("#dialog-branches").is_visible())
            else:
                page.keyboard.press("Escape")
        else:
            page.keyboard.press(act)
        settled_at(page, eventually, " ".join(done))


@pytest.mark.parametrize("seed", range(3))
def test_after_any_walk_the_playhead_is_at_the_moment_that_all_of_the_page_names(
    settled: Page, eventually: Eventually, allowed_console_errors: list[str], seed: int
) -> None:
    allowed_console_errors.append("4[02][49]|422")
    walk(settled, eventually, Random(seed))


def test_a_stage_of_the_past_leads_to_its_moment(settled: Page, eventually: Eventually) -> None:
    page = settled
    page.locator("#cyc-2").click()
    eventually(lambda: past(page))
    assert "Click to show this moment" in (page.locator("#st-Filter").get_attribute("title") or "")
    page.locator("#st-Filter").click()
    eventually(lambda: page.locator("#panel-ribbon .is-now button").get_attribute("id") == "st-Filter")
    assert page.locator("#tab-filter").get_attribute("aria-selected") == "true"
    assert page.locator(".cyc.is-now #cyc-2").count() == 1
    settled_at(page, eventually, "a click on Filter")
    page.locator("#goto").click()
    eventually(lambda: not past(page))
    settled_at(page, eventually, "going back to it")
