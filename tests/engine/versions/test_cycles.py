"""Rules of the two cycles, the queue and the cache: the same history under each version, and its outcomes."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest

from scheduler_engine.errors import Rejected
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.testing.cluster import Cluster
from scheduler_engine.trace import events as ev
from scheduler_engine.versions import VERSIONS
from tests.engine.histories import claim, storage_class, volume
from tests.engine.versions.test_plugins import events, profile

OLD, MIDDLE, NEW = VERSIONS
GATED = {"NominatedNodeNameForExpectation": True, "ClearingNominatedNodeNameAfterBinding": True}
UNGATED = dict.fromkeys(GATED, False)
SETTINGS: tuple[tuple[str, str, dict[str, bool]], ...] = (
    ("v1.34", OLD, {}),
    ("v1.34 with the gate", OLD, {"NominatedNodeNameForExpectation": True}),
    ("v1.35", MIDDLE, {}),
    ("v1.36", NEW, {}),
    ("v1.36 without the gate", NEW, UNGATED),
)


def nominations(*nodes: str) -> list[Any]:
    """Return each of the settings with the node that it leads to."""
    return [pytest.param(*setting, node, id=name) for (name, *setting), node in zip(SETTINGS, nodes, strict=True)]


def waiting(kubernetes: str, point: str = "permit", gates: dict[str, bool] | None = None) -> Cluster:
    """Return a cluster in which ``p`` has n1 and waits 60 s at ``point``."""
    plugin = {"permit": "NodeName", "preBind": "VolumeBinding"}[point]
    cluster = Cluster(kubernetes=kubernetes, feature_gates=gates).apply(make_node("n1").capacity(cpu="2", pods="9"))
    cluster.execute({"kind": "fault", "plugin": plugin, "point": point, "answer": "wait", "seconds": 60})
    return cluster.apply(make_pod("p").cpu("1500m")).settle()


@pytest.mark.parametrize("point", ["permit", "preBind"])
@pytest.mark.parametrize(("kubernetes", "gates", "nominated"), nominations("", "n1", "n1", "n1", ""))
def test_a_pod_that_has_to_wait_is_nominated_before_it_is_bound(
    kubernetes: str, gates: dict[str, bool], nominated: str, point: str
) -> None:
    cluster = waiting(kubernetes, point, gates)
    assert (cluster.node_of("p"), cluster.pod("p").nominated_node_name) == ("", nominated)


def test_a_pod_that_waits_for_nothing_is_not_nominated() -> None:
    cluster = Cluster(kubernetes=NEW).apply(make_node("n1"), make_pod("p")).settle()
    changes = [event for event in events(cluster, ev.ObjectModified) if event.key == "default/p"]
    assert not any((event.manifest.get("status") or {}).get("nominatedNodeName") for event in changes)


NOT_IN_VOLUME_BINDING = {"disabled": [{"name": "VolumeBinding"}]}


def nominations_of(cluster: Cluster, pod: str) -> list[str]:
    """Return the nominations in the API server's writes of a pod, without those that change nothing."""
    changes = [event.manifest for event in events(cluster, ev.ObjectModified) if event.key == f"default/{pod}"]
    nodes = [(manifest.get("status") or {}).get("nominatedNodeName") or "" for manifest in changes]
    return [node for node, before in zip(nodes, ["", *nodes], strict=False) if node != before]


def with_claim(kubernetes: str, bound: bool, configuration: Any = None) -> Cluster:
    """Return a cluster after the attempt of ``p``, whose claim waits for its first consumer or is ``bound`` before."""
    cluster = Cluster(configuration, kubernetes=kubernetes)
    mode = "Immediate" if bound else "WaitForFirstConsumer"
    cluster.apply(storage_class("local", mode, "kubernetes.io/no-provisioner"), volume("v", "local", "n1"))
    cluster.apply(claim("c", "local"), make_node("n1"), make_node("n2")).settle()
    return cluster.apply(make_pod("p").claim("c")).settle().advance(3)


