"""Explanations: a plain sentence, then the arithmetic of this pod and this node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.panels.explain import Explanation, explain_filter, explain_score
from sandbox.panels.model.world import World
from scheduler_engine import commands
from scheduler_engine.config import load_configuration
from scheduler_engine.plugins.registry import REGISTRY
from scheduler_engine.scenario import FOLDER as SCENARIOS
from scheduler_engine.scenario import load_scenario, play
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import HOSTNAME, ZONE, make_node, make_pod
from tests.engine.random_clusters import SERVICE, STORAGE
from tests.sandbox import traces
from tests.sandbox.witnessing import witnessed

Data = dict[str, Any]


def after(*manifests: Data, then: tuple[commands.Command, ...] = (commands.Settle(),)) -> World:
    simulation = Simulation()
    simulation.execute(commands.Apply(tuple(manifests)))
    for command in then:
        simulation.execute(command)
    return witnessed(simulation)


def filtered(world: World, pod: str, node: str, plugin: str) -> Explanation:
    return explain_filter(world, world.attempts[f"default/{pod}"][-1], node, plugin)


def judged(world: World, pod: str, node: str, plugin: str) -> Explanation:
    return explain_score(world, world.attempts[f"default/{pod}"][-1], node, plugin)


def lines(explanation: Explanation) -> list[str]:
    return [f"{line.label}: {line.formula}" for line in explanation.lines]


def two_nodes() -> tuple[Data, Data]:
    return make_node("n1").zone("a").obj(), make_node("n2").zone("b").obj()


def full_node() -> World:
    return after(
        make_node("n1").obj(), make_pod("db-1").cpu("2100m").node("n1").obj(), make_pod("web-1").cpu("2500m").obj()
    )


def nominated() -> World:
    """Return a world in which vip-1 evicts low-1 and waits for its end; web-1 must leave it the room."""
    old = make_pod("low-1").cpu("3").node("n1").grace_period(30).obj()
    setup = commands.Apply((make_pod("vip-1").cpu("2500m").priority(100).obj(),))
    late = commands.Apply((make_pod("web-1").cpu("1").priority(5).obj(),))
    return after(make_node("n1").obj(), old, then=(setup, commands.Settle(), late, commands.Settle()))


def small_node() -> World:
    node = make_node("n1").capacity({"nvidia.com/gpu": "1"}, pods="1").obj()
    return after(
        node,
        make_pod("db-1").node("n1").obj(),
        make_pod("web-1").request({"nvidia.com/gpu": "2"}).limit({"nvidia.com/gpu": "2"}).obj(),
    )


def tainted() -> World:
    pod = (
        make_pod("web-1").toleration("dedicated", "web", "NoSchedule").toleration("dedicated", "gpu", "NoExecute").obj()
    )
    return after(make_node("n1").taint("dedicated", "gpu").obj(), pod)


def labelled() -> World:
    pod = make_pod("web-1").node_affinity("disktype", ["ssd"]).obj()
    return after(make_node("n1").label("disktype", "hdd").obj(), make_node("n2").obj(), pod)


def ports() -> World:
    holder = make_pod("db-1").host_port(80).node("n1").obj()
    return after(make_node("n1").obj(), holder, make_pod("web-1").host_port(80, host_ip="10.0.0.1").obj())


def skewed() -> World:
    held = [make_pod(f"web-{number}").label("app", "web").node("n1").obj() for number in (1, 2)]
    excluded = make_node("n3").zone("c").label("kind", "gpu").obj()
    pod = make_pod("web-3").label("app", "web").spread(ZONE, {"app": "web"}).node_affinity("kind", ["gpu"], "NotIn")
    return after(*two_nodes(), excluded, *held, pod.obj(), then=(commands.Cordon("n2"), commands.Settle()))


def repelled() -> World:
    loner = make_pod("db-1").label("app", "db").anti_affinity(ZONE, {"app": "web"}).node("n1").obj()
    return after(make_node("n1").zone("a").obj(), loner, make_pod("web-1").label("app", "web").obj())


def nobody_near() -> World:
    return after(make_node("n1").zone("a").obj(), make_pod("web-1").affinity(ZONE, {"app": "db"}).obj())


def volumes() -> World:
    return after(
        make_node("n1").zone("c").obj(),
        *STORAGE,
        make_pod("web-1").claim("bound-a").obj(),
        make_pod("web-2").claim("bound-labelled").obj(),
    )


REFUSALS: dict[str, tuple[Callable[[], World], str, str, str, list[str]]] = {
    "too little cpu is a sum that does not fit": (
        full_node,
        "web-1",
        "NodeResourcesFit",
        "n1 does not have enough cpu left for web-1.",
        ["pods: 1 there + 1 = 2 ≤ 110", "cpu: 2100m used + 2500m requested = 4600m > 4000m allocatable"],
    ),
    "a nominated pod is named in the sum": (
        nominated,
        "web-1",
        "NodeResourcesFit",
        "n1 does not have enough cpu left for web-1.",
        [
            "pods: 1 there + 1 nominated (vip-1) + 1 = 3 ≤ 110",
            "cpu: 3000m used + 2500m nominated (vip-1) + 1000m requested = 6500m > 4000m allocatable",
            "Nominated here: vip-1",
        ],
    ),
    "more than the whole node has and too many pods": (
        small_node,
        "web-1",
        "NodeResourcesFit",
        "n1 is too small: web-1 requests more nvidia.com/gpu than the whole node has.",
        ["pods: 1 there + 1 = 2 > 1", "nvidia.com/gpu: 0 used + 2 requested = 2 > 1 allocatable"],
    ),
    "every checked toleration is named with why it does not match": (
        tainted,
        "web-1",
        "TaintToleration",
        "n1 has the taint dedicated=gpu:NoSchedule, which web-1 does not tolerate.",
        [
            "dedicated=gpu:NoSchedule: not tolerated: “dedicated=web:NoSchedule” is for the value “web”; the taint has "
            "“gpu”; “dedicated=gpu:NoExecute” is for NoExecute"
        ],
    ),
    "the node's actual label is shown": (
        labelled,
        "web-1",
        "NodeAffinity",
        "web-1 needs disktype ssd; n1 has disktype hdd.",
        ["required: disktype In [ssd]"],
    ),
    "the pod that holds the port is named": (
        ports,
        "web-1",
        "NodePorts",
        "web-1 needs TCP 10.0.0.1:80, but it is taken on n1.",
        ["port TCP 10.0.0.1:80: taken by db-1 (TCP 80)"],
    ),
    "the skew is a sum with the count per domain and the uncounted pods": (
        skewed,
        "web-3",
        "PodTopologySpread",
        "With web-3, zone a would be 3 pods ahead of the emptiest zone; the limit is 1.",
        [
            "zone, at most 1: 2 in a + 1 for web-3 − 0 fewest = 3 > 1",
            "Pods per zone: a 2, b 0 (fewest)",
            "Does not count for zone: n3",
        ],
    ),
    "an existing pod's own anti-affinity is shown with its name": (
        repelled,
        "web-1",
        "InterPodAffinity",
        "The anti-affinity of db-1 in zone a keeps web-1 out.",
        ["db-1 must not be near pods with app=web: it is in zone a"],
    ),
    "no matching pod here": (
        nobody_near,
        "web-1",
        "InterPodAffinity",
        "web-1 must be near pods with app=db, but there are none in zone a.",
        ["Near pods with app=db: no such pod in zone a"],
    ),
    "a volume out of reach": (
        volumes,
        "web-1",
        "VolumeBinding",
        "n1 cannot access the volume of claim bound-a.",
        ["claim bound-a: bound to pv-a", "nodeAffinity of pv-a: topology.kubernetes.io/zone In [a]"],
    ),
    "a volume in other zones": (
        volumes,
        "web-2",
        "VolumeZone",
        "The volume of claim bound-labelled is in a or b, and n1 has topology.kubernetes.io/zone=c.",
        [
            "claim bound-labelled: topology.kubernetes.io/zone a or b, node has topology.kubernetes.io/zone=c",
            "claim bound-labelled: topology.kubernetes.io/region x, node has no label topology.kubernetes.io/region",
        ],
    ),
}


@pytest.mark.parametrize("words", REFUSALS)
def test_a_refusal_has_a_sentence_and_numbers(words: str) -> None:
    build, pod, plugin, sentence, expected = REFUSALS[words]
    explanation = filtered(build(), pod, "n1", plugin)
    assert explanation.sentence == sentence
    assert lines(explanation) == expected
    assert explanation.reasons


def scored_pair(*more: Data, pod: Data | None = None) -> World:
    return after(*two_nodes(), *more, pod or make_pod("web-1").cpu("1500m").memory("1Gi").obj())


def with_default() -> World:
    return scored_pair(make_pod("idle-1").node("n1").obj())


def with_images() -> World:
    image, size = "registry.example/web:1", 523 << 20
    listed = [
        make_node(name).image(image, size).obj() if name == "n1" else make_node(name).obj() for name in ("n1", "n2")
    ]
    return after(*listed, make_pod("web-1").image(image).obj())


def with_neighbours() -> World:
    friend = make_pod("db-1").label("app", "db").affinity(ZONE, {"app": "web"}).node("n1").obj()
    pod = (
        make_pod("web-1")
        .label("app", "web")
        .affinity(HOSTNAME, {"app": "db"}, 40)
        .anti_affinity(ZONE, {"app": "cache"}, 7)
    )
    foe = make_pod("cache-1").label("app", "cache").node("n2").obj()
    return after(*two_nodes(), make_pod("web-0").label("app", "web").node("n1").obj(), friend, foe, pod.obj())


def with_service() -> World:
    held = [make_pod(f"db-{number}").label("app", "db").node("n1").obj() for number in (1, 2)]
    return after(*two_nodes(), SERVICE, *held, make_pod("db-3").label("app", "db").obj())


def with_soft_taint() -> World:
    nodes = (
        make_node("n1").taint("old", "", "PreferNoSchedule").taint("slow", "", "PreferNoSchedule"),
        make_node("n2").taint("old", "", "PreferNoSchedule"),
    )
    return after(*(node.obj() for node in nodes), make_pod("web-1").obj())


def with_wishes() -> World:
    pod = make_pod("web-1").node_affinity("disk", ["ssd"], weight=30).node_affinity("gpu", [], "Exists", 5).obj()
    return after(
        make_node("n1").label("disk", "ssd").obj(), make_node("n2").label("disk", "ssd").label("gpu", "a").obj(), pod
    )


SCORES: dict[str, tuple[Callable[[], World], str, str, list[str]]] = {
    "the free share, resource by resource": (
        scored_pair,
        "web-1",
        "NodeResourcesFit",
        [
            "LeastAllocated cpu: (4000m − 1500m) × 100 / 4000m = 62",
            "LeastAllocated memory: (8Gi − 1Gi) × 100 / 8Gi = 87",
            "Raw: (62 × 1 + 87 × 1) / 2 = 74",
            "Normalized: 74",
            "Weighted: 74 × 1 = 74",
        ],
    ),
    "how even the fractions are": (
        scored_pair,
        "web-1",
        "NodeResourcesBalancedAllocation",
        [
            "cpu: 1500m / 4000m = 0.375",
            "memory: 1Gi / 8Gi = 0.125",
            "Deviation: |0.375 − 0.125| / 2 = 0.125",
            "Raw: (1 − 0.125) × 100 = 87",
            "Normalized: 87",
            "Weighted: 87 × 1 = 87",
        ],
    ),
    "an image that half of the nodes have counts half": (
        with_images,
        "web-1",
        "ImageLocality",
        [
            "registry.example/web:1: 523 Mi × 1 / 2 = 261.5 Mi",
            "Raw: (261.5 Mi − 23 Mi) × 100 / (1000 Mi − 23 Mi) = 24",
            "Normalized: 24",
            "Weighted: 24 × 1 = 24",
        ],
    ),
    "preferences of both sides": (
        with_neighbours,
        "web-1",
        "InterPodAffinity",
        [
            "web-1 likes pods with app=db: 1 × 40 = 40",
            "web-1 dislikes pods with app=cache: 0 × −7 = 0",
            "db-1 needs pods with app=web: 1 × 1 = 1",
            "Raw: 41",
            "Normalized: 100 × (41 − (−7)) / (41 − (−7)) = 100",
            "Weighted: 100 × 2 = 200",
        ],
    ),
    "spreading by the built-in default": (
        with_service,
        "db-3",
        "PodTopologySpread",
        [
            "node n1: 2 pods × ln(2 + 2) + (3 − 1) = 4.7726",
            "zone a: 2 pods × ln(2 + 2) + (5 − 1) = 6.7726",
            "Pods per zone: a 2, b 0",
            "Raw: 4.7726 + 6.7726 → 12",
            "Normalized: 100 × (12 + 6 − 12) / 12 = 50",
            "Constraints: the scheduler's built-in default",
            "Weighted: 50 × 2 = 100",
        ],
    ),
    "PreferNoSchedule taints": (
        with_soft_taint,
        "web-1",
        "TaintToleration",
        [
            "old:PreferNoSchedule: 1",
            "slow:PreferNoSchedule: 1",
            "Raw: 2",
            "Normalized: 100 − 100 × 2 / 2 = 0",
            "Weighted: 0 × 3 = 0",
        ],
    ),
    "preferred labels": (
        with_wishes,
        "web-1",
        "NodeAffinity",
        [
            "weight 30: disk In [ssd]: 30",
            "weight 5: gpu Exists: 0",
            "Raw: 30",
            "Normalized: 100 × 30 / 35 = 85",
            "Weighted: 85 × 2 = 170",
        ],
    ),
}


@pytest.mark.parametrize("words", SCORES)
def test_a_score_has_its_numbers(words: str) -> None:
    build, pod, plugin, expected = SCORES[words]
    explanation = judged(build(), pod, "n1", plugin)
    assert lines(explanation) == expected
    assert explanation.sentence.endswith(".")


def test_pods_that_count_with_a_default_request_are_named() -> None:
    explanation = judged(with_default(), "web-1", "n1", "NodeResourcesFit")
    assert explanation.lines[0].formula == "(4000m − 1600m) × 100 / 4000m = 60"
    cpu, memory = (line for line in explanation.lines if line.label.endswith(": default"))
    assert (cpu.formula, memory.formula) == ("100m each", "200Mi each")
    assert cpu.note == memory.note == "for containers without a request in idle-1"


@pytest.mark.parametrize(
    ("node", "formula"), [("node-1", "(7 × 5 + 5 × 1 + 3 × 3) / 9 = 5"), ("node-2", "(5 × 5 + 7 × 1 + 10 × 3) / 9 = 7")]
)
def test_the_worked_bin_packing_example_shows_its_arithmetic(node: str, formula: str) -> None:
    scenario = load_scenario(SCENARIOS / "29-bin-packing-worked-example.yaml")
    simulation = scenario.open()
    play(simulation, scenario.then)
    world = witnessed(simulation)
    assert f"From 0 to 10: {formula}" in lines(explain_score(world, world.cycles[-1], node, "NodeResourcesFit"))


@pytest.mark.parametrize("point", ["filter", "score"])
def test_every_plugin_of_the_default_profile_explains_itself(point: str) -> None:
    profile = load_configuration(None).profiles[0]
    silent = {"VolumeBinding"} if point == "score" else set[str]()
    named = {plugin for plugin, _ in profile.plugins[point]} - silent
    assert [plugin for plugin in named if not hasattr(REGISTRY[plugin], f"explain_{point}")] == []


def test_volume_binding_never_scores_so_it_explains_no_score() -> None:
    world = scored_pair(*STORAGE, pod=make_pod("web-1").claim("waits").obj())
    assert "VolumeBinding" in {plugin for plugin, code, _ in world.cycles[-1].pre_score.verdicts if code == "Skip"}  # type: ignore[union-attr]


def test_a_denial_that_no_arithmetic_explains_is_shown_as_recorded() -> None:
    simulation = Simulation()
    simulation.execute(commands.Apply((*two_nodes(), make_pod("web-1").obj())))
    simulation.execute(commands.Fault("NodeResourcesFit", "filter", "deny"))
    simulation.execute(commands.PodCycle())
    world = witnessed(simulation)
    row = next(row for row in world.cycles[-1].filter.rows if row[1])  # type: ignore[union-attr]
    explanation = explain_filter(world, world.cycles[-1], row[0], "NodeResourcesFit")
    assert (explanation.code, explanation.reasons) == row[2:4]
    assert explanation.sentence == "The scheduler recorded: injected denial."
    assert explanation.lines[0].label == "Recorded"


def test_a_node_that_was_not_visited_has_no_verdict() -> None:
    world = after(*two_nodes(), make_pod("web-1").spec(affinity=NAMED).obj())
    assert filtered(world, "web-1", "n2", "NodeResourcesFit").sentence == "n2 was not visited for web-1."


NAMED: Data = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
        }
    }
}


def test_a_plugin_that_the_profile_does_not_run_has_no_verdict() -> None:
    assert (
        filtered(full_node(), "web-1", "n1", "ImageLocality").sentence
        == "ImageLocality does not filter in this profile."
    )


def test_a_plugin_that_was_skipped_says_so() -> None:
    explanation = filtered(full_node(), "web-1", "n1", "NodePorts")
    assert explanation.sentence == "NodePorts is skipped: it has nothing to check for web-1."


def test_a_refusal_before_any_node_names_the_claims() -> None:
    world = after(*two_nodes(), *STORAGE, make_pod("web-1").claim("waits").claim("missing").obj())
    explanation = filtered(world, "web-1", "n1", "VolumeRestrictions")
    assert explanation.sentence == "web-1 uses the claim missing, which does not exist. So no node was visited."
    assert lines(explanation) == ["claim waits: not bound, class wait", "claim missing: does not exist"]


def test_an_old_cycle_is_explained_as_it_was_after_the_cluster_has_changed() -> None:
    simulation = Simulation()
    simulation.execute(
        commands.Apply(
            (
                make_node("n1").obj(),
                make_pod("db-1").cpu("2100m").node("n1").obj(),
                make_pod("web-1").cpu("2500m").obj(),
            )
        )
    )
    simulation.execute(commands.Settle())
    before = witnessed(simulation)
    simulation.execute(commands.Delete("Pod", "default/db-1"))
    simulation.execute(commands.Delete("Pod", "default/web-1"))
    simulation.execute(commands.Advance(60))
    simulation.execute(commands.Delete("Node", "n1"))
    later = witnessed(simulation)
    assert filtered(later, "web-1", "n1", "NodeResourcesFit").code
    assert explain_filter(later, later.cycles[0], "n1", "NodeResourcesFit") == explain_filter(
        before, before.cycles[0], "n1", "NodeResourcesFit"
    )


def test_the_smallest_volume_that_suits_is_named() -> None:
    world = after(make_node("n1").zone("a").obj(), *STORAGE, make_pod("web-1").claim("waits-local-large").obj())
    assert lines(filtered(world, "web-1", "n1", "VolumeBinding")) == ["claim waits-local-large: takes pv-local"]
    world = after(make_node("n1").zone("a").obj(), *STORAGE, make_pod("web-1").claim("waits-local").obj())
    assert lines(filtered(world, "web-1", "n1", "VolumeBinding")) == ["claim waits-local: takes pv-local-tiny"]


def test_an_aws_disk_cannot_be_shared_even_for_reading() -> None:
    disk = {"name": "d", "awsElasticBlockStore": {"volumeID": "vol-1", "readOnly": True}}
    holder = make_pod("db-1").node("n1").spec(volumes=[disk]).obj()
    world = after(*two_nodes(), holder, make_pod("web-1").spec(volumes=[disk]).obj())
    explanation = filtered(world, "web-1", "n1", "VolumeRestrictions")
    assert explanation.sentence == "A disk that web-1 mounts is in use on n1 by db-1 and cannot be shared."
    assert filtered(world, "web-1", "n2", "VolumeRestrictions").code == "Success"


def test_where_no_node_counts_the_fewest_is_0() -> None:
    pod = make_pod("web-1").label("app", "web").spread(ZONE, {"app": "web"}).node_affinity("kind", ["gpu"])
    explanation = filtered(after(*two_nodes(), pod.obj()), "web-1", "n1", "PodTopologySpread")
    assert lines(explanation)[:2] == ["zone, at most 1: 0 in a + 1 for web-1 − 0 fewest = 1 ≤ 1", "Pods per zone: none"]
    assert explanation.lines[0].note == "no node counts, so the fewest is 0"


def test_an_empty_zone_is_called_empty() -> None:
    held = [make_pod(name).label("app", "web").node("n1").obj() for name in ("web-1", "web-2")]
    pod = make_pod("web-3").label("app", "web").spread(ZONE, {"app": "web"})
    world = after(make_node("n1").zone("").obj(), make_node("n2").zone("b").obj(), *held, pod.obj())
    explanation = filtered(world, "web-3", "n1", "PodTopologySpread")
    assert explanation.sentence.startswith("With web-3, zone (empty) would be 3 pods ahead of the emptiest zone;")
    assert lines(explanation)[:2] == [
        "zone, at most 1: 2 in (empty) + 1 for web-3 − 0 fewest = 3 > 1",
        "Pods per zone: (empty) 2, b 0 (fewest)",
    ]


def test_too_few_domains_set_the_minimum_to_0() -> None:
    held = make_pod("web-1").label("app", "web").node("n1").obj()
    pod = make_pod("web-2").label("app", "web").spread(ZONE, {"app": "web"}, minDomains=3)
    explanation = filtered(after(*two_nodes(), held, pod.obj()), "web-2", "n1", "PodTopologySpread")
    assert explanation.sentence == (
        "With web-2, zone a would be 2 pods ahead of an empty zone (fewer than 3 domains count, so the "
        "minimum is 0); the limit is 1."
    )


def test_among_many_zones_the_pods_own_one_is_always_shown() -> None:
    nodes = [make_node(f"n{number}").zone(f"z{number}").obj() for number in range(10)]
    held = make_pod("web-1").label("app", "web").node("n9").obj()
    pod = make_pod("web-2").label("app", "web").spread(ZONE, {"app": "web"})
    explanation = filtered(after(*nodes, held, pod.obj()), "web-2", "n9", "PodTopologySpread")
    assert explanation.lines[1].formula.endswith("z6 0 (fewest), z9 1 and 2 more")


def test_a_full_node_has_reached_its_limit_of_pods() -> None:
    node = make_node("n1").capacity(cpu="1", memory="1Gi", pods="1").obj()
    held = make_pod("db-1").node("n1").request(cpu="500m").obj()
    pods = make_pod("web-1"), make_pod("web-2").request(cpu="900m"), make_pod("web-3").request(cpu="2")
    world = after(node, held, *(pod.obj() for pod in pods))
    explanations = [filtered(world, name, "n1", "NodeResourcesFit") for name in ("web-1", "web-2", "web-3")]
    assert explanations[0].sentence == "n1 has reached its pod limit."
    assert explanations[0].lines[0].note == "the node's pod limit"
    assert explanations[1].sentence == "n1 does not have enough cpu left for web-2, and it has reached its pod limit."
    assert explanations[2].lines[1].note == (
        "1500m too much; the pod requests more than the whole node has, so evicting pods cannot help"
    )


def test_a_requirement_that_matchlabelkeys_adds_again_is_written_once() -> None:
    pod = make_pod("web-1").label("app", "web").label("hash", "x").spread(ZONE, {"app": "web"}, matchLabelKeys=["hash"])
    explanation = filtered(after(*two_nodes(), pod.obj()), "web-1", "n1", "PodTopologySpread")
    assert explanation.lines[1].note == "counts pods with hash in (x),app=web"


def two_zones_of_two_kinds(when: str) -> World:
    """Return a world in which web-3 spreads over the zones of two keys that end alike."""
    held = [make_pod(f"web-{number}").label("app", "web").node("n1").obj() for number in (1, 2)]
    nodes = [make_node(f"n{n}").zone(zone).label("power/zone", zone).obj() for n, zone in ((1, "a"), (2, "b"))]
    pod = make_pod("web-3").label("app", "web")
    for key in (ZONE, "power/zone"):
        pod.spread(key, {"app": "web"}, when=when)
    return after(*nodes, make_node("n3").obj(), *held, pod.obj(), then=(commands.Settle(),))


@pytest.mark.parametrize("explain", [filtered, judged], ids=["Filter", "Score"])
def test_constraints_with_keys_that_end_alike_do_not_read_alike(explain: Any) -> None:
    world = two_zones_of_two_kinds("DoNotSchedule" if explain is filtered else "ScheduleAnyway")
    explanation = explain(world, "web-3", "n1", "PodTopologySpread")
    labels = [line.label for line in explanation.lines]
    assert len(labels) == len({*labels})
    for key in (ZONE, "power/zone"):
        assert sum(key in label for label in labels) == 3
    if explain is filtered:
        says = f"With web-3, {ZONE} a would be 3 pods ahead of the emptiest {ZONE}; the limit is 1."
        assert explanation.sentence == says
        assert explanation.brief == f"{ZONE} skew 3 > 1"


def with_uncounted(when: str) -> World:
    """Return a world with web pods on their way out, in another namespace, and on a node that does not count."""
    blue = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "blue"}}
    leaving = [make_pod(f"old-{n}").label("app", "web").node("n1").grace_period(60).obj() for n in (1, 2)]
    held = [
        make_pod("web-1").label("app", "web").node("n1").obj(),
        make_pod("web-2", "blue").label("app", "web").node("n2").obj(),
        make_pod("web-3").label("app", "web").node("n3").obj(),
        make_pod("db-1", "blue").label("app", "db").node("n2").obj(),
    ]
    deletes = (commands.Delete("Pod", "default/old-1"), commands.Delete("Pod", "default/old-2"))
    pod = make_pod("web-9").label("app", "web").spread(ZONE, {"app": "web"}, 5, when).obj()
    asked = (*deletes, commands.Apply((pod,)), commands.Settle())
    return after(*two_nodes(), make_node("n3").obj(), blue, *leaving, *held, then=asked)


@pytest.mark.parametrize("explain", [filtered, judged], ids=["Filter", "Score"])
def test_spreading_names_matching_pods_that_do_not_count(explain: Any) -> None:
    world = with_uncounted("DoNotSchedule" if explain is filtered else "ScheduleAnyway")
    for node in ("n1", "n2"):
        shown = explain(world, "web-9", node, "PodTopologySpread").lines
        assert [
            (f"{line.label}: {line.formula}", line.note) for line in shown if line.label.startswith("Does not count")
        ] == [
            ("Does not count for zone: n3", f"no label {ZONE}"),
            ("Does not count for zone: old-1 and old-2", "they are being deleted"),
            ("Does not count for zone: blue/web-2", "it is in another namespace"),
        ]


def test_a_card_names_the_constraint_that_refuses_if_there_are_several() -> None:
    held = [make_pod(f"web-{number}").label("app", "web").node("n1").obj() for number in (1, 2)]
    pod = make_pod("web-3").label("app", "web").spread(ZONE, {"app": "web"}, 9).spread(HOSTNAME, {"app": "web"})
    world = after(*two_nodes(), *held, pod.obj())
    assert filtered(world, "web-3", "n1", "PodTopologySpread").brief == "node skew 3 > 1"


def test_a_spread_constraint_with_an_empty_selector_counts_no_pod() -> None:
    pod = make_pod("web-1").spread(ZONE, {}).obj()
    world = after(*two_nodes(), make_pod("db-1").node("n1").obj(), pod)
    explanation = filtered(world, "web-1", "n1", "PodTopologySpread")
    assert lines(explanation)[0] == "zone, at most 1: 0 in a + 1 for web-1 − 0 fewest = 1 ≤ 1"


STORIES = (
    traces.three_zones,
    traces.web_at_filter,
    traces.api_scored,
    traces.tied,
    traces.payments_preempts,
    traces.hundred,
)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_trace_that_leaves_things_out_still_gets_the_recorded_verdicts_and_scores(
    story: Callable[[], traces.Story],
) -> None:
    world = World.fold(story().entries)
    for cycle in world.cycles:
        for node, plugin, code, reasons, _ in cycle.filter.rows if cycle.filter else ():
            if plugin:
                explanation = explain_filter(world, cycle, node, plugin)
                assert (explanation.code, explanation.reasons) == (code, reasons)
        for plugin, rows in cycle.score.raw if cycle.score else ():
            assert {node: explain_score(world, cycle, node, plugin).raw for node, _ in rows} == dict(rows)


def test_a_port_counts_as_free_when_one_of_two_that_have_it_leaves() -> None:
    """The second one fails at its kubelet; the cache has a set of ports, and removes the port for both."""
    first, second = (make_pod(name).host_port(80).node("n1").obj() for name in ("db-1", "db-2"))
    late = commands.Apply((make_pod("web-1").host_port(80).obj(),))
    world = after(make_node("n1").obj(), first, then=(commands.Apply((second,)), late, commands.Settle()))
    explanation = filtered(world, "web-1", "n1", "NodePorts")
    assert [line.formula for line in explanation.lines] == [
        "counts as free, although db-1 holds it: another pod with this port was removed"
    ]
    info = world.cache.node_info("n1")
    assert info is not None
    assert info.pods[0].pod.name == "db-1"
