"""The timeline."""

from __future__ import annotations

from sandbox.panels import View, World
from sandbox.panels.timeline import stats
from tests.sandbox import traces


def test_a_box_per_cycle_ends_in_its_outcome_and_the_last_is_now() -> None:
    boxes = [
        item for item in stats(World.fold(traces.web_at_filter().entries), View())["items"] if item.kind == "cycle"
    ]
    assert [(box.name, box.end) for box in boxes] == [
        ("api-3", "ok"),
        ("cart-7", "ok"),
        ("web-4", "no"),
        ("web-4", "no"),
        ("api-2", ""),
        ("web-4", ""),
    ]
    assert [box.now for box in boxes] == [False] * 5 + [True]
    assert [mark.title for mark in boxes[-1].marks] == ["Pop", "Snapshot", "PreFilter", "Filter"]


def test_peoples_actions_are_between_the_cycles_but_steps_are_not() -> None:
    texts = [
        item.text
        for item in stats(World.fold(traces.web_at_filter().entries), View())["items"]
        if item.kind == "command"
    ]
    assert texts == ["open scenario Three zones, one GPU pool", "cordon node-c2", "remove node-c3", "add payments-1"]


def test_old_cycles_become_a_number() -> None:
    story = traces.Story()
    story.add_node(traces.node("n"))
    for number in range(45):
        story.quick(traces.pod(f"p-{number}"), "n")
    panel = stats(World.fold(story.entries), View())
    assert (panel["earlier"], sum(item.kind == "cycle" for item in panel["items"])) == (5, 40)
