"""The mark of a command: what it decided."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scheduler_engine.trace import events as ev
from scheduler_engine.trace.decisions import FORM, LONGEST, Decisions, comparable, differing, ends_of, first_difference
from scheduler_engine.trace.events.pairs import Pairs

BOUND = ev.CycleFinished(1, "default/web", "bound", "node-1", "")
SCORED = ev.NormalizeRan(1, (), (), Pairs(("node-1", "node-2"), (170, 160)))
MOVED = ev.PodMoved("default/web", "activeQ", "inFlight", "Pop")


def mark(*events: ev.Event, at_us: int = 0) -> str:
    decisions = Decisions()
    for n, event in enumerate(events, 1):
        decisions.add(ev.Entry(n, at_us, 1, event))
    return decisions.mark()


def test_a_mark_tells_what_is_decided_and_when_but_not_how_it_is_told() -> None:
    same = mark(MOVED, BOUND)
    assert ends_of(same) == (["default/web bound node-1"], True)
    told = (replace(MOVED, cause="Other"), ev.StageFinished(1, "default/web", "Bind", "", ""), replace(BOUND, cycle=2))
    assert mark(*told) == same
    others = [
        mark(BOUND),
        mark(MOVED, MOVED, BOUND),
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
    assert decisions.mark() == f"{FORM} - - - - - -"
    decisions.add(ev.Entry(1002, 0, 3, BOUND))
    assert decisions.mark() == mark(BOUND)


def test_the_form_of_marks_is_the_same_as_ever() -> None:
    """If this fails although the engine decides the same, raise ``FORM``: otherwise every stored log would stop."""
    assert mark(SCORED, MOVED, BOUND) == "1 7a315c10 d70e10f6 a41d9194 - - - default/web bound node-1"
    assert comparable(mark(BOUND))
    assert not any(map(comparable, ("", "-", "0badcafe default/web bound node-1")))


@pytest.mark.parametrize(
    ("event", "topic"),
    [
        (replace(SCORED, totals=Pairs(SCORED.totals.names, (171, 160))), "choices"),
        (ev.HostSelected(1, "default/web", "node-2", "highest", ("node-2",), 170), "choices"),
        (ev.PostFilterRan(1, (), "node-2", ("default/old",), ("node-2",), ()), "choices"),
        (ev.PreemptionNodeTried(1, "node-2", (), (), ("default/old",), 0, ""), "choices"),
        (replace(MOVED, target="backoffQ"), "queues"),
        (ev.DrainChanged("node-1", "evicted", ("default/web",)), "evictions"),
        (ev.TaintEvictionPlanned("default/web", "node-1", 5), "evictions"),
        (ev.ObjectAdded("Pod", "default/web-2", {}), "objects"),
        (ev.ObjectModified("Pod", "default/web", {"status": {"phase": "Failed"}}), "objects"),
        (ev.ObjectDeleted("Pod", "default/web"), "objects"),
        (ev.ReplicaChanged("s-2", "leading", "", True, False, True, 0, "1"), "leaders"),
    ],
)
def test_a_decision_that_is_not_seen_in_the_end_of_a_cycle_changes_its_topic(event: ev.Event, topic: str) -> None:
    assert differing(mark(SCORED, BOUND), mark(SCORED, event, BOUND)) == [topic]


def ends(*names: str) -> str:
    return mark(*(replace(BOUND, node=name) for name in names))


@pytest.mark.parametrize(
    ("before", "now", "first"),
    [
        pytest.param(ends("a", "b"), ends("a", "c"), ("default/web bound b", "default/web bound c"), id="the second"),
        pytest.param(ends("a"), ends("a", "c"), ("", "default/web bound c"), id="one more"),
        pytest.param(ends("a", "c"), ends(), ("default/web bound a", ""), id="none any more"),
        pytest.param(ends("a"), mark(replace(BOUND, node="a"), at_us=1), None, id="the same at another time"),
        pytest.param(ends(*"a" * 50), ends(*"a" * 50, "b"), None, id="after those that have room"),
        pytest.param(ends(*"a" * 50), ends("a"), ("default/web bound a", ""), id="many less"),
    ],
)
def test_the_first_cycle_that_ends_differently(before: str, now: str, first: tuple[str, str] | None) -> None:
    assert differing(before, now)[0] == "ends"
    assert first_difference(before, now) == first
