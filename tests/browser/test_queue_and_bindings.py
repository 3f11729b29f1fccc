"""The queue, binding cycles and faults in Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import yaml
from playwright.sync_api import Page

from tests.browser.workbench import (
    Eventually,
    apply,
    click,
    head,
    head_sent,
    level,
    open_scenario,
    paste,
    post,
    press,
    text,
)

NODE = """
apiVersion: v1
kind: Node
metadata: {name: node-hdd, labels: {kubernetes.io/hostname: node-hdd, disk: hdd}}
status: {capacity: {cpu: "8", memory: 16Gi, pods: "110"}}
"""


def test_one_event_wakes_one_pod_and_the_hint_says_why_the_other_stays(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "queue-one-event-two-hints")
    paste(page, eventually, NODE)
    woken, stays = '[id="q:default/hungry-1"]', '[id="q:default/picky-1"]'
    assert page.locator(woken).get_attribute("data-lane") == "activeQ"
    assert "NodeAdd node-hdd → NodeResourcesFit says Queue: node-hdd was new and large enough" in text(page, woken)
    assert page.locator(stays).get_attribute("data-lane") == "unschedulable"
    assert (
        "NodeAdd node-hdd → NodeAffinity says QueueSkip: the pod's node selector or affinity did not match node-hdd"
        in text(page, stays)
    )
    page.locator(woken).hover()
    lit = page.locator("#panel-timeline .cmd.is-linked")
    eventually(lambda: lit.count() == 1)
    assert "node-hdd" in (lit.locator("button").get_attribute("title") or "")


def test_a_move_in_the_inspector_leads_to_the_cycle_that_set_it_off(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "queue-affinity-wakes-a-pod")
    for _ in range(3):
        click(page, eventually, "#do-pod")
    page.locator('#panel-cluster .pod[data-pod="default/web-1"]').first.click()
    page.locator("#insp-moves").click()
    moved = page.locator("#panel-inspector .moves li", has_text="AssignedPodAdd cache-1")
    moved.get_by_role("button", name="in cycle 3 of cache-1").click()
    eventually(lambda: page.locator(".cyc.is-now #cyc-3").count() == 1)
    assert "cache-1" in text(page, "#panel-sentence")


def test_the_next_bind_is_refused_with_one_click_and_its_undo_is_shown(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "permit-waits-and-times-out")
    page.locator("#do-back").click()
    eventually(lambda: page.locator("#panel-faults li").count() == 0)
    page.locator("#break").click()
    click(page, eventually, "#quick-refuse")
    eventually(lambda: not page.locator("#dialog-break").is_visible())
    assert "Next call of DefaultBinder at Bind: fails with an error" in text(page, "#panel-faults")
    click(page, eventually, "#do-pod")
    assert page.locator("#panel-faults li").count() == 0
    stops = [" ".join(stop.split()) for stop in page.locator("#panel-ribbon .is-undone").all_inner_texts()]
    assert stops == ["Unreserve DynamicResources, VolumeBinding", "ForgetPod node-1", "Requeue errorBackoffQ"]
    assert "ForgetPod takes it off node-1" in text(page, "#panel-sentence")
    assert page.locator('[data-lane="errorBackoffQ"]').count() == 1


def test_a_ring_counts_down_while_time_is_played(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "queue-backoff-design-doc")
    age = '[id="q:default/big-1"] .q-age'
    assert text(page, age) == "8 s of 8 s"
    page.locator("#play").click()
    eventually(lambda: re.fullmatch("[1-7] s of 8 s", " ".join(page.locator(age).all_inner_texts())))
    page.locator("#play").click()


def test_a_click_reaches_its_card_although_the_cards_are_replaced_in_between(
    page: Page, eventually: Eventually
) -> None:
    sent = head_sent(page)
    open_scenario(page, "queue-backoff-design-doc")
    at = head(page)
    page.locator('[id="q:default/big-1"]').hover()
    page.mouse.down()
    post(page, "do/advance/", seconds="1")
    eventually(lambda: sent() == at + 1)
    page.mouse.up()
    eventually(lambda: page.locator('[id="q:default/big-1"].is-chosen .q-age').all_inner_texts() == ["7 s of 8 s"])


def test_the_queue_head_shows_the_rules_and_the_same_story_ends_differently_side_by_side(
    page: Page, eventually: Eventually
) -> None:
    page.goto("/")
    page.locator("#compare button").click()
    page.wait_for_url(re.compile("/compare/"))
    sides = [page.frame_locator(f'iframe[title="{side} sandbox"]') for side in ("Left", "Right")]
    rules = [side.locator("#panel-queues .tag") for side in sides]
    eventually(lambda: [tag.inner_text() for tag in rules] == ["design-doc", "v1.34"])
    words = [side.locator(".q-rules").inner_text() for side in sides]
    assert "2^attempts" in words[0]
    assert "2^(failures − 1)" in words[1]
    ages = [side.locator('[id="q:default/big-1"] .q-age') for side in sides]
    assert [age.inner_text() for age in ages] == ["8 s of 8 s", "5 s of 5 s"]
    clocks = [side.locator("#panel-toolbar > b") for side in sides]
    page.get_by_role("button", name="+10 s").click()
    eventually(lambda: [clock.inner_text() for clock in clocks] == ["00:30.0", "00:30.0"])


def test_a_pod_waits_on_permit_beside_another_and_is_allowed(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "permit-waits-and-times-out")
    click(page, eventually, "#do-pod")
    click(page, eventually, "#do-pod")
    assert page.locator("#panel-bindings .bind").count() == 1
    assert "waits on Permit: NodeResourcesFit, 15 s left" in text(page, "#panel-bindings")
    click(page, eventually, "#do-1")
    assert "14 s left" in text(page, "#panel-bindings")
    assert page.locator('#panel-cluster .pod.is-assumed[data-pod="default/web-1"]').count() == 1
    click(page, eventually, "#panel-bindings .allow")
    click(page, eventually, "#do-settle")
    assert page.locator("#panel-bindings .bind").count() == 0
    assert page.locator('#panel-cluster .pod.is-bound[data-pod="default/web-1"]').count() == 1


def test_a_permit_without_an_allow_times_out(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "permit-waits-and-times-out")
    click(page, eventually, "#do-settle")
    click(page, eventually, "#do-10")
    click(page, eventually, "#do-10")
    assert page.locator('[id="q:default/web-1"]').get_attribute("data-lane") == "unschedulable"
    assert "nobody allowed it in time" in text(page, "#panel-sentence")


def test_a_pod_in_flight_notes_the_node_that_arrives(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "queue-node-arrives-in-mid-cycle")
    assert "noted NodeAdd node-large" in text(page, '[id="q:default/big-1"]')
    click(page, eventually, "#do-stage")
    card = '[id="q:default/big-1"]'
    assert page.locator(card).get_attribute("data-lane") == "backoffQ"
    assert "NodeAdd node-large → NodeResourcesFit says Queue" in text(page, card)


@pytest.mark.parametrize(
    ("motion", "travels"), [("no-preference", True), ("reduce", False)], ids=["by default", "not with reduced motion"]
)
def test_a_card_travels_to_its_new_place(
    new_page: Callable[..., Page], eventually: Eventually, motion: str, travels: bool
) -> None:
    page = new_page(reduced_motion=motion)
    open_scenario(page, "bind-fails")
    page.add_style_tag(content=":root { --m-slow: 60000ms; }")
    click(page, eventually, "#do-stage")
    moving = page.locator('[id="q:default/web-1"]').evaluate("card => card.getAnimations().map(({ id }) => id)")
    assert moving == (["came"] if travels else [])


def test_the_stage_stays_in_view_on_a_phone_when_something_else_changes(
    new_page: Callable[..., Page], eventually: Eventually
) -> None:
    page = new_page(viewport={"width": 390, "height": 844})
    open_scenario(page, "queue-one-event-two-hints")
    where = "document.getElementById('panel-ribbon').scrollLeft"
    before = eventually(lambda: page.evaluate(where))
    after = level(page) + 1
    apply(page, yaml.safe_load(NODE))
    eventually(lambda: head(page) == after)
    assert page.evaluate(where) == before


def test_a_deleted_pod_stays_in_flight_beside_the_one_that_took_its_name(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "node-not-ready")
    web = "{apiVersion: v1, kind: Pod, metadata: {name: big}, spec: {containers: [{name: main, image: a, resources: "
    paste(page, eventually, web + "{requests: {cpu: '64'}}}]}}")
    for _ in range(4):
        post(page, "do/stage/")
    post(page, "delete/", kind="Pod", key="default/big")
    paste(page, eventually, web + "{requests: {cpu: 100m}}}]}}")
    both = page.locator('#panel-queues [data-pod="default/big"]')
    assert both.evaluate_all("queues => queues.map(each => each.dataset.lane)") == ["inFlight", "activeQ"]
    assert "another pod has its name" in text(page, '#panel-queues [data-lane="inFlight"]')
    press(page, eventually, "s")
    assert "the new pod big gets its message" in text(page, "#sentence-text")
    assert "attempt over" in text(page, '#panel-queues [data-lane="inFlight"]')
    page.locator('#panel-queues [data-lane="activeQ"]').click()
    eventually(lambda: page.locator("#insp-namesake").is_visible())
