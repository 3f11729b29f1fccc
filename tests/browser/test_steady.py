"""An update never moves a control under the pointer: neither a step nor another person's action."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from scheduler_engine.testing import make_node, make_pod
from tests.browser.workbench import Eventually, apply, head, open_new, open_scenario, press, text

SIZES = {"desktop": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}
FIXED = (
    ".bar :is(button, select), .tab, .tabs-n, .tabs .end button, #goto, #branches, .dock button, .pane-h .btn, .fold,"
    " #now-step, #now-precise"
)
RIBBON = ", .st button"
BOXES = """selector => Object.fromEntries([...document.querySelectorAll(selector)]
    .filter(element => element.checkVisibility({visibilityProperty: true}))
    .map((element, place) => [element.id || element.dataset.tabs || element.dataset.panel || `b${place}`, element])
    .map(([name, element]) => [name, element.getBoundingClientRect()])
    .map(([name, {x, y, width, height}]) => [name, [x, y, width, height].map(Math.round)]))"""
UNDER = "([x, y]) => document.elementFromPoint(x, y)?.closest('button, summary, [data-pod]')?.id"
SCENARIOS = ("three-zones-one-gpu-pool", "rolling-update-then-scale-down", "memory-pressure", "preemption-every-rung")


Acts = list[tuple[str, dict[str, str]]]


def done(page: Page, eventually: Eventually, path: str, **form: str) -> None:
    """Act as somebody else and wait until the page shows it. A refused action changes nothing."""
    before = page.locator("#panel-status").inner_text(), head(page)
    if page.request.post(f"{page.url.partition('?')[0]}{path}", form=form).ok:
        eventually(lambda: (page.locator("#panel-status").inner_text(), head(page)) != before)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("slug", SCENARIOS)
def test_the_frame_of_the_workbench_does_not_move_from_step_to_step(
    new_page: Callable[..., Page], eventually: Eventually, slug: str, size: str
) -> None:
    page = new_page(viewport=SIZES[size])
    open_scenario(page, slug)
    if size == "phone":
        page.locator(".dock [data-panel=decision]").click()
    fixed = FIXED + (RIBBON if size == "desktop" else "")
    stood: dict[str, list[int]] = page.evaluate(BOXES, fixed)
    assert {"do-stage", "do-back"} <= set(stood)
    assert any(name.startswith("tab-") for name in stood)
    for verb in (*["stage"] * 13, "settle", "advance", "back", "pod"):
        done(page, eventually, f"do/{verb}/", seconds="12345")
        now: dict[str, list[int]] = page.evaluate(BOXES, fixed)
        groups = {name for name in now if name.startswith("tab-")}  # on a phone the tabs are those of the open group
        moved = {name: (box, now[name]) for name, box in stood.items() if name in now and now[name] != box}
        assert not moved or (set(moved) <= groups and size == "phone"), f"{verb}: {moved}"
        stood = now


def aimed(page: Page, eventually: Eventually, selector: str, acts: Acts) -> None:
    """Hover over a control while things happen: it stays, and nothing else is under the pointer."""
    control = page.locator(selector).last
    control.scroll_into_view_if_needed()
    box = control.bounding_box()
    assert box is not None, selector
    name = control.get_attribute("id")
    point = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    page.mouse.move(*point)
    for path, form in acts:
        done(page, eventually, path, **form)
        now = page.locator(f'[id="{name}"]')
        if not now.count():
            return  # It has gone from the page.
        after = now.bounding_box()
        assert after is not None, selector
        place = [round(after[side]) - round(box[side]) for side in ("x", "y")]
        assert max(map(abs, place)) <= 1, (selector, path, place)
        assert page.evaluate(UNDER, point) == name, (selector, path)


STAGES: Acts = [("do/stage/", {})] * 4
MORE: Acts = [("do/pod/", {}), ("do/settle/", {}), ("do/advance/", {"seconds": "3"})]


def test_a_card_of_the_queue_stays_under_the_pointer_while_others_leave(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "three-zones-one-gpu-pool")
    aimed(page, eventually, "#panel-queues .q[id]", [*STAGES, ("do/pod/", {}), ("do/pod/", {})])
    aimed(page, eventually, "#panel-queues .q[id]", [*STAGES, *MORE])


def test_plus_cordon_and_marks_of_the_time_line_stay_under_the_pointer(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "rolling-update-then-scale-down")
    key = "Deployment:default/shop"
    page.locator("#tab-workloads").click()
    eventually(lambda: page.locator(f'[id="w-more:{key}"]').is_visible())
    shop = {"kind": "Deployment", "key": "default/shop"}
    acts: Acts = [("scale/", shop | {"by": "3"}), *MORE, ("scale/", shop | {"by": "-4"}), ("rollout/", shop), *MORE]
    aimed(page, eventually, f'[id="w-more:{key}"]', acts)
    page.locator("#panel-cluster [id^='n:']").first.click()
    eventually(lambda: page.locator("#insp-cordon").is_visible())
    node = text(page, "#panel-inspector h3")
    tainted = {"node": node, "key": "a", "effect": "NoSchedule", "on": "1"}
    cordons: Acts = [("cordon/", {"node": node, "on": on}) for on in "10"]
    aimed(page, eventually, "#insp-cordon", [*cordons, ("taint/", tainted), *MORE])
    aimed(page, eventually, ".cyc button", [*MORE, *STAGES])


def test_a_pod_that_waits_on_permit_is_allowed_where_the_pointer_is(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "permit-waits-and-times-out")
    for _ in range(2):
        done(page, eventually, "do/pod/")
    eventually(lambda: page.locator("#panel-bindings .allow").is_visible())
    seconds: Acts = [("do/advance/", {"seconds": "1"})] * 3
    aimed(page, eventually, "#panel-bindings .allow", [*seconds, *STAGES, *seconds])
    page.locator("#panel-bindings .allow").click()
    eventually(lambda: page.locator("#panel-bindings .allow").count() == 0)


def test_a_button_that_turns_pages_stays_under_the_pointer(page: Page, eventually: Eventually) -> None:
    open_new(page)
    nodes = [make_node(f"node-{number}").obj() for number in range(70)]
    pods = [make_pod(f"web-{number}").cpu("100m").obj() for number in range(90)]
    apply(page, *nodes, *pods)
    page.locator("#tab-nodes").click()
    for name, acts in (("queues.activeQ", [*STAGES, ("do/pod/", {})]), ("nodes", [*STAGES, *MORE])):
        page.locator(f'[id="page-next:{name}"]').wait_for()
        aimed(page, eventually, f'[id="page-next:{name}"]', acts)


def test_a_stage_of_the_ribbon_stays_under_the_pointer_on_a_phone(
    new_page: Callable[..., Page], eventually: Eventually
) -> None:
    page = new_page(viewport=SIZES["phone"])
    open_scenario(page, "three-zones-one-gpu-pool")
    aimed(page, eventually, "#st-PreFilter", STAGES)


def test_a_tab_that_somebody_chose_stays_until_it_may_follow_again(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "three-zones-one-gpu-pool")

    def tab() -> Any:
        return page.locator(".tab[aria-selected=true]").get_attribute("data-tab")

    follow = page.locator("#follow")
    press(page, eventually, "s", "s", "s", "s")
    assert (tab(), follow.get_attribute("aria-pressed")) == ("filter", "true")
    page.locator("#tab-scores").click()
    page.mouse.move(300, 300)
    press(page, eventually, "n", "n", "s", "s", "s", "s")
    assert (tab(), follow.get_attribute("aria-pressed")) == ("scores", "false")
    page.locator("#panel-ribbon .is-now button").click()
    assert (tab(), follow.get_attribute("aria-pressed")) == ("filter", "true")
    page.locator("#tab-metrics").click()
    follow.click()
    assert (tab(), follow.get_attribute("aria-pressed")) == ("filter", "true")
    page.mouse.move(300, 300)
    press(page, eventually, "n")
    eventually(lambda: tab() == "scores" or tab() == "filter")
    follow.click()
    kept = tab()
    page.mouse.move(300, 300)
    press(page, eventually, "s", "s", "s")
    assert tab() == kept, "the open tab stays"
