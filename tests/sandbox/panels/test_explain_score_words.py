"""The scores by use and by spread, sentence by sentence, and the parts of requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.panels.explain import Explanation
from sandbox.panels.model.world import World
from scheduler_engine import commands
from scheduler_engine.scheduler.search import enough_facts, enough_of
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import HOSTNAME, ZONE, make_node, make_pod
from scheduler_engine.wording import worded
from tests.engine.random_clusters import RUNTIME, SERVICE, configuration
from tests.sandbox.panels.test_explain_words import after, filtered, judged, lines, two_nodes
from tests.sandbox.witnessing import witnessed

Data = dict[str, Any]
FIT, BALANCED, SPREAD = "NodeResourcesFit", "NodeResourcesBalancedAllocation", "PodTopologySpread"
STEPS = "init containers run one by one beside the sidecars started before; "


def notes(explanation: Explanation) -> dict[str, str]:
    return {line.label: line.note for line in explanation.lines}


def beside(explanation: Explanation) -> list[str]:
    """Return the lines on the parts of the requests."""
    endings = (": containers", ": init containers", ": whole pod", ": overhead", ": default")
    return [f"{line.label}: {line.formula}" for line in explanation.lines if line.label.endswith(endings)]


def profiled(plugin: str, arguments: Data, *manifests: Data) -> World:
    simulation = Simulation(configuration=configuration(**{plugin: arguments}))
    simulation.execute(commands.Apply(manifests))
    simulation.execute(commands.Settle())
    return witnessed(simulation)


def strategy(kind: str, *resources: Data, shape: tuple[tuple[int, int], ...] = ()) -> Data:
    points = [{"utilization": use, "score": score} for use, score in shape]
    more = {"requestedToCapacityRatio": {"shape": points}} if points else {}
    return {"scoringStrategy": {"type": kind, "resources": [*resources], **more}}


# --- parts of requests ---


def composed() -> World:
    """Return two sidecars, an init container between them, and overhead."""
    pod = make_pod("web-1").cpu("500m").memory("200Mi").init_container("proxy", {"cpu": "300m"}, sidecar=True)
    pod.init_container("migrate", {"cpu": "1500m", "memory": "100Mi"})
    pod.init_container("logs", {"memory": "64Mi"}, sidecar=True).spec(runtimeClassName="sandboxed")
    return after(*two_nodes(), RUNTIME, pod.obj())


def whole_pod() -> World:
    pod = make_pod("web-1").cpu("500m").spec(resources={"requests": {"cpu": "2"}}, runtimeClassName="sandboxed")
    return after(*two_nodes(), RUNTIME, pod.obj())


ASKED = [
    "cpu: containers: 500m containers + 300m sidecars = 800m",
    "cpu: init containers: migrate: 1800m > 800m",
    "cpu: overhead: 1800m + 250m overhead = 2050m requested",
    "memory: containers: 200Mi containers + 64Mi sidecars = 264Mi",
    "memory: init containers: migrate: 100Mi ≤ 264Mi",
    "memory: overhead: 264Mi + 120Mi overhead = 384Mi requested",
]


def test_a_filter_says_how_sidecars_init_containers_and_overhead_count() -> None:
    explanation = filtered(composed(), "web-1", "n1", FIT)
    assert lines(explanation)[1:] == [
        "cpu: 0m used + 2050m requested = 2050m ≤ 4000m allocatable",
        "memory: 0 used + 384Mi requested = 384Mi ≤ 8192Mi allocatable",
        *ASKED,
    ]
    assert notes(explanation)["cpu: containers"] == "sidecars run beside the containers"
    assert notes(explanation)["cpu: init containers"] == STEPS + "the largest step counts; the containers need less"
    assert (
        notes(explanation)["memory: init containers"]
        == STEPS + "the containers need at least as much, so nothing is added"
    )
    assert notes(explanation)["cpu: overhead"] == "the RuntimeClass adds it to the pod"


def test_scores_have_sidecars_in_the_sum_of_requests() -> None:
    world = composed()
    assert beside(judged(world, "web-1", "n1", BALANCED)) == ASKED
    assert beside(judged(world, "web-1", "n1", FIT)) == [
        "memory: default: 200Mi each",
        "cpu: containers: 500m containers + 400m sidecars = 900m",
        "cpu: init containers: migrate: 1800m > 900m",
        "cpu: overhead: 1800m + 250m overhead = 2050m requested",
        "memory: containers: 200Mi containers + 264Mi sidecars = 464Mi",
        "memory: init containers: migrate: 300Mi ≤ 464Mi",
        "memory: overhead: 464Mi + 120Mi overhead = 584Mi requested",
    ]


def test_several_init_containers_show_the_largest_step() -> None:
    pod = make_pod("web-1").cpu("1").init_container("small", {"cpu": "1200m"}).init_container("large", {"cpu": "2"})
    explanation = filtered(after(make_node("n1").obj(), pod.obj()), "web-1", "n1", FIT)
    assert beside(explanation) == ["cpu: init containers: large: 2000m > 1000m"]


def test_a_request_of_the_whole_pod_counts_where_the_decision_counts_it() -> None:
    world = whole_pod()
    whole = ["cpu: whole pod: 2000m", "cpu: overhead: 2000m + 250m overhead = 2250m requested"]
    memory = "memory: overhead: 0 + 120Mi overhead = 120Mi requested"
    for explanation in (filtered(world, "web-1", "n1", FIT), judged(world, "web-1", "n1", BALANCED)):
        assert beside(explanation) == [*whole, memory]
        assert notes(explanation)["cpu: whole pod"] == "counts for the whole pod"
    explanation = judged(world, "web-1", "n1", FIT)
    assert lines(explanation)[0] == "LeastAllocated cpu: (4000m − 750m) × 100 / 4000m = 81"
    assert "cpu: whole pod: 2000m" in beside(explanation)
    assert notes(explanation)["cpu: whole pod"] == "not counted: this score adds up the containers"


# --- scores by use ---


def ratio() -> World:
    shape = ((0, 0), (50, 9), (90, 2))
    named = ("example.com/gpu", "example.com/fpga")
    resources = ({"name": "cpu", "weight": 3}, {"name": "memory"}, *({"name": name} for name in named))
    return profiled(
        FIT,
        strategy("RequestedToCapacityRatio", *resources, shape=shape),
        make_node("n1").capacity({"example.com/gpu": "2"}).obj(),
        make_node("n2").obj(),
        make_pod("db-1").node("n1").cpu("0").memory("6Gi").obj(),
        make_pod("web-1").cpu("1500m").memory("2Gi").obj(),
    )


def more_than_there_is(kind: str, shape: tuple[tuple[int, int], ...] = ()) -> World:
    """Return twelve pods without requests, which count 100m each, on nodes of 1 cpu."""
    held = [make_pod(f"idle-{number}").node("n1").obj() for number in range(12)]
    nodes = [make_node(name).capacity(cpu="1").obj() for name in ("n1", "n2")]
    resources = {"name": "cpu"}, {"name": "ephemeral-storage"}
    return profiled(FIT, strategy(kind, *resources, shape=shape), *nodes, *held, make_pod("web-1").obj())


def nothing_counts() -> World:
    gpu = {"name": "example.com/gpu"}
    return profiled(FIT, strategy("LeastAllocated", gpu), *two_nodes(), make_pod("web-1").obj())


def three_resources() -> World:
    resources = [{"name": name} for name in ("cpu", "memory", "ephemeral-storage")]
    nodes = [make_node(name).capacity({"ephemeral-storage": "10Gi"}).obj() for name in ("n1", "n2")]
    return profiled(BALANCED, {"resources": resources}, *nodes, make_pod("web-1").cpu("1").memory("4Gi").obj())


def one_resource() -> World:
    return profiled(BALANCED, {"resources": [{"name": "cpu"}]}, *two_nodes(), make_pod("web-1").cpu("1").obj())


def cut_below() -> World:
    """Return a score cut below: (1 − 0.34) × 100 is 65.99999999999999 in floating point."""
    return after(*two_nodes(), make_pod("web-1").cpu("2720m").obj())


DEFAULT = "cpu: default: 100m each"
SCORES: dict[str, tuple[Callable[[], World], str, str, list[str]]] = {
    "a line of points between, above and below": (
        ratio,
        FIT,
        "With web-1 on it, n1 scores 55 on the profile's utilization curve.",
        [
            "cpu: 1500m × 100 / 4000m = 37 %",
            "RequestedToCapacityRatio cpu: 0 + (90 − 0) × (37 − 0) / (50 − 0) = 66",
            "memory: 8Gi × 100 / 8Gi = 100 %",
            "RequestedToCapacityRatio memory: above 90 % = 20",
            "Raw: (66 × 3 + 20 × 1) / 4 = 55",
            "From 0 to 10: (6 × 3 + 2 × 1) / 4 = 5",
            "Shape: 0 %: 0, 50 %: 90, 90 %: 20",
            "example.com/gpu: left out",
            "example.com/fpga: left out",
            "Normalized: 55",
        ],
    ),
    "more than the capacity counts as nothing free": (
        lambda: more_than_there_is("LeastAllocated"),
        FIT,
        "With web-1 on it, n1 would have about 0 % of its resources free; emptier is better.",
        [
            "LeastAllocated cpu: 1300m > 1000m, so 0",
            "Raw: (0 × 1) / 1 = 0",
            DEFAULT,
            "ephemeral-storage: left out",
            "Normalized: 0",
        ],
    ),
    "more than the capacity counts as full": (
        lambda: more_than_there_is("MostAllocated"),
        FIT,
        "With web-1 on it, n1 would be about 100 % full; fuller is better.",
        [
            "MostAllocated cpu: 1300m > 1000m, so 100",
            "Raw: (100 × 1) / 1 = 100",
            DEFAULT,
            "ephemeral-storage: left out",
            "Normalized: 100",
        ],
    ),
    "more than the capacity counts as 100 % on a line, and a score of 0 is dropped": (
        lambda: more_than_there_is("RequestedToCapacityRatio", ((10, 9), (100, 0))),
        FIT,
        "With web-1 on it, n1 scores 0 on the profile's utilization curve.",
        [
            "cpu: 1300m > 1000m, so 100 %",
            "RequestedToCapacityRatio cpu: 90 + (0 − 90) × (100 − 10) / (100 − 10) = 0",
            "Raw: 0",
            "Shape: 10 %: 90, 100 %: 0",
            DEFAULT,
            "ephemeral-storage: left out",
            "Normalized: 0",
        ],
    ),
    "without a counted resource, the use of a node is not mentioned": (
        nothing_counts,
        FIT,
        "None of the scored resources matters here, so n1 gets 0.",
        ["Raw: 0", "example.com/gpu: left out", "Normalized: 0"],
    ),
    "three fractions deviate from their mean": (
        three_resources,
        BALANCED,
        "With web-1 on it, the resources of n1 would be used somewhat unevenly; even use is better.",
        [
            "cpu: 1000m / 4000m = 0.25",
            "memory: 4Gi / 8Gi = 0.5",
            "ephemeral-storage: 0 / 10Gi = 0",
            "Deviation: standard deviation around the mean 0.25 = 0.2041",
            "Raw: (1 − 0.2041) × 100 = 79",
            "Normalized: 79",
        ],
    ),
    "one fraction cannot deviate": (
        one_resource,
        BALANCED,
        "With web-1 on it, the resources of n1 would be used evenly; even use is better.",
        [
            "cpu: 1000m / 4000m = 0.25",
            "Deviation: 0 (fewer than two resources)",
            "Raw: (1 − 0) × 100 = 100",
            "Normalized: 100",
        ],
    ),
    "a value just below a whole number is truncated, with a note": (
        cut_below,
        BALANCED,
        "With web-1 on it, the resources of n1 would be used very unevenly; even use is better.",
        [
            "cpu: 2720m / 4000m = 0.68",
            "memory: 0 / 8Gi = 0",
            "Deviation: |0.68 − 0| / 2 = 0.34",
            "Raw: (1 − 0.34) × 100 → 65",
            "Normalized: 65",
        ],
    ),
}


@pytest.mark.parametrize("words", SCORES)
def test_a_score_by_use_has_a_sentence_and_numbers(words: str) -> None:
    build, plugin, sentence, expected = SCORES[words]
    explanation = judged(build(), "web-1", "n1", plugin)
    assert explanation.sentence == sentence
    assert lines(explanation)[:-1] == expected


def test_remarks_name_use_requests_and_why_a_resource_is_left_out() -> None:
    remarks = notes(judged(ratio(), "web-1", "n1", FIT))
    assert remarks["memory"] == "6Gi used + 2Gi requested of 8Gi"
    assert remarks["example.com/gpu"] == "web-1 does not request it"
    assert remarks["example.com/fpga"] == "the node has none"
    assert remarks["Raw"] == "weighted mean, rounded; resources that score 0 do not count"
    assert remarks["Normalized"] == "already 0 to 100, so it stays as it is"
    below = notes(judged(cut_below(), "web-1", "n1", BALANCED))
    assert below["Raw"] == "computed as slightly less than 66; rounded down"


CUT = "; each division drops the fraction"


def test_a_line_whose_division_leaves_a_rest_says_so_once_in_a_cell() -> None:
    used = make_pod("db-1").node("n1").request(cpu="500m", memory="1Gi").obj()
    world = after(*two_nodes(), used, make_pod("web-1").request(cpu="10m", memory="1Mi").obj())
    explanation = judged(world, "web-1", "n1", FIT)
    assert [line.note.endswith(CUT) for line in explanation.lines] == [True, False, False, False, False]
    assert "Normalized" in notes(judged(soft(), "web-9", "n2", SPREAD))
    assert not any(CUT in line.note for line in judged(soft(), "web-9", "n2", SPREAD).lines)


@pytest.mark.parametrize(
    ("nodes", "percentage", "remarks"),
    [
        pytest.param(150, None, [True, False], id="50 − 150 / 125 = 49 is cut"),
        pytest.param(250, None, [False, False], id="50 − 250 / 125 = 48 is not"),
        pytest.param(333, 50, [False, True], id="333 × 50 / 100 = 166 is cut"),
    ],
)
def test_a_search_says_which_division_is_cut(nodes: int, percentage: int | None, remarks: list[bool]) -> None:
    facts = enough_facts(enough_of(percentage, 0, nodes), "default-scheduler")
    assert [worded(item, "note").endswith(CUT) for item in facts] == remarks


@pytest.mark.parametrize(("plugin", "raw"), [(FIT, 97), (BALANCED, 0)])
def test_a_score_without_pre_score_is_explained_too(plugin: str, raw: int) -> None:
    config = configuration()
    config["profiles"][0]["plugins"] = {"preScore": {"disabled": [{"name": plugin}]}}
    simulation = Simulation(configuration=config)
    simulation.execute(commands.Apply((*two_nodes(), make_pod("web-1").obj())))
    simulation.execute(commands.Settle())
    explanation = judged(witnessed(simulation), "web-1", "n1", plugin)
    assert (explanation.raw, explanation.normalized) == (raw, raw)
    assert "Recorded" not in notes(explanation)
    assert "web-1" in explanation.sentence


# --- the score of spreading ---


def soft() -> World:
    """Return zones a and b, which can take the pod, n3 without a zone, and nodes that cannot take the pod."""
    where = ("n1", "n1", "n2", "n5")
    held = [make_pod(f"web-{number}").label("app", "web").node(node).obj() for number, node in enumerate(where, 1)]
    pod = make_pod("web-9").label("app", "web").node_affinity("kind", ["gpu"], "NotIn")
    pod.spread(ZONE, {"app": "web"}, when="ScheduleAnyway", nodeTaintsPolicy="Honor")
    pod.spread(HOSTNAME, {"app": "web"}, when="ScheduleAnyway")
    others = (
        make_node("n3"),
        make_node("n4").zone("b").label("kind", "gpu"),
        make_node("n5").zone("c").cordoned(),
        make_node("n6").zone("a").taint("slow"),
    )
    return after(*two_nodes(), *(node.obj() for node in others), *held, pod.obj())


def by_default() -> World:
    """Return a Service's pods on two nodes, spread by the built-in default. n1 has no zone."""
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"}}
    selected = {**service, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}
    held = make_pod("web-1").label("app", "web").node("n1").obj()
    nodes = make_node("n1").obj(), make_node("n2").zone("b").obj()
    return after(*nodes, selected, held, make_pod("web-9").label("app", "web").obj())