@pytest.mark.parametrize(
    ("kubernetes", "bound", "nodes"),
    [
        pytest.param(OLD, False, [], id="v1.34 nominates nobody"),
        pytest.param(MIDDLE, False, ["n1", ""], id="v1.35, and clears it at the binding"),
        pytest.param(NEW, False, ["n1", ""], id="v1.36, too"),
        pytest.param(NEW, True, [], id="a claim that is bound leaves VolumeBinding nothing to do"),
    ],
)
def test_a_pod_whose_volumes_are_still_to_be_bound_is_nominated_first(
    kubernetes: str, bound: bool, nodes: list[str]
) -> None:
    cluster = with_claim(kubernetes, bound)
    assert (cluster.node_of("p"), nominations_of(cluster, "p")) == ("n1", nodes)


@pytest.mark.parametrize("kubernetes", VERSIONS)
def test_a_pod_without_volumes_on_its_node_fails_before_it_is_nominated(kubernetes: str) -> None:
    points = dict.fromkeys(("filter", "reserve"), NOT_IN_VOLUME_BINDING)
    cluster = with_claim(kubernetes, False, profile(plugins=points))
    point = "PreBind plugin" if kubernetes == OLD else "PreBindPreFlight"
    message = (cluster.pod("p").condition("PodScheduled") or {})["message"]
    assert re.fullmatch(f'running {point} "VolumeBinding": no pod volume found for node "n[12]"', message)
    assert nominations_of(cluster, "p") == []


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("kubernetes", VERSIONS)
def test_a_plugin_that_cannot_say_whether_it_has_work_stops_the_binding(kubernetes: str, waits: bool) -> None:
    off = NOT_IN_VOLUME_BINDING
    points = ("preFilter", "filter", "preScore", "score", "reserve")
    cluster = Cluster(profile(plugins=dict.fromkeys(points, off)), kubernetes=kubernetes).apply(make_node("n1"))
    if waits:
        cluster.execute({"kind": "fault", "plugin": "NodeName", "point": "permit", "answer": "wait", "seconds": 60})
    cluster.apply(make_pod("p")).settle()
    failures = [event.message for event in events(cluster, ev.EventRecorded) if event.reason == "FailedScheduling"]
    point = "PreBind plugin" if kubernetes == OLD else "PreBindPreFlight"
    assert failures == ([] if waits and kubernetes == OLD else [f'running {point} "VolumeBinding": not found'])
    assert (cluster.node_of("p"), cluster.pod("p").nominated_node_name) == ("", "")


@pytest.mark.parametrize(
    ("gates", "left"),
    [({}, ""), ({"ClearingNominatedNodeNameAfterBinding": False}, "n1")],
    ids=["cleared at the binding", "kept with the gate off"],
)
def test_a_bound_pod_has_no_nomination_any_more(gates: dict[str, bool], left: str) -> None:
    cluster = waiting(NEW, gates=gates).execute({"kind": "allow", "pod": "default/p"}).settle()
    assert (cluster.node_of("p"), cluster.pod("p").nominated_node_name) == ("n1", left)


@pytest.mark.parametrize(("kubernetes", "left"), [(OLD, ""), (MIDDLE, "n1"), (NEW, "")])
def test_a_pod_that_is_not_allowed_loses_its_nomination(kubernetes: str, left: str) -> None:
    """v1.35 compares with the pod as popped, which had none, and so leaves the new one; v1.34 never set it."""
    nominated = ""
    for entry in waiting(kubernetes).advance(60).simulation.recorder.entries:
        if isinstance(entry.event, ev.ObjectModified) and entry.event.key == "default/p":
            nominated = entry.event.manifest["status"].get("nominatedNodeName") or ""
        elif isinstance(entry.event, ev.CycleFinished):
            assert (entry.event.outcome, nominated) == ("unschedulable", left)
            return
    raise AssertionError("the wait is not over")


@pytest.mark.parametrize("failure", ["no nodes", "an error", "denied on Permit"])
@pytest.mark.parametrize(("kubernetes", "gates", "left"), nominations("", "gone", "", "", ""))
def test_a_failed_attempt_clears_a_nomination(kubernetes: str, gates: dict[str, bool], left: str, failure: str) -> None:
    cluster = Cluster(kubernetes=kubernetes, feature_gates=gates)
    points = {"an error": ("filter", "error"), "denied on Permit": ("permit", "deny")}
    if failure in points:
        point, answer = points[failure]
        cluster.apply(make_node("n1"))
        cluster.execute({"kind": "fault", "plugin": "NodeName", "point": point, "answer": answer})
    cluster.apply(make_pod("p").nominated("gone")).step_until(lambda item: events(item, ev.CycleFinished))
    assert cluster.pod("p").nominated_node_name == left


