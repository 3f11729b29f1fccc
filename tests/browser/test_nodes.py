"""Nodes under pressure in Chromium: raise a pod's memory usage and watch the kubelet act."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.workbench import Eventually, click, head, head_sent, level, open_scenario, post, text

PANEL = "#panel-nodes"


def time_passes(page: Page) -> None:
    """Let ten seconds pass, as somebody else."""
    post(page, "do/advance/", seconds="10")


def use(page: Page, eventually: Eventually, pod: str, amount: str) -> None:
    before = level(page)
    field = page.locator(f'[id="use:memory:pod:default/{pod}"]')
    field.fill(amount)
    field.press("Enter")
    eventually(lambda: head(page) == before + 1)


def test_memory_that_is_turned_up_costs_the_pod_that_goes_first_its_place(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "memory-pressure")
    page.locator("#tab-nodes").click()
    eventually(lambda: "node1" in text(page, f"{PANEL} .nd-h"))
    assert "The kubelet has ranked no pods so far" in text(page, PANEL)
    use(page, eventually, "greedy-low", "4168Mi")
    assert "its kubelet has not noticed this yet" in text(page, f"{PANEL} .nd-h")
    assert "below the threshold" in text(page, f"{PANEL} .ga.is-below")
    click(page, eventually, "#do-10")
    assert text(page, f"{PANEL} .rk tr.is-victim th b") == "greedy-low"
    assert "evicted exceeds its request; priority 0, lower than that of greedy-high" in text(
        page, f"{PANEL} .nd-rank .rk"
    )
    assert "available: 200Mi" in text(page, f"{PANEL} .deeds")
    pressure = page.locator(f"{PANEL} .nd-cond.is-bad")
    assert "memory-pressure NoSchedule" in " ".join(pressure.inner_text().split())
    assert page.locator('[id="cond:MemoryPressure:True"]').get_attribute("aria-pressed") == "true"
    assert "MemoryPressure" in text(page, f"{PANEL} .nd-list")
    assert page.locator('#panel-cluster .node .taint:has-text("memory-pressure")').count() == 1
    assert page.locator(f'{PANEL} .u[data-pod="default/greedy-low"]').count() == 1, "it has a second to end"
    click(page, eventually, "#do-1")
    assert page.locator(f'{PANEL} .u[data-pod="default/greedy-low"]').count() == 0


def test_a_full_disk_for_images_is_freed_and_one_that_nothing_can_free_costs_a_pod(
    page: Page, eventually: Eventually
) -> None:
    open_scenario(page, "two-disks")
    page.locator("#tab-nodes").click()
    eventually(lambda: "node1" in text(page, f"{PANEL} .nd-h"))
    for _ in range(3):
        click(page, eventually, "#now-step")
    assert text(page, "#sentence-text").startswith("The kubelet of node1 evicts no pod now: it freed 8Gi")
    assert "was met: enough was freed" in text(page, f"{PANEL} .nd-gauges")
    assert "Removing containers and images freed 8Gi" in text(page, f"{PANEL} .nd-relief")
    for _ in range(2):
        click(page, eventually, "#now-step")
    page.locator("#tab-evictions").click()
    row = page.locator('#panel-evictions .deeds [data-pod="default/logger"]')
    eventually(row.is_visible)
    joined = " ".join(row.inner_text().split())
    assert "nodefs.available, 1 s to end" in joined
    assert "Containers and images are on another disk" in joined


def test_the_slider_turns_memory_down_as_the_field_does(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "memory-pressure")
    page.locator("#tab-nodes").click()
    slider = page.locator('[id="slide:pod:default/modest"]')
    before = level(page)
    slider.press("Home")
    eventually(lambda: head(page) == before + 1)
    assert page.locator('[id="use:memory:pod:default/modest"]').input_value() == "0Mi"
    assert "7Gi of 10Gi" in text(page, f"{PANEL} .ga.is-focus")
    assert page.evaluate("document.activeElement.id") == "slide:pod:default/modest"


def test_a_slider_that_is_held_is_not_torn_out_of_the_hand_when_time_passes(page: Page, eventually: Eventually) -> None:
    sent = head_sent(page)
    open_scenario(page, "memory-pressure")
    page.locator("#tab-nodes").click()
    box = page.locator('[id="slide:pod:default/modest"]').bounding_box()
    assert box is not None
    at, middle = level(page), box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.28, middle)
    page.mouse.down()
    time_passes(page)
    eventually(lambda: sent() == at + 1)
    page.mouse.move(box["x"] + box["width"] * 0.5, middle, steps=4)
    assert head(page) == at
    page.mouse.up()
    eventually(lambda: head(page) == at + 2)
    value = page.locator('[id="use:memory:pod:default/modest"]').input_value()
    assert 4500 < int(value.removesuffix("Mi")) < 5700


def test_a_grace_period_counts_down_and_typed_text_stays(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "soft-threshold")
    page.locator("#tab-nodes").click()
    eventually(lambda: page.locator(f"{PANEL} .nd-h").is_visible())
    use(page, eventually, "busy", "9Gi")
    click(page, eventually, "#do-10")
    waits = f"{PANEL} .ga-l .is-waits"
    assert "in its grace period: 90 s left" in text(page, waits)
    page.locator("#nd-kubelet").click()
    page.locator("#nd-kubelet-text").fill("evictionSoft: {memory.available: 1Gi}")
    for left in (80, 70):
        click(page, eventually, "#do-10")
        assert f"{left} s left" in text(page, waits)
    assert page.locator("#nd-kubelet-text").input_value() == "evictionSoft: {memory.available: 1Gi}"
    assert "The kubelet has ranked no pods so far" in text(page, PANEL)


def test_an_invalid_configuration_is_reported_at_the_form_and_a_valid_one_applies(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("422")
    open_scenario(page, "node-not-ready")
    page.locator("#tab-nodes").click()
    page.locator("#nd-kubelet").click()
    page.locator("#nd-kubelet-text").fill("evictionSoft: {memory.available: 1Gi}")
    page.locator("#nd-kubelet-go").click()
    eventually(lambda: "grace period must be specified" in text(page, "#nd-kubelet-errors"))
    page.locator("#nd-preset-soft").click()
    click(page, eventually, "#nd-kubelet-go")
    assert "memory.available<1.5Gi for 1m30s" in text(page, f"{PANEL} .nd-gauges")
    click(page, eventually, "#nd-kubelet-reset")
    assert "memory.available<100Mi" in text(page, f"{PANEL} .nd-gauges")


def test_a_node_is_broken_and_chosen_with_one_press_each(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "node-not-ready")
    page.locator("#tab-nodes").click()
    page.locator('[id="nd:node2"]').click()
    eventually(lambda: text(page, f"{PANEL} .nd-h h3") == "node2")
    click(page, eventually, '[id="cond:Ready:False"]')
    assert "not-ready NoSchedule, NoExecute" in text(page, f"{PANEL} .nd-cond.is-bad")
    assert "NotReady" in text(page, '[id="nd:node2"]')


def test_an_unsaved_taint_survives_an_update_and_is_cleared_once_applied(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "node-not-ready")
    page.locator('[id="n:node2"]').click()
    page.locator("#insp-taint").click()
    page.locator("#taint-key").fill("dedicated")
    page.locator("#taint-effect").select_option("NoExecute")
    page.locator("#taint-value").fill("gpu")
    written = {"#taint-key": "dedicated", "#taint-value": "gpu", "#taint-effect": "NoExecute"}
    before = level(page)
    time_passes(page)
    eventually(lambda: head(page) == before + 1)
    assert {field: page.locator(field).input_value() for field in written} == written
    page.locator("#taint-go").click()
    page.get_by_role("button", name="Remove the taint dedicated=gpu:NoExecute").wait_for()
    time_passes(page)
    eventually(lambda: head(page) == before + 3)
    assert page.locator("#taint-key").input_value() == ""
