"""Two runs side by side: one press steps both, and the page says which pods are placed differently."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from sandbox.words.say import say
from tests.browser.workbench import Eventually, new_sandbox


def test_two_configurations_part_before_the_eyes(page: Page, eventually: Eventually) -> None:
    path = new_sandbox(page, scenario="bin-packing-most-allocated")
    assert page.request.post(f"{path}do/settle/").ok
    page.goto(f"{path}differences/?configuration=default")
    page.get_by_role("button", name=say("differences.in-step")).click()
    page.wait_for_url(re.compile("/compare/"))
    sides = [page.frame_locator(f'iframe[title="{side} sandbox"]') for side in ("Left", "Right")]
    for side in sides:
        side.locator("#panel-cluster .node").first.wait_for()
    differing = page.locator("#both-d")
    expect(differing).to_be_hidden()
    page.get_by_role("button", name="Pod").click()
    placed = re.compile(r"1 pod is placed differently: (\S+) on (\S+) \(left\) and (\S+) \(right\)")
    expect(differing).to_have_text(placed)
    pod, *nodes = placed.findall(differing.inner_text())[0]
    for side, node in zip(sides, nodes, strict=True):
        shown = side.locator(f'.node[data-node="{node}"] .pods .pod[data-pod="default/{pod}"]')
        eventually(lambda shown=shown: shown.evaluate("pod => getComputedStyle(pod).outlineStyle") == "solid")
    page.get_by_role("button", name="Back").click()
    expect(differing).to_be_hidden()