LABELS = {"topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r"}


@pytest.mark.parametrize(("kubernetes", "labels"), [(OLD, {}), (MIDDLE, LABELS), (NEW, LABELS)])
def test_a_bound_pod_gets_the_topology_labels_of_its_node(kubernetes: str, labels: dict[str, str]) -> None:
    cluster = Cluster(kubernetes=kubernetes).apply(make_node("n1").zone("a").region("r"), make_pod("p").label("x", "y"))
    assert cluster.settle().pod("p").labels == {"x": "y", **labels}
    assert cluster.apply(make_pod("q").node("n1")).pod("q").labels == labels


@pytest.mark.parametrize(("kubernetes", "left"), [(OLD, "n1"), (MIDDLE, ""), (NEW, "")])
def test_a_failure_without_post_filter_clears_the_nomination(kubernetes: str, left: str) -> None:
    off = {"disabled": [{"name": "*"}]}
    cluster = Cluster(profile(plugins={"postFilter": off}), kubernetes=kubernetes).apply(make_node("n1"))
    cluster.apply(make_pod("p").cpu("64").nominated("n1")).settle()
    assert cluster.pod("p").nominated_node_name == left


@pytest.mark.parametrize(("kubernetes", "failures"), [(OLD, 2), (MIDDLE, 1), (NEW, 1)])
def test_a_pod_that_was_replaced_during_its_attempt_does_not_inherit_the_failure(
    kubernetes: str, failures: int
) -> None:
    cluster = Cluster(kubernetes=kubernetes).apply(make_node("n1"), make_pod("p").cpu("64"))
    cluster.step_until(lambda item: item.simulation.scheduler.cycle)
    cluster.delete("Pod", "p").apply(make_pod("p").cpu("65")).settle()
    recorded = [event for event in events(cluster, ev.EventRecorded) if event.reason == "FailedScheduling"]
    assert len(recorded) == failures
    assert [attempt.outcome for attempt in cluster.attempts("p")] == ["unschedulable"] * 2


@pytest.mark.parametrize(
    ("kubernetes", "lane", "text"),
    [
        (OLD, "unschedulablePods", "on node n1"),
        (MIDDLE, "unschedulablePods", "on node n1"),
        (NEW, "backoffQ", "on node n1 (in kube-scheduler memory)."),
    ],
)
def test_a_pod_that_is_preempted_while_it_waits_on_permit(kubernetes: str, lane: str, text: str) -> None:
    cluster = waiting(kubernetes).apply(make_pod("vip").cpu("1500m").priority(10))
    cluster.step_until(lambda item: item.attempts("p")[0].outcome)
    queue = cluster.simulation.scheduler.queue
    assert {"errorBackoffQ": "backoffQ"}.get(queue.lane_of("default/p"), queue.lane_of("default/p")) == lane
    [preempted] = [event for event in events(cluster, ev.EventRecorded) if event.reason == "Preempted"]
    assert preempted.message.endswith(text)
    condition = cluster.pod("p").condition("PodScheduled") or {}
    assert (condition["reason"], "waiting on permit for pod: preempted" in condition["message"]) == (
        ("SchedulerError", True) if kubernetes == NEW else ("Unschedulable", False)
    )


@pytest.mark.parametrize(("kubernetes", "alive"), [(OLD, False), (MIDDLE, False), (NEW, True)])
def test_a_pod_that_is_preempted_during_pre_bind(kubernetes: str, alive: bool) -> None:
    cluster = waiting(kubernetes, "preBind").apply(make_pod("vip").cpu("1500m").priority(10)).settle()
    assert (cluster.simulation.api.pod("default/p") is not None) == alive
    cluster.advance(30)
    assert cluster.node_of("vip") == ("n1" if kubernetes != OLD else ""), (
        "v1.34 frees the place when binding has failed"
    )
    assert cluster.advance(60).node_of("vip") == "n1"
    if alive:
        recorded = [event for event in events(cluster, ev.EventRecorded) if event.reason == "FailedScheduling"]
        text = 'running PreBind plugin "VolumeBinding": preempted by DefaultPreemption'
        assert next(event.message for event in recorded if event.regarding == "default/p") == text


