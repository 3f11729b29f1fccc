"""One line of text per trace event."""

from __future__ import annotations

import pytest

from scheduler_engine.trace import events as ev
from scheduler_engine.wording.entries import LINES, line
from tests.sandbox.traces import STORIES


def test_every_event_has_its_line() -> None:
    kinds = {kind for kind in vars(ev).values() if isinstance(kind, type) and issubclass(kind, ev.Event)}
    assert set(LINES) == kinds - {ev.Event}


@pytest.mark.parametrize("story", STORIES)
def test_a_line_is_one_line(story: str) -> None:
    for entry in STORIES[story]().entries:
        text = line(entry.event)
        assert text.strip() == text
        assert text
        assert "\n" not in text


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (
            ev.PodMoved("a/p", "unschedulablePods", "activeQ", "NodeAdd", "NodeResourcesFit", "Queue"),
            "a/p: unschedulablePods → activeQ (NodeAdd, NodeResourcesFit answered Queue)",
        ),
        (ev.HostSelected(1, "a/p", "n2", "draw", ("n1", "n2"), 480), "a/p: n2 selected, drawn among n1, n2 with 480"),
        (
            ev.FilterRan(
                1, (), (), tuple((n, "", "Success", (), ()) for n in ("n3", "n1")), ("n3",), 3, 3, 1, 2, 0, ""
            ),
            "Filter: 1 of 3 nodes fit, 2 checked from index 2; the next search starts at 0",
        ),
        (ev.CycleFinished(3, "a/p", "bound", "n1", ""), "Cycle 3 of a/p: bound on n1"),
        (
            ev.PluginsRan(1, "Permit", "n1", (("Waiter", "Wait", ("10 s",)),)),
            "Permit on n1: Waiter Wait (10 s)",
        ),
    ],
    ids=["a move with its hint", "a draw", "a search", "an end", "a plugin's answer"],
)
def test_a_line_has_the_facts(event: ev.Event, text: str) -> None:
    assert line(event) == text
