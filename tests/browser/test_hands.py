"""Typing and clicks reach the object that was on the screen."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Page

from tests.browser.workbench import (
    Eventually,
    apply,
    count_posts,
    head,
    level,
    open_blank,
    open_example,
    post,
    press,
    text,
)

FOCUS = "() => document.activeElement.id"


def inspected(page: Page) -> str:
    return text(page, "#panel-inspector h3")


def others_step(page: Page, eventually: Eventually) -> None:
    """Let somebody else move to the next pod."""
    for verb in ("pod", "stage"):
        after = level(page) + 1
        post(page, f"do/{verb}/")
        eventually(lambda after=after: head(page) == after)


def in_flight(page: Page, eventually: Eventually) -> str:
    """Return the example's first pod, which the inspector shows because nobody has chosen another one."""
    open_example(page)
    press(page, eventually, "s")
    eventually(lambda: page.locator("#insp-delete").is_visible())
    return inspected(page)


def test_a_label_reaches_the_pod_for_which_it_was_typed(page: Page, eventually: Eventually) -> None:
    pod = in_flight(page, eventually)
    sent = count_posts(page, "/label/")
    page.locator("#insp-labels").click()
    page.locator("#label-key").click()
    page.keyboard.type("disk")
    others_step(page, eventually)
    others_step(page, eventually)
    eventually(lambda: page.locator("#insp-go").is_visible())
    assert (inspected(page), page.evaluate(FOCUS)) == (pod, "label-key")
    page.keyboard.type("type")
    page.keyboard.press("Enter")
    eventually(lambda: page.evaluate("0") == 0 and sent)
    assert parse_qs(sent[0])["object"] == [f"default/{pod}"]
    assert parse_qs(sent[0])["key"] == ["disktype"]
    eventually(lambda: "disktype=" in text(page, "#panel-inspector .tags"))
    others = page.locator("#insp-go").inner_text()
    page.locator("#insp-go").click()
    eventually(lambda: inspected(page) == others)
    assert page.evaluate(FOCUS) != "label-key"


def test_requests_are_typed_for_one_pod(page: Page, eventually: Eventually) -> None:
    pod = in_flight(page, eventually)
    sent = count_posts(page, "/resize/")
    page.locator("#insp-requests").click()
    page.locator("#resize-cpu-1").fill("250")
    others_step(page, eventually)
    page.keyboard.type("m")
    page.keyboard.press("Enter")
    eventually(lambda: page.evaluate("0") == 0 and sent)
    assert (parse_qs(sent[0])["pod"], parse_qs(sent[0])["cpu"]) == ([f"default/{pod}"], ["250m"])


def test_delete_stays_that_of_the_pod_at_which_the_pointer_aimed(page: Page, eventually: Eventually) -> None:
    pod = in_flight(page, eventually)
    sent = count_posts(page, "/delete/")
    page.locator("#insp-delete").hover()
    others_step(page, eventually)
    others_step(page, eventually)
    assert inspected(page) == pod
    page.mouse.down()
    page.mouse.up()
    eventually(lambda: page.evaluate("0") == 0 and sent)
    assert parse_qs(sent[0])["key"] == [f"default/{pod}"]
    page.mouse.move(700, 300)
    eventually(lambda: inspected(page) != pod)


def test_without_a_hand_on_it_the_inspector_follows(page: Page, eventually: Eventually) -> None:
    pod = in_flight(page, eventually)
    page.mouse.move(700, 300)
    others_step(page, eventually)
    eventually(lambda: inspected(page) != pod)
    assert page.locator("#insp-go").count() == 0


