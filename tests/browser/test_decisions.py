"""The decision panels in Chromium: why this node and not that one, and another configuration."""

from __future__ import annotations

import re

import pytest
import yaml
from playwright.sync_api import Page

from tests.browser.workbench import Eventually, apply, click, head, open_blank, open_scenario, post, press, text
from tests.engine.cluster import node, pod


def configuration(page: Page) -> str:
    """Return the text in the editor."""
    return str(page.evaluate("ace.edit('configuration-editor').getValue()"))


def open_configuration(page: Page, eventually: Eventually) -> None:
    """Open the configuration's tab, and its editor with the current configuration."""
    page.locator("#tab-configuration").click()
    page.locator("#configure").click()
    page.locator("#configuration-editor .ace_content").wait_for()
    eventually(lambda: configuration(page))


def test_a_cell_of_the_filter_matrix_opens_its_arithmetic_and_closes_again(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "three-zones-one-gpu-pool")
    press(page, eventually, *"ssss")
    cell = page.locator("#panel-filter .n button[data-node=node-a1]")
    cell.click()
    eventually(lambda: page.locator("#panel-filter .why").count() == 1)
    shown_text = text(page, "#panel-filter .why")
    assert "node-a1 does not have enough cpu and memory left for payments-1." in shown_text
    assert "2800m used + 3000m requested = 5800m > 4000m allocatable" in shown_text
    assert "Insufficient cpu; Insufficient memory" in shown_text
    page.locator("#panel-filter .n button[data-node=node-a1]").click()
    eventually(lambda: page.locator("#panel-filter .why").count() == 0)


def test_the_keyboard_alone_reaches_every_cell_and_focus_stays_after_an_update(
    page: Page, eventually: Eventually
) -> None:
    open_scenario(page, "three-zones-one-gpu-pool")
    press(page, eventually, *"ssss")
    page.locator("[id='m:node-b1']").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    eventually(lambda: page.locator("#panel-filter .why").count() == 1)
    assert "TaintToleration: node-b1 has no taints." in text(page, "#panel-filter .why")
    focused = "document.activeElement.closest('tr')?.dataset.node + ' ' + document.activeElement.cellIndex"
    assert page.evaluate(focused) == "node-b1 3"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "node-c1 3"


def test_why_not_there_in_the_inspector_opens_the_cell(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "three-zones-one-gpu-pool")
    press(page, eventually, *"ssss")
    page.locator("#panel-queues [data-pod='default/payments-1']").click()
    eventually(lambda: page.locator("#panel-inspector .helps button").count() >= 4)
    sentence = "node-c2 is cordoned, and payments-1 does not tolerate that."
    page.locator("#panel-inspector .helps button", has_text=sentence).click()
    eventually(lambda: sentence in text(page, "#panel-filter .why"))


def test_all_reasons_adds_the_refusals_that_kubernetes_does_not_report(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "three-zones-one-gpu-pool")
    press(page, eventually, *"ssss")
    official = page.locator("#panel-filter td.n:not(.also)").count()
    assert page.locator("#panel-filter td.also").count() == 0
    page.locator("#all-reasons").click()
    eventually(lambda: page.locator("#panel-filter td.also").count() == 4)
    assert page.locator("#panel-filter td.n:not(.also)").count() == official
    assert "Kubernetes does not report" in text(page, "#panel-filter .tbl-note")
    page.locator("#panel-filter td.also button[data-node=node-b2]").click()
    eventually(lambda: page.locator("#panel-filter .why").count() == 1)
    assert "not asked, because NodeAffinity had said no. Asked alone:" in text(page, "#panel-filter .why")
    page.locator("#all-reasons").click()
    eventually(lambda: page.locator("#panel-filter td.also").count() == 0)


