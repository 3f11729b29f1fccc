"""A learner's way through the workbench, in Chromium under the strict Content-Security-Policy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, WebSocketRoute

from tests.browser.workbench import (
    Eventually,
    arrive,
    click,
    connected,
    head,
    open_blank,
    open_editor,
    open_example,
    open_scenario,
    paste,
    press,
    press_apply,
    text,
    write,
)

STAGES_TO_BIND = 16


def stage(page: Page) -> str:
    now = page.locator("#panel-ribbon .is-now button")
    return (now.get_attribute("id") or "").removeprefix("st-") if now.count() else ""


def visible_texts(page: Page) -> list[str]:
    """Return the text of the visible panels, without the inspector (a viewer's choice) and the last author."""
    panels = [f"#panel-{name}" for name in ("toolbar", "ribbon", "sentence", "queues", "cluster")]
    shown = [page.locator(panel).text_content() or "" for panel in (*panels, "#decision .tabp:visible")]
    return [re.sub("command.*", "", " ".join(part.split())).strip() for part in shown]


def test_one_click_opens_a_living_example_without_a_login(page: Page, eventually: Eventually) -> None:
    page.goto("/")
    page.get_by_role("button", name="Open an example").click()
    arrive(page)
    assert page.locator("#panel-cluster [data-node]").count() >= 8
    assert page.locator("#panel-queues [data-pod]").count() >= 4
    assert page.context.cookies() == []
    press(page, eventually, "s")
    assert page.locator("#panel-queues [data-lane=inFlight]").count() == 1


@pytest.mark.parametrize(
    ("slug", "order"),
    [
        pytest.param("node-order-six-nodes", "1 5 2 6 3 4", id="two zones: one, five, two, six, three, four"),
        pytest.param("node-order-three-zones", "A1 B1 C1 A2 B2 B3", id="three zones: A1 B1 C1 A2 B2 B3"),
    ],
)
def test_nodes_are_numbered_in_nodetree_order(page: Page, eventually: Eventually, slug: str, order: str) -> None:
    open_scenario(page, slug)
    press(page, eventually, "n")
    cards = page.locator("#panel-cluster [data-node]:has(.ord)")
    numbered = sorted(
        (int(card.locator(".ord").first.inner_text()), card.get_attribute("data-node") or "") for card in cards.all()
    )
    shown = [re.sub(r"\W|node", "", name, flags=re.IGNORECASE).upper() for _, name in numbered]
    assert shown == order.split()


def test_a_pod_is_stepped_to_bind_and_a_second_browser_sees_each_step(
    page: Page, new_page: Callable[..., Page], eventually: Eventually
) -> None:
    open_scenario(page, "node-affinity-weights")
    watcher = new_page()
    watcher.goto(page.url)
    connected(watcher)
    stages = []
    for _ in range(STAGES_TO_BIND):
        press(page, eventually, "s")
        stages.append(stage(page))
        eventually(lambda: text(watcher, "#panel-sentence") == text(page, "#panel-sentence"))
        if stages[-1] == "PostBind":
            break
    assert stages[:4] == ["Pop", "Snapshot", "PreFilter", "Filter"]
    assert "Score" in stages
    assert stages[-2:] == ["Bind", "PostBind"]
    assert watcher.locator("#panel-queues [data-pod]").count() == 0
    assert "50" in page.locator("#panel-scores").text_content()  # type: ignore[operator]


def test_a_second_browser_shows_each_action_with_its_author(
    page: Page, new_page: Callable[..., Page], eventually: Eventually
) -> None:
    open_scenario(page, "node-affinity-weights")
    watcher = new_page()
    watcher.goto(page.url)
    connected(watcher)
    page.locator("#share").click()
    page.locator("#share-who").fill("Ada <Lovelace>")
    page.keyboard.press("Escape")
    press(page, eventually, "s")
    eventually(lambda: text(watcher, "#panel-status").endswith("next stage by Ada <Lovelace>"))
    page.reload()
    assert page.locator("#share-who").input_value() == "Ada <Lovelace>"


def test_a_step_back_shows_the_previous_state_exactly(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "three-zones-one-gpu-pool")
    states = [visible_texts(page)]
    for key in "sssssnn":
        press(page, eventually, key)
        states.append(visible_texts(page))
    for expected in reversed(states[:-1]):
        press(page, eventually, "b")
        assert visible_texts(page) == expected


def test_play_that_is_paused_and_started_again_plays_at_one_speed(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "three-zones-one-gpu-pool")
    ticks: list[Route] = []
    page.route(re.compile("/do/advance/$"), lambda route: ticks.append(route))
    for _ in range(3):
        page.locator("#play").click()
    for _ in range(2):
        page.wait_for_timeout(1100)
        eventually(lambda: page.title() and ticks)
        assert len(ticks) == 1
        ticks.pop().fulfill(status=204)


def test_going_back_to_a_cycle_ends_play(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "three-zones-one-gpu-pool")
    press(page, eventually, *"nn")
    page.locator("#play").click()
    page.locator("#cyc-1").click()
    page.locator("#goto").click()
    assert page.locator("#play").get_attribute("aria-pressed") == "false"


NODE = """
apiVersion: v1
kind: Node
metadata: {name: fits, labels: {kubernetes.io/hostname: fits}}
status: {allocatable: {cpu: "64", memory: 256Gi, pods: "110"}, capacity: {cpu: "64", memory: 256Gi, pods: "110"}}
"""
PODS = """
apiVersion: v1
kind: Node
metadata: {name: small}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "110"}, capacity: {cpu: "2", memory: 4Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: huge}
spec:
  containers:
  - {name: main, image: "registry.example/huge:1", resources: {requests: {cpu: "16"}}}
"""


def test_a_pod_that_fits_nowhere_says_so_and_waits_with_its_plugins(page: Page, eventually: Eventually) -> None:
    open_blank(page)
    paste(page, eventually, PODS)
    press(page, eventually, "n")
    card = page.locator("#panel-queues [data-lane=unschedulable][data-pod='default/huge']")
    assert "NodeResourcesFit" in card.inner_text()
    page.locator("#tab-filter").click()
    eventually(lambda: page.locator("#panel-filter .msg").count())
    assert "0/1 nodes are available: 1 Insufficient cpu" in text(page, "#panel-filter .msg")
    page.locator("#panel-queues [data-pod='default/huge']").click()
    eventually(lambda: page.locator("#panel-inspector .kmsg").count())
    assert text(page, "#panel-inspector .kmsg") == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )


def test_a_node_that_arrives_in_mid_cycle_gives_the_pod_the_shortcut(page: Page, eventually: Eventually) -> None:
    open_blank(page)
    paste(page, eventually, PODS)
    press(page, eventually, *"ssss")
    assert stage(page) == "Filter"
    paste(page, eventually, NODE)
    press(page, eventually, "s")
    assert page.locator("#panel-queues [data-lane=backoffQ][data-pod='default/huge']").count() == 1
    press(page, eventually, "n")
    eventually(lambda: page.locator("#panel-cluster [data-node=fits] [data-pod='default/huge']").count())


def test_preemption_shows_candidates_and_victims_then_the_preemptor_lands(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "three-zones-one-gpu-pool")
    press(page, eventually, *"sssss")
    assert stage(page) == "PostFilter"
    eventually(lambda: page.locator("#panel-preemption").is_visible())
    shown_text = text(page, "#panel-preemption")
    assert "candidates" in shown_text
    assert "victim" in shown_text
    assert "nominated" in text(page, "#panel-inspector")
    click(page, eventually, "#do-settle")
    for _ in range(4):
        click(page, eventually, "#do-10")
    shown = page.locator("#panel-cluster [data-pod='default/payments-1']")
    eventually(lambda: shown.count() == 1 and "is-nominated" not in (shown.get_attribute("class") or ""))
    assert page.locator("#panel-cluster [data-pod='default/batch-4']").count() == 0


@pytest.fixture
def example(own_server: Any, new_page: Callable[..., Page], allowed_console_errors: list[str]) -> Page:
    """Open the example on a server that the test ends and starts again."""
    while_it_opens = "409"
    allowed_console_errors += ["WebSocket", "ERR_CONNECTION_REFUSED", "object Event", while_it_opens]
    page = new_page(base_url=own_server.url)
    open_example(page)
    return page


def test_a_killed_server_loses_nothing_that_was_answered(
    own_server: Any, example: Page, eventually: Eventually
) -> None:
    page = example
    press(page, eventually, *"ssss")
    before, at = visible_texts(page), head(page)
    own_server.kill()
    own_server.start()
    page.goto(page.url)
    connected(page)
    assert head(page) == at
    assert visible_texts(page) == before
    press(page, eventually, "s")


def test_a_page_connects_again_by_itself_after_a_restart(
    own_server: Any, example: Page, eventually: Eventually
) -> None:
    page = example
    press(page, eventually, *"ss")
    at = head(page)
    opened: list[Any] = []
    page.on("websocket", lambda line: opened.append(line))
    own_server.stop()
    own_server.start()
    eventually(lambda: page.title() and opened)  # Playwright notes events only while it is asked something.
    connected(page)
    assert head(page) == at
    press(page, eventually, "s")
    assert head(page) == at + 1