LEFT_OUT = [
    ("Does not count for zone: n3", f"no label {ZONE}"),
    ("Does not count for zone: n5", "no node that can take the pod is in the same zone"),
    ("Does not count for zone: n6", "taint slow:NoSchedule is not tolerated"),
    ("Does not count for zone: n4", "the pod's node selector or affinity rules it out"),
    ("Does not count for node: n3", f"no label {ZONE}"),
]


def test_a_spread_score_names_the_crowds_and_the_uncounted_pods() -> None:
    world = soft()
    explanation = judged(world, "web-9", "n1", SPREAD)
    assert explanation.sentence == "n1 scores worst for spreading."
    assert lines(explanation)[:5] == [
        "zone a: 2 pods × ln(2 + 2) + (1 − 1) = 2.7726",
        "Pods per zone: a 2, b 1",
        "node n1: 2 pods × ln(2 + 2) + (1 − 1) = 2.7726",
        "Raw: 2.7726 + 2.7726 → 6",
        "Normalized: 100 × (6 + 3 − 6) / 6 = 50",
    ]
    assert [(f"{line.label}: {line.formula}", line.note) for line in explanation.lines[5:-1]] == LEFT_OUT
    assert explanation.lines[1].note == "counts pods with app=web"
    assert explanation.lines[2].note.endswith("; on this node: web-1 and web-2")
    fewest = judged(world, "web-9", "n2", SPREAD)
    assert fewest.sentence == "n2 scores best for spreading."
    assert lines(fewest)[2] == "node n2: 1 pod × ln(2 + 2) + (1 − 1) = 1.3863"


