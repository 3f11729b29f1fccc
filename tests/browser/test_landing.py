"""The start page: filter scenarios by text and by part."""

from __future__ import annotations

import re

from playwright.sync_api import Page

from tests.browser.workbench import Eventually, arrive, text

SHOWN = ".scen-g button:visible b"
MOST_BYTES = 120_000
"""What the start page may weigh on the line, with its running figure."""


def shown(page: Page) -> list[str]:
    return page.locator(SHOWN).all_inner_texts()


def test_the_start_page_is_light_with_its_running_figure(page: Page, eventually: Eventually) -> None:
    line, bytes_of = page.context.new_cdp_session(page), list[float]()
    line.send("Network.enable")
    line.send("Network.setCacheDisabled", {"cacheDisabled": True})
    line.on("Network.loadingFinished", lambda loaded: bytes_of.append(loaded["encodedDataLength"]))
    page.goto("/")
    page.get_by_label("none", exact=True).check(force=True)
    eventually(lambda: text(page, ".fig .node.is-best .node-n") == "node-c2")
    assert 50_000 < sum(bytes_of) <= MOST_BYTES


def test_letters_filter_the_scenarios_and_show_their_number(page: Page, eventually: Eventually) -> None:
    page.goto("/")
    everything = len(shown(page))
    page.locator("#scen-find").fill("SAMPLING nodes")
    eventually(lambda: "Sampling: 250 nodes, but not all are visited" in shown(page) and len(shown(page)) < everything)
    number = len(shown(page))
    assert text(page, "#scen-none") == ("1 scenario" if number == 1 else f"{number} scenarios")
    page.locator("#scen-find").fill("zeppelin")
    eventually(lambda: text(page, "#scen-none") == "no scenarios")
    assert page.locator(".scen-g h3:visible").count() == 0
    page.locator("#scen-find").fill("")
    eventually(lambda: len(shown(page)) == everything)
    assert text(page, "#scen-none") == ""


def test_a_group_leaves_its_own_scenarios_which_letters_narrow_further(page: Page, eventually: Eventually) -> None:
    page.goto("/")
    groups = page.locator("#scen-topic option").all_inner_texts()[1:]
    assert groups == page.locator(".scen-g h3").all_inner_texts()
    group = next(name for name in groups if re.search("leader", name, re.IGNORECASE))
    page.locator("#scen-topic").select_option(label=group)
    eventually(lambda: page.locator(".scen-g h3:visible").all_inner_texts() == [group])
    assert "The leader is killed" in shown(page)
    page.locator("#scen-find").fill("killed lock")
    eventually(lambda: shown(page) == ["The leader is killed"])
    page.locator(".scen-g button:visible").click()
    arrive(page)
    assert text(page, ".scenario span") == "The leader is killed"


def test_a_link_with_letters_opens_the_list_with_them(page: Page) -> None:
    page.goto("/?find=killed#scenarios")
    assert page.locator("#scen-find").input_value() == "killed"
    assert "The leader is killed" in shown(page)
    assert "Sampling: 250 nodes, but not all are visited" not in shown(page)


def test_every_scenario_is_in_one_group(page: Page) -> None:
    page.goto("/")
    everything = shown(page)
    listed: list[str] = []
    for group in page.locator("#scen-topic option").all_inner_texts()[1:]:
        page.locator("#scen-topic").select_option(label=group)
        listed += shown(page)
    assert listed == everything


def test_every_scenario_has_one_level(page: Page) -> None:
    page.goto("/")
    everything = shown(page)
    listed: list[str] = []
    for level in ("First steps", "Everyday", "In depth"):
        page.locator("#scen-level").select_option(label=level)
        assert set(page.locator(".scen-g .scen-l:visible").all_inner_texts()) == {level}
        listed += shown(page)
    assert sorted(listed) == sorted(everything)


def test_the_address_holds_what_somebody_chose_and_one_click_shows_all_again(
    page: Page, eventually: Eventually
) -> None:
    page.goto("/?find=taint&level=first-steps&topic=taints-and-tolerations&level=first-steps#scenarios")
    some = shown(page)
    assert "Taints: Equal and Exists" in some
    page.locator("#scen-find").fill("taint zeppelin")
    eventually(lambda: text(page, "#scen-none") == "no scenarios")
    address = page.url
    assert "find=taint+zeppelin" in address
    page.reload()
    assert shown(page) == []
    page.get_by_role("button", name="Show all").click()
    eventually(lambda: len(shown(page)) > len(some) and page.url.endswith("/#scenarios"))
    assert page.locator("#scen-find").evaluate("field => field === document.activeElement")
    assert page.get_by_role("button", name="Show all").is_hidden()


def test_a_topic_that_does_not_exist_hides_nothing(page: Page) -> None:
    page.goto("/?topic=no-such-topic&level=5#scenarios")
    assert len(shown(page)) > 50


def test_a_whole_title_matches_one_scenario(page: Page) -> None:
    page.goto("/")
    page.locator("#scen-find").fill("The leader is killed")
    assert shown(page) == ["The leader is killed"]
    assert text(page, "#scen-none") == "1 scenario"


def test_misconceptions_are_narrowed_by_topic_and_letters_in_the_address(page: Page, eventually: Eventually) -> None:
    page.goto("/misconceptions/?topic=topology-spread")
    shown = page.locator(".beliefs li:visible")
    number = shown.count()
    assert page.locator("h2:visible").all_inner_texts() == ["Topology spread"]
    page.locator("#learn-find").fill("tainted")
    eventually(lambda: 0 < shown.count() < number)
    assert "topic=topology-spread&find=tainted" in page.url or "find=tainted&topic=topology-spread" in page.url
    page.locator("#learn-find").fill("zeppelin")
    eventually(lambda: text(page, "#learn-none") == "no sentences")
    page.get_by_role("button", name="Show all").click()
    eventually(lambda: shown.count() > number)


def test_a_link_to_one_misconception_opens_its_truth(page: Page, eventually: Eventually) -> None:
    page.goto("/misconceptions/#a-taint-moves-pods")
    eventually(lambda: page.locator("#a-taint-moves-pods details[open]").count() == 1)
    assert page.locator(".beliefs details[open]").count() == 1


def test_a_blank_sandbox_is_one_click_away(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Start a blank sandbox").click()
    arrive(page)
    assert page.locator("#panel-cluster [data-node]").count() == 0
