"""The sentence, when the newest event is not the scheduler's."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest

from sandbox.panels import View, World
from sandbox.panels.model.eviction_log import Happening
from sandbox.panels.model.node_health import Deed
from sandbox.panels.sentence.commanded import commanded
from sandbox.panels.sentence.happenings import happening_sentence
from sandbox.panels.sentence.panel import stats
from scheduler_engine import commands
from scheduler_engine.scenario import play
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod
from scheduler_engine.trace import events as ev
from tests.sandbox.scenarios import (
    advance,
    delete,
    drain,
    evict,
    looking_back,
    panel_html,
    taint,
    world_after,
    world_of,
)

NOT_READY = {"kind": "node-condition", "node": "node1", "type": "Ready", "status": "False"}
SCALE = {"kind": "scale", "object_kind": "StatefulSet", "key": "default/db", "replicas": 5}
MORE_MEMORY = {"kind": "usage", "pod": "default/stays-an-hour", "memory": "2Gi"}
RECREATED = {
    "kind": "replace",
    "object_kind": "Pod",
    "key": "default/stays-an-hour",
    "manifest": make_pod("stays-an-hour").cpu("1").obj(),
}
SYSTEM = {"kind": "usage", "node": "node1", "memory": "1Gi"}


def refused_by_its_node(**spec: Any) -> dict[str, Any]:
    """Return a pod that is bound by hand and requests more than is free."""
    large = make_pod("large").memory("9728Mi").node("node1").spec(**spec)
    return {"kind": "apply", "manifests": [large.obj()]}


def text(world: World, **view: Any) -> str:
    """Return the sentence as plain text."""
    html = panel_html("sentence", world, **view)
    inner = html[html.index('<p id="sentence-text">') : html.index("</p>")]
    while "<" in inner:
        inner = inner[: inner.index("<")] + inner[inner.index(">") + 1 :]
    return " ".join(unescape(inner).split())


ODD = "a b: c uses d (Orphan)"
"""How a name or a value may look before it is validated."""
ODD_ONES: list[tuple[commands.Command, str]] = [
    (commands.Patch("Node", ODD, {"spec": {"unschedulable": False}}), f"{ODD} was edited: spec.unschedulable=false."),
    (commands.Patch("Pod", ODD, {"a": ODD}), f"{ODD} was edited: a={ODD}."),
    (commands.Taint(ODD, "gpu", "NoSchedule", ODD), f"{ODD} now has the taint gpu={ODD}:NoSchedule."),
    (commands.Usage(pod=ODD, cpu="2"), f"{ODD} now uses cpu 2."),
    (commands.NodeCondition(ODD, "Ready", "False"), f"{ODD}: the condition Ready is False now."),
    (commands.KubeletConfigure(ODD), f"Kubelet configuration applied on {ODD}."),
]


@pytest.mark.parametrize(("command", "words"), ODD_ONES)
def test_the_sentence_takes_names_and_values_as_they_are(command: commands.Command, words: str) -> None:
    before, _, name, after, _ = commanded(World(), ev.CommandGiven(1, command))
    assert name == ODD
    assert words in f"{before}{name}{after}"


@pytest.mark.parametrize(
    ("slug", "steps", "words"),
    [
        pytest.param(
            "eviction-answers",
            [evict("db-0")],
            "The API server allows evicting db-0: 200. It has 30 s to stop, and no budget counts it any longer.",
            id="an eviction is allowed",
        ),
        pytest.param(
            "eviction-answers",
            [evict("db-0"), evict("db-1")],
            "The API server refused to evict db-1: 429, Cannot evict pod as it would violate the pod's disruption "
            "budget.",
            id="an eviction is refused by the budget",
        ),
        pytest.param(
            "eviction-two-budgets",
            [evict("db-0"), evict("db-0")],
            "The API server refused to evict db-0: 500, This pod has more than one PodDisruptionBudget, which the "
            "eviction subresource does not support. It was refused 2 times.",
            id="an eviction is refused twice, as two budgets select the pod",
        ),
        pytest.param(
            "drain",
            [drain("node1")],
            "The drain of node1 waits: 1 pod evicted so far, but the API server refuses db-1.",
            id="a drain waits for a budget",
        ),
        pytest.param(
            "drain",
            [drain("node1"), advance(6), drain("node1", on=False)],
            "The drain of node1 was stopped: no more evictions are requested.",
            id="a drain is stopped",
        ),
        pytest.param(
            "eviction-two-budgets",
            [{"kind": "delete", "object_kind": "PodDisruptionBudget", "key": "default/db"}, advance(1), drain("node1")],
            "The drain of node1 waits for the evicted pods to end.",
            id="a drain waits for its pods to end",
        ),
        pytest.param(
            "drain",
            [drain("node1", ignore_daemonsets=False)],
            "The drain of node1 failed, and no pod was evicted: pods of DaemonSets need --ignore-daemonsets.",
            id="a drain fails without a flag",
        ),
        pytest.param(
            "eviction-two-budgets",
            [drain("node1", force=True), advance(60)],
            "The drain of node1 failed: 0 pods evicted, and the API server refuses db-0 and db-2.",
            id="a drain fails at a 500",
        ),
        pytest.param(
            "toleration-seconds",
            [taint("NoExecute")],
            "no-toleration is evicted from node1: key1=value1:NoExecute is not tolerated.",
            id="a taint evicts a pod at once",
        ),
        pytest.param(
            "toleration-seconds",
            [taint("NoExecute"), advance(3601)],
            "stays-an-hour is evicted from node1: its tolerationSeconds (3600) have passed.",
            id="a taint evicts a pod after its time",
        ),
        pytest.param(
            "taint-removed-in-time",
            [advance(60), taint()],
            "stays-an-hour may stay on node1 after all: the taint was removed in time.",
            id="a taint is removed in time",
        ),
        pytest.param(
            "taint-removed-in-time",
            [MORE_MEMORY],
            "stays-an-hour now uses memory 2Gi.",
            id="a pod uses more",
        ),
        pytest.param(
            "taint-removed-in-time",
            [RECREATED],
            "stays-an-hour was deleted and created again.",
            id="a pod is replaced",
        ),
        pytest.param(
            "taint-removed-in-time",
            [SYSTEM],
            "The system on node1 now uses memory 1Gi.",
            id="a node's system uses more",
        ),
        pytest.param(
            "taint-removed-in-time",
            [{**NOT_READY, "type": "DiskPressure", "status": "True"}],
            "node1: the condition DiskPressure is True now. Its taints: key1=value1:NoExecute and "
            "node.kubernetes.io/disk-pressure:NoSchedule.",
            id="a node gets a condition",
        ),
    ],
)
def test_the_newest_event_is_in_the_sentence(slug: str, steps: list[dict[str, Any]], words: str) -> None:
    assert text(world_after(slug, *steps)) == words


def test_pods_that_must_leave_together_are_in_one_sentence() -> None:
    world = world_after("node-not-ready", NOT_READY)
    sentence = text(world)
    assert sentence.startswith("web-")
    assert sentence.endswith(
        " and 1 more pod must leave node1 at 05:00.0: node.kubernetes.io/not-ready:NoExecute, tolerationSeconds 300."
    )


def test_a_scaled_workload_shows_its_progress() -> None:
    words = "StatefulSet db now wants 5 pods: 5 exist, 3 ready."
    assert text(world_after("eviction-answers", SCALE)) == words


def test_a_later_stage_replaces_the_sentence() -> None:
    world = world_after("eviction-answers", SCALE, {"kind": "stage"})
    assert "at Pop: it left the queue for its first attempt" in text(world)


def test_the_sentence_of_a_past_cycle_is_about_that_cycle() -> None:
    world = world_after("eviction-answers", evict("db-0"))
    then = looking_back(world, world.by_number[1].last_entry)
    assert text(then).startswith("The past, 00:00.0: db-0 at PostBind")


def test_the_cause_of_a_refusal_is_the_precise_form_and_a_new_answer_is_news() -> None:
    first = stats(world_after("eviction-answers", evict("db-0"), evict("db-1")), View())
    assert first["precise"] == "The disruption budget db needs 2 healthy pods and has 2 currently"
    again = stats(world_after("eviction-answers", evict("db-0"), evict("db-1"), evict("db-1")), View())
    assert first["n"] != again["n"]


def uses(pod: str, memory: str) -> dict[str, Any]:
    return {"kind": "usage", "pod": f"default/{pod}", "memory": memory}


@pytest.mark.parametrize(
    ("slug", "steps", "words"),
    [
        pytest.param(
            "memory-pressure",
            [uses("greedy-low", "4168Mi"), advance(10)],
            "greedy-low is evicted by the kubelet of node1: the node was low on resource: memory. Threshold quantity: "
            "500Mi, available: 200Mi. It has 1 s to stop.",
            id="a kubelet evicts a pod",
        ),
        pytest.param(
            "minimum-reclaim",
            [uses("small-3", "400Mi"), advance(60)],
            "small-2 is evicted by the kubelet of node1: the node was low on resource: memory. Threshold quantity: "
            "500Mi, available: 809Mi. The minimum is not reclaimed yet. It has ended.",
            id="a kubelet evicts above its threshold, to reclaim the minimum",
        ),
        pytest.param(
            "soft-threshold",
            [refused_by_its_node()],
            "The kubelet of node1 rejects large: OutOfmemory.",
            id="a kubelet does not admit a pod",
        ),
        pytest.param(
            "soft-threshold",
            [refused_by_its_node(priorityClassName="system-node-critical")],
            "The kubelet of node1 ends busy in 30 s, to make room for a critical pod.",
            id="a kubelet ends a pod for a critical one",
        ),
        pytest.param(
            "images-before-pods",
            [{"kind": "usage", "pod": "default/writer", "ephemeral_storage": "13Gi"}, advance(20)],
            "The kubelet of node1 evicts no pod now: it freed 6Gi, and nodefs.available<2Gi is no longer met. "
            "It removed the unused image registry.example/huge:1.",
            id="a kubelet removes images",
        ),
        pytest.param(
            "two-disks",
            [{"kind": "usage", "pod": "default/logger", "ephemeral_storage": "95Gi"}],
            "logger now uses volumes and logs 95Gi.",
            id="usage has the name of its field",
        ),
        pytest.param(
            "two-disks",
            [{"kind": "usage", "pod": "default/logger", "ephemeral_storage": "95Gi"}, advance(10)],
            "logger is evicted by the kubelet of node1: the node was low on resource: ephemeral-storage. Threshold "
            "quantity: 10Gi, available: 5Gi. It has 1 s to stop. Containers and images are on another disk, so "
            "removing them first would not have helped.",
            id="a kubelet cannot free the disk that is short",
        ),
        pytest.param(
            "memory-pressure",
            [uses("greedy-low", "4168Mi"), advance(15)],
            "greedy-low is evicted by the kubelet of node1: the node was low on resource: memory. Threshold quantity: "
            "500Mi, available: 200Mi. It has ended.",
            id="an eviction a while ago has no remaining time",
        ),
        pytest.param(
            "soft-threshold",
            [uses("busy", "9Gi"), advance(60)],
            "The kubelet of node1 reports MemoryPressure: memory.available<1.5Gi must last until 01:40.0 before it "
            "evicts.",
            id="a soft threshold is crossed",
        ),
        pytest.param(
            "soft-threshold",
            [uses("busy", "9Gi"), advance(60), uses("busy", "4Gi"), advance(60)],
            "The kubelet of node1: memory.available<1.5Gi is no longer met, so its grace period would start again.",
            id="a soft threshold is no longer crossed",
        ),
        pytest.param(
            "soft-threshold",
            [uses("busy", "9Gi"), advance(20), uses("busy", "4Gi"), advance(400)],
            "The kubelet of node1 no longer reports MemoryPressure.",
            id="the pressure is over",
        ),
        pytest.param(
            "eviction-stuck",
            [delete("Pod", "db-0")],
            "db-0 is being deleted: no budget is checked for that. It has 30 s to stop.",
            id="a pod is deleted past its budget",
        ),
        pytest.param(
            "eviction-two-budgets",
            [delete("PodDisruptionBudget", "forgotten")],
            "PodDisruptionBudget forgotten was deleted.",
            id="a budget is deleted",
        ),
        pytest.param(
            "deleted-in-the-foreground",
            [{**delete("Deployment", "last"), "propagation_policy": "Foreground"}],
            "Deployment last is being deleted: the objects it owns go first.",
            id="an owner waits for its dependents",
        ),
        pytest.param(
            "deleted-in-the-foreground",
            [{**delete("Deployment", "spared"), "propagation_policy": "Orphan"}],
            "Deployment spared was deleted; the objects it owned stay.",
            id="an owner leaves orphans",
        ),
        pytest.param(
            "deleted-in-the-foreground",
            [{"kind": "delete", "object_kind": "Node", "key": "node-1"}],
            "Node node-1 was deleted.",
            id="a node is deleted, though its pods are still there",
        ),
    ],
)
def test_actions_of_kubelets_and_deletions_are_in_the_sentence(
    slug: str, steps: list[dict[str, Any]], words: str
) -> None:
    assert text(world_after(slug, *steps)) == words


def test_the_kubelets_own_words_are_the_precise_form_of_an_eviction() -> None:
    panel = stats(world_after("memory-pressure", uses("greedy-low", "4168Mi"), advance(15)), View())
    assert panel["precise"].endswith(
        "Container main was using 4168Mi, request is 1Gi, has larger consumption of memory."
    )


@pytest.mark.parametrize(
    ("slug", "steps", "following"),
    [
        pytest.param(
            "toleration-seconds",
            [taint("NoExecute"), advance(3599)],
            "stays-an-hour must leave in 1 s",
            id="the next pod to evict",
        ),
        pytest.param("taint-removed-in-time", [advance(1800)], "30 min to go", id="the time left for the next one"),
    ],
)
def test_the_next_timer_is_in_the_sentence(slug: str, steps: list[dict[str, Any]], following: str) -> None:
    assert stats(world_after(slug, *steps), View())["next"] == following


def test_stopping_a_drain_that_does_not_run_says_so() -> None:
    assert text(world_after("node-not-ready", drain("node1", on=False))) == (
        "Nobody drains node1: there is nothing to stop."
    )


def removal(enough: bool) -> Deed:
    first = ev.NodeResourcesReclaimed("node1", "dead containers", ("default/done",), 4 << 30, "imagefs.available<15%")
    then = ev.NodeResourcesReclaimed("node1", "unused images", ("a/old:1", "a/old:2"), 1 << 30, "imagefs.available<15%")
    return Deed(0, then, removed=(first, then), enough=enough)


@pytest.mark.parametrize(
    ("enough", "outcome"),
    [
        pytest.param(True, "evicts no pod now: it freed 5Gi, and imagefs.available<15% is no longer met", id="enough"),
        pytest.param(False, "can evict no pod, and freed too little: 5Gi", id="no pod could be evicted"),
    ],
)
def test_everything_a_kubelet_removed_is_listed_with_its_effect(enough: bool, outcome: str) -> None:
    said = happening_sentence(World(), Happening(1, 0, "deed", removal(enough)))
    assert said["before"] + said["name"] + said["text"] == (
        f"The kubelet of node1 {outcome}. It removed the containers of the ended pod done and the unused images "
        "a/old:1 and a/old:2."
    )


STAGE = {"kind": "stage"}
TWO = {"kind": "replicas", "count": 2}
NO_ELECTION = {**TWO, "leader_elect": False}
LIMITED = {"kind": "admission", "plugin": "LimitPodHardAntiAffinityTopology", "enabled": True}
WAITS = {"kind": "fault", "plugin": "NodeResourcesFit", "point": "permit", "answer": "wait", "seconds": 30}
HALF = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "percentageOfNodesToScore": 50,
}


def replica(action: str, number: int = 1, **more: Any) -> dict[str, Any]:
    return {"kind": "replica", "replica": f"kube-scheduler-{number}", "action": action, **more}


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        pytest.param(
            [{"kind": "configure", "configuration": HALF}],
            "Configuration applied. It applies from the next cycle.",
            id="the scheduler is configured",
        ),
        pytest.param(
            [{"kind": "kubernetes", "version": "v1.36"}],
            "The cluster now follows Kubernetes v1.36.2.",
            id="another version",
        ),
        pytest.param(
            [*[STAGE] * 3, {"kind": "kubernetes", "version": "v1.36"}],
            "The cluster now follows Kubernetes v1.36.2. The paused cycle ends by the rules it started with.",
            id="another version while a cycle is paused",
        ),
        pytest.param(
            [{"kind": "kubernetes", "version": "v1.35", "feature_gates": {"NodeDeclaredFeatures": True}}],
            "The cluster now follows Kubernetes v1.35.6 with NodeDeclaredFeatures=true.",
            id="another version with a gate",
        ),
        pytest.param(
            [{"kind": "fault", "plugin": "DefaultBinder", "point": "bind"}, WAITS],
            "Next call of NodeResourcesFit at Permit: waits 30 s.",
            id="the newer of two faults",
        ),
        pytest.param(
            [WAITS, *[STAGE] * 13, {"kind": "allow", "pod": "default/web-4"}],
            "web-4 no longer has to wait on Permit.",
            id="a pod that waits is allowed",
        ),
        pytest.param(
            [{"kind": "assumed-ttl", "seconds": 0.5}],
            "The cache forgets an assumed pod 0.5 s after its binding has ended, if nothing confirms it.",
            id="assumed pods expire",
        ),
        pytest.param(
            [{"kind": "assumed-ttl", "seconds": 5}, {"kind": "assumed-ttl", "seconds": 0}],
            "Assumed pods stay in the cache until their binding is confirmed or has failed, as in Kubernetes v1.34.",
            id="assumed pods no longer expire",
        ),
        pytest.param(
            [LIMITED],
            "From now on the API server asks admission plugin LimitPodHardAntiAffinityTopology about new pods. "
            "Existing pods stay.",
            id="an admission plugin is enabled",
        ),
        pytest.param(
            [LIMITED, LIMITED | {"enabled": False}],
            "The API server no longer asks admission plugin LimitPodHardAntiAffinityTopology, which is the default.",
            id="an admission plugin is disabled again",
        ),
        pytest.param(
            [{"kind": "kubelet", "node": "node-a1", "configuration": {"evictionHard": {"memory.available": "1Gi"}}}],
            "Kubelet configuration applied on node-a1.",
            id="a kubelet is configured",
        ),
        pytest.param(
            [TWO, advance(5), replica("kill")],
            "kube-scheduler-1 was killed. No replica leads: the lock still names kube-scheduler-1. Let time pass until "
            "its lease has ended.",
            id="the leader is killed",
        ),
        pytest.param(
            [TWO, advance(5), replica("release")],
            "kube-scheduler-1 was asked to stop, and shut down cleanly. No replica leads yet: let time pass, and "
            "one takes the lock.",
            id="the leader is stopped in order",
        ),
        pytest.param(
            [TWO, advance(5), replica("partition")],
            "kube-scheduler-1 is partitioned from the API server: it gets no watch events, and its writes do not "
            "arrive.",
            id="the leader is cut off",
        ),
        pytest.param(
            [TWO, advance(5), replica("skew", seconds=-30)],
            "kube-scheduler-1: its clock was set back by 30 s.",
            id="a clock is set wrong",
        ),
        pytest.param(
            [TWO, advance(5), replica("rate", rate="1.5")],
            "kube-scheduler-1: its clock runs 1.5 times as fast as the true one.",
            id="a clock drifts",
        ),
        pytest.param(
            [TWO, advance(5), replica("pause", 2)],
            "kube-scheduler-2 is paused, while time passes for the others.",
            id="a standby is paused",
        ),
        pytest.param(
            [TWO, replica("pause")],
            "kube-scheduler-1 is paused, while time passes for the others. Nobody schedules now.",
            id="the leader is paused before it has scheduled anything",
        ),
        pytest.param(
            [TWO, replica("pause"), advance(3)],
            "3 s passed. Nobody schedules now, because kube-scheduler-1 is paused.",
            id="time passes while the leader is paused",
        ),
        pytest.param(
            [NO_ELECTION, STAGE, replica("pause"), replica("pause", 2)],
            "kube-scheduler-2 is paused, while time passes for the others. Nobody schedules now.",
            id="without an election the last one is paused",
        ),
        pytest.param(
            [NO_ELECTION, replica("pause"), replica("pause", 2), advance(3)],
            "3 s passed. Nobody schedules now, because kube-scheduler-1 and kube-scheduler-2 are paused.",
            id="time passes while all are paused",
        ),
    ],
)
def test_a_persons_action_on_the_scheduler_is_in_the_sentence(steps: list[dict[str, Any]], words: str) -> None:
    """A sentence on what waits in the queues, and how to continue, may follow."""
    sentence = text(world_after("three-zones-one-gpu-pool", *steps))
    assert sentence.removesuffix(" 5 pods wait in activeQ. Press Stage to take the first one out.") == words


@pytest.mark.parametrize(
    ("steps", "following"),
    [
        pytest.param([*[STAGE] * 4], "PostFilter asks its plugins to make room", id="one schedules"),
        pytest.param([*[STAGE] * 4, replica("pause", 2)], "PostFilter for payments-1", id="another one is paused"),
        pytest.param([*[STAGE] * 4, replica("pause")], "", id="the one that schedules is paused in its attempt"),
        pytest.param([replica("pause")], "", id="the one that schedules is paused before an attempt"),
        pytest.param([replica("pause"), replica("resume")], "Pop takes payments-1", id="it resumes"),
    ],
)
def test_nothing_comes_next_while_no_one_can_cause_it(steps: list[dict[str, Any]], following: str) -> None:
    assert stats(world_after("three-zones-one-gpu-pool", TWO, *steps), View())["next"] == following


KEY = "example.com/disk.kind"
TAINTED = make_node("n1").taint("k", "v", "NoSchedule")
LABELLED = make_node("n1").label(KEY, "ssd")


def applied(*objects: Any) -> dict[str, Any]:
    return {"kind": "apply", "manifests": [item.obj() for item in objects]}


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        pytest.param(
            [applied(make_node("n1").spec(unschedulable=True))],
            "n1 was changed: spec.unschedulable=true.",
            id="a switch",
        ),
        pytest.param([applied(TAINTED)], "n1 was changed: taint k=v:NoSchedule.", id="a taint"),
        pytest.param(
            [applied(TAINTED), applied(make_node("n1").taint("k", "w", "NoSchedule"))],
            "n1 was changed: taint k=w:NoSchedule.",
            id="another value of a taint",
        ),
        pytest.param(
            [applied(TAINTED), applied(make_node("n1"))],
            "n1 was changed: no taint k:NoSchedule.",
            id="a taint is removed",
        ),
        pytest.param([applied(LABELLED)], f"n1 was changed: label {KEY}=ssd.", id="a label with dots and a slash"),
        pytest.param(
            [applied(LABELLED), applied(make_node("n1"))], f"n1 was changed: no label {KEY}.", id="a label is removed"
        ),
        pytest.param([applied(make_pod("p").label("a", "b"))], "p was changed: label a=b.", id="a label of a pod"),
        pytest.param(
            [applied(TAINTED, make_node("n2"), make_node("n3"))],
            "Applied: 3 × Node. Changed: n1 (taint k=v:NoSchedule). 1 of them is unchanged.",
            id="one is changed, one is new, one is unchanged",
        ),
        pytest.param(
            [applied(TAINTED, make_node("n2").label("a", "b"))],
            "Applied: 2 × Node. Changed: n1 (taint k=v:NoSchedule) and n2 (label a=b).",
            id="several are changed",
        ),
        pytest.param([applied(make_node("n1"))], "n1 is unchanged.", id="nothing is changed"),
    ],
)
def test_changes_of_a_second_apply_are_in_the_sentence(steps: list[dict[str, Any]], words: str) -> None:
    simulation = Simulation(seed=1)
    play(simulation, [applied(make_node("n1"), make_node("n2"), make_pod("p")), {"kind": "run"}, *steps])
    assert text(world_of(simulation)) == words
