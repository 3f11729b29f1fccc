"""Every panel shows one moment: the past looks as it did when it was the present."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from sandbox.content.scenarios import guide
from sandbox.panels import PANELS, View, World
from sandbox.panels.model import past
from sandbox.panels.model.moment import Moment
from sandbox.panels.model.past import Past
from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.scenario import FOLDER, load_scenario, play
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace.events import CommandGiven, Entry

SCENARIOS = sorted(path.name for path in FOLDER.glob("*.yaml"))
MOMENTS = 4
"""Moments tried in each history."""
OF_THE_PRESENT = {"timeline", "toolbar", "status"}
"""Panels that also show later events."""
BESIDE = ("past", "when", "dump", "steps", "moments")
"""Data about the present while the past is shown."""


def world_of(entries: list[Entry], now_us: int, slug: str = "") -> World:
    world = World.fold(entries)
    world.clock_us, world.guide = now_us, guide(slug)
    return world


def looked_back(simulation: Simulation, slug: str = "") -> Past:
    """Return the present of a simulation, with its past."""
    past = Past(World())
    for entry in simulation.recorder.entries:
        past.world.apply(entry)
        past.note()
    past.world.look_at("")
    past.world.clock_us, past.world.guide = simulation.now_us, guide(slug)
    past.world.rests = simulation.recorder.rests
    return past


def replayed(
    log: list[commands.Command], simulation: Simulation, moment: Moment, at_its_end: bool
) -> tuple[list[Entry], int]:
    """Return the entries and the clock of a simulation executed up to a moment."""
    for command in log[: max(0, moment.command - 1)]:
        simulation.execute(command)
    if moment.command:
        last = log[moment.command - 1]
        simulation.execute(last if at_its_end else replace(last, until=moment.entries))  # type: ignore[call-arg]
    entries = [
        replace(entry, event=replace(entry.event, command=replace(entry.event.command, until=0)))
        if isinstance(entry.event, CommandGiven) and hasattr(entry.event.command, "until")
        else entry
        for entry in simulation.recorder.entries
    ]
    return entries, simulation.now_us


def facts(world: World, view: View) -> dict[str, Any]:
    panels = {name: dict(panel.stats(world, view)) for name, panel in PANELS.items() if name not in OF_THE_PRESENT}
    for name in BESIDE:
        for panel in ("sentence", "ribbon"):
            panels[panel].pop(name, None)
    return panels


def views(world: World) -> Iterator[View]:
    yield View()
    for pod in list(world.pods)[-1:]:
        yield View(pod=pod)
    for node in list(world.nodes)[:1]:
        yield View(node=node)


def check(simulation: Simulation, create: Any, random: Random, slug: str = "") -> None:
    """Check some moments of the history of ``simulation``. ``create`` creates one that is still at its start."""
    assert simulation.history is not None
    log, looked = simulation.history.commands, looked_back(simulation, slug)
    rests = [entries for entries, _ in simulation.recorder.rests]
    for rest in random.sample(rests, min(MOMENTS, len(rests))):
        moment = looked.world.moment_of(rest)
        shown = looked.at(moment)
        at_its_end = rest in (*looked.world.starts, rests[-1])
        entries, now_us = replayed(log, create(), moment, at_its_end)
        assert len(entries) == rest == len(shown.entries)
        meant = world_of(entries, now_us, slug)
        for view in views(meant):
            for name, stats in facts(meant, view).items():
                assert dict(PANELS[name].stats(shown, view), **dict.fromkeys(BESIDE)) == dict(
                    stats, **dict.fromkeys(BESIDE)
                ), f"{name} at {moment}, {view}"


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_panel_shows_a_moment_of_a_scenario_as_it_was(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "EVERY", 90)
    scenario = load_scenario(FOLDER / name)
    simulation = scenario.open()
    for step in (*scenario.then, {"kind": "run", "cycles": 50}):
        try:
            play(simulation, [step])
        except Rejected:
            continue

    def create() -> Simulation:
        history = simulation.history
        assert history is not None
        return Simulation(history.seed, history.configuration, history.full, history.queue_rules)

    check(simulation, create, Random(name), scenario.slug)


def command(random: Random, number: int) -> commands.Command:
    """Return a random command of a visitor."""
    pod, node = f"default/p{random.randrange(9)}", f"n{random.randrange(5)}"
    builder = make_pod(pod.removeprefix("default/")).request({"cpu": f"{random.choice([100, 700, 1500])}m"})
    choices = (
        lambda: commands.Apply((builder.priority(random.choice([0, 10])).obj(),)),
        lambda: commands.Apply((make_node(node).zone(random.choice("abc")).capacity(cpu="2", pods=4).obj(),)),
        lambda: commands.Delete("Pod", pod),
        lambda: commands.Delete("Node", node),
        lambda: commands.Cordon(node, random.random() < 0.5),
        lambda: commands.Taint(node, "k", random.choice(["NoSchedule", "NoExecute"]), on=random.random() < 0.7),
        lambda: commands.Drain(node),
        lambda: commands.Evict(pod),
        commands.Stage,
        commands.PodCycle,
        commands.Settle,
        lambda: commands.Advance(random.choice([0.5, 3, 40])),
        lambda: commands.Run(cycles=8),
    )
    return random.choice(choices[:2] if number < 6 else choices)()


@pytest.mark.parametrize("seed", range(12))
def test_every_panel_shows_a_moment_of_a_random_history_as_it_was(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "EVERY", 60)
    random, simulation = Random(seed), Simulation()
    for number in range(60):
        try:
            simulation.execute(command(random, number))
        except Rejected:
            continue
    check(simulation, Simulation, random)


def test_an_address_is_read_as_it_is_written() -> None:
    assert str(Moment(12, 40)) == "12.40"
    assert Moment.read("12.40") == Moment(12, 40)
    for wrong in ("", "12", "12.", "-1.2", "a.b", "1.2.3", "1" * 10 + ".1", "١.٢"):
        assert Moment.read(wrong) is None


def test_an_unknown_moment_is_the_nearest_earlier_one_or_the_present() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((make_node("n1").obj(), make_pod("p1").obj())))
    simulation.execute(commands.Settle())
    looked = looked_back(simulation)
    assert looked.at(Moment(9, 1)) is looked.world
    assert looked.at(Moment(2, 10**8)) is looked.world
    first = looked.at(Moment(1, 10**8))
    here = simulation.recorder.rests[1][0] - simulation.recorder.rests[0][0]
    assert (first.head, str(first.moment_of(len(first.entries)))) == (1, f"1.{here}")
    assert not looked.at(Moment(0, 1)).pods


def test_checkpoints_thin_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past, "EVERY", 5)
    simulation = Simulation()
    simulation.execute(commands.Apply(tuple(make_node(f"n{number}").obj() for number in range(200))))
    looked = looked_back(simulation)
    assert len(looked.checkpoints) <= past.MOST
    places = [checkpoint.entries for checkpoint in looked.checkpoints]
    assert places == sorted(places)
    assert places[-1] > len(simulation.recorder.entries) // 4
