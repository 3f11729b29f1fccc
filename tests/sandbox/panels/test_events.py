"""The two logs."""

from __future__ import annotations

from sandbox.panels import View, World
from sandbox.panels.events import PAGE, stats
from scheduler_engine.trace import events as ev
from tests.sandbox import traces


def test_the_trace_is_newest_first_and_paged() -> None:
    world = World.fold(traces.web_at_filter().entries)
    first, second = stats(world, View()), stats(world, View(pages=(("events", "2"),)))
    assert first["entries"][0]["n"] == len(world.entries)
    assert len(first["entries"]) == 100
    assert second["entries"][0]["n"] == len(world.entries) - 100
    assert (first["pages"].page, second["pages"].page) == (1, 2)


def test_kubernetes_events_are_listed_as_kubectl_names_them() -> None:
    panel = stats(World.fold(traces.web_at_filter().entries), View())
    newest = panel["kube"][0]
    assert (newest["type"], newest["reason"], newest["kind"], newest["name"]) == (
        "Warning",
        "FailedScheduling",
        "pod",
        "web-4",
    )
    assert newest["message"].startswith("0/8 nodes are available: ")
    assert panel["kube_count"] == 4


def test_kubernetes_events_have_separate_pages() -> None:
    story = traces.Story()
    for number in range(PAGE + 5):
        story.say(ev.EventRecorded("Pod", f"default/p{number}", "Normal", "Scheduled", f"event {number}"))
    world = World.fold(story.entries)
    assert len(stats(world, View())["kube"]) == PAGE
    older = stats(world, View(pages=(("events.kube", "2"),)))
    assert [item["message"] for item in older["kube"]] == [f"event {number}" for number in range(4, -1, -1)]
    assert older["pages"].page == 1


def test_nothing_has_happened_in_an_empty_sandbox() -> None:
    panel = stats(World(), View())
    assert (panel["entries"], panel["kube"], panel["pages"].pages) == ([], [], 1)
