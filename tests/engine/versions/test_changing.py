"""The command that changes the version: everything follows the new rules, but a running cycle keeps its own."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from scheduler_engine import commands
from scheduler_engine.errors import Rejected
from scheduler_engine.replay import make_log, replay, trace_digest, trace_lines
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import Cluster, make_node, make_pod
from scheduler_engine.trace import events as ev
from scheduler_engine.versions import VERSIONS, Rules, rules_for

OLD, MIDDLE, NEW = VERSIONS
UNBATCHED = {"OpportunisticBatching": False}
HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
LAX = HEAD | {
    "profiles": [
        {"pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}]},
    ],
    "percentageOfNodesToScore": 70,
}
RATIO = {"shape": [{"utilization": 0, "score": 0}]}
STRATEGY = {"scoringStrategy": {"type": "MostAllocated", "requestedToCapacityRatio": RATIO}}
NEEDLESS_SHAPE = HEAD | {"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": STRATEGY}]}]}
"""A configuration that v1.34 accepts, and v1.36 does not."""


def follow(version: str, gates: dict[str, bool] | None = None) -> dict[str, Any]:
    return {"kind": "kubernetes", "version": version, "feature_gates": gates}


def everywhere(simulation: Simulation) -> list[Rules]:
    """Return the rules of everybody who has some."""
    scheduler = simulation.scheduler
    handles = [framework.handle for framework in scheduler.profiles.values()]
    owners = (simulation, simulation.api, simulation.replicas, scheduler, *handles)
    return [*(owner.rules for owner in owners), scheduler.queue.kubernetes_rules]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("gates", [None, {"PodTopologyLabelsAdmission": True}, {"PodTopologyLabelsAdmission": False}])
def test_everybody_follows_the_new_rules(version: str, gates: dict[str, bool] | None) -> None:
    for first in VERSIONS:
        cluster = Cluster(kubernetes=first).execute(follow(version, gates))
        assert dict.fromkeys(everywhere(cluster.simulation)) == {rules_for(version, gates): None}


def test_a_new_scheduler_follows_the_new_rules() -> None:
    cluster = Cluster().execute({"kind": "replicas", "count": 2}).advance(30)
    cluster.execute({"kind": "replica", "replica": "kube-scheduler-1", "action": "kill"}).execute(follow(NEW))
    cluster.advance(60)
    assert [item.name for item in cluster.simulation.replicas.leaders()] == ["kube-scheduler-2"]
    assert dict.fromkeys(everywhere(cluster.simulation)) == {rules_for(NEW): None}


def played() -> Simulation:
    """Return a run that changes its version twice, in the middle of a cycle and between two."""
    cluster = Cluster(LAX, seed=3).apply(*(make_node(f"n{number}").taint("a") for number in range(3)))
    cluster.apply(make_node("n4"), make_node("n5"), make_pod("p1"), make_pod("p2").cpu("64")).run()
    cluster.apply(make_pod("p3")).stage().stage().execute(follow(NEW, UNBATCHED)).run()
    cluster.apply(make_pod("p4"), make_pod("p5")).run().execute(follow(OLD)).apply(make_pod("p6")).run().advance(90)
    return cluster.simulation


def test_a_changed_version_replays_byte_for_byte() -> None:
    simulation = played()
    assert simulation.history is not None
    log = json.loads(json.dumps(make_log(3, LAX, simulation.history.commands)))
    assert trace_digest(replay(log)) == trace_digest(simulation)
    assert {"kubernetes", "feature_gates"}.isdisjoint(log)
    copies = (copy.deepcopy(simulation), pickle.loads(pickle.dumps(simulation)))
    for item in copies:
        item.execute(commands.Apply((make_pod("later").obj(),)))
        item.execute(commands.Run())
    assert trace_digest(copies[0]) == trace_digest(copies[1])


def test_the_past_of_a_run_has_the_rules_of_its_time() -> None:
    simulation = played()
    changes = [entry.n for entry in simulation.recorder.entries if getattr(entry.event, "kind", "") == "kubernetes"]
    assert len(changes) == 2
    pasts = [simulation.as_of(n) for n in (changes[0] - 1, changes[1] - 1, len(simulation.recorder.entries))]
    assert [past.rules for past in pasts] == [rules_for(OLD), rules_for(NEW, UNBATCHED), rules_for(OLD)]


def from_the_first_object(simulation: Simulation) -> list[str]:
    """Return the trace from the first manifests on, without numbers that count from the start."""
    lines = [json.loads(line) for line in trace_lines(simulation)]
    first = next(index for index, line in enumerate(lines) if line.get("kind") == "apply")
    return [json.dumps({**line, "n": 0, "command": 0, "number": 0}) for line in lines[first:]]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("first", VERSIONS)
def test_what_follows_a_change_is_what_the_version_does_from_the_start(first: str, version: str) -> None:
    def story(cluster: Cluster) -> Simulation:
        nodes = [make_node(f"n{number}").label("topology.kubernetes.io/zone", "ab"[number % 2]) for number in range(4)]
        cluster.apply(*nodes, make_node("closed").taint("a"), make_pod("huge").cpu("64"))
        cluster.apply(*(make_pod(f"p{number}").cpu("500m").label("app", "web") for number in range(6))).run()
        cluster.apply(make_pod("vip").cpu("16").priority(10)).run().advance(45)
        return cluster.simulation

    changed = story(Cluster(kubernetes=first).execute(follow(version)))
    assert from_the_first_object(changed) == from_the_first_object(story(Cluster(kubernetes=version)))


def test_the_configuration_stays_with_the_defaults_of_the_new_version() -> None:
    cluster = Cluster(LAX).execute(follow(NEW))
    configured = [
        entry.event for entry in cluster.simulation.recorder.entries if isinstance(entry.event, ev.Configured)
    ]
    assert [item.kubernetes for item in configured] == [OLD, NEW]
    assert {item.configuration["percentageOfNodesToScore"] for item in configured} == {70}
    weights = [dict(dict(item.profiles[0][1])["score"]) for item in configured]
    assert ["DynamicResources" in item for item in weights] == [False, True]
    cluster.execute({"kind": "configure", "configuration": None}).execute(follow(OLD))
    last = cluster.simulation.replicas.configuration
    assert last == Cluster().simulation.replicas.configuration


def test_a_configuration_that_the_version_refuses_prevents_the_change() -> None:
    cluster = Cluster(NEEDLESS_SHAPE)
    before = trace_digest(cluster.simulation)
    with pytest.raises(Rejected, match="requestedToCapacityRatio"):
        cluster.execute(follow(NEW))
    assert trace_digest(cluster.simulation) == before
    assert dict.fromkeys(everywhere(cluster.simulation)) == {rules_for(OLD): None}


def how_chosen(cluster: Cluster) -> dict[str, str]:
    chosen = (entry.event for entry in cluster.simulation.recorder.entries)
    return {event.pod: event.how for event in chosen if isinstance(event, ev.HostSelected)}


@pytest.mark.parametrize(("first", "second", "hows"), [(OLD, NEW, ["draw", "first"]), (NEW, OLD, ["first", "draw"])])
def test_a_running_cycle_keeps_its_rules(first: str, second: str, hows: list[str]) -> None:
    cluster = Cluster(kubernetes=first).apply(make_node("n1"), make_node("n2"), make_pod("before"))
    cluster.stage().stage().execute(follow(second)).run()
    cluster.apply(make_node("n3"), make_node("n4"), make_pod("after")).run()
    assert how_chosen(cluster) == {"default/before": hows[0], "default/after": hows[1]}


@pytest.mark.parametrize(("first", "second", "nominated"), [(OLD, NEW, "n1"), (NEW, OLD, "")])
def test_a_failing_cycle_keeps_its_rules(first: str, second: str, nominated: str) -> None:
    """Without a PostFilter plugin, v1.34 keeps a nomination after a failure, and later versions clear it."""
    no_preemption = HEAD | {"profiles": [{"plugins": {"postFilter": {"disabled": [{"name": "*"}]}}}]}
    cluster = Cluster(no_preemption, kubernetes=first).apply(make_node("n1").capacity(cpu="1", pods="9"))
    cluster.apply(make_pod("p").cpu("4").nominated("n1")).stage().stage().execute(follow(second))
    cluster.step_until(lambda cluster: cluster.attempts("p")[0].finished is not None)
    assert cluster.attempts("p")[0].outcome == "unschedulable"
    pod = cluster.simulation.api.pod("default/p")
    assert pod is not None
    assert pod.nominated_node_name == nominated


def test_assumed_pods_do_not_expire_any_more() -> None:
    cluster = Cluster().execute({"kind": "assumed-ttl", "seconds": 30}).execute(follow(MIDDLE))
    assert cluster.simulation.scheduler.cache.ttl_us == 30_000_000
    cluster.execute(follow(NEW))
    assert cluster.simulation.scheduler.cache.ttl_us == 0
    assert cluster.simulation.recorder.entries[-1].event == ev.AssumedPodsExpire(0)
    cluster.execute(follow(OLD))
    assert cluster.simulation.scheduler.cache.ttl_us == 0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        pytest.param(follow("v1.33"), "must be v1.34, v1.35, v1.36", id="an unknown version"),
        pytest.param({"kind": "kubernetes"}, '"version" is missing', id="no version"),
        pytest.param(follow(NEW, {"Magic": True}), "unrecognized feature gate: Magic", id="an unknown gate"),
        pytest.param(follow(OLD, UNBATCHED), "unrecognized feature gate: OpportunisticBatching", id="a later gate"),
        pytest.param(follow(NEW, {"SchedulerQueueingHints": False}), "feature is locked to true", id="a locked gate"),
        pytest.param(follow(NEW, {"OpportunisticBatching": 1}), "names to true or false", id="no switch"),  # type: ignore[dict-item]
    ],
)
def test_what_no_scheduler_could_follow_is_refused(command: dict[str, Any], message: str) -> None:
    cluster = Cluster()
    before = trace_digest(cluster.simulation)
    with pytest.raises(Rejected) as refusal:
        cluster.execute(command)
    assert message in str(refusal.value)
    assert trace_digest(cluster.simulation) == before


@pytest.mark.parametrize(
    ("gates", "summary"),
    [
        (None, "follow Kubernetes v1.36"),
        (
            {"PodTopologyLabelsAdmission": False, "OpportunisticBatching": False},
            "follow Kubernetes v1.36 with OpportunisticBatching=false,PodTopologyLabelsAdmission=false",
        ),
    ],
)
def test_the_line_of_the_command_names_version_and_gates(gates: dict[str, bool] | None, summary: str) -> None:
    assert commands.Kubernetes(NEW, gates).summary == summary


@pytest.mark.parametrize(
    ("version", "gates", "node"),
    [
        pytest.param(NEW, UNBATCHED, "", id="still resized as a whole"),
        pytest.param(NEW, {"InPlacePodLevelResourcesVerticalScaling": False}, "n1", id="not with the gate off"),
        pytest.param(MIDDLE, None, "n1", id="not by default in v1.35"),
        pytest.param(OLD, None, "n1", id="not in v1.34"),
    ],
)
def test_what_a_whole_pod_has_counts_only_where_whole_pods_are_resized(
    version: str, gates: dict[str, bool] | None, node: str
) -> None:
    """The pod has 3 cpus and asks for 1, of 4. Kubelets that cannot resize whole pods do not report what it has."""
    pod = make_pod("shrinking").spec(resources={"requests": {"cpu": "1"}}).node("n1")
    pod.manifest["status"] = {"phase": "Running", "resources": {"requests": {"cpu": "3"}}}
    cluster = Cluster(kubernetes=NEW).apply(make_node("n1").capacity(cpu="4", pods="9"), pod).settle()
    cluster.execute(commands.Kubernetes(version, gates)).apply(make_pod("other").cpu("2")).settle()
    assert cluster.node_of("other") == node
    assert ("resources" in cluster.pod("shrinking").status) is (node == "")