@pytest.mark.parametrize("gates", [{}, UNGATED], ids=["plugins were asked before", "plugins were not asked"])
def test_a_nominated_pod_is_preempted_during_pre_bind_as_any_other(gates: dict[str, bool]) -> None:
    cluster = Cluster(kubernetes=NEW, feature_gates=gates).apply(make_node("n1").capacity(cpu="2", pods="9"))
    cluster.execute({"kind": "fault", "plugin": "VolumeBinding", "point": "preBind", "answer": "wait", "seconds": 60})
    cluster.apply(make_pod("p").cpu("1500m").nominated("n1")).settle()
    cluster.apply(make_pod("vip").cpu("1500m").priority(10)).settle().advance(5)
    assert (cluster.node_of("vip"), cluster.node_of("p")) == ("n1", "")


@pytest.mark.parametrize(("kubernetes", "attempts"), [(OLD, 2), (MIDDLE, 1), (NEW, 1)])
def test_the_binding_of_a_nominated_pod_helps_no_other(kubernetes: str, attempts: int) -> None:
    cluster = Cluster(kubernetes=kubernetes).apply(make_node("n1").capacity(cpu="2", pods="9"))
    cluster.apply(make_pod("victim").cpu("2").node("n1"), make_pod("vip").cpu("2").priority(10)).settle()
    cluster.execute({"kind": "fault", "plugin": "NodeName", "point": "permit", "answer": "wait", "seconds": 60})
    cluster.advance(40).apply(make_pod("low").cpu("2")).settle()
    cluster.execute({"kind": "allow", "pod": "default/vip"}).settle()
    assert cluster.node_of("vip") == "n1"
    assert len(cluster.attempts("low")) == attempts


@pytest.mark.parametrize(("kubernetes", "node"), [(OLD, ""), (MIDDLE, "n1"), (NEW, "n1")])
def test_the_place_of_a_pod_deleted_during_pre_bind_is_free_at_once(kubernetes: str, node: str) -> None:
    cluster = waiting(kubernetes, "preBind").apply(make_pod("q").cpu("1500m")).settle()
    assert cluster.node_of("q") == ""
    cluster.delete("Pod", "p").advance(20)
    assert cluster.node_of("q") == node
    assert cluster.advance(60).node_of("q") == "n1"
    assert cluster.attempts("p")[0].outcome == "error"
    cluster.simulation.scheduler.cache.check()


def test_assumed_pods_stay_in_v1_36() -> None:
    command: dict[str, Any] = {"kind": "assumed-ttl", "seconds": 30}
    Cluster(kubernetes=MIDDLE).execute(command)
    with pytest.raises(Rejected, match=r"assumed pods do not expire in Kubernetes v1\.36"):
        Cluster(kubernetes=NEW).execute(command)


# --- batching ---------------------------------------------------------------------------------------------------------

LISTED = profile(
    pluginConfig=[{"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": []}}]
)


def batch(kubernetes: str, configuration: Any = LISTED, count: int = 3, **changes: Any) -> Cluster:
    """Return a cluster of three nodes that each hold one of the ``count`` equal pods."""
    nodes = [make_node(f"n{number}").capacity(cpu="2", pods="9") for number in (1, 2, 3)]
    cluster = Cluster(configuration, kubernetes=kubernetes, feature_gates=changes.pop("gates", None)).apply(*nodes)
    pods = [make_pod(f"p{number}").cpu("1500m").labels(changes.get(f"p{number}", {})) for number in range(count)]
    return cluster.apply(*pods).settle()


def asked(cluster: Cluster) -> list[tuple[str, str, str]]:
    return [(event.pod, event.hint, event.why_not) for event in events(cluster, ev.RankingAsked)]


