"""A command's effects are bounded. A command over the bound has none."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from scheduler_engine import commands, effort
from scheduler_engine.commands import Command
from scheduler_engine.errors import OverBudget, Rejected
from scheduler_engine.replay import trace_digest
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.engine import controllers as world

Manifest = dict[str, Any]

ENTRIES, STEPS, PODS = "MOST_ENTRIES", "MOST_STEPS", "MOST_PODS"


def bound(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
    monkeypatch.setattr(effort, name, number)


def small_cluster() -> Simulation:
    simulation = world.cluster(world.replica_set("web", 2), nodes=2)
    world.run(simulation)
    world.advance(simulation, 3)
    return simulation


def many_pods(number: int = 40) -> commands.Apply:
    return commands.Apply(tuple(make_pod(f"p{index}").cpu("1m").obj() for index in range(number)))


def evicted_at_once(grace: int = 0) -> tuple[Manifest, Manifest]:
    """Return a node whose taint evicts pods, and a set that keeps creating pods there."""
    node = make_node("hot").taint("heat", effect="NoExecute").obj()
    return node, world.replica_set("hasty", 1, pod={"nodeName": "hot", "terminationGracePeriodSeconds": grace})


TOO_MUCH: list[Any] = [
    pytest.param((), many_pods(), ENTRIES, 60, id="more pods than the trace of one command may have"),
    pytest.param((), many_pods(), STEPS, 100, id="more pods than the limit of rounds"),
    pytest.param((), commands.Advance(600), STEPS, 200, id="ten minutes of a clock that ticks every second"),
    pytest.param((many_pods(8),), commands.Run(), ENTRIES, 100, id="a run of eight pods"),
    pytest.param((many_pods(8),), commands.Settle(), STEPS, 100, id="a Settle of eight pods"),
    pytest.param((many_pods(1),), commands.PodCycle(), ENTRIES, 30, id="one pod's cycle"),
    pytest.param((many_pods(1), commands.Stage()), commands.Stage(), ENTRIES, 1, id="a stage in mid-cycle"),
    pytest.param((), commands.Scale("ReplicaSet", "default/web", 9), PODS, 6, id="more pods of one set in an instant"),
    pytest.param((), commands.Drain("n1"), ENTRIES, 5, id="a drain"),
    pytest.param((), commands.Replicas(3), ENTRIES, 20, id="an election"),
    pytest.param(
        (commands.Advance(2, play=True),), commands.Advance(600, play=True), STEPS, 200, id="a long tick of playing"
    ),
]


@pytest.mark.parametrize(("before", "command", "name", "number"), TOO_MUCH)
@pytest.mark.parametrize("how", ["as it is", "copied", "stored"])
def test_a_command_over_the_limit_changes_nothing(
    before: tuple[Command, ...], command: Command, name: str, number: int, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation, other = small_cluster(), small_cluster()
    for accepted in before:
        simulation.execute(accepted)
        other.execute(accepted)
    if how == "copied":
        simulation = copy.deepcopy(simulation)
    elif how == "stored":
        simulation = pickle.loads(pickle.dumps(simulation))
    commands_before = simulation.recorder.command
    with monkeypatch.context() as tight:
        run_out_once(tight, name, number)
        with pytest.raises(OverBudget, match="Nothing has changed"):
            simulation.execute(command)
    assert trace_digest(simulation) == trace_digest(other)
    assert simulation.recorder.command == commands_before
    assert simulation.recorder.effort == other.recorder.effort
    for then in (command, commands.Run(), commands.Advance(5, play=True), commands.Advance(5, play=True)):
        simulation.execute(then)
        other.execute(then)
    assert trace_digest(simulation) == trace_digest(other)


def run_out_once(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
    """Apply the bound until it is reached: the state rebuilt after that came about without the bound."""
    bound(monkeypatch, name, number)
    before = Simulation._undo

    def undo(simulation: Simulation) -> None:
        monkeypatch.undo()
        before(simulation)

    monkeypatch.setattr(Simulation, "_undo", undo)


def test_a_simulation_that_will_be_discarded_need_not_keep_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation(undoes=False)
    simulation.execute(many_pods(3))
    assert simulation.history is None
    bound(monkeypatch, ENTRIES, 20)
    with pytest.raises(OverBudget):
        simulation.execute(commands.Run())


def test_a_refusal_for_another_reason_does_not_change_the_effort() -> None:
    simulation = small_cluster()
    simulation.execute(commands.Advance(1, play=True))
    before = simulation.recorder.effort.copy()
    with pytest.raises(Rejected):
        simulation.execute(commands.Cordon("nobody"))
    assert simulation.recorder.effort == before
    assert simulation.merged(commands.Advance(1, play=True)) == commands.Advance(2, play=True)


def test_copies_share_the_commands() -> None:
    simulation = small_cluster()
    copied = copy.deepcopy(simulation)
    assert simulation.history is not None
    assert copied.history is not None
    assert copied.history.commands is not simulation.history.commands
    pairs = zip(copied.history.commands, simulation.history.commands, strict=True)
    assert all(mine is yours for mine, yours in pairs)


def refusal(simulation: Simulation, command: Command) -> str:
    with pytest.raises(OverBudget) as caught:
        simulation.execute(command)
    return str(caught.value)


def test_the_refusal_names_the_owner_that_goes_round(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation(undoes=False)
    world.apply(simulation, *evicted_at_once())
    bound(monkeypatch, ENTRIES, 3_000)
    assert refusal(simulation, commands.Advance(3600)) == (
        "ReplicaSet hasty created 200 pods that were evicted at once. This is too much for one command: "
        "more than 3,000 trace entries. Nothing has changed. Let less time pass at once."
    )


def test_the_refusal_names_the_owner_that_makes_too_many_in_one_instant(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = small_cluster()
    bound(monkeypatch, PODS, 6)
    text = refusal(simulation, commands.Scale("ReplicaSet", "default/web", 9))
    assert "ReplicaSet default/web creates 6 pods in one instant" in text


@pytest.mark.parametrize(
    ("before", "command", "text"),
    [
        pytest.param(commands.Replicas(3), commands.Advance(3600), "tries for the lock", id="the lock"),
        pytest.param(many_pods(9), commands.Run(), "run fewer cycles at once", id="a run"),
        pytest.param(many_pods(1), many_pods(999), "Apply fewer objects at once", id="objects"),
    ],
)
def test_the_refusal_names_the_most_frequent_event(
    before: Command, command: Command, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation = Simulation(undoes=False)
    simulation.execute(before)
    bound(monkeypatch, ENTRIES, 150)
    assert text in refusal(simulation, command)
