"""Evictions in Chromium: answers of the API server, a stuck eviction, a drain, and evictions planned by taints."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.workbench import Eventually, click, open_scenario, paste, text

PANEL = "#panel-evictions"
NODE = """
apiVersion: v1
kind: Node
metadata: {{name: node1, labels: {{kubernetes.io/hostname: node1}}}}
spec: {{taints: [{taint}]}}
status: {{capacity: {{cpu: "4", memory: 8Gi, pods: "110"}}}}
"""
TAINTED = NODE.format(taint="{key: key1, value: value1, effect: NoExecute}")
UNTAINTED = NODE.format(taint="")


def row(page: Page, pod: str, code: int) -> str:
    """Return the newest answer with this code about a pod."""
    return " ".join(
        page.locator(f'{PANEL} .ev-r[data-pod="default/{pod}"][data-code="{code}"]').first.inner_text().split()
    )


def choose(page: Page, eventually: Eventually, kind: str, key: str) -> None:
    selector = f'.pod[data-pod="{key}"]' if kind == "pod" else f'article[data-node="{key}"] .node-n'
    page.locator(f"#panel-cluster {selector}").first.click()
    eventually(lambda: page.locator(".insp-t h3").inner_text() == key.removeprefix("default/"))


def test_an_eviction_is_allowed_then_refused_and_allowed_when_asked_again(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "eviction-answers")
    page.locator("#tab-evictions").click()
    eventually(lambda: "Nothing has been evicted." in text(page, PANEL))
    choose(page, eventually, "pod", "default/db-0")
    click(page, eventually, "#insp-evict")
    assert "200 OK requested by a person" in row(page, "db-0", 200)
    assert "30 s left" in row(page, "db-0", 200)
    choose(page, eventually, "pod", "default/db-1")
    click(page, eventually, "#insp-evict")
    assert "The disruption budget db needs 2 healthy pods and has 2 currently" in row(page, "db-1", 429)
    assert "Wait: db-0 is still terminating." in row(page, "db-1", 429)
    assert text(page, "#sentence-text") == (
        "The API server refused to evict db-1: 429, Cannot evict pod as it would violate the pod's disruption budget."
    )
    assert "429" in text(page, "#panel-inspector .insp-answer")
    for _ in range(3):
        click(page, eventually, "#do-10")
    assert "Ask again: db now allows evicting 1 pod." in row(page, "db-1", 429)
    click(page, eventually, f'{PANEL} [id="ev-again-default/db-1"]')
    assert "200 OK" in row(page, "db-1", 200)
    assert "A later request was allowed at 00:30.0." in row(page, "db-1", 429)


def test_a_misconfigured_budget_answers_500_until_it_is_deleted(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "eviction-two-budgets")
    choose(page, eventually, "pod", "default/db-0")
    page.locator("#tab-evictions").click()
    click(page, eventually, "#ev-ask")
    assert "500 Internal Server Error" in row(page, "db-0", 500)
    assert "This pod has more than one PodDisruptionBudget" in row(page, "db-0", 500)
    page.locator(PANEL).get_by_role("button", name="Delete budget forgotten").click()
    eventually(lambda: "Ask again: db now allows evicting 2 pods." in row(page, "db-0", 500))
    click(page, eventually, f'{PANEL} [id="ev-again-default/db-0"]')
    assert "200 OK" in row(page, "db-0", 200)


def test_a_stuck_eviction_is_marked_and_resolved_past_the_eviction_api(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "eviction-stuck")
    page.locator("#tab-evictions").click()
    click(page, eventually, "#do-10")
    eventually(lambda: page.locator(f"{PANEL} .is-stuck").count() == 2)
    assert "db-1 is not ready" in row(page, "db-0", 429)
    button = page.locator(PANEL).get_by_role("button", name="Delete db-0 without the Eviction API")
    button.click()
    eventually(lambda: page.locator(f"{PANEL} .is-stuck").count() == 1)
    for _ in range(3):
        click(page, eventually, "#do-10")
    asked_again = "Deleted without the Eviction API. Asked again at 00:15.0, when no budget counted it any longer."
    assert asked_again in row(page, "db-0", 429)
    assert "it was already being deleted: no budget is checked" in row(page, "db-0", 200)


def test_a_node_is_drained_at_the_pace_of_the_budget(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "drain")
    choose(page, eventually, "node", "node1")
    page.locator("#insp-ignore_daemonsets").check()
    click(page, eventually, "#insp-drain")
    page.locator("#panel-inspector #insp-evictions").click()
    eventually(lambda: page.locator("#tab-evictions").get_attribute("aria-selected") == "true")
    drain = f'{PANEL} .ev-r[data-node="node1"]'
    eventually(lambda: "1 pod refused asks again in 5 s" in text(page, drain))
    assert "The drain of node1 waits: 1 pod evicted so far, but the API server refuses db-" in text(
        page, "#sentence-text"
    )
    click(page, eventually, "#do-1")
    assert "asks again in 4 s" in text(page, drain)
    for _ in range(3):
        click(page, eventually, "#do-10")
    assert "waits for 1 pod to end" in text(page, drain)
    for _ in range(3):
        click(page, eventually, "#do-10")
    assert "finished" in text(page, drain)
    assert "DaemonSet or static pods" in text(page, drain)
    click(page, eventually, f'{drain} [id="ed-open-node1"]')
    assert page.locator('#panel-cluster article[data-node="node1"].is-cordoned').count() == 0


def test_a_failed_drain_shows_kubectls_message_and_the_flag_that_helps(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "drain")
    choose(page, eventually, "node", "node1")
    page.locator("#insp-force").check()
    click(page, eventually, "#do-1")
    assert page.locator("#insp-force").is_checked(), "an update keeps a person's ticks"
    click(page, eventually, "#insp-drain")
    assert text(page, "#sentence-text") == (
        "The drain of node1 failed, and no pod was evicted: pods of DaemonSets need --ignore-daemonsets."
    )
    said = text(page, "#panel-inspector")
    assert 'error: unable to drain node "node1" due to error: cannot delete DaemonSet-managed Pods' in said
    assert "--ignore-daemonsets: leave DaemonSet pods where they are." in said
    click(page, eventually, "#do-1")
    assert page.locator("#insp-force").is_checked(), "the flags of the last drain"
    assert not page.locator("#insp-ignore_daemonsets").is_checked()
    page.locator("#panel-inspector #insp-evictions").click()
    again = page.locator(PANEL).get_by_role("button", name="Drain again with --force --ignore-daemonsets")
    eventually(again.is_visible)
    again.click()
    eventually(lambda: "1 pod refused asks again in" in text(page, f'{PANEL} .ev-r[data-node="node1"]'))
    assert text(page, "#insp-drain") == "Stop drain"
    assert page.locator("#insp-force").count() == 0


def test_the_flags_of_a_drain_can_be_ticked_on_a_phone(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "drain")
    choose(page, eventually, "node", "node1")
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".dock [data-panel='inspector']").click()
    for flag in ("force", "ignore_daemonsets", "delete_emptydir_data"):
        field = page.locator(f"#insp-{flag}")
        field.check()
        box = page.locator("label", has=field).bounding_box()
        assert box
        assert box["x"] + box["width"] <= 390
        assert box["height"] >= 44
    click(page, eventually, "#insp-drain")
    eventually(lambda: text(page, "#insp-drain") == "Stop drain")


def test_a_taint_counts_down_and_is_removed_in_time(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "toleration-seconds")
    page.locator("#tab-evictions").click()
    paste(page, eventually, TAINTED)
    plan = f'{PANEL} .ev-plan[data-pod="default/stays-an-hour"]'
    eventually(lambda: "must leave in 60 min" in text(page, plan))
    assert "evicted at once" in text(page, f'{PANEL} .ev-plan[data-pod="default/no-toleration"]')
    click(page, eventually, "#do-10")
    assert "must leave in 59 min 50 s" in text(page, plan)
    choose(page, eventually, "pod", "default/stays-an-hour")
    assert "Must leave in 59 min 50 s, at 60:00.0: key1=value1:NoExecute" in text(page, ".insp-plan")
    paste(page, eventually, UNTAINTED)
    eventually(lambda: page.locator(plan).get_attribute("data-state") == "cancelled")
    assert "cancelled 59 min 50 s early: the taint was removed in time" in text(page, plan)
