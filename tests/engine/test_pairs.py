"""A table of a trace reads as pairs, and its JSON form has pairs."""

from __future__ import annotations

import json

from scheduler_engine import commands
from scheduler_engine.replay import entry_line
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace import events as ev
from scheduler_engine.trace.events.pairs import NONE, Pairs

PAIRS = Pairs(("a", "b", "c"), (3, 1, 2))


def test_it_reads_as_its_pairs() -> None:
    pairs = (("a", 3), ("b", 1), ("c", 2))
    assert tuple(PAIRS) == pairs
    assert PAIRS[1] == ("b", 1)
    assert tuple(PAIRS[1:]) == pairs[1:]
    assert (len(PAIRS), len(NONE), bool(NONE)) == (3, 0, False)
    assert dict(PAIRS) == {"a": 3, "b": 1, "c": 2}
    assert repr(PAIRS) == repr(pairs)
    assert Pairs(("a", "b", "c"), (3, 1, 2)) == PAIRS
    assert Pairs(("a", "b", "d"), (3, 1, 2)) != PAIRS
    assert hash(PAIRS) == hash(Pairs(("a", "b", "c"), (3, 1, 2)))


def test_a_line_of_the_trace_holds_a_list_of_each() -> None:
    simulation = Simulation(seed=1)
    simulation.execute(commands.Apply([make_node("n1").obj(), make_node("n2").obj(), make_pod("p").obj()]))
    simulation.execute(commands.Settle())
    entry = next(item for item in simulation.recorder.entries if isinstance(item.event, ev.NormalizeRan))
    event = entry.event
    assert isinstance(event, ev.NormalizeRan)
    data = json.loads(entry_line(entry))
    assert data["totals"] == [[node, total] for node, total in event.totals]
    assert [plugin for plugin, _ in data["weighted"]] == [plugin for plugin, _ in event.weighted]
    assert {len(rows) for _, rows in data["weighted"]} == {2}
    # The names are stored once, however many plugins there are.
    assert len({id(pairs.names) for _, pairs in (*event.normalized, *event.weighted)}) == 1
