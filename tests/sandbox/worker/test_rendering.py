from __future__ import annotations

from typing import Any

import pytest

from sandbox.changes import store
from sandbox.panels.model.moment import Moment
from sandbox.panels.view import View
from sandbox.storage.records import Place
from sandbox.worker import rendering
from sandbox.worker.rendering import Fragment, FragmentCache
from tests.sandbox.inside import fragments

NOTHING = View()


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the panels that were actually rendered, in order."""
    panels: list[str] = []
    original = rendering.render_panel

    def counted(panel_id: str, *args: Any) -> str:
        panels.append(panel_id)
        return original(panel_id, *args)

    monkeypatch.setattr(rendering, "render_panel", counted)
    return panels


def shown(visitor: Any, view: View = NOTHING, can_edit: bool = True, at: Place | None = None) -> dict[str, Fragment]:
    return fragments(visitor.row(), view, ["cluster", "inspector"], can_edit, at)


@pytest.mark.django_db
def test_a_state_is_rendered_once_however_often_it_is_asked_for(visitor: Any, rendered: list[str]) -> None:
    assert shown(visitor) == shown(visitor)
    assert rendered == ["cluster", "inspector"]


@pytest.mark.django_db
def test_only_panels_that_depend_on_a_selection_are_rendered_for_it(visitor: Any, rendered: list[str]) -> None:
    shown(visitor)
    shown(visitor, View(pod="default/web"))
    assert rendered == ["cluster", "inspector", "inspector"]


@pytest.mark.django_db
def test_going_back_to_a_state_that_was_shown_renders_nothing(visitor: Any, node: Any, rendered: list[str]) -> None:
    for name in "ab":
        store.execute(visitor.row(), node(name))
    store.go_to(visitor.sandbox, lambda _: 1)
    first = shown(visitor)
    store.go_to(visitor.sandbox, lambda _: 2)
    shown(visitor)
    store.go_to(visitor.sandbox, lambda _: 1)
    rendered.clear()
    assert shown(visitor) == first
    assert rendered == []


@pytest.mark.django_db
def test_the_next_state_is_drawn_ahead_for_the_viewers(visitor: Any, node: Any, rendered: list[str]) -> None:
    shown(visitor)
    rendered.clear()
    store.execute(visitor.row(), node("a"))
    assert rendered == ["cluster", "inspector"]
    assert "a" in shown(visitor)["cluster"].html
    assert rendered == ["cluster", "inspector"]


@pytest.mark.django_db
def test_nothing_is_drawn_ahead_for_a_viewer_who_has_left(visitor: Any, node: Any, rendered: list[str]) -> None:
    shown(visitor)
    store.execute(visitor.row(), node("a"))
    rendered.clear()
    store.execute(visitor.row(), node("b"))
    assert rendered == []


@pytest.mark.django_db
def test_nothing_is_drawn_ahead_for_a_viewer_of_the_past(visitor: Any, node: Any, rendered: list[str]) -> None:
    store.execute(visitor.row(), node("a"))
    store.execute(visitor.row(), node("b"))
    shown(visitor, View(at=Moment(1, 1)))
    rendered.clear()
    store.execute(visitor.row(), node("c"))
    assert rendered == []


@pytest.mark.django_db
def test_editors_and_watchers_get_different_drawings(visitor: Any, rendered: list[str]) -> None:
    shown(visitor)
    shown(visitor, can_edit=False)
    assert len(rendered) == 4


@pytest.mark.django_db
def test_news_of_a_past_state_bring_the_present_one(visitor: Any, node: Any) -> None:
    old = store.execute(visitor.row(), node("old-node"))
    store.go_to(visitor.sandbox, lambda _: 0)
    store.execute(visitor.row(), node("new-node"))
    html = shown(visitor, at=Place(old, 1))["cluster"].html
    assert "new-node" in html
    assert "old-node" not in html


@pytest.mark.django_db
def test_a_panel_that_breaks_down_says_so_and_leaves_the_others_alone(
    visitor: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    original = rendering.render_panel

    def broken(panel_id: str, *args: Any) -> str:
        return original(panel_id, *args) if panel_id == "inspector" else str(1 / 0)

    monkeypatch.setattr(rendering, "render_panel", broken)
    panels = shown(visitor)
    assert "cannot be shown" in panels["cluster"].html
    assert 'id="panel-cluster"' in panels["cluster"].html
    assert "cannot be shown" not in panels["inspector"].html
    assert "ZeroDivisionError" in caplog.text
    caplog.clear()


def test_the_cache_drops_the_least_recently_used_beyond_its_size() -> None:
    cache = FragmentCache()
    for key in "abc":
        cache.put((key,), Fragment("x" * 10, b""), 25)
        cache.get(("a",))
    assert [key for (key,) in cache.fragments] == ["c", "a"]
    assert cache.size == 20
    cache.put(("a",), Fragment("y" * 15, b""), 25)
    assert cache.size == 25
    assert cache.get(("a",)) == Fragment("y" * 15, b"")