def test_one_constraint_compares_pods_and_several_compare_scores() -> None:
    nodes = [make_node(f"n{number}").zone(zone).obj() for number, zone in enumerate("abc", 1)]
    held = [make_pod(f"web-{n}").label("app", "web").node(f"n{n % 2 + 2}").obj() for n in (1, 2, 3)]
    pod = make_pod("web-9").label("app", "web").spread(ZONE, {"app": "web"}, when="ScheduleAnyway")
    one = after(*nodes, *held, pod.obj())
    assert [judged(one, "web-9", f"n{number}", SPREAD).sentence for number in (1, 2, 3)] == [
        "n1 has the fewest matching pods around it, which is best for spreading.",
        "n2 has more matching pods around it than the best node.",
        "n3 has the most matching pods around it; fewer is better.",
    ]
    two = after(*nodes, *held, pod.spread(HOSTNAME, {"app": "web"}, when="ScheduleAnyway").obj())
    assert [judged(two, "web-9", f"n{number}", SPREAD).sentence for number in (1, 2, 3)] == [
        "n1 scores best for spreading.",
        "n2 scores lower for spreading than the best node.",
        "n3 scores worst for spreading.",
    ]


def test_a_node_without_the_topology_label_gets_nothing_for_spreading() -> None:
    explanation = judged(soft(), "web-9", "n3", SPREAD)
    assert explanation.sentence == f"n3 has no label {ZONE}, so it gets no points for spreading."
    assert lines(explanation)[:2] == ["Raw: 0", "Normalized: 0"]
    assert (explanation.raw, explanation.normalized) == (0, 0)
    assert [(f"{line.label}: {line.formula}", line.note) for line in explanation.lines[2:-1]] == LEFT_OUT