@pytest.mark.parametrize(
    ("manifests", "message"),
    [
        pytest.param("a: [1, 2", "did not find expected", id="text that is not YAML is refused"),
        pytest.param("kind: Elephant\napiVersion: v1\nmetadata: {name: x}", "Elephant", id="an unknown kind is named"),
        pytest.param(PODS.replace("containers:", "contaners:"), 'unknown field "spec.contaners"', id="a wrong field"),
        pytest.param(
            "a: &a [x,x,x,x,x,x,x,x,x]\n"
            + "\n".join(
                f"{b}: &{b} [*{a},*{a},*{a},*{a},*{a},*{a},*{a},*{a}]"
                for a, b in zip("abcdefgh", "bcdefghi", strict=True)
            ),
            "alias",
            id="a YAML bomb is refused",
        ),
    ],
)
def test_manifests_that_are_wrong_get_a_message_and_change_nothing(
    page: Page, eventually: Eventually, allowed_console_errors: list[str], manifests: str, message: str
) -> None:
    allowed_console_errors.append("422|413|400")
    open_blank(page)
    before = visible_texts(page)
    open_editor(page)
    write(page, manifests)
    press_apply(page)
    eventually(lambda: message in text(page, "#apply-errors"))
    page.keyboard.press("Escape")
    assert visible_texts(page) == before


def test_a_file_of_ten_megabytes_is_refused_in_the_page(page: Page, eventually: Eventually, tmp_path: Any) -> None:
    open_blank(page)
    big = tmp_path / "big.yaml"
    big.write_text("# " + "x" * 10_000_000)
    open_editor(page)
    page.locator("#manifest-file").set_input_files(big)
    eventually(
        lambda: "big.yaml is 10,000,002 bytes long; the limit is 1,048,576 bytes." in text(page, "#apply-errors")
    )
    assert page.locator("#manifests").input_value() == ""
    page.reload()
    connected(page)
    assert head(page) == 0
    assert page.locator("#panel-cluster [data-node]").count() == 0


def test_a_form_adds_a_node_and_a_pod_and_shows_errors_at_the_field(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("422")
    open_blank(page)
    page.locator("#add").click()
    page.locator("#add-node").click()
    form = page.locator("#form-node")
    form.locator("[name=count]").fill("2")
    form.locator("[name=cpu]").fill("lots")
    form.locator(".btn-ink").click()
    eventually(lambda: page.locator("#form-node .err").count())
    assert "quantities must match" in text(page, "#form-node")
    page.locator("#form-node [name=cpu]").fill("4")
    page.locator("#form-node .btn-ink").click()
    eventually(lambda: page.locator("#panel-cluster [data-node]:has(.ord)").count() == 2)


def test_the_workbench_works_on_a_phone(new_page: Callable[..., Page], eventually: Eventually) -> None:
    page = new_page(viewport={"width": 390, "height": 844})
    open_scenario(page, "three-zones-one-gpu-pool")
    page.locator("#do-stage").click()
    eventually(lambda: "Pop" in text(page, "#panel-ribbon"))
    for name in ("queue", "decision", "inspector", "cluster"):
        page.locator(f".dock [data-panel={name}]").click()
        assert page.locator(f".p-{name}").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_click_without_an_answer_is_reported_until_the_next_one_is_answered(
    page: Page, eventually: Eventually, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors += ["ERR_FAILED", "htmx:sendError", "htmx:afterRequest"]
    open_example(page)
    before = head(page)
    page.route("**/do/stage/", lambda route: route.abort())
    page.locator("#do-stage").click()
    eventually(lambda: "your last click may be lost" in text(page, "#notice"))
    assert page.locator("#lost").is_visible()
    assert head(page) == before
    page.unroute("**/do/stage/")
    page.locator("#do-stage").click()
    eventually(lambda: head(page) == before + 1)
    eventually(lambda: not page.locator("#lost").is_visible())
    assert text(page, "#notice") == ""


def test_a_line_that_died_without_a_word_is_opened_again(page: Page, eventually: Eventually) -> None:
    lines: list[WebSocketRoute] = []

    def through(line: WebSocketRoute) -> None:
        lines.append(line)
        server = line.connect_to_server()
        if len(lines) == 1:
            server.on_message(lambda message: line.send(message) if not dead else None)

    dead: list[bool] = []
    page.route_web_socket("**/ws/**", through)
    open_example(page)
    before = head(page)
    dead.append(True)
    page.locator("#do-stage").click()
    eventually(lambda: head(page) == before + 1)
    assert len(lines) == 2
    eventually(lambda: not page.locator("#lost").is_visible())
