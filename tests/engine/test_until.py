"""Commands that end early: the engine can stop at every rest inside a command, and continue from there."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.commands import from_json, to_json
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace.events import CommandGiven, Entry
from tests.engine import controllers as world

LONG = (
    commands.PodCycle(),
    commands.Settle(),
    commands.Advance(40),
    commands.Advance(40, play=True),
    commands.Run(),
)


def busy() -> Simulation:
    """Return pods that fit, one that waits for room, a Job whose pods end, and a node about to lose its pods."""
    simulation = Simulation()
    small = [make_pod(f"p{number}").cpu("500m").obj() for number in range(4)]
    large = make_pod("large").cpu("3").priority(1000).obj()
    nodes = [make_node(f"n{number}").capacity(cpu="2", memory="4Gi", pods=10).obj() for number in (1, 2)]
    world.apply(simulation, *nodes, *small, large, world.job("batch", completions=2))
    simulation.execute(commands.Settle())
    world.apply(simulation, make_node("n3").capacity(cpu="4", memory="4Gi", pods=10).obj(), make_pod("last").obj())
    return simulation


def happenings(entries: list[Entry]) -> list[tuple[int, Any, str]]:
    """Return what happened, whichever command it belongs to."""
    return [(entry.at_us, entry.event, entry.replica) for entry in entries if not isinstance(entry.event, CommandGiven)]


@pytest.mark.parametrize("command", LONG, ids=lambda command: f"{command.kind} {getattr(command, 'play', '')}".strip())
def test_a_command_can_be_ended_at_each_of_its_rests_and_continued(command: Any) -> None:
    before = busy()
    whole = copy.deepcopy(before)
    whole.execute(command)
    begin = len(before.recorder.entries)
    rests = [rest for rest, _ in whole.recorder.rests if rest > begin]
    assert len(rests) > 4
    for rest in rests:
        simulation = copy.deepcopy(before)
        simulation.execute(replace(command, until=rest - begin))
        assert len(simulation.recorder.entries) == rest
        assert happenings(simulation.recorder.entries) == happenings(whole.recorder.entries[:rest])
        assert simulation.recorder.rests == [each for each in whole.recorder.rests if each[0] <= rest]
        if simulation.now_us < whole.now_us:
            simulation.execute(commands.Advance((whole.now_us - simulation.now_us) / 10**6))
        simulation.execute(commands.Settle())
        if not isinstance(command, commands.PodCycle):  # After this, other pods are left.
            common = happenings(whole.recorder.entries)
            assert happenings(simulation.recorder.entries)[: len(common)] == common


def test_between_two_rests_a_command_continues_to_the_next_one() -> None:
    simulation = busy()
    begin = len(simulation.recorder.entries)
    whole = copy.deepcopy(simulation)
    whole.execute(commands.Settle())
    first = next(rest for rest, _ in whole.recorder.rests if rest > begin)
    simulation.execute(commands.Settle(until=2))
    assert len(simulation.recorder.entries) == first > begin + 2


def test_a_tick_that_ended_early_merges_with_none() -> None:
    simulation = busy()
    simulation.execute(commands.Advance(1, play=True))
    assert simulation.merged(commands.Advance(1, play=True)) is not None
    assert simulation.merged(commands.Advance(1, play=True, until=5)) is None
    simulation.execute(commands.Advance(1, play=True, until=5))
    assert simulation.merged(commands.Advance(1, play=True)) is None


def test_a_refused_command_leaves_no_rest() -> None:
    simulation = world.cluster()
    rests = list(simulation.recorder.rests)
    with pytest.raises(Rejected):
        simulation.execute(commands.Stage())
    assert simulation.recorder.rests == rests


def test_the_json_form_names_the_bound_only_where_there_is_one() -> None:
    assert to_json(commands.Settle()) == {"kind": "settle"}
    bounded = commands.Run(until=7)
    assert from_json(to_json(bounded)) == bounded
    assert bounded.summary == "run until idle, ended early"
    with pytest.raises(Rejected, match="until: must be at least 0"):
        from_json({"kind": "settle", "until": -1})


def test_ticks_of_playing_have_the_moments_of_the_command_that_they_merge_into() -> None:
    ticks, whole = busy(), busy()
    for simulation in (ticks, whole):
        simulation.execute(commands.Settle())
    for _ in range(6):
        ticks.execute(commands.Advance(0.5, play=True))
        with pytest.raises(Rejected):
            ticks.execute(commands.Delete("Pod", "default/nobody"))
    whole.execute(commands.Advance(3, play=True))
    for simulation in (ticks, whole):
        simulation.execute(commands.Settle())
    assert happenings(ticks.recorder.entries) == happenings(whole.recorder.entries)
    assert ticks.recorder.rests == whole.recorder.rests