def test_by_the_built_in_default_a_node_without_a_zone_is_judged_by_itself_alone() -> None:
    explanation = judged(by_default(), "web-9", "n1", SPREAD)
    assert lines(explanation)[:-1] == [
        "node n1: 1 pod × ln(2 + 2) + (3 − 1) = 3.3863",
        "zone: 0",
        "Raw: 3.3863 → 3",
        "Normalized: 100 × (6 + 3 − 3) / 6 = 100",
        "Constraints: the scheduler's built-in default",
    ]
    assert notes(explanation)["zone"] == f"no label {ZONE}"


def test_equally_good_nodes_are_called_equal() -> None:
    pod = make_pod("web-1").label("app", "web").spread(ZONE, {"app": "web"}, when="ScheduleAnyway").obj()
    explanation = judged(after(*two_nodes(), pod), "web-1", "n1", SPREAD)
    assert explanation.sentence == "For spreading, n1 is as good as every other node that fits."
    assert lines(explanation)[2:4] == ["Raw: 0 → 0", "Normalized: 100"]
    third = judged(after(*two_nodes(), make_node("n3").obj(), pod), "web-1", "n1", SPREAD)
    assert third.sentence == "For spreading, n1 is as good as every other node that fits and has the topology labels."


# --- what the written formula does not give exactly ---


