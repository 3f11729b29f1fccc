"""Downloads of the page (files, tables, pictures), and expectations."""

from __future__ import annotations

import csv
import json
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from playwright.sync_api import Locator, Page, Route

from scheduler_engine.scenario import load_scenario, run
from tests.browser.workbench import Eventually, apply, click, connected, new_sandbox, open_example, press, text
from tests.engine.cluster import node, pod


def saved(page: Page, button: Locator) -> Path:
    """Click, and save the download under the name the page suggests."""
    with page.expect_download() as download:
        button.click()
    path = Path(str(download.value.path()))
    named = path.with_name(download.value.suggested_filename)
    path.rename(named)
    return named


def opened(page: Page, *, pods: int = 1, nodes: int = 1) -> None:
    page.goto(new_sandbox(page))
    apply(page, *(node(f"n{n}") for n in range(nodes)), *(pod(f"web-{n}") for n in range(pods)))
    page.reload()
    connected(page)


def test_a_scenario_is_previewed_copied_saved_and_played(page: Page, eventually: Eventually) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_example(page)
    press(page, eventually, "n", "n")
    page.locator("#export").click()
    eventually(lambda: "kind: Scenario" in text(page, "#export-text"))
    page.locator("#export-expect").select_option("queues")
    eventually(lambda: "expectations at the end" in text(page, "#export-shown"))
    path = saved(page, page.locator("#export-download"))
    assert path.name.endswith(".scenario.yaml")
    *_, end = run(load_scenario(path))
    assert end.failures == ()
    page.locator("#export-copy").click()
    eventually(lambda: page.locator("#export-copy").inner_text() == "Copied")
    assert page.evaluate("navigator.clipboard.readText()") == path.read_text()
    assert f"pytest {path.name}" in text(page, ".ex-run")
    page.keyboard.press("Escape")
    eventually(lambda: not page.locator("#dialog-export").is_visible())
    eventually(lambda: page.evaluate("document.activeElement.id") == "export")


def test_each_form_has_its_own_choices_and_its_own_file(page: Page, eventually: Eventually) -> None:
    opened(page)
    page.locator("#export").click()
    eventually(lambda: "kind: Scenario" in text(page, "#export-text"))
    assert page.locator("[name=kwok]").is_hidden()
    page.locator("[name=form][value=manifests]").check()
    page.locator("[name=kwok]").check()
    eventually(lambda: "kwok.x-k8s.io/node: fake" in text(page, "#export-text"))
    assert page.locator("#export-from").is_hidden()
    assert "kwok.x-k8s.io/node: fake" in saved(page, page.locator("#export-download")).read_text()
    page.locator("[name=form][value=snapshot]").check()
    eventually(lambda: "schedulerConfig" in (page.locator("#export-text").text_content() or ""))
    snapshot = json.loads(saved(page, page.locator("#export-download")).read_text())
    assert [item["metadata"]["name"] for item in snapshot["nodes"]] == ["n0"]
    page.locator("[name=form][value=trace]").check()
    eventually(lambda: "CommandGiven" in text(page, "#export-text"))


def test_an_invalid_number_is_reported_in_the_dialog(page: Page, eventually: Eventually) -> None:
    opened(page)
    page.locator("#export").click()
    eventually(lambda: "kind: Scenario" in text(page, "#export-text"))
    page.locator("#export-from").fill("0")
    eventually(lambda: "0 of 1 commands" in text(page, "#export-shown"))


def test_a_file_is_of_the_moment_in_view(page: Page, eventually: Eventually) -> None:
    opened(page)
    press(page, eventually, "n")
    page.keyboard.press("Home")
    eventually(lambda: page.locator("#now-follow").is_visible())
    page.locator("#export").click()
    assert page.locator("#export-when").is_visible()
    page.locator("[name=form][value=manifests]").check()
    page.locator("[name=added]").check()
    eventually(lambda: "at=" in (page.locator("#export-download").get_attribute("href") or ""))
    saved_text = saved(page, page.locator("#export-download")).read_text()
    assert "nodeName" not in saved_text