def test_the_worked_bin_packing_scores_5_and_7_come_out_with_their_arithmetic(
    page: Page, eventually: Eventually
) -> None:
    open_scenario(page, "bin-packing-worked-example")
    press(page, eventually, *"ssssssss")
    for name, sum_of_ten in (
        ("node-1", "(7 × 5 + 5 × 1 + 3 × 3) / 9 = 5"),
        ("node-2", "(5 × 5 + 7 × 1 + 10 × 3) / 9 = 7"),
    ):
        page.locator(f"[id='s:{name}:NodeResourcesFit']").click()
        eventually(lambda expected=sum_of_ten: expected in text(page, "#panel-scores .why"))


def test_the_note_of_a_criterion_is_as_wide_as_its_values(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "preemption-every-rung")
    press(page, eventually, *"sssss")
    rung = page.locator(".rung", has_text="2³¹")
    eventually(lambda: rung.count() == 1)
    values, note = (rung.locator(f"p{which}").bounding_box() for which in (":not(.quiet)", ".quiet"))
    assert values is not None
    assert note is not None
    assert (note["x"], note["width"]) == (values["x"], values["width"])


def test_six_candidates_fall_at_five_rungs_and_the_film_can_be_stepped(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "preemption-every-rung")
    press(page, eventually, *"sssss")
    eventually(lambda: page.locator("#panel-preemption .cand").count() == 6)
    fell = {
        card.get_attribute("data-node"): " ".join(card.inner_text().split()) for card in page.locator(".cand").all()
    }
    rungs = {name: note.partition("dropped at ")[2][:1] for name, note in fell.items()}
    assert rungs == {
        "node-young": "",
        "node-old": "5",
        "node-count": "4",
        "node-sum": "3",
        "node-high": "2",
        "node-guarded": "1",
    }
    assert "PDB guard" in fell["node-guarded"]
    frames = page.locator("#film li").count()
    for number in range(frames):
        page.locator("#film-next").click()
        assert page.locator("#film li.is-now").get_attribute("data-frame") == str(number)
    page.locator("#film-back").click()
    assert page.locator("#film li.is-now").get_attribute("data-frame") == str(frames - 2)
    assert "4000m requested + 4000m back = 8000m > 4000m" in text(page, "#film-why p:not([hidden])")
    page.locator(".cand[data-node=node-sum]").click()
    eventually(lambda: page.locator("#film").get_attribute("data-film-of") == "1 node-sum")
    assert page.locator("#film li.is-now").count() == 0


def test_the_film_plays_to_its_end_and_stops(page: Page, eventually: Eventually) -> None:
    open_scenario(page, "preemption-every-rung")
    press(page, eventually, *"sssss")
    play_to_the_end(page, "film", eventually)


def play_to_the_end(page: Page, film: str, eventually: Eventually) -> None:
    """Press Play of a film, and wait until it stops at its last frame."""
    button = page.locator(f"#{film}-play")
    eventually(button.is_visible)
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    last = page.locator(f"#{film} li").count() - 1
    eventually(lambda: button.get_attribute("aria-pressed") == "false", 30)  # 1.4 s per frame
    assert page.locator(f"#{film} li.is-now").get_attribute("data-frame") == str(last)


def open_search(page: Page, eventually: Eventually) -> None:
    """Open the cell of a node on which devices were searched in vain."""
    open_scenario(page, "devices-for-claims")
    press(page, eventually, *"nnnnn")
    page.locator("#tab-filter").click()
    page.locator("[id='f:node-a:DynamicResources']").click()


def test_the_search_for_devices_is_a_film_in_the_cell_of_its_node(page: Page, eventually: Eventually) -> None:
    open_search(page, eventually)
    eventually(lambda: page.locator("#search").is_visible())
    assert page.locator("#search li.is-now").count() == 0
    assert "node-a does not have all devices" in text(page, "#search-why > div:not([hidden])")
    for number in range(3):
        page.locator("#search-next").click()
        assert page.locator("#search li.is-now").get_attribute("data-frame") == str(number)
    words = text(page, "#search-why > div:not([hidden])")
    assert "gpu-1: expression is false" in words
    assert "memory = 16Gi" in words
    page.locator("[id='f:node-b:DynamicResources']").click()
    eventually(lambda: "node-b" in (page.locator("#search").get_attribute("data-film-of") or ""))
    assert page.locator("#search li.is-now").count() == 0