@pytest.mark.parametrize(
    ("kubernetes", "configuration", "gates", "hints"),
    [
        pytest.param(OLD, LISTED, None, [], id="unknown in v1.34"),
        pytest.param(MIDDLE, LISTED, None, [("default/p1", "n3", ""), ("default/p2", "n2", "")], id="on in v1.35"),
        pytest.param(NEW, LISTED, None, [("default/p1", "n3", ""), ("default/p2", "n2", "")], id="on in v1.36"),
        pytest.param(NEW, LISTED, {"OpportunisticBatching": False}, [], id="off by its gate"),
        pytest.param(NEW, None, None, [], id="no signatures with default spread constraints"),
        pytest.param(MIDDLE, LISTED, {"DRAExtendedResource": True}, [], id="none with extended resources in v1.35"),
        pytest.param(
            NEW,
            LISTED,
            {"DRAExtendedResource": True},
            [("default/p1", "n3", ""), ("default/p2", "n2", "")],
            id="but in v1.36",
        ),
    ],
)
def test_equal_pods_take_the_next_node_of_the_ranking(
    kubernetes: str, configuration: Any, gates: Any, hints: list[tuple[str, str, str]]
) -> None:
    cluster = batch(kubernetes, configuration, gates=gates)
    assert asked(cluster) == hints
    assert sorted(cluster.node_of(f"p{number}") for number in range(3)) == ["n1", "n2", "n3"]
    notes = [event.note for event in events(cluster, ev.StageFinished) if event.stage == "SelectHost"]
    assert sum("the next in the ranking of an earlier pod" in note for note in notes) == len(hints)
    scored = [event.cycle for event in events(cluster, ev.ScoreRan)]
    # The last of three pods has one feasible node, which is not scored.
    assert scored == ([1] if hints else [1, 2])


@pytest.mark.parametrize(
    ("pods", "why_not"),
    [
        pytest.param([make_pod("b").cpu("1500m").label("x", "y")], "pod_incompatible", id="another signature"),
        pytest.param([make_pod("b").cpu("100m")], "pod_incompatible", id="other requests"),
    ],
)
def test_a_ranking_serves_only_pods_with_the_same_signature(pods: list[Any], why_not: str) -> None:
    cluster = batch(NEW, count=1).apply(*pods).settle()
    assert asked(cluster) == [("default/b", "", why_not)]


def test_pods_whose_requests_have_the_same_sum_share_a_ranking() -> None:
    pod = make_pod("b").cpu("750m").container("more").cpu("750m")
    assert asked(batch(NEW, count=1).apply(pod).settle()) == [("default/b", "n3", "")]


def test_a_ranking_is_of_no_use_while_the_chosen_node_has_room() -> None:
    nodes = [make_node(f"n{number}") for number in (1, 2, 3)]
    cluster = Cluster(LISTED, kubernetes=NEW).apply(*nodes, make_pod("a").cpu("1"), make_pod("b").cpu("1")).settle()
    assert asked(cluster) == [("default/b", "", "node_not_full")]


@pytest.mark.parametrize("kubernetes", [MIDDLE, NEW])
def test_a_cycle_of_an_earlier_configuration_leaves_no_ranking(kubernetes: str) -> None:
    """Its node is full, so the next pod would take a hint, but nobody has ranked nodes by the new configuration."""
    nodes = [make_node(name).capacity(cpu="3", pods="9") for name in ("n1", "n2", "n3")]
    pods = [make_pod(name).cpu("2") for name in ("a", "b")]
    cluster = Cluster(LISTED, kubernetes=kubernetes).apply(*nodes, *pods).stage().stage().stage()
    assert [event.pod for event in events(cluster, ev.CycleStarted)] == ["default/a"]
    cluster.execute({"kind": "configure", "configuration": {**LISTED, "percentageOfNodesToScore": 50}}).settle()
    assert (asked(cluster), cluster.node_of("a"), cluster.node_of("b")) == ([], "n1", "n2")


def test_a_ranking_expires() -> None:
    cluster = batch(NEW, count=1).advance(0.6).apply(make_pod("b").cpu("1500m")).settle()
    assert asked(cluster) == [("default/b", "", "expired")]


def test_a_failed_pod_ends_a_batch() -> None:
    cluster = batch(NEW, count=1).apply(make_pod("huge").cpu("64"), make_pod("b").cpu("1500m")).settle()
    assert asked(cluster) == [("default/huge", "", "pod_incompatible"), ("default/b", "", "pod_skipped")]