def test_a_click_survives_the_preview_that_arrives_while_the_button_is_down(page: Page, eventually: Eventually) -> None:
    opened(page)
    page.locator("#export").click()
    link = page.locator("#export-download")
    eventually(lambda: "kind: Scenario" in text(page, "#export-text"))
    link.hover()
    page.mouse.down()
    page.evaluate("document.querySelector('[name=form][value=manifests]').click()")
    eventually(lambda: "manifests" in (link.get_attribute("href") or ""))
    with page.expect_download() as download:
        page.mouse.up()
    assert download.value.suggested_filename.endswith(".yaml")


def test_a_download_follows_the_form_even_before_its_preview_comes(page: Page, eventually: Eventually) -> None:
    opened(page)
    page.locator("#export").click()
    eventually(lambda: "kind: Scenario" in text(page, "#export-text"))
    held: list[Route] = []
    page.route("**/export/?*", lambda route: held.append(route))
    page.locator("[name=form][value=manifests]").check()
    page.locator("[name=added]").check()
    with page.expect_download() as download:
        page.locator("#export-download").click()
        eventually(lambda: held)
        page.unroute("**/export/?*")
    saved_text = Path(str(download.value.path())).read_text()
    assert "kind: Scenario" not in saved_text
    assert "added=1" in str(page.locator("#export-download").get_attribute("href"))


def test_a_phone_finds_the_export_in_the_menu(page: Page, eventually: Eventually) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page)
    page.locator(".more > summary").click()
    page.locator("[data-press=export]").click()
    eventually(lambda: "kind: Scenario" in text(page, "#export-text"))
    box = page.locator("#dialog-export").bounding_box()
    assert box is not None
    assert box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("tab", ["filter", "scores", "nodes", "events"])
def test_a_table_is_saved_with_all_rows_of_the_moment_in_view(page: Page, eventually: Eventually, tab: str) -> None:
    opened(page, nodes=3, pods=2)
    press(page, eventually, "n", "n")
    page.locator("#panel-cluster [data-pod='default/web-0']").first.click()
    page.locator(f"#tab-{tab}").click()
    link = page.locator(f"a[data-csv][data-only={tab}]")
    eventually(link.is_visible)
    path = saved(page, link)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == {"filter": 3, "scores": 3, "nodes": 3, "events": 2}[tab]
    assert {row.get("pod", "default/web-0") for row in rows} == {"default/web-0"}


def test_the_queue_is_saved_from_its_own_head(page: Page) -> None:
    opened(page, pods=3)
    rows = saved(page, page.locator("#csv-queues")).read_text().splitlines()
    assert len(rows) == 4


def test_the_map_is_saved_as_svg_and_as_png(page: Page) -> None:
    opened(page, nodes=5, pods=2)
    path = saved(page, page.locator("#cluster-svg"))
    assert path.name == "cluster.svg"
    root = ElementTree.parse(path).getroot()
    words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"n0", "n1", "n2", "n3", "n4"} <= words
    assert "foreignObject" not in path.read_text()
    png = saved(page, page.locator("#cluster-png")).read_bytes()
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    assert abs(width - 2 * float(root.get("width") or 0)) <= 2
    assert height > 100


def test_tiles_show_in_the_picture_how_full_a_node_is(page: Page, eventually: Eventually) -> None:
    opened(page, nodes=60, pods=30)
    eventually(lambda: page.locator(".tile").count() == 60)
    before = len(saved(page, page.locator("#cluster-svg")).read_text().split("<rect"))
    page.locator("#do-settle").click()
    eventually(lambda: page.locator(".q").count() == 0)
    assert len(saved(page, page.locator("#cluster-svg")).read_text().split("<rect")) >= before + 30


def test_the_map_of_a_large_cluster_is_saved_with_its_cells(page: Page, eventually: Eventually) -> None:
    opened(page, nodes=450)
    eventually(page.locator("#heat-map .nsewdrag").count)
    root = ElementTree.parse(saved(page, page.locator("#cluster-svg"))).getroot()
    assert [element for element in root.iter() if element.tag.endswith(("}image", "}path"))]


