"""How far a search went: texts and sums against the engine, from pod to pod."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.drawing.shapes import Text
from sandbox.panels.explain import explain_filter
from sandbox.panels.facts.sampling import Search, arithmetic, not_visited, search_of, summary, why_unvisited
from sandbox.panels.facts.sentences import sentence, verdict_counts
from sandbox.panels.facts.verdicts import words_for
from sandbox.panels.filter.panel import stats
from sandbox.panels.model.state import Cycle
from scheduler_engine import commands
from scheduler_engine.cli.explaining import explained
from scheduler_engine.scenario.attempts import RunView
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from tests.engine.cluster import node, pod
from tests.sandbox.scenarios import world_of

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
NO_SCORE = {"preScore": {"disabled": [{"name": "*"}]}, "score": {"disabled": [{"name": "*"}]}}


def opened(nodes: int, pods: int = 1, configuration: dict[str, Any] | None = None) -> Simulation:
    """Return a simulation in which every seventh node has no room for the pods."""
    simulation = Simulation(configuration=None if configuration is None else HEAD | configuration)
    node_manifests = [node(f"n{i:03}", f"z{i % 3}", "500m" if i % 7 == 3 else "4") for i in range(nodes)]
    simulation.execute(commands.Apply((*node_manifests, *(pod(f"web-{i}", "1") for i in range(pods)))))
    return simulation


def stepped(simulation: Simulation) -> tuple[World, Cycle, Search]:
    """Step to the end of Filter of the next pod."""
    for _ in range(4):
        simulation.execute(commands.Stage())
    world = world_of(simulation)
    assert world.cycle is not None
    search = search_of(world.cycle)
    assert search is not None
    return world, world.cycle, search


def sums(world: World, cycle: Cycle, search: Search) -> dict[str, str]:
    return {line.label: line.formula for line in arithmetic(world, cycle, search)}


def test_with_300_nodes_the_search_stops_at_48_percent_and_the_next_pod_goes_on_where_it_stopped() -> None:
    simulation = opened(300, 4)
    start = 0
    for _ in range(4):
        world, cycle, search = stepped(simulation)
        numbers = sums(world, cycle, search)
        assert numbers["percentageOfNodesToScore"] == "50 − 300 / 125 = 48 %"
        assert numbers["Enough"] == "300 × 48 / 100 = 144"
        assert numbers["Start index"] == str(start)
        assert numbers["Visited"] == f"144 fit + {search.failed} fail + 1 = {len(search.visited)}"
        following = (start + 144 + search.failed) % 300
        assert numbers["Next start index"] == f"({start} + 144 + {search.failed}) mod 300 = {following}"
        assert search.visited[0] == cycle.order[start]
        assert search.visited[-1] == cycle.order[following]
        assert [*search.visited, *search.unvisited] == [*cycle.order[start:], *cycle.order[:start]]
        assert f"The next search starts at place {following + 1} ({cycle.order[following]})." in summary(search)
        start = following
        simulation.execute(commands.PodCycle())
    assert start != 0


@pytest.mark.parametrize(
    ("nodes", "configuration", "enough"),
    [
        pytest.param(99, {}, {"Enough": "99 < 100"}, id="below 100 nodes all are visited"),
        pytest.param(
            120,
            {"percentageOfNodesToScore": 50},
            {"percentageOfNodesToScore": "50 %", "Enough": "120 × 50 / 100 = 60, so 100"},
            id="never fewer than 100",
        ),
        pytest.param(
            120,
            {"percentageOfNodesToScore": 50, "profiles": [{"percentageOfNodesToScore": 90}]},
            {"percentageOfNodesToScore": "90 %", "Enough": "120 × 90 / 100 = 108"},
            id="a profile's own percentage wins",
        ),
        pytest.param(120, {"profiles": [{"plugins": NO_SCORE}]}, {"Enough": "1"}, id="without scores one is enough"),
    ],
)
def test_how_many_are_enough(nodes: int, configuration: dict[str, Any], enough: dict[str, str]) -> None:
    world, cycle, search = stepped(opened(nodes, 1, configuration))
    numbers = sums(world, cycle, search)
    assert {label: numbers[label] for label in enough} == enough
    assert enough["Enough"].split()[-1] in (str(search.table.nodes_to_find), "100")


def test_a_change_in_mid_cycle_does_not_change_how_many_nodes_are_enough_for_it() -> None:
    simulation = opened(120, 2, {"percentageOfNodesToScore": 90})
    simulation.execute(commands.Stage())
    simulation.execute(commands.Configure(HEAD | {"percentageOfNodesToScore": 100}))
    for _ in range(3):
        simulation.execute(commands.Stage())
    world = world_of(simulation)
    assert world.cycle is not None
    assert world.cycle.filter is not None
    assert world.cycle.filter.nodes_to_find == 108
    search = search_of(world.cycle)
    assert search is not None
    assert sums(world, world.cycle, search)["Enough"] == "120 × 90 / 100 = 108"
    simulation.execute(commands.PodCycle())
    _, _, search = stepped(simulation)
    assert search.table.nodes_to_find == 120


def test_nodes_that_were_not_visited_are_shown_as_such_everywhere() -> None:
    world, cycle, search = stepped(opened(300))
    words = words_for(world, cycle)
    assert words[search.unvisited[0]].text == "not visited"
    assert words[search.visited[-1]].text == "not needed"
    groups = {group["kind"]: group for group in stats(world, View())["groups"]}
    assert groups["ok"]["count"] == 144
    assert groups["out"]["count"] == len(search.unvisited)
    assert (groups["spare"]["count"], groups["spare"]["nodes"]) == (1, search.visited[-1])
    assert sum(group["count"] for group in stats(world, View())["groups"]) == 300


def test_the_order_line_shows_the_visited_stretch_also_when_it_goes_round() -> None:
    simulation = opened(300, 2)
    world, _, first = stepped(simulation)
    assert [shape.classes for shape in stats(world, View())["order_line"].shapes].count("visited") == 1
    simulation.execute(commands.PodCycle())
    world, _, second = stepped(simulation)
    shapes = stats(world, View())["order_line"].shapes
    assert [shape.classes for shape in shapes].count("visited") == 2
    said = [shape.text for shape in shapes if isinstance(shape, Text)]
    assert said == [f"start {first.table.next_start_index + 1}", f"next {second.table.next_start_index + 1}"]


def test_a_nominated_node_that_fits_is_the_only_one_looked_at_and_the_start_does_not_move() -> None:
    simulation = Simulation()
    old = pod("old", "3", 0, nodeName="n1")
    other = pod("other", "3", 50, nodeName="n2")
    simulation.execute(commands.Apply((node("n1"), node("n2"), old, other)))
    simulation.execute(commands.Apply((pod("new", "3", 10),)))
    simulation.execute(commands.Advance(60))
    world = world_of(simulation)
    cycle = world.attempts["default/new"][-1]
    search = search_of(cycle)
    assert search is not None
    assert search.won
    assert summary(search).startswith("Only the nominated node n1 was visited: it fits, so it wins at once.")
    assert why_unvisited(search) == "the nominated node n1 fits, so it wins at once"
    assert search.table.start_index == search.table.next_start_index


@pytest.mark.parametrize(
    ("nodes", "beginning"),
    [(1, "The only node was visited. The next"), (3, "All 3 nodes visited, from place 1")],
)
def test_a_search_that_looked_at_all_nodes_says_so(nodes: int, beginning: str) -> None:
    _, _, search = stepped(opened(nodes))
    assert summary(search).startswith(beginning)


def pinned(name: str, *nodes: str) -> dict[str, Any]:
    """Return a pod that PreFilter restricts to these nodes by name."""
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]} for node in nodes]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    manifest: dict[str, Any] = pod(name, "1", affinity={"nodeAffinity": required})
    return manifest


def test_a_search_that_prefilter_narrowed_says_so_everywhere() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((*(node(f"n{i}") for i in range(1, 5)), pinned("pinned", "n2", "n3"))))
    world, cycle, search = stepped(simulation)
    assert (search.visited, search.left_out) == (("n2", "n3"), ("n1", "n4"))
    assert summary(search).startswith("PreFilter narrowed the search from 4 nodes to 2. All 2 nodes visited")
    assert dict(not_visited(search)) == {"PreFilter narrowed the search": ("n1", "n4")}
    assert sentence(cycle) == "2 of 2 nodes fit."
    assert words_for(world, cycle)["n1"].text == "not visited"
    answers = {row["plugin"]: row["says"] for row in stats(world, View())["pre"]}
    assert answers["NodeAffinity"] == "will check the nodes that are left"


def test_the_start_of_a_narrowed_search_is_a_place_among_the_nodes_that_are_left() -> None:
    """The index counts over all nodes, and is taken modulo the searched ones."""
    simulation = Simulation()
    names = [f"n{i}" for i in range(1, 6)]
    first = [pod(f"web-{i}", "100m") for i in range(1)]
    simulation.execute(commands.Apply((*map(node, names), *first, pinned("pinned", "n2", "n3", "n4"))))
    simulation.execute(commands.Configure(HEAD | {"profiles": [{"plugins": NO_SCORE}]}))
    simulation.execute(commands.PodCycle())
    world, cycle, search = stepped(simulation)
    numbers = sums(world, cycle, search)
    begun = search.table.start_index
    assert begun > 0
    assert search.visited[0] == ("n2", "n3", "n4")[begun % 3]
    assert search.at(search.start) == f"place {begun % 3 + 1} of the 3 ({search.visited[0]})"
    assert numbers["Start index"].split()[-1] == str(begun % 3)


def test_where_a_narrowed_search_finds_nothing_the_nodes_left_out_cannot_be_helped() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((node("n1", cpu="100m"), node("n2"), node("n3"), pinned("pinned", "n1"))))
    _, cycle, _ = stepped(simulation)
    assert verdict_counts(cycle) == (0, 0, 3)


def nominated_to(last: str, nodes: int, **spec: Any) -> Simulation:
    """Return ``p``, nominated to the node ``last``, on which ``x`` leaves no room."""
    simulation = Simulation()
    manifests = [make_node(f"n{i:03}").capacity(cpu="2", memory="4Gi", pods="10").obj() for i in range(nodes)]
    asker = make_pod("p").cpu("1").nominated(last).spec(**spec).obj()
    simulation.execute(commands.Apply((*manifests, make_pod("x").cpu("2").node(last).obj())))
    simulation.execute(commands.Apply((asker,)))
    return simulation


def only_on(*names: str) -> dict[str, Any]:
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]} for name in names]
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    }


def test_a_nominated_node_tried_first_in_vain_counts_as_visited_everywhere() -> None:
    simulation = nominated_to("n149", 150)
    world, cycle, search = stepped(simulation)
    assert sums(world, cycle, search)["Visited"] == "100 fit + 1 fail (nominated) + 1 = 102"
    assert sums(world, cycle, search)["Next start index"] == "(0 + 100 + 1) mod 150 = 101"
    word = words_for(world, cycle, detailed=["n149"])["n149"]
    assert (word.kind, word.text, word.plugin) == ("no", "cpu", "NodeResourcesFit")
    assert [len(nodes) for _, nodes in not_visited(search)] == [48]
    assert (
        explain_filter(world, cycle, "n149", "NodeResourcesFit").sentence == "n149 does not have enough cpu left for p."
    )
    first = stats(world, View(group="node"))["rows"][0]
    assert (first["node"], first["tried_first"]) == ("n149", "tried first")
    assert sum(group["count"] for group in stats(world, View())["groups"]) == 150
    attempt = RunView(simulation).attempt("default/p")
    assert attempt is not None
    text = "\n".join(explained(simulation, attempt, "n149"))
    assert "n149  tried first, NodeResourcesFit: Insufficient cpu" in text
    assert "n149: NodeResourcesFit refused it: Insufficient cpu" in text
    assert "not checked: 48 of 150 nodes" in text


def test_a_nominated_node_that_was_visited_again_is_counted_once() -> None:
    world, cycle, search = stepped(nominated_to("n004", 5))
    assert sums(world, cycle, search)["Visited"] == "4 fit + 1 fail = 5"
    assert sums(world, cycle, search)["Next start index"] == "(0 + 4 + 1) mod 5 = 0"
    assert [row["tried_first"] for row in stats(world, View())["rows"]] == [""] * 5


def test_a_nominated_node_outside_of_the_narrowed_search_is_listed_separately() -> None:
    world, cycle, search = stepped(nominated_to("n004", 5, **only_on("n001", "n002")))
    assert summary(search) == (
        "The nominated node n004 was tried first and does not fit. PreFilter narrowed the search from 5 nodes to 2. "
        "All 2 nodes visited, from place 1 of the 2 (n001) on. The next search starts at place 4 (n003)."
    )
    numbers = sums(world, cycle, search)
    assert numbers["Visited"] == "2 fit + 1 fail (nominated) = 3"
    assert numbers["Next start index"] == "(0 + 2 + 1) mod 5 = 3"
    assert [line.note for line in arithmetic(world, cycle, search)][1] == "place 1 of the 2 (n001)"
    assert not_visited(search) == [("PreFilter narrowed the search", ("n000", "n003"))]


def test_where_prefilter_leaves_no_node_only_the_nominated_one_was_looked_at() -> None:
    world, cycle, search = stepped(nominated_to("n004", 5, **only_on("yy", "zz")))
    assert summary(search).startswith(
        "The nominated node n004 was tried first and does not fit. PreFilter left no node to visit. The next"
    )
    assert verdict_counts(cycle) == (0, 0, 5)
    words = words_for(world, cycle)
    assert [words[f"n00{i}"].text for i in range(4)] == ["not visited"] * 4


@pytest.mark.parametrize(
    ("answer", "following", "beginning"),
    [
        pytest.param("error", "(0 + 5 + 0) mod 5 = 0", "was tried first, where NodeResourcesFit failed", id="an error"),
        pytest.param("deny", "(0 + 5 + 1) mod 5 = 1", "was tried first and does not fit.", id="a refusal"),
    ],
)
def test_a_nominated_node_that_fits_when_it_is_visited_again(answer: str, following: str, beginning: str) -> None:
    simulation = Simulation()
    nodes = [make_node(f"n{i}").capacity(cpu="2", memory="4Gi", pods="10").obj() for i in range(5)]
    simulation.execute(commands.Apply(tuple(nodes)))
    simulation.execute(commands.Fault("NodeResourcesFit", "filter", answer))
    simulation.execute(commands.Apply((make_pod("p").cpu("1").nominated("n4").obj(),)))
    world, cycle, search = stepped(simulation)
    assert sums(world, cycle, search)["Visited"] == "5 fit + 0 fail = 5"
    assert sums(world, cycle, search)["Next start index"] == following
    assert beginning in summary(search)
    assert words_for(world, cycle)["n4"].text == "fits"


def test_the_sentences_of_a_lean_trace_do_not_say_that_no_node_fits() -> None:
    simulation = Simulation(full=False)
    nodes = [make_node(name).obj() for name in ("n1", "n2")]
    simulation.execute(commands.Apply((*nodes, make_pod("web").cpu("1").obj())))
    said = {}
    for _ in range(8):
        simulation.execute(commands.Stage())
        cycle = world_of(simulation).by_number[1]
        said[cycle.last_stage] = sentence(cycle)
    assert said["Filter"] == "2 of 2 nodes fit."
    assert said["Score"] == "4 plugins gave each of 2 nodes a raw score."
    assert said["SelectHost"].startswith("several nodes share the top total 473; the seeded draw picked n")