def test_the_film_of_a_search_plays_to_its_end_and_goes_with_its_cell(page: Page, eventually: Eventually) -> None:
    open_search(page, eventually)
    play_to_the_end(page, "search", eventually)
    page.locator("[id='f:node-a:DynamicResources']").click()
    eventually(lambda: page.locator("#search").count() == 0)


HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PROFILE = HEAD + "profiles:\n- schedulerName: default-scheduler\n"


@pytest.mark.parametrize(
    ("wrong", "place", "message"),
    [
        pytest.param(
            PROFILE + "  pluginConfig:\n  - name: InterPodAffinity\n    args: {hardPodAffinityWeight: -1}\n",
            "line 7",
            "Invalid value: -1: not in valid range [0, 100]",
            id="a negative weight",
        ),
        pytest.param(
            PROFILE + "  plugins: {filter: {enabled: [{name: Nobody}]}}\n",
            "",
            'FilterPlugin "Nobody" does not exist',
            id="an unknown plugin",
        ),
        pytest.param(
            PROFILE + "  plugins: {queueSort: {enabled: [{name: PrioritySort}, {name: PrioritySort}]}}\n",
            "",
            "only one queue sort plugin can be enabled",
            id="two queue sorts",
        ),
        pytest.param(
            PROFILE + '  plugins: {bind: {disabled: [{name: "*"}]}}\n',
            "",
            "at least one bind plugin is needed",
            id="no bind plugin",
        ),
    ],
)
def test_a_wrong_configuration_gets_kubernetes_error_and_changes_nothing(
    page: Page, eventually: Eventually, allowed_console_errors: list[str], wrong: str, place: str, message: str
) -> None:
    allowed_console_errors.append("422")
    open_blank(page)
    page.locator("#tab-configuration").click()
    before = text(page, "#panel-configuration")
    open_configuration(page, eventually)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url.split("/")[-2]))
    page.evaluate("text => ace.edit('configuration-editor').setValue(text, 1)", wrong)
    page.locator("#configuration-apply").click()
    eventually(lambda: message in text(page, "#configuration-errors"))
    eventually(lambda: "configure" in sent)
    assert sent == ["controls", "configure"], "the controls request comes first: a later answer would remove the errors"
    assert place in text(page, "#configuration-errors")
    assert "nothing changed yet" in text(page, "#configuration-errors")
    eventually(lambda: page.evaluate("document.activeElement.closest('dialog')?.ariaBusy === null"))
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "configure"
    assert (head(page), text(page, "#panel-configuration")) == (0, before)


def controlled(page: Page, eventually: Eventually, differs: str) -> None:
    """Wait until the controls show this difference."""
    eventually(lambda: differs in text(page, "#configuration-differs"))


def test_without_yaml_one_changes_the_configuration_sees_what_differs_and_goes_back(
    page: Page, eventually: Eventually
) -> None:
    open_blank(page)
    open_configuration(page, eventually)
    controlled(page, eventually, "Nothing: plugins, weights, order, arguments and settings are the defaults.")
    page.get_by_role("switch", name="ImageLocality").uncheck()
    controlled(page, eventually, "ImageLocality is off.")
    page.get_by_label("Weight of NodeAffinity").fill("5")
    page.keyboard.press("Tab")
    controlled(page, eventually, "NodeAffinity has weight 5 at Score; by default it is 2.")
    page.get_by_label("Type", exact=True).select_option("MostAllocated")
    controlled(page, eventually, "NodeResourcesFit.scoringStrategy.type is MostAllocated")
    page.locator("#cf-percentageOfNodesToScore").fill("30")
    page.keyboard.press("Enter")
    controlled(page, eventually, "percentageOfNodesToScore is 30; by default it is 0.")
    assert yaml.safe_load(configuration(page)) == yaml.safe_load(PROFILE) | {
        "percentageOfNodesToScore": 30,
        "profiles": [
            {
                "schedulerName": "default-scheduler",
                "plugins": {
                    "multiPoint": {
                        "disabled": [{"name": "ImageLocality"}],
                        "enabled": [{"name": "NodeAffinity", "weight": 5}],
                    }
                },
                "pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}],
            }
        ],
    }
    page.locator("#configuration-apply").click()
    eventually(lambda: head(page) == 1)
    shown_text = text(page, "#panel-configuration")
    for differs in ("ImageLocality is off.", "NodeAffinity has weight 5", "is MostAllocated", "ToScore is 30"):
        assert differs in shown_text
    click(page, eventually, "#configure-default")
    assert "Nothing: plugins, weights" in text(page, "#panel-configuration")
    assert page.locator("#configure-default").count() == 0


