"""The two logs."""

from __future__ import annotations

from sandbox.panels import View, World
from sandbox.panels.events import stats
from tests.sandbox import traces


def test_the_trace_is_newest_first_and_paged() -> None:
    world = World.fold(traces.web_at_filter().entries)
    first, second = stats(world, View()), stats(world, View(page=2))
    assert first["entries"][0]["n"] == len(world.entries)
    assert len(first["entries"]) == 100
    assert second["entries"][0]["n"] == len(world.entries) - 100
    assert (first["previous"], first["following"]) == (0, 2)


def test_kubernetes_events_are_listed_as_kubectl_names_them() -> None:
    found = stats(World.fold(traces.web_at_filter().entries), View())
    newest = found["kube"][0]
    assert (newest["type"], newest["reason"], newest["kind"], newest["name"]) == (
        "Warning",
        "FailedScheduling",
        "pod",
        "web-4",
    )
    assert newest["message"].startswith("0/8 nodes are available: ")
    assert found["kube_count"] == 4


def test_nothing_has_happened_in_an_empty_sandbox() -> None:
    found = stats(World(), View())
    assert (found["entries"], found["kube"], found["pages"]) == ([], [], 1)
