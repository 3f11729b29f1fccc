"""The mark of a command: what it decided."""

from __future__ import annotations

from dataclasses import replace

from scheduler_engine.trace import events as ev
from scheduler_engine.trace.decisions import LONGEST, Decisions, ends_of

BOUND = ev.CycleFinished(1, "default/web", "bound", "node-1", "")
MOVED = ev.PodMoved("default/web", "activeQ", "inFlight", "Pop")


def mark(*events: ev.Event, at_us: int = 0) -> str:
    decisions = Decisions()
    for n, event in enumerate(events, 1):
        decisions.add(ev.Entry(n, at_us, 1, event))
    return decisions.mark()


def test_a_mark_tells_what_is_decided_and_when_but_not_how_it_is_told() -> None:
    same = mark(MOVED, BOUND)
    assert ends_of(same) == "default/web bound node-1"
    told = (replace(MOVED, cause="Other"), ev.StageFinished(1, "default/web", "Bind", "", ""), replace(BOUND, cycle=2))
    assert mark(*told) == same
    others = [
        mark(BOUND),
        mark(BOUND, MOVED),
        mark(MOVED, BOUND, at_us=1),
        mark(MOVED, replace(BOUND, node="node-2")),
        mark(replace(MOVED, target="backoffQ"), BOUND),
        mark(MOVED, BOUND, ev.PodEvicted("node-1", "default/web", "memory.available", 0, "")),
    ]
    assert len({same, *others}) == len(others) + 1


def test_a_mark_belongs_to_the_last_command_and_has_a_greatest_length() -> None:
    decisions = Decisions()
    for n in range(1, 1001):
        decisions.add(ev.Entry(n, 0, 1, BOUND))
    assert len(decisions.mark()) == LONGEST
    decisions.add(ev.Entry(1001, 0, 2, ev.StageFinished(1, "default/web", "Bind", "", "")))
    assert decisions.mark() == "-"
    decisions.add(ev.Entry(1002, 0, 3, BOUND))
    assert decisions.mark() == mark(BOUND)