def test_typing_yaml_moves_the_controls_and_invalid_yaml_disables_them(page: Page, eventually: Eventually) -> None:
    open_blank(page)
    open_configuration(page, eventually)
    controlled(page, eventually, "Nothing")
    write_configuration = "text => ace.edit('configuration-editor').setValue(text, 1)"
    page.evaluate(write_configuration, HEAD + "percentageOfNodesToScore: 120\n")
    eventually(lambda: "not in valid range [0-100]" in text(page, "#configuration-errors"))
    assert "line 3" in text(page, "#configuration-errors")
    assert page.locator("#cf-percentageOfNodesToScore").is_disabled()
    page.evaluate(write_configuration, HEAD + "percentageOfNodesToScore: 12\n")
    eventually(lambda: page.locator("#cf-percentageOfNodesToScore").input_value() == "12")
    assert page.locator("#cf-percentageOfNodesToScore").is_enabled()
    assert text(page, "#configuration-errors") == ""


def test_a_value_that_kubernetes_refuses_stays_in_its_field_and_out_of_the_text(
    page: Page, eventually: Eventually
) -> None:
    open_blank(page)
    open_configuration(page, eventually)
    controlled(page, eventually, "Nothing")
    before = configuration(page)
    page.locator("#cf-percentageOfNodesToScore").fill("120")
    page.keyboard.press("Tab")
    eventually(lambda: page.locator(".cf-refused").count() == 1)
    assert "percentageOfNodesToScore: Invalid value: 120: not in valid range [0-100]" in text(page, ".cf-refused")
    assert page.locator("#cf-percentageOfNodesToScore").input_value() == "120"
    assert page.evaluate("document.activeElement.id") == "cf-podInitialBackoffSeconds"
    assert configuration(page) == before
    page.locator("#cf-podInitialBackoffSeconds").fill("3")
    page.locator("#cf-podMaxBackoffSeconds").fill("1")
    page.keyboard.press("Tab")
    eventually(lambda: page.locator(".cf-refused").count() == 2)
    assert "podInitialBackoffSeconds: 3" in configuration(page)
    page.locator("#configuration-apply").click()
    eventually(lambda: page.evaluate("document.activeElement.id") == "cf-percentageOfNodesToScore")
    assert (head(page), page.locator("#cf-percentageOfNodesToScore").input_value()) == (0, "120")
    page.locator("#cf-podMaxBackoffSeconds").fill("9")
    page.locator("#cf-percentageOfNodesToScore").fill("12")
    page.locator("#configuration-apply").click()
    eventually(lambda: head(page) == 1)


def test_a_second_profile_by_controls_has_separate_switches(page: Page, eventually: Eventually) -> None:
    open_blank(page)
    open_configuration(page, eventually)
    controlled(page, eventually, "Nothing")
    page.get_by_label("Add a profile").fill("packer")
    page.keyboard.press("Enter")
    controlled(page, eventually, "This profile does not exist by default.")
    page.get_by_role("switch", name="ImageLocality").uncheck()
    controlled(page, eventually, "ImageLocality is off.")
    page.locator("#cf-view-0").click()
    eventually(lambda: page.get_by_role("switch", name="ImageLocality").is_checked())
    page.locator("#cf-view-1").click()
    eventually(lambda: not page.get_by_role("switch", name="ImageLocality").is_checked())
    page.get_by_role("button", name="Remove the profile packer").click()
    controlled(page, eventually, "Nothing")
    assert yaml.safe_load(configuration(page)) == yaml.safe_load(PROFILE)


