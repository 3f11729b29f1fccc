"""Ticks of playing merge into one log record, and a replay gives what was played."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_engine import commands, effort, replicas
from scheduler_engine.commands import Advance, Command
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import entry_line, make_log, replay, trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace.events import CommandGiven
from tests.engine.histories import EXAMPLES, NEW_PODS, START, TROUBLE

HALF_A_SECOND = {"lease_duration": "3s", "renew_deadline": "2s", "retry_period": "500ms"}


def played(first: list[Command], ticks: list[float], log: list[Command], simulation: Simulation) -> None:
    """Play as the site does. ``log`` is the site's log."""
    for command in first:
        simulation.execute(command)
        log.append(command)
    for seconds in ticks:
        tick = Advance(seconds, play=True)
        merged = simulation.merged(tick)
        try:
            simulation.execute(tick)
        except Rejected:
            continue
        log[len(log) - (merged is not None) :] = [merged or tick]


def assert_replays(simulation: Simulation, log: list[Command]) -> None:
    """Assert that the log as JSON replays to the same simulation, which also continues in the same way."""
    again = replay(json.loads(json.dumps(make_log(simulation.seed, None, log))))
    assert trace_digest(again) == trace_digest(simulation)
    assert again.now_us == simulation.now_us
    assert (again.played_us, again.room_us) == (simulation.played_us, simulation.room_us)
    assert (again.recorder.effort.entries, again.recorder.effort.steps) == (
        simulation.recorder.effort.entries,
        simulation.recorder.effort.steps,
    )
    assert simulation.history is not None
    assert simulation.history.commands == log


TICKS = st.lists(
    st.one_of(
        st.sampled_from([1.4e-6, 1e-6, 5e-7, 0.25, 0.5, 1, 20, 0.1 + 0.2]),
        st.floats(min_value=1e-6, max_value=90, allow_nan=False),
    ),
    min_size=1,
    max_size=12,
)


@given(
    first=st.lists(st.one_of(NEW_PODS, TROUBLE), max_size=3),
    scheduler=st.one_of(
        st.none(),
        st.builds(commands.Replicas, st.integers(1, 3), st.booleans()),
        st.just(commands.Replicas(2, **HALF_A_SECOND)),
    ),
    ticks=TICKS,
    tries=st.sampled_from([20, 100, 250_000]),
    share=st.sampled_from([10, 3_000, 50_000]),
)
@settings(max_examples=EXAMPLES)
def test_a_record_replays_to_its_ticks(
    first: list[Command], scheduler: Command | None, ticks: list[float], tries: int, share: int
) -> None:
    simulation, log = Simulation(seed=5), list[Command]()
    with pytest.MonkeyPatch.context() as bounds:
        bounds.setattr(replicas, "MAX_TRIES", tries)
        bounds.setattr(effort, "MERGING_SHARE", share)
        started = [command for command in (START, scheduler, *first) if command is not None]
        accepted: list[Command] = []
        trial = Simulation(seed=5)
        for command in started:
            try:
                trial.execute(command)
            except Rejected:
                continue
            accepted.append(command)
        played(accepted, ticks, log, simulation)
        assert_replays(simulation, log)


AT_THE_BOUNDS: list[Any] = [
    pytest.param([commands.Replicas(5, **HALF_A_SECOND)], [6_250.0] * 6, 2, id="37,500 s with five replicas"),
    pytest.param([], [40_000.0, 46_400.0, 0.000001], 2, id="a day, and a microsecond more"),
    pytest.param([], [43_200.0] * 5, 3, id="two days and a half"),
    pytest.param([], [1.4e-6] * 40, 1, id="forty times 1.4 microseconds"),
    pytest.param([], [0.1] * 30, 1, id="tenths of a second, which are inexact as floats"),
    pytest.param([], [1, 2e-7, 1], 1, id="less than a microsecond is refused"),
]


@pytest.mark.parametrize(("first", "ticks", "records"), AT_THE_BOUNDS)
def test_records_end_at_the_limit_of_one_command(
    first: list[Command], ticks: list[float], records: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effort, "MERGING_SHARE", 1)
    simulation, log = Simulation(), list[Command]()
    if first:
        monkeypatch.setattr(replicas, "MAX_TRIES", 250)
        ticks = [seconds / 1_000 for seconds in ticks]
    played(first, ticks, log, simulation)
    assert len(log) - len(first) == records
    assert_replays(simulation, log)


def test_records_end_after_a_share_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each record leaves the greater part of a command's budget, so one tick is never too much for it."""
    monkeypatch.setattr(effort, "MOST_STEPS", 1_000)
    simulation, log = Simulation(), list[Command]()
    played([], [30.0] * 12, log, simulation)
    assert [command.seconds for command in log if isinstance(command, Advance)] == [120.0, 120.0, 120.0]
    assert_replays(simulation, log)


@pytest.mark.parametrize(
    ("between", "merges"),
    [
        pytest.param([], True, id="one tick after the other"),
        pytest.param([Advance(1)], False, id="a person let time pass in between"),
        pytest.param([commands.Settle()], False, id="another command in between"),
    ],
)
def test_only_ticks_that_follow_each_other_merge(between: list[Command], merges: bool) -> None:
    simulation = Simulation()
    for command in (Advance(2, play=True), *between):
        simulation.execute(command)
    assert simulation.merged(Advance(3, play=True)) == (Advance(5, play=True) if merges else None)
    assert simulation.merged(Advance(3)) is None


def test_nothing_merges_at_the_start() -> None:
    assert Simulation().merged(Advance(1, play=True)) is None


def test_the_trace_holds_the_commands_themselves_and_of_ticks_of_playing_no_seconds() -> None:
    simulation = Simulation()
    log = [START, Advance(2), Advance(2, play=True), Advance(3, play=True), commands.Run(cycles=5)]
    for command in log:
        simulation.execute(command)
    entries = [entry for entry in simulation.recorder.entries if isinstance(entry.event, CommandGiven)]
    played = Advance(0, play=True)
    assert [entry.event.command for entry in entries] == [START, Advance(2), played, commands.Run(cycles=5)]
    assert entries[0].event.command is START, "memory is shared with the log"
    data = [json.loads(entry_line(entry)) for entry in entries[1:3]]
    assert [(line["summary"], line["data"]) for line in data] == [
        ("advance 2 s", {"kind": "advance", "seconds": 2, "play": False}),
        ("play", {"kind": "advance", "seconds": 0, "play": True}),
    ]