def test_a_chart_is_saved_with_its_title_and_its_lines(page: Page, eventually: Eventually) -> None:
    opened(page, pods=2)
    page.locator("#tab-metrics").click()
    eventually(lambda: page.locator("#mt-pending .main-svg").count())
    svg = saved(page, page.locator("#mt-pending-as-svg"))
    assert svg.name == "pending.svg"
    assert "Pending pods by queue" in svg.read_text()
    assert "unschedulable" in svg.read_text()
    ElementTree.parse(svg)
    assert saved(page, page.locator("#mt-pending-as-png")).read_bytes().startswith(b"\x89PNG")


def test_a_fact_is_expected_with_the_keyboard_and_removed_again(page: Page, eventually: Eventually) -> None:
    opened(page)
    press(page, eventually, "n")
    page.locator("#panel-cluster [data-pod='default/web-0']").first.click()
    eventually(lambda: "web-0" in text(page, "#panel-inspector"))
    page.keyboard.press("x")
    eventually(lambda: page.evaluate("document.activeElement.id") == "insp-x-placement")
    page.keyboard.press("Enter")
    eventually(lambda: "{pod: default/web-0, node: n0}" in text(page, "#notice"))
    page.get_by_role("button", name="All expectations").click()
    eventually(lambda: "{pod: default/web-0, node: n0}" in text(page, "#panel-expectations"))
    page.get_by_role("button", name="Undo", exact=True).click()
    eventually(lambda: "No expectations yet" in text(page, "#panel-expectations"))


def test_a_verdict_is_expected_from_its_opened_cell(page: Page, eventually: Eventually) -> None:
    page.goto(new_sandbox(page))
    apply(page, node("n0"), pod("big", "9"))
    page.reload()
    connected(page)
    press(page, eventually, "n")
    page.locator("#tab-filter").click()
    page.locator(".mx td.n button").click()
    eventually(lambda: page.locator(".why .expect").is_visible())
    page.keyboard.press("x")
    eventually(lambda: "plugin: NodeResourcesFit" in text(page, "#notice"))


def test_a_later_difference_is_shown_but_not_red(page: Page, eventually: Eventually) -> None:
    opened(page)
    page.locator("[id='q:default/web-0']").click()
    page.locator("#insp-expect").click()
    page.locator("#insp-x-placement").click()
    eventually(lambda: "pending: true" in text(page, "#notice"))
    assert page.locator("#now-red").count() == 0
    press(page, eventually, "n")
    page.locator("#tab-expectations").click()
    eventually(lambda: "At the moment in view it is different:" in text(page, ".xp-d"))
    assert "n0" in text(page, ".xp-d")
    assert page.locator("#now-red, .xp-r.is-no").count() == 0
    assert page.locator("#tab-expectations").get_attribute("data-red") is None
    page.locator("#xp-at-1").click()
    eventually(lambda: page.locator("#now-follow").is_visible())
    eventually(lambda: page.locator(".xp-d").count() == 0)
    assert page.locator(".xp-r.is-yes").count() == 1


def test_looking_back_an_expectation_shows_at_the_moment_in_view(page: Page, eventually: Eventually) -> None:
    opened(page)
    press(page, eventually, "n")
    page.locator("#panel-cluster [data-pod='default/web-0']").first.click()
    page.keyboard.press("ArrowLeft")
    eventually(lambda: page.locator("#now-follow").is_visible())
    page.keyboard.press("x")
    eventually(lambda: page.evaluate("document.activeElement.id") == "insp-x-placement")
    page.keyboard.press("Enter")
    eventually(lambda: "Expected from now on" in text(page, "#notice"))
    assert page.locator("#now-follow").is_visible()


def test_undone_steps_are_marked(page: Page, eventually: Eventually) -> None:
    opened(page)
    press(page, eventually, "n")
    page.locator("#panel-cluster [data-pod='default/web-0']").first.click()
    page.locator("#insp-expect").click()
    page.locator("#insp-x-placement").click()
    eventually(lambda: "node: n0" in text(page, "#notice"))
    press(page, eventually, "b")
    click(page, eventually, "#do-10")
    page.locator("#tab-expectations").click()
    eventually(lambda: "undone" in text(page, "#panel-expectations"))
    page.locator("#export").click()
    page.locator("#export-expect").select_option("collected")
    eventually(lambda: "One is left out" in text(page, "#export-shown"))
    data = yaml.safe_load(saved(page, page.locator("#export-download")).read_text())
    assert not any("expect" in step for step in data["then"])
