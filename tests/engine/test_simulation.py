"""A simulation is plain data and a pure function of its log."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_engine import commands
from scheduler_engine.commands import Command
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import make_log, replay, trace_digest, trace_lines
from scheduler_engine.simulation import Simulation
from tests.engine.cluster import COMMANDS, node, pod


def obeyed(simulation: Simulation, wanted: list[Command]) -> list[Command]:
    """Execute the accepted commands. Assert that a refusal leaves no trace entry."""
    accepted = []
    for command in wanted:
        before = (len(simulation.recorder.entries), simulation.recorder.command, simulation.now_us)
        try:
            simulation.execute(command)
        except Rejected:
            assert before == (len(simulation.recorder.entries), simulation.recorder.command, simulation.now_us)
            continue
        accepted.append(command)
    return accepted


@given(st.lists(COMMANDS, max_size=25), st.lists(COMMANDS, min_size=1, max_size=10))
@settings(max_examples=60, deadline=None)
def test_a_copy_of_any_moment_behaves_identically(first: list[Command], then: list[Command]) -> None:
    original = Simulation(seed=7)
    obeyed(original, first)
    copied = copy.deepcopy(original)
    stored = pickle.loads(pickle.dumps(original))
    for simulation in (original, copied, stored):
        obeyed(simulation, then)
    assert trace_digest(copied) == trace_digest(original)
    assert trace_digest(stored) == trace_digest(original)


WRITING = ("apply", "bind", "cordon", "delete", "evict", "patch", "scale", "taint")


@given(st.lists(COMMANDS, max_size=25), st.lists(COMMANDS, max_size=10), st.lists(COMMANDS, min_size=1, max_size=10))
@settings(max_examples=60, deadline=None)
def test_what_was_only_tried_leaves_nothing_behind(
    first: list[Command], tried: list[Command], then: list[Command]
) -> None:
    simulation, control = Simulation(seed=7), Simulation(seed=7)
    obeyed(simulation, first)
    obeyed(control, first)
    for command in tried:
        with suppress(Rejected):
            if command.kind in WRITING:
                with simulation.tried([command]):
                    pass
    obeyed(simulation, then)
    obeyed(control, then)
    assert trace_digest(simulation) == trace_digest(control)


def test_what_is_tried_is_there_before_anybody_answers_it() -> None:
    simulation = Simulation()
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    web = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": spec}
    with simulation.tried([commands.Apply((web,))]):
        tried = simulation.api.existing("ReplicaSet", "default/web")
        assert (tried.status.get("replicas", 0), simulation.api.pods()) == (0, [])
    assert simulation.api.get("ReplicaSet", "default/web") is None
    simulation.execute(commands.Apply((web,)))
    assert len(simulation.api.pods()) == 2


@given(st.lists(COMMANDS, max_size=25), st.lists(COMMANDS, min_size=1, max_size=10))
@settings(max_examples=40, deadline=None)
def test_changes_to_a_copy_do_not_touch_the_original(first: list[Command], then: list[Command]) -> None:
    original = Simulation(seed=7)
    accepted = obeyed(original, first)
    obeyed(copy.deepcopy(original), then)
    assert trace_digest(original) == trace_digest(replay(make_log(7, None, accepted)))


@given(st.lists(COMMANDS, max_size=30))
@settings(max_examples=40, deadline=None)
def test_a_log_replays_to_the_same_trace(wanted: list[Command]) -> None:
    simulation = Simulation(seed=3)
    log = make_log(3, None, obeyed(simulation, wanted))
    assert list(trace_lines(replay(json.loads(json.dumps(log))))) == list(trace_lines(simulation))


STORY: list[dict[str, Any]] = [
    {"kind": "apply", "manifests": [node("n1", "a"), node("n2", "b"), node("n3", "c", taint="gpu")]},
    {"kind": "apply", "manifests": [pod(f"web-{number}", "1500m", number) for number in range(6)]},
    {"kind": "stage"},
    {"kind": "run"},
    {"kind": "apply", "manifests": [pod("vip-1", "3", 1000)]},
    {"kind": "pod"},
    {"kind": "advance", "seconds": 45},
]


@pytest.mark.parametrize("hash_seed", ["0", "1", "4242"])
def test_the_trace_does_not_depend_on_the_hash_seed(hash_seed: str) -> None:
    here = replay({"seed": 42, "commands": STORY})
    script = (
        "import json, sys; from scheduler_engine.replay import replay, trace_digest; "
        "print(trace_digest(replay(json.load(sys.stdin))))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps({"seed": 42, "commands": STORY}),
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == trace_digest(here)


def test_play_ticks_merge_into_one_command_with_the_same_trace() -> None:
    ticks = Simulation()
    ticks.execute(commands.Apply((node("n1"), pod("web-1", "5"))))
    for _ in range(4):
        ticks.execute(commands.Advance(0.5, play=True))
    merged = Simulation()
    merged.execute(commands.Apply((node("n1"), pod("web-1", "5"))))
    merged.execute(commands.Advance(2, play=True))
    assert trace_digest(ticks) == trace_digest(merged)
    assert ticks.now_us == merged.now_us


def test_a_refused_apply_leaves_nothing_behind() -> None:
    simulation = Simulation()
    before = trace_digest(simulation)
    good, bad = node("n1"), pod("web-1", priorityClassName="nobody-knows-it", priority=None)
    with pytest.raises(Rejected, match="no PriorityClass with name nobody-knows-it was found"):
        simulation.execute(commands.Apply((good, bad)))
    assert trace_digest(simulation) == before
    assert simulation.api.get("Node", "n1") is None


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param({"kind": "explode"}, "unknown command", id="a kind that does not exist"),
        pytest.param({"kind": "advance", "seconds": -1}, "at least 0.000001", id="time does not go back"),
        pytest.param({"kind": "advance", "seconds": "5"}, "must be a whole number", id="a number must be a number"),
        pytest.param({"kind": "advance"}, "missing", id="a missing field is named"),
        pytest.param({"kind": "run", "cycles": 10**9}, "from 1 to", id="a run is bounded"),
        pytest.param({"kind": "stage", "x": 1}, "unknown field", id="an extra field is refused"),
    ],
)
def test_an_invalid_command_is_refused_with_a_reason(data: dict[str, Any], text: str) -> None:
    with pytest.raises(Rejected, match=text):
        commands.from_json(data)