def test_a_share_that_floats_compute_as_slightly_less_is_not_said_to_drop_a_fraction() -> None:
    pod = make_pod("p").affinity(ZONE, {"g": "m"}, weight=29).affinity(ZONE, {"g": "n"}, weight=100)
    near, far = make_pod("m1").label("g", "m").node("n1"), make_pod("m2").label("g", "n").node("n2")
    world = after(*two_nodes(), zoneless(), near.obj(), far.obj(), pod.obj())
    explanation = judged(world, "p", "n1", "InterPodAffinity")
    assert "Normalized: 100 × (29 − 0) / (100 − 0) → 28" in lines(explanation)
    assert notes(explanation)["Normalized"].endswith("computed as slightly less than 29; rounded down")


def zoneless() -> Data:
    return make_node("n3").obj()


def test_the_built_in_default_requires_no_labels_of_the_nodes_that_it_counts() -> None:
    pods = [make_pod(name).label("app", "db").node("n1").obj() for name in ("d1", "d2")]
    world = after(*two_nodes(), zoneless(), SERVICE, *pods, make_pod("p").label("app", "db").obj())
    said = [line.note for line in judged(world, "p", "n2", SPREAD).lines if "the number of nodes" in line.note]
    assert said == ["3 is the number of nodes that can take the pod"]
