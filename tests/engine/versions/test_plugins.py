"""Rules of plugins: the same input under each version, and its outcomes."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.api.objects import KubeObject
from scheduler_engine.errors import Rejected
from scheduler_engine.framework.interface import Hint
from scheduler_engine.plugins.node_resources_fit import NodeResourcesFit
from scheduler_engine.scheduler.explaining import filter_facts
from scheduler_engine.scheduler.ranking import Ranking, place_in_heap
from scheduler_engine.testing import NodeBuilder, PodBuilder, make_node, make_pod
from scheduler_engine.testing.cluster import Cluster
from scheduler_engine.trace import events as ev
from scheduler_engine.versions import VERSIONS, rules_for
from scheduler_engine.wording import sentence
from scheduler_engine.wording.entries import line
from tests.engine.cells import watching
from tests.engine.plugins.world import World, pod_of

OLD, MIDDLE, NEW = VERSIONS


def events(cluster: Cluster, kind: type[ev.Event]) -> list[Any]:
    return [entry.event for entry in cluster.simulation.recorder.entries if isinstance(entry.event, kind)]


def profile(**fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [fields],
    }


def message_of(cluster: Cluster, pod: str) -> str:
    return (cluster.pod(pod).condition("PodScheduled") or {}).get("message", "")


@pytest.mark.parametrize(
    ("kubernetes", "reasons"),
    [
        (OLD, "1 node(s) had untolerated taint {a: 1}, 1 node(s) had untolerated taint {b: 2}"),
        (MIDDLE, "2 node(s) had untolerated taint(s)"),
        (NEW, "2 node(s) had untolerated taint(s)"),
    ],
)
def test_a_message_names_the_taint_or_groups_all_taints(kubernetes: str, reasons: str) -> None:
    nodes = make_node("n1").taint("a", "1"), make_node("n2").taint("b", "2")
    cluster = Cluster(kubernetes=kubernetes).apply(*nodes, make_pod("p")).settle()
    assert message_of(cluster, "p").startswith(f"0/2 nodes are available: {reasons}. ")


@pytest.mark.parametrize(("kubernetes", "scores"), [(OLD, None), (MIDDLE, 0), (NEW, 0)])
def test_dynamic_resources_scores_nodes(kubernetes: str, scores: int | None) -> None:
    cluster = Cluster(kubernetes=kubernetes).apply(make_node("n1"), make_node("n2"), make_pod("p")).settle()
    [scored] = events(cluster, ev.ScoreRan)
    assert dict(scored.weights).get("DynamicResources") == (2 if scores is not None else None)
    table = dict(scored.raw).get("DynamicResources")
    assert (None if table is None else dict(table)) == (None if scores is None else {"n1": 0, "n2": 0})


def balance(kubernetes: str, running: PodBuilder | None, pod: PodBuilder) -> int:
    node = make_node("n1").capacity(cpu="4", memory="4Gi", pods="10")
    others = [running.node("n1")] if running is not None else []
    cluster = Cluster(kubernetes=kubernetes).apply(node, make_node("n2").capacity(cpu="4", memory="4Gi", pods="10"))
    cluster.apply(*others, pod).settle()
    [scored] = events(cluster, ev.ScoreRan)
    return dict(dict(scored.raw)["NodeResourcesBalancedAllocation"])["n1"]


@pytest.mark.parametrize(
    ("running", "old", "new"),
    [
        pytest.param(None, 75, 62, id="an empty node gets less balanced: below 75"),
        pytest.param(make_pod("r").memory("2Gi"), 100, 87, id="a node gets balanced: above 75"),
        pytest.param(make_pod("r").cpu("1").memory("3Gi"), 100, 87, id="fractions closer to each other"),
    ],
)
def test_balance_is_scored_by_the_change(running: PodBuilder | None, old: int, new: int) -> None:
    pod = make_pod("p").cpu("2")
    scores = [balance(kubernetes, running, pod) for kubernetes in VERSIONS]
    assert scores == [old, old, new]


def restarting() -> PodBuilder:
    """Return a pod with a container that restarts all containers."""
    rules = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]
    own = {"restartPolicy": "Never", "restartPolicyRules": rules}
    return make_pod("p").spec(containers=[{"name": "c", "image": "i", **own}])


def declaring(name: str, *features: str) -> NodeBuilder:
    return make_node(name).status(declaredFeatures=[*features])


RESTART = "RestartAllContainersOnContainerExits"
RESTARTS = {RESTART: True, "NodeDeclaredFeatures": True}
"""The gate for the action, which is off in v1.35, and the one that it needs."""


@pytest.mark.parametrize(
    ("kubernetes", "gates", "node", "message"),
    [
        pytest.param(
            MIDDLE,
            RESTARTS,
            "",
            f"node declared features check failed - unsatisfied requirements: {RESTART}",
            id="v1.35 names what is missing",
        ),
        pytest.param(NEW, {}, "", "node(s) didn't match Pod's required features", id="v1.36 does not"),
    ],
)
def test_a_pod_needs_nodes_that_declare_a_feature(
    kubernetes: str, gates: dict[str, bool], node: str, message: str
) -> None:
    cluster = Cluster(kubernetes=kubernetes, feature_gates=gates)
    manifests = make_node("n1"), restarting()
    cluster.simulation.execute(commands.Apply(tuple(item.obj() for item in manifests)))
    cluster.settle()
    assert (cluster.node_of("p"), message in message_of(cluster, "p")) == (node, True)


def test_a_pod_is_queued_again_when_a_node_declares_its_feature() -> None:
    cluster = Cluster(kubernetes=NEW).apply(make_node("n1"), restarting()).settle()
    cluster.advance(20)
    cluster.simulation.api.patch("Node", "n1", {"status": {"declaredFeatures": [RESTART]}})
    assert cluster.advance(5).node_of("p") == "n1"
    moved = [event for event in events(cluster, ev.MoveRequested) if event.moved]
    assert moved[-1].cluster_event == "NodeUpdateNodeDeclaredFeature"


@pytest.mark.parametrize("features", [(), ("Other",)])
def test_a_node_that_declares_other_features_does_not_help(features: tuple[str, ...]) -> None:
    cluster = Cluster(kubernetes=NEW).apply(declaring("n1", *features), restarting()).settle()
    cluster.advance(20).apply(declaring("n1", *features).label("a", "b")).settle()
    assert len(cluster.attempts("p")) == 1


def test_the_facts_about_features_lead_to_the_verdict() -> None:
    with watching(late=False) as cells:
        for kubernetes in (MIDDLE, NEW):
            gates = {**RESTARTS, "NodeDeclaredFeatures": True}
            cluster = Cluster(kubernetes=kubernetes, feature_gates=gates)
            cluster.apply(declaring("n1", RESTART), make_node("n2"), make_node("n3"), restarting()).settle()
    assert (cells.wrong, dict(cells.silent)) == ([], {})
    assert cells.keys["node-rules.features-missing"] == cells.keys["node-rules.feature-missing"] > 0
    facts = filter_facts(cluster.simulation.scheduler, 1, "n1", "NodeDeclaredFeatures")
    assert facts is not None
    assert (facts.status, sentence(facts)) == (None, "n1 declares all features that p needs.")


def test_an_older_version_does_not_know_the_field() -> None:
    with pytest.raises(Rejected, match="unknown field"):
        Cluster(kubernetes=OLD).apply(declaring("n1", RESTART))
    with pytest.raises(Rejected, match="must be a text"):
        Cluster(kubernetes=NEW).apply(make_node("n1").status(declaredFeatures=[1]))


def test_a_profile_may_name_the_plugin_only_where_it_exists() -> None:
    named = profile(plugins={"filter": {"enabled": [{"name": "NodeDeclaredFeatures"}]}})
    with pytest.raises(Rejected, match='FilterPlugin "NodeDeclaredFeatures" does not exist'):
        Cluster(named, kubernetes=OLD)
    cluster = Cluster(named, kubernetes=MIDDLE).apply(make_node("n1"), make_pod("p")).settle()
    assert cluster.node_of("p") == "n1"


def anti_affine(name: str, app: str) -> PodBuilder:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": app}}}
    return make_pod(name).spec(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})


@pytest.mark.parametrize(("kubernetes", "attempts"), [(OLD, 1), (MIDDLE, 1), (NEW, 2)])
def test_new_labels_of_a_waiting_pod_help(kubernetes: str, attempts: int) -> None:
    cluster = Cluster(kubernetes=kubernetes).apply(make_node("n1"), anti_affine("r", "web").node("n1"))
    cluster.apply(make_pod("p").label("app", "web")).settle().advance(20)
    cluster.apply(make_pod("p").label("app", "web").label("more", "")).settle().advance(20)
    assert len(cluster.attempts("p")) == attempts


@pytest.mark.parametrize(("kubernetes", "node"), [(OLD, ""), (MIDDLE, ""), (NEW, "n1")])
def test_the_end_of_a_pod_whose_anti_affinity_kept_it_away_helps(kubernetes: str, node: str) -> None:
    cluster = Cluster(kubernetes=kubernetes).apply(make_node("n1"), anti_affine("r", "web").node("n1"))
    cluster.apply(make_pod("p").label("app", "web")).settle().advance(20)
    cluster.simulation.api.remove("Pod", "default/r")
    cluster.settle().advance(20)
    assert cluster.node_of("p") == node


@pytest.mark.parametrize(("kubernetes", "winner"), [(OLD, "n1"), (MIDDLE, "n1"), (NEW, "n2")])
def test_images_of_volumes_count(kubernetes: str, winner: str) -> None:
    nodes = make_node("n1").image("app:1", 500_000_000), make_node("n2").image("model:1", 900_000_000)
    pod = make_pod("p").spec(
        containers=[{"name": "c", "image": "app:1"}],
        volumes=[{"name": "v", "image": {"reference": "model:1", "pullPolicy": "IfNotPresent"}}],
    )
    cluster = Cluster(kubernetes=kubernetes).apply(*nodes, pod).settle()
    assert cluster.node_of("p") == winner


def device_class(name: str, serves: str = "") -> KubeObject:
    spec = {"extendedResourceName": serves} if serves else {}
    return KubeObject({"kind": "DeviceClass", "metadata": {"name": name}, "spec": spec})


GPUS, NAMED = device_class("gpus", "example.com/gpu"), device_class("gpus")


@pytest.mark.parametrize(
    ("request_", "old", "new", "helps"),
    [
        pytest.param("example.com/gpu", None, GPUS, True, id="a class that serves the request"),
        pytest.param("example.com/gpu", NAMED, GPUS, True, id="a class that serves it from now on"),
        pytest.param("example.com/gpu", GPUS, GPUS, False, id="a class that served it before"),
        pytest.param("example.com/gpu", None, NAMED, False, id="a class that serves nothing"),
        pytest.param("deviceclass.resource.kubernetes.io/gpus", None, NAMED, True, id="a class requested by its name"),
        pytest.param("deviceclass.resource.kubernetes.io/gpus", GPUS, NAMED, False, id="whose name is not new"),
    ],
)
def test_device_classes_help_pods_that_do_not_fit(
    request_: str, old: KubeObject | None, new: KubeObject, helps: bool
) -> None:
    pod = pod_of(make_pod("p").request({request_: "1"}))
    for kubernetes in VERSIONS:
        handle = replace(World().handle, rules=rules_for(kubernetes))
        plugin = NodeResourcesFit({}, handle)
        classes = [item.hint for item in plugin.events_to_register() if item.event.resource.endswith("DeviceClass")]
        assert len(classes) == (kubernetes == NEW)
        for hint in classes:
            assert hint is not None
            assert (hint(pod, old, new)[0] is Hint.QUEUE) == helps


@pytest.mark.parametrize(("kubernetes", "how", "nodes"), [(OLD, "draw", 3), (MIDDLE, "first", 1), (NEW, "first", 1)])
def test_equal_nodes_are_drawn_or_the_first_is_taken(kubernetes: str, how: str, nodes: int) -> None:
    chosen = {}
    for seed in range(20):
        cluster = Cluster(kubernetes=kubernetes, seed=seed).apply(*map(make_node, ("n1", "n2", "n3")), make_pod("p"))
        [selected] = events(cluster.settle(), ev.HostSelected)
        assert (selected.how, selected.ties) == (how, ("n1", "n2", "n3"))
        chosen[selected.node] = None
        assert ("nothing is drawn" in line(selected)) == (how == "first")
    assert len(chosen) == nodes
    assert how == "draw" or [*chosen] == ["n1"]


@pytest.mark.parametrize(
    ("totals", "places"),
    [
        pytest.param(
            [7, 7, 7, 7], [0, 3, 2, 1], id="equal everywhere: the first, then as the heap puts the last on top"
        ),
        pytest.param([1, 1, 5, 5, 1], [3, 2], id="a left child before its parent's sibling"),
        pytest.param([5, 7, 7], [1, 2, 0], id="the left child before the right one"),
    ],
)
def test_the_ranking_is_a_heap_in_which_equals_have_no_order(totals: list[int], places: list[int]) -> None:
    ranking = Ranking([(total, str(place)) for place, total in enumerate(totals)])
    assert [ranking.pop() for _ in places] == [str(place) for place in places]


@pytest.mark.parametrize("seed", range(40))
def test_the_key_of_a_place_finds_the_top_of_the_heap(seed: int) -> None:
    random = Random(seed)
    totals = [random.randrange(4) for _ in range(random.randrange(1, 60))]
    best = [place for place, total in enumerate(totals) if total == max(totals)]
    ranking = Ranking([(total, str(place)) for place, total in enumerate(totals)])
    assert str(min(best, key=place_in_heap)) == ranking.pop()
