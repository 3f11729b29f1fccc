"""The table of panels: every entry is complete, and a panel depends only on what its entry names."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string

from sandbox.panels import PANELS, TABS, View, World
from sandbox.panels.view import MOST_LISTS
from sandbox.web.styles import styled
from tests.sandbox.traces import STORIES

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PAGES = tuple((panel, "2") for panel in PANELS)
ORDERS = tuple((panel, "-name") for panel in PANELS)
FINDS = tuple((panel, "a+b") for panel in PANELS)
EVERYTHING = View(
    *("default/web-4", "node-a2", "NodeResourcesFit", 1, "reason", "tiles", "cpu", "all", ""),
    pages=PAGES,
    orders=ORDERS,
    finds=FINDS,
)
WORLDS: dict[str, World] = {}


def world_of(story: str) -> World:
    """Fold the story once: no panel may change it."""
    if story not in WORLDS:
        WORLDS[story] = World.fold(STORIES[story]().entries)
    return WORLDS[story]


def html(panel: str, story: str, view: View, can_edit: bool = True) -> str:
    stats = PANELS[panel].stats(world_of(story), view)
    return render_to_string(f"panels/{panel}.html", {**stats, "can_edit": can_edit})


@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_has_a_module_a_template_and_a_test_of_its_name(panel: str) -> None:
    assert PANELS[panel].stats.__module__ in (f"sandbox.panels.{panel}", f"sandbox.panels.{panel}.panel")
    assert (ROOT / "templates/panels" / f"{panel}.html").is_file()
    assert (HERE / f"test_{panel}.py").is_file()
    assert PANELS[panel].title


def test_pages_load_the_styles_of_each_panel_that_has_them() -> None:
    written = {path.stem for path in (ROOT / "static/css/panels").glob("*.css")}
    assert set(styled(PANELS)) == written
    assert styled(["nodes", "no-such", "leader"]) == ["nodes", "leader"]


def test_every_decision_tab_is_a_panel() -> None:
    assert set(TABS) <= set(PANELS)


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_is_one_section_with_its_id_in_every_story(panel: str, story: str) -> None:
    text = html(panel, story, View()).strip()
    assert text.startswith(f'<section id="panel-{panel}"')
    assert text.endswith("</section>")
    assert text.count("<section") == text.count("</section>")


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_has_no_inline_script_handler_or_doubled_id(panel: str, story: str) -> None:
    text = html(panel, story, EVERYTHING)
    assert not re.search(r"<script(?! id=\"(?:scores|metrics|heat)-data\" type=\"application/json\")", text)
    assert not re.search(r"\son[a-z]+=", text)
    ids = re.findall(r'\sid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_reads_no_other_part_of_the_view_than_it_declares(panel: str) -> None:
    declared = {name: getattr(EVERYTHING, name) for name in PANELS[panel].depends_on_view}
    declared |= {"pages": ((panel, "2"),), "orders": ((panel, "-name"),), "finds": ((panel, "a+b"),)}
    for story in ("web_at_filter", "api_scored", "payments_preempts", "hundred"):
        assert html(panel, story, EVERYTHING) == html(panel, story, replace(View(), **declared))


@pytest.mark.parametrize("panel", PANELS)
def test_a_name_with_markup_in_it_is_escaped(panel: str) -> None:
    assert "<b>bold" not in html(panel, "long_names", View())
    assert "<b>bold" not in html(panel, "long_names", View(node="<b>bold</b>", plugin="NodeResourcesFit"))


@pytest.mark.parametrize("panel", ["inspector", "timeline"])
def test_a_watcher_gets_no_button_that_changes_anything(panel: str) -> None:
    assert "hx-post" in html(panel, "web_at_filter", View())
    assert "hx-post" not in html(panel, "web_at_filter", View(), can_edit=False)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param({}, View(), id="nothing given is the default"),
        pytest.param({"pod": "a/b", "cycle": "2"}, View(pod="a/b", cycle=2), id="numbers may be text"),
        pytest.param(
            {
                "pages": "filter:-1 filter:0 filter:1e9 :2 a:b:3",
                "orders": "filter: scores:<b>",
                "finds": "topology: topology:a:b topology:<b> topology:" + "x" * 601,
                "cycle": "x",
                "tab": "no",
                "group": "z",
                "layout": "z",
                "reasons": "z",
            },
            View(),
            id="bad values are the default",
        ),
        pytest.param(
            {"pages": "filter:2  queues.activeQ:3", "orders": "scores:-total", "finds": "topology.spread1:zone+%C3%A4"},
            View(
                pages=(("filter", "2"), ("queues.activeQ", "3")),
                orders=(("scores", "-total"),),
                finds=(("topology.spread1", "zone+%C3%A4"),),
            ),
            id="each list has its page, its order and the words that somebody looks for",
        ),
        pytest.param(
            {"pages": " ".join(f"list{number}:2" for number in range(40))},
            View(pages=tuple((f"list{number}", "2") for number in range(40 - MOST_LISTS, 40))),
            id="of too many lists those that were turned last are kept",
        ),
        pytest.param({"pages": ["filter:2"], "orders": "x" * 5000}, View(), id="too much or no text turns no page"),
        pytest.param({"open": "queues", "who": "me"}, View(), id="unknown names are ignored"),
        pytest.param({"pod": "x" * 1000, "node": 7}, View(), id="too long or no text is the default"),
    ],
)
def test_a_view_reads_what_a_browser_says(query: dict[str, Any], expected: View) -> None:
    assert View.from_mapping(query) == expected


def test_a_view_is_parsed_as_it_was_written() -> None:
    pages, orders, finds = (("filter", "2"), ("queues.activeQ", "3")), (("scores", "-total"),), (("scores", "a+b"),)
    view = View(pages=pages, orders=orders, finds=finds)
    assert View.from_mapping(view.as_json()) == view


def test_a_page_of_one_panel_is_nothing_to_the_others() -> None:
    pages, orders, finds = (("filter", "2"), ("queues.activeQ", "3")), (("filter", "-name"),), (("filter", "a"),)
    view = View(pages=pages, orders=orders, finds=finds)
    assert view.lists_of("filter") == (("filter", "2"), ("filter", "-name"), ("filter", "a"))
    assert view.lists_of("queues") == (("queues.activeQ", "3"),)
    assert view.lists_of("queue") == ()