def test_the_focus_never_passes_to_the_same_field_of_another_object(page: Page, eventually: Eventually) -> None:
    pod = in_flight(page, eventually)
    page.locator("#panel-cluster [id^='n:']").first.click()
    eventually(lambda: inspected(page) != pod)
    page.locator("#insp-labels").click()
    page.locator("#label-key").click()
    page.keyboard.type("ab")
    page.keyboard.press("Escape")
    eventually(lambda: inspected(page) == pod)
    assert page.evaluate(FOCUS) != "label-key"
    page.keyboard.type("vw")
    assert page.locator("#label-key").input_value() == ""
    page.locator("#panel-cluster [id^='n:']").first.click()
    eventually(lambda: page.locator("#insp-labels").is_visible() and inspected(page) != pod)
    assert page.locator("#label-key").input_value() == "ab"


LABELS = {"a": "1", "b": "2", "c": "3"}
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": LABELS}}
TAINTS = [{"key": key, "effect": "PreferNoSchedule"} for key in LABELS]
ROOM = {"cpu": "4", "memory": "8Gi", "pods": "20"}
GATED = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "gated", "finalizers": [f"f.io/{key}" for key in LABELS]},
    "spec": {
        "containers": [{"name": "c", "image": "web:1"}],
        "schedulingGates": [{"name": f"g/{key}"} for key in LABELS],
    },
}
WHOSE = "([x, y]) => document.elementFromPoint(x, y).closest('button')?.ariaLabel"
REMOVALS: dict[str, tuple[str, str, str, dict[str, str]]] = {
    "label": ("n1", "Remove the label ", "label/", {"kind": "Node", "object": "n1", "key": "a", "on": "0"}),
    "taint": ("n1", "Remove the taint ", "taint/", {"node": "n1", "key": "a", "effect": "PreferNoSchedule", "on": "0"}),
    "gate": ("default/gated", "Remove the gate g/", "ungate/", {"pod": "default/gated", "gate": "g/a"}),
    "finalizer": (
        "default/gated",
        "Remove the finalizer f.io/",
        "unfinalize/",
        {"kind": "Pod", "object": "default/gated", "finalizer": "f.io/a"},
    ),
}
"""The object, its buttons' names, and what somebody else sends to remove the first one."""


def removals(page: Page, eventually: Eventually, what: str) -> tuple[str, Callable[[], list[str]]]:
    """Show an object with three things to remove. Return how the names of their buttons begin, and what is left."""
    open_blank(page)
    apply(page, NODE | {"spec": {"taints": TAINTS}, "status": {"capacity": ROOM, "allocatable": ROOM}}, GATED)
    shown, called, _, _ = REMOVALS[what]
    page.locator(f"[data-pod='{shown}'], [data-node='{shown}']").first.click()
    if what == "label":
        page.locator("#insp-labels").click()
    buttons = page.locator(f"#panel-inspector [aria-label^='{called}']")
    eventually(lambda: buttons.count() == 3 and buttons.first.is_visible())
    names = "all => all.map(button => button.ariaLabel)"
    return called, lambda: [name.removeprefix(called)[0] for name in buttons.evaluate_all(names)]


@pytest.mark.parametrize("what", REMOVALS)
def test_a_second_click_does_not_remove_the_row_that_moved_up(page: Page, eventually: Eventually, what: str) -> None:
    called, left = removals(page, eventually, what)
    sent = count_posts(page, f"/{REMOVALS[what][2]}")
    page.locator(f"[aria-label^='{called}a']").hover()
    page.mouse.down()
    page.mouse.up()
    eventually(lambda: left() == ["b", "c"])
    page.mouse.down()
    page.mouse.up()
    page.locator("#panel-inspector h3").click()
    assert (left(), len(sent)) == (["b", "c"], 1)


@pytest.mark.parametrize("what", REMOVALS)
def test_a_remove_button_stays_under_the_pointer_when_others_remove(
    page: Page, eventually: Eventually, what: str
) -> None:
    called, left = removals(page, eventually, what)
    button = page.locator(f"[aria-label^='{called}b']")
    button.hover()
    box = button.bounding_box()
    assert box is not None
    point = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    _, _, path, form = REMOVALS[what]
    post(page, path, **form)
    eventually(lambda: left() == ["b", "c"])
    assert str(page.evaluate(WHOSE, point)).startswith(f"{called}b")