def test_a_hint_that_does_not_fit_leads_to_a_search() -> None:
    cluster = batch(NEW, count=1)
    cluster.apply(make_pod("other").cpu("2").node("n3")).apply(make_pod("p1").cpu("1500m")).settle()
    assert asked(cluster) == [("default/p1", "n3", "")]
    assert cluster.node_of("p1") == "n2"


@pytest.mark.parametrize("seed", range(6))
def test_the_chosen_node_is_on_top_of_the_ranking(seed: int) -> None:
    """``remember`` builds the whole heap, and asserts that it begins with the chosen node."""
    pick = Random(seed)
    nodes = [make_node(f"n{number:02}").capacity(cpu=pick.choice(["2", "4"]), pods="9") for number in range(20)]
    cluster = Cluster(LISTED, kubernetes=NEW).apply(*nodes)
    for number in range(12):
        cluster.apply(make_pod(f"p{number}").cpu(pick.choice(["500m", "1500m", "1900m"]))).settle()
    chosen = [event for event in events(cluster, ev.HostSelected) if event.how == "first"]
    assert len(chosen) > 3
    assert any(event.node != event.ties[0] for event in chosen)


NARROW = {"kind": "configure", "configuration": {**LISTED, "percentageOfNodesToScore": 50}}
NOTE = {"kind": "patch", "object_kind": "Pod", "key": "default/b", "changes": {"metadata": {"annotations": {"a": "b"}}}}


def changed_in_flight(kubernetes: str, *more: dict[str, Any]) -> Cluster:
    """Return a cluster where b tolerates n3's taint since its second attempt. That failed like the first, so nothing
    was written to b after it. No node has room. ``more``: other commands during the attempt.
    """
    sizes = {"n1": 2, "n2": 3, "n3": 4}
    nodes = [make_node(name).capacity(cpu=f"{cpus}", pods="9") for name, cpus in sizes.items()]
    nodes[2].taint("soft", effect="PreferNoSchedule")
    pods = [make_pod(f"on-{name}").cpu(f"{cpus - 1}800m").node(name) for name, cpus in sizes.items()]
    pods = [pod.spec(terminationGracePeriodSeconds=0) for pod in (*pods, make_pod("small").cpu("100m").node("n1"))]
    waiting = make_pod("b").cpu("1600m")
    cluster = Cluster(LISTED, kubernetes=kubernetes).apply(*nodes, *pods, waiting).settle()
    cluster.delete("Pod", "small").step_until(lambda item: item.simulation.scheduler.cycle)
    cluster.apply(waiting.toleration("soft"))
    for command in more:
        cluster.execute(command)
    cluster.settle()
    assert [attempt.outcome for attempt in cluster.attempts("b")] == ["unschedulable"] * 2
    return cluster


@pytest.mark.parametrize(
    ("kubernetes", "during", "after", "hint", "node"),
    [
        pytest.param(MIDDLE, (), (), ("", "pod_incompatible", False), "n3", id="signed in the attempt"),
        pytest.param(NEW, (), (), ("n1", "", True), "n1", id="signed in the queue"),
        pytest.param(NEW, (), (NOTE,), ("", "pod_incompatible", False), "n3", id="signed again when it changes"),
        pytest.param(NEW, (NARROW,), (), ("", "pod_incompatible", False), "n3", id="configured in the attempt"),
        pytest.param(NEW, (), (NARROW,), ("", "pod_incompatible", False), "n3", id="configured afterwards"),
    ],
)
def test_a_pod_that_changed_during_a_failed_attempt_keeps_its_signature(
    kubernetes: str, during: tuple[Any, ...], after: tuple[Any, ...], hint: tuple[str, str, bool], node: str
) -> None:
    """a, which is like b was, is scheduled just before b, which could take the next node of a's ranking."""
    cluster = changed_in_flight(kubernetes, *during)
    for command in after:
        cluster.execute(command)
    cluster.apply(make_pod("a").cpu("1600m").priority(1))
    for name in ("n1", "n2", "n3"):
        cluster.delete("Pod", f"on-{name}")
    cluster.settle()
    found = [(event.hint, event.why_not, event.outdated) for event in events(cluster, ev.RankingAsked)]
    assert (found, cluster.node_of("a"), cluster.node_of("b")) == ([hint], "n2", node)