def placed_on(page: Page) -> int:
    """Return how many nodes have pods."""
    return page.locator("#panel-cluster article[data-node]:has([data-pod])").count()


@pytest.mark.parametrize(
    ("preset", "nodes"),
    [
        pytest.param("default", 3, id="LeastAllocated spreads"),
        pytest.param("most-allocated", 1, id="MostAllocated packs"),
    ],
)
def test_a_preset_changes_where_pods_land(page: Page, eventually: Eventually, preset: str, nodes: int) -> None:
    open_blank(page)
    open_configuration(page, eventually)
    page.locator(f"#configuration-drawer [data-preset='{preset}']").click()
    page.locator("#configuration-apply").click()
    eventually(lambda: head(page) == 1)
    eventually(lambda: not page.locator("#configuration-drawer").is_visible())
    shown_text = text(page, "#panel-configuration")
    assert ("scoringStrategy.type is MostAllocated; by default it is LeastAllocated." in shown_text) == (
        preset == "most-allocated"
    )
    apply(page, *(node(name) for name in ("n1", "n2", "n3")))
    apply(page, *(pod(name) for name in ("a", "b", "c")))
    post(page, "do/run/")
    eventually(lambda: page.locator("#panel-cluster article [data-pod]").count() == 3)
    assert placed_on(page) == nodes


def test_during_a_paused_cycle_the_new_configuration_is_marked_as_applying_later(
    page: Page, eventually: Eventually
) -> None:
    open_scenario(page, "three-zones-one-gpu-pool")
    press(page, eventually, *"sss")
    page.locator("#tab-configuration").click()
    assert page.locator("#panel-configuration .standing").count() == 0
    post(page, "configure/", configuration=HEAD + "percentageOfNodesToScore: 100\n")
    eventually(lambda: page.locator("#panel-configuration .standing").count() == 1)
    assert "payments-1 is paused at PreFilter in cycle 1" in text(page, "#panel-configuration .standing")
    press(page, eventually, "n")
    page.locator("#tab-configuration").click()
    eventually(lambda: page.locator("#panel-configuration .standing").count() == 0)


def starts_at(page: Page) -> str | None:
    """Return the node marked as the start of the search."""
    return page.locator("#panel-cluster .tile.is-start").get_attribute("data-node")


def test_at_300_nodes_the_visited_stretch_moves_from_pod_to_pod(page: Page, eventually: Eventually) -> None:
    open_blank(page)
    apply(page, *(node(f"n{n:03}", cpu="500m" if n % 7 == 3 else "4") for n in range(300)))
    apply(page, *(pod(f"web-{n}") for n in range(3)))
    eventually(lambda: page.locator("#panel-queues [data-pod]").count() == 3)
    start = 0
    for _ in range(3):
        press(page, eventually, *"ssss")
        page.locator("#tab-filter").click()
        eventually(lambda start=start: f"start {start + 1} " in (page.locator(".ordl").text_content() or ""))
        if not page.locator(".sampling[open]").count():
            page.locator("#how-many").click()
        sums = text(page, ".sampling")
        assert "50 − 300 / 125 = 48 %" in sums
        assert "300 × 48 / 100 = 144" in sums
        match = re.search(r"144 fit \+ (\d+) fail \+ 1 = (\d+)", sums)
        assert match
        assert int(match[2]) == 145 + int(match[1])
        following = (start + 144 + int(match[1])) % 300
        assert f"({start} + 144 + {match[1]}) mod 300 = {following}" in sums
        order = [f"n{n % 300:03}" for n in range(start, start + int(match[2]))]
        visited = page.locator("#panel-cluster .tile:is(.ok, .no, .hard)")
        shown = {tile.get_attribute("data-node") for tile in visited.all()}
        assert shown == set(order[:-1])
        assert starts_at(page) == f"n{start:03}"
        press(page, eventually, "n")
        start = following
        eventually(lambda start=start: starts_at(page) == f"n{start:03}")
