"""Long lists, in pages or shortened."""

from __future__ import annotations

import pytest
from django.template import engines

from sandbox.panels import View
from sandbox.panels.drawing.paging import SCREEN, Finder, finder, on_page, pager

DRAW = engines["jinja2"].env.globals["drawn"]

ITEMS = list(range(25))


@pytest.mark.parametrize(
    ("asked", "few", "expected", "more"),
    [
        pytest.param("", 0, ITEMS[:10], 15, id="a list with pages begins with the first"),
        pytest.param("2", 0, ITEMS[10:20], 5, id="and continues with the second"),
        pytest.param("9", 0, ITEMS[20:], 0, id="beyond the last page is the last page"),
        pytest.param("", 3, ITEMS[:3], 22, id="a folded list shows a few"),
        pytest.param("1", 3, ITEMS[:10], 15, id="unfolded, it has pages"),
        pytest.param("3", 3, ITEMS[20:], 0, id="and a last one"),
        pytest.param("1", 25, ITEMS, 0, id="a short list has nothing to unfold"),
    ],
)
def test_rows_of_a_page(asked: str, few: int, expected: list[int], more: int) -> None:
    view = View(pages=(("list", asked), ("other", "2")) if asked else (("other", "2"),))
    pages = pager(len(ITEMS), view, "list", 10, few=few)
    assert (on_page(ITEMS, pages), pages.more) == (expected, more)


def test_an_empty_list_has_one_empty_page() -> None:
    pages = pager(0, View(pages=(("list", "7"),)), "list", 10)
    assert (pages.pages, pages.start, pages.stop, DRAW("pager", pages)) == (1, 0, 0, "")


def test_the_buttons_say_which_list_they_turn_and_where_to() -> None:
    text = DRAW("pager", pager(25, View(pages=(("queues.activeQ", "3"),)), "queues.activeQ", 10))
    assert 'data-list="queues.activeQ" data-page="2" aria-label="Previous page"' in text
    assert "21–25 of 25" in text
    assert text.count(" disabled") == 2


def test_a_folded_list_leads_to_the_rest_and_back() -> None:
    folded = DRAW("pager", pager(25, View(), "cache.nodes", 10, few=3))
    assert 'data-list="cache.nodes" data-page="1">and 22 more</button>' in folded
    opened = DRAW("pager", pager(25, View(pages=(("cache.nodes", "1"),)), "cache.nodes", 10, few=3))
    assert 'data-list="cache.nodes" data-page="0">fewer</button>' in opened


NAMES = [f"zone-{number}" for number in range(SCREEN + 1)]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        pytest.param("", NAMES, id="nobody looks for anything"),
        pytest.param("zone-1", ["zone-1", *(f"zone-1{digit}" for digit in range(10))], id="a part of the name"),
        pytest.param("ZONE+17", ["zone-17"], id="several words, in any case"),
        pytest.param("%C3%A4", [], id="nothing has it"),
    ],
)
def test_a_list_longer_than_a_screen_shows_what_somebody_looks_for(words: str, found: list[str]) -> None:
    view = View(finds=(("list", words), ("other", "x")) if words else ())
    shown, field = finder(NAMES, view, "list", str)
    assert shown == found
    assert field is not None
    assert (field.found, field.count) == (len(found), len(NAMES))


def test_a_list_that_fits_on_a_screen_is_shown_in_full_whatever_the_address_says() -> None:
    assert finder(NAMES[:SCREEN], View(finds=(("list", "zone-1"),)), "list", str) == (NAMES[:SCREEN], None)


def test_the_field_says_how_many_rows_have_the_words() -> None:
    assert "3 of 40" in DRAW("finder", Finder("list", "zone", 3, 40))
    nothing = DRAW("finder", Finder("list", "<b>", 0, 40))
    assert "No name has “&lt;b&gt;” in it." in nothing
    assert 'data-find="list"' in nothing
    assert "of 40" not in DRAW("finder", Finder("list", "", 40, 40))
