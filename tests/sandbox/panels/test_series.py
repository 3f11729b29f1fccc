"""Lines over simulated time: what they store, and that they agree with the engine."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.panels import World
from sandbox.panels.metrics import series as module
from sandbox.panels.metrics.series import FINEST_US, MOST_GONE, POINTS, Line, Series, series_of
from sandbox.panels.metrics.usage import RESOURCES
from scheduler_engine.commands import Command
from scheduler_engine.errors import Rejected
from scheduler_engine.simulation import Simulation
from scheduler_engine.trace import events as ev
from tests.engine.cluster import COMMANDS
from tests.sandbox import traces
from tests.sandbox.traces import SECOND, Story, node, pod


def drawn(line: Line) -> list[tuple[int, object, object]]:
    return [(point.at_us, point.highest, point.last) for point in line.points]


def folded(story: Story) -> Series:
    series = Series()
    for entry in story.entries:
        series.apply(entry)
    return series


def test_a_line_has_a_point_where_its_value_changes() -> None:
    line = Line()
    for at, value in ((0, 1), (1, 1), (2, 3)):
        line.put(at * SECOND, value, FINEST_US)
    assert drawn(line) == [(0, 1, 1), (2 * SECOND, 3, 3)]


def test_a_peak_within_one_instant_is_recorded() -> None:
    line = Line()
    for value in (0, 6, 2):
        line.put(0, value, FINEST_US)
    assert drawn(line) == [(0, 6, 2)]
    assert (line.highest, line.last) == (6, 2)


def test_a_deleted_object_leaves_a_gap_and_not_a_zero() -> None:
    line = Line()
    for at, value in ((0, 5), (1, None), (2, None), (3, 7)):
        line.put(at * SECOND, value, FINEST_US)
    assert drawn(line) == [(0, 5, 5), (SECOND, None, None), (3 * SECOND, 7, 7)]
    assert line.highest == 7


def test_coarser_lines_keep_the_last_value_and_the_highest() -> None:
    line = Line()
    for at, value in ((0, 1), (1, 9), (2, 4), (3, 5)):
        line.put(at * SECOND, value, FINEST_US)
    line.coarsen(2 * SECOND)
    assert drawn(line) == [(SECOND, 9, 9), (3 * SECOND, 5, 5)]


@pytest.mark.parametrize("step", [0.03, 1, 3600], ids=["often", "each second", "each hour"])
def test_memory_does_not_grow_with_time_and_the_end_stays_exact(step: float) -> None:
    story = Story()
    for number in range(3 * POINTS):
        story.at(number * step).add_pod(pod(f"web-{number}"))
    series = folded(story)
    line = series.of("pending")["active"]
    assert POINTS // 2 <= len(line.points) <= POINTS, "as fine as there is room for"
    assert (line.last, line.points[-1].at_us) == (3 * POINTS, story.recorder.now_us)
    assert [point.at_us for point in line.points] == sorted(point.at_us for point in line.points)


def test_counters_start_at_nothing() -> None:
    story = Story()
    story.at(5).add_pod(pod("web-1"))
    assert drawn(folded(story).of("incoming")["active", "PodAdd"]) == [(0, 0, 0), (5 * SECOND, 1, 1)]


def test_the_last_deleted_nodes_are_kept_in_case_they_come_back() -> None:
    story = Story()
    names = [f"node-{number}" for number in range(MOST_GONE + 2)]
    for name in names:
        story.add_node(node(name))
    assert list(folded(story).of("cpu/node")) == names
    story.say(ev.ObjectDeleted("Node", names[0]))
    story.at(5).add_node(node(names[0]))
    for name in names[1:]:
        story.say(ev.ObjectDeleted("Node", name))
    series = folded(story)
    assert list(series.of("cpu/node")) == [names[0], *names[2:]]
    assert drawn(series.of("cpu/node")[names[0]]) == [(0, 0, None), (5 * SECOND, 0, 0)]


def test_load_is_requests_divided_by_allocatable_of_node_and_zone() -> None:
    story = Story()
    story.add_node(node("a1", "eu-a", "4"))
    story.add_node(node("a2", "eu-a", "12"))
    story.at(1).add_pod(pod("web-1", "2", "4Gi", on="a1"))
    series = folded(story)
    assert drawn(series.of("cpu/node")["a1"]) == [(0, 0, 0), (SECOND, 50, 50)]
    assert drawn(series.of("cpu/zone")["eu-a"]) == [(0, 0, 0), (SECOND, 12.5, 12.5)]
    assert series.of("memory/node")["a1"].last == 50
    assert series.of("cpu/node")["a2"].last == 0


def test_a_node_that_moves_takes_its_load_to_the_other_zone_and_one_that_leaves_takes_it_away() -> None:
    story = Story()
    story.add_node(node("n", "old"))
    story.add_pod(pod("web-1", "2", on="n"))
    story.at(1).say(ev.ObjectModified("Node", "n", node("n", "new")))
    series = folded(story)
    assert (series.of("cpu/zone")["old"].last, series.of("cpu/zone")["new"].last) == (None, 50)
    story.at(2).say(ev.ObjectDeleted("Node", "n"))
    series = folded(story)
    assert (series.of("cpu/zone")["new"].last, series.of("cpu/node")["n"].last) == (None, None)


def test_a_forgotten_pod_gives_its_room_back() -> None:
    story = Story()
    story.add_node(node("n"))
    key = story.add_pod(pod("web-1", "1"))
    for what, load in (("assumed", 25), ("forgotten", 0), ("assumed", 25), ("confirmed", 25), ("removed", 0)):
        story.cached(key, "n", what)
        assert folded(story).of("cpu/node")["n"].last == load


def one_of_four() -> tuple[Story, str]:
    """Return a pod of half a core, assumed on a node of four."""
    story = Story()
    story.add_node(node("n", "z"))
    key = story.add_pod(pod("p-1", "500m"))
    story.cached(key, "n", "assumed")
    return story, key


def test_a_schedulers_assumptions_are_lost_with_it() -> None:
    story, _ = one_of_four()
    assert folded(story).usage.of_node("n", "cpu") == 12.5
    story.say(ev.ReplicaChanged("s-1", "stopped", "killed", False, False, True, 0, "1"))
    assert folded(story).usage.of_node("n", "cpu") == 0
    assert folded(story).usage.of_zone("z", "cpu") == 0


def test_a_pod_that_another_scheduler_has_bound_stays_when_the_loser_takes_its_own_back() -> None:
    story, key = one_of_four()
    story.add_node(node("m", "z"))
    story.say(ev.ObjectModified("Pod", key, pod("p-1", "500m", on="m")))
    story.cached(key, "m", "added")
    story.cached(key, "n", "forgotten")
    usage = folded(story).usage
    assert (usage.of_node("n", "cpu"), usage.of_node("m", "cpu")) == (0, 12.5)


@given(wanted=st.lists(COMMANDS, max_size=30))
@settings(max_examples=80, deadline=None)
def test_the_load_agrees_with_the_schedulers_cache(wanted: list[Command]) -> None:
    simulation, series = Simulation(seed=5), Series()
    for command in wanted:
        try:
            simulation.execute(command)
        except Rejected:
            continue
        for entry in simulation.recorder.entries[series.folded :]:
            series.apply(entry)
        zones: dict[str, list[int]] = {}
        for name, info in simulation.scheduler.cache.nodes.items():
            if info.node is None:
                continue
            assert series.of("cpu/node")[name].last == round(
                100 * info.requested.milli_cpu / info.allocatable.milli_cpu, 1
            )
            sums = zones.setdefault(info.node.labels.get("topology.kubernetes.io/zone", ""), [0, 0])
            sums[0] += info.requested.milli_cpu
            sums[1] += info.allocatable.milli_cpu
        last = {zone: line.last for zone, line in series.of("cpu/zone").items() if line.last is not None}
        assert last == {zone: round(100 * asked / total, 1) for zone, (asked, total) in zones.items()}


def test_the_series_of_a_world_continue_where_they_stopped() -> None:
    entries = traces.web_at_filter().entries
    world = World.fold(entries[: len(entries) // 2])
    first = series_of(world)
    for entry in entries[len(entries) // 2 :]:
        world.apply(entry)
    assert series_of(world) is first
    whole = folded(traces.web_at_filter())
    assert first.folded == whole.folded == len(entries)
    for chart in ("pending", "incoming", "attempts", *(f"{resource}/node" for resource in RESOURCES)):
        assert {label: drawn(line) for label, line in first.of(chart).items()} == {
            label: drawn(line) for label, line in whole.of(chart).items()
        }


def test_series_end_with_their_world() -> None:
    gc.collect()
    before = len(module._series)
    world = World.fold(traces.three_zones().entries)
    series_of(world)
    assert len(module._series) == before + 1
    del world
    gc.collect()
    assert len(module._series) == before
